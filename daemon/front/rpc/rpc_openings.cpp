// Runs that wait for the prompt and the resources with which they begin: their names, their feeds, and what ends them.
#include "daemon/front/rpc/opening_reads.hpp"
#include "daemon/front/rpc/rpc_caller.hpp"
#include "daemon/loop/run/run_feed.hpp"
#include "daemon/store/records/principal.hpp"
#include "mcp/server/base/rpc_errors.hpp"
#include "mcp/support/encodings.hpp"
#include "mcp/support/text.hpp"

#include <sys/random.h>

#include <array>
#include <memory>
#include <string>
#include <utility>

namespace mcpbx::daemon::rpc_door {
namespace {

/// Returns a name for a run that has to be known before the run begins.
result<std::string> new_run_name() {
  std::array<char, 8> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    return fail(errc::io, "the system gave no random numbers for the name of the run");
  return "run_" + hex_text({bytes.data(), bytes.size()});
}

}  // namespace

// Refuses a name that a run has which is about to begin: answers and cancels find both by their name.
result<void> rpc_caller::check_name(const std::string& run) const {
  const auto found = door_.openings.find(run);
  const auto first = found == door_.openings.end() ? nullptr : found->second.lock();
  if (!first || !first->is_open()) return {};
  const std::string what = "a run named " + json::json_quoted(run) + " is about to begin already";
  if (!stored::may_have(principal_, first->principal()))
    return fail(errc::invalid_argument, what + " and belongs to another caller; choose another name");
  return fail(errc::unavailable,
              what + " by another request, which waits for its prompt or resources; follow it with `mcpbx attach " +
                  shell_word(run) + "` once it has begun, or cancel it");
}

// Gives the run its name, under which it is known from now on, and a feed, through which its caller is asked what the
// servers want to know before it can begin. A detached one is followed by nobody yet, and has none.
void rpc_caller::open_run(run::run_request r, const chat::chat_opening& opening, const mcp::server::reply_once& reply) {
  if (r.run.empty()) {
    auto name = new_run_name();
    if (!name) return reply.error(mcp::server::to_rpc_error(name.error()));
    r.run = std::move(*name);
  }
  const auto feed =
      r.detach ? nullptr : std::make_shared<run::run_feed>(r.run, run::run_feed::options{.principal = principal_});
  if (feed) open_stream(*feed, {.deltas = r.stream, .answers = r.answers}, reply);
  const std::string run = r.run;
  const bool detached = r.detach;
  opening_reads::beginning of{r.profile, feed, milliseconds(r.limits.question_timeout_ms)};
  const auto reads = opening_reads::start(
      *this, opening, std::move(of), reply, [this, r = std::move(r), opening, feed, reply](const chat::opened_chat& got) {
        auto ready = r;
        const auto put = chat::begin_with_opening(ready, opening, got);
        if (!feed && !put) return reply.error(mcp::server::to_rpc_error(put.error()));
        if (!feed) return start_detached(std::move(ready), reply);
        if (!put) return feed->refuse(put.error());
        ready.feed = feed;
        const auto begun = door_.daemon.start_run(std::move(ready), {});
        if (!begun)
          feed->refuse(begun.error());
        else if (*begun != feed)
          feed->refuse({errc::unavailable, "another request has begun the run " + json::json_quoted(r.run) +
                                               " meanwhile; `mcpbx attach` follows it"});
      });
  std::erase_if(door_.openings, [](const auto& one) { return one.second.expired(); });
  if (!reads->is_open()) return;
  door_.openings[run] = reads;
  if (detached) opening_detached_.push_back(reads);
}

// Forgets the detached runs that have begun since, or cannot begin.
void rpc_caller::forget_openings() {
  std::erase_if(opening_detached_, [](const auto& one) {
    const auto reads = one.lock();
    return !reads || !reads->is_open();
  });
}

// Returns the beginning of a run of this principal that has not begun yet, or null. A run that has begun goes before
// one of its name, such as one that came in by another door.
std::shared_ptr<opening_reads> rpc_caller::opening_of(const std::string& run) const {
  const auto found = door_.openings.find(run);
  auto reads = found == door_.openings.end() ? nullptr : found->second.lock();
  const bool its = reads && reads->is_open() && stored::may_have(principal_, reads->principal());
  return its && !door_.daemon.find_run(run) ? reads : nullptr;
}

}  // namespace mcpbx::daemon::rpc_door
