// The steps of a search: each asks one place, and the answer decides on the next.
#include "daemon/front/rpc/run_lookup.hpp"

#include "mcp/json/json_writer.hpp"
#include "mcp/server/base/rpc_errors.hpp"

#include <optional>

namespace mcpbx::daemon::rpc_door {

void run_lookup::search() {
  if (const auto feed = door_.daemon.find_run(wish_.run)) return end({.feed = *feed});
  door_.daemon.when_left_taken([self = shared_from_this()](const result<void>& taken) {
    if (!self->reply_.open()) return;
    if (!taken) return self->refuse(taken.error());
    self->wait_for_name();
  });
}

// Waits while another request is about to begin a run of this name.
void run_lookup::wait_for_name() {
  if (!door_.beginning.has(wish_.run)) return ask_journal();
  const auto waits = door_.beginning.wait(wish_.run, [self = shared_from_this()] {
    if (self->reply_.open()) self->search();
  });
  if (!waits) refuse(waits.error());
}

void run_lookup::ask_journal() {
  if (const auto feed = door_.daemon.find_run(wish_.run)) return end({.feed = *feed});
  if (!wish_.in_journal) return ask_owner();
  if (wish_.begins) held_ = door_.beginning.hold(wish_.run);
  door_.daemon.recall_run(wish_.run, wish_.likeness,
                          [self = shared_from_this()](const result<run::runner::recalled_run>& found) {
                            if (!self->reply_.open()) return;
                            if (found)
                              return self->end({.feed = found->feed, .recalled = true, .session = found->session});
                            if (found.error().code != errc::not_found) return self->refuse(found.error());
                            // The run may have begun while the journal was asked.
                            if (const auto feed = self->door_.daemon.find_run(self->wish_.run))
                              return self->end({.feed = *feed});
                            self->ask_owner();
                          });
}

// In a shared journal the name may belong to a run of another daemon.
void run_lookup::ask_owner() {
  door_.daemon.store().find_owner(
      wish_.run, [self = shared_from_this()](const result<std::optional<std::string>>& owner) {
        if (!self->reply_.open()) return;
        if (!owner || !*owner) {
          // The run may have begun here, or been taken over, while the journal was asked.
          auto feed = self->door_.daemon.find_run(self->wish_.run);
          return self->end(feed ? found_run{.feed = std::move(*feed)} : found_run{.why = std::move(feed.error())});
        }
        self->refuse({errc::unavailable, "the run " + json::json_quoted(self->wish_.run) + " is owned by " + **owner +
                                             "; ask that daemon"});
      });
}

void run_lookup::refuse(const error& why) const {
  reply_.error(mcp::server::to_rpc_error(why));
}

}  // namespace mcpbx::daemon::rpc_door
