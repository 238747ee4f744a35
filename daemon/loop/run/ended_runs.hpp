// Register of detached runs that have ended. Keeps their events for callers that attach later. Bounded: the oldest runs
// are dropped, all of them if a new run needs the memory. The journal, if there is one, still has the dropped runs.
#pragma once
#include "daemon/loop/core/run_core.hpp"
#include "daemon/loop/run/run_feed.hpp"
#include "mcp/support/shared_bytes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace mcpbx::daemon::run {

/// Ended runs by name, the oldest first. Belongs to the runner.
class ended_runs {
 public:
  struct one {
    std::shared_ptr<run_feed> feed;
    std::uint64_t likeness = 0;  ///< run_request::likeness
    std::string session;         ///< its session, or ""
    std::size_t bytes = 0;       ///< of its events
  };

  /// Keeps at most `most` runs and `most_bytes` bytes of events, but always the newest run.
  ended_runs(std::size_t most, std::size_t most_bytes) : most_(most), most_bytes_(most_bytes) {}

  /// Adds a run, unless it alone exceeds a quarter of the memory bound (`limits.totalBytes`), and drops the oldest runs
  /// while all together exceed an eighth of that bound. So an idle daemon has room for new work.
  void add(std::shared_ptr<run_feed> feed, std::uint64_t likeness, std::string session) {
    const std::size_t bytes = feed->bytes();
    if (bytes > byte_account::limit() / 4) return;
    runs_.push_back({std::move(feed), likeness, std::move(session), bytes});
    bytes_ += bytes;
    const auto most_bytes = std::min(most_bytes_, byte_account::limit() / 8);
    while (runs_.size() > 1 && (runs_.size() > most_ || bytes_ > most_bytes)) drop(runs_.begin());
  }
  /// Drops runs that nobody reads, the oldest first, as long as memory is short.
  void make_room() {
    for (auto at = runs_.begin(); at != runs_.end() && byte_account::runs_short();)
      at = at->feed.use_count() > 1 ? std::next(at) : drop(at);
  }
  /// Returns the run of this name, or null. Valid until the next change.
  const one* find(std::string_view run) const {
    for (const auto& r : runs_)
      if (r.feed->run() == run) return &r;
    return nullptr;
  }
  std::size_t size() const noexcept { return runs_.size(); }
  auto begin() const noexcept { return runs_.begin(); }
  auto end() const noexcept { return runs_.end(); }

 private:
  std::deque<one>::iterator drop(std::deque<one>::iterator at) {
    bytes_ -= at->bytes;
    const auto dropped = std::move(*at);  // destroyed after the erase, when the register is consistent again
    return runs_.erase(at);
  }

  std::size_t most_, most_bytes_;
  std::deque<one> runs_;  // oldest first
  std::size_t bytes_ = 0;
};

/// Makes the feed of an ended run from its state. All numbers that callers have from before must be at most
/// `numbers_above`, so every caller gets a snapshot, as after any restart.
std::shared_ptr<run_feed> feed_of(const core::run_facts& ended, std::uint64_t numbers_above);

}  // namespace mcpbx::daemon::run
