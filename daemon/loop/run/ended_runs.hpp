// Detached runs that have ended: what they told is kept for whoever attaches later. Bounded; the oldest go, all of them
// when a run that is to begin needs the room. What is not here is in the journal, where there is one.
#pragma once
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

namespace mcpbx::daemon {

class ended_runs {
 public:
  struct one {
    std::shared_ptr<run_feed> feed;
    std::uint64_t likeness = 0;  ///< as run_request has it
    std::string session;         ///< or ""
    std::size_t bytes = 0;
  };

  ended_runs(std::size_t most, std::size_t most_bytes) : most_(most), most_bytes_(most_bytes) {}

  /// The newest fits up to a quarter of what all may have (`limits.totalBytes`), so that an idle daemon has room for
  /// what comes; with the others it is an eighth.
  void add(std::shared_ptr<run_feed> feed, std::uint64_t likeness, std::string session) {
    const std::size_t bytes = feed->bytes();
    if (bytes > byte_account::limit() / 4) return;
    runs_.push_back({std::move(feed), likeness, std::move(session), bytes});
    bytes_ += bytes;
    const auto most_bytes = std::min(most_bytes_, byte_account::limit() / 8);
    while (runs_.size() > 1 && (runs_.size() > most_ || bytes_ > most_bytes)) drop(runs_.begin());
  }
  /// Drops the oldest ones that nobody reads, as long as bytes run short.
  void make_room() {
    for (auto at = runs_.begin(); at != runs_.end() && byte_account::runs_short();)
      at = at->feed.use_count() > 1 ? std::next(at) : drop(at);
  }
  /// Null when there is none of this name.
  const one* find(std::string_view run) const {
    for (const auto& r : runs_)
      if (r.feed->run() == run) return &r;
    return nullptr;
  }
  std::size_t size() const noexcept { return runs_.size(); }

 private:
  std::deque<one>::iterator drop(std::deque<one>::iterator at) {
    bytes_ -= at->bytes;
    const auto dropped = std::move(*at);  // what it holds goes when the register is whole again
    return runs_.erase(at);
  }

  std::size_t most_, most_bytes_;
  std::deque<one> runs_;  // the oldest first
  std::size_t bytes_ = 0;
};

}  // namespace mcpbx::daemon
