// Runs that wait for the prompt and the resources with which they begin: their names, their feeds, and what ends them.
#include "daemon/front/rpc/opening_reads.hpp"
#include "daemon/front/rpc/rpc_caller.hpp"
#include "daemon/loop/run/run_feed.hpp"
#include "daemon/store/records/principal.hpp"
#include "mcp/server/base/rpc_errors.hpp"
#include "mcp/support/encodings.hpp"
#include "mcp/support/text.hpp"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

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

error begun_meanwhile(const std::string& run) {
  return {errc::unavailable,
          "another request has begun the run " + json::json_quoted(run) + " meanwhile; `mcpbx attach` follows it"};
}

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
                  shell_word(run) + "`, or cancel it");
}

// Gives the run its name, under which it is known from now on, and its feed, through which those who follow it are
// asked what the servers want to know before it can begin.
void rpc_caller::open_run(run::run_request r, const chat::chat_opening& opening, const mcp::server::reply_once& reply) {
  if (r.run.empty()) {
    auto name = new_run_name();
    if (!name) return reply.error(mcp::server::to_rpc_error(name.error()));
    r.run = std::move(*name);
  }
  const auto feed =
      std::make_shared<run::run_feed>(r.run, run::run_feed::options{.keep = r.detach, .principal = principal_});
  r.feed = feed;
  if (!r.detach) open_stream(*feed, {.deltas = r.stream, .answers = r.answers}, reply);
  const std::string run = r.run;
  opening_reads::beginning of{r.profile, feed, milliseconds(r.limits.question_timeout_ms), r.trace};
  const auto reads = opening_reads::start(
      *this, opening, std::move(of), reply, [this, r = std::move(r), opening, reply](const chat::opened_chat& got) {
        auto ready = r;
        if (const auto put = chat::begin_with_opening(ready, opening, got); !put) {
          r.feed->refuse(put.error());
          if (r.detach) reply.error(mcp::server::to_rpc_error(put.error()));
        } else if (r.detach) {
          start_detached(std::move(ready), reply);
        } else if (const auto begun = door_.daemon.start_run(std::move(ready), {}); !begun) {
          r.feed->refuse(begun.error());
        } else if (*begun != r.feed) {
          r.feed->refuse(begun_meanwhile(r.run));
        }
      });
  std::erase_if(door_.openings, [](const auto& one) { return one.second.expired(); });
  if (!reads->is_open()) return;
  door_.openings[run] = reads;
  forget_openings();
  openings_.push_back(reads);
}

// Forgets the runs of this caller that have begun since, or cannot begin. Returns the number of detached ones among the
// others.
std::size_t rpc_caller::forget_openings() {
  std::erase_if(openings_, [](const auto& one) {
    const auto reads = one.lock();
    return !reads || !reads->is_open();
  });
  return static_cast<std::size_t>(
      std::ranges::count_if(openings_, [](const auto& one) { return one.lock()->detached(); }));
}

// Ends the runs that wait for what they begin with at this request, or at any: others who follow them cannot go on
// without the caller for whom everything is read.
void rpc_caller::end_openings(std::optional<std::uint64_t> serial) {
  for (const auto& one : std::vector(openings_))
    if (const auto reads = one.lock(); reads && reads->is_open() && (!serial || reads->serial() == *serial))
      reads->leave();
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
