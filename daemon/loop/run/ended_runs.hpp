// Detached runs that have ended: what they told is kept for whoever attaches later. Bounded; the oldest go.
#pragma once
#include "daemon/loop/run/run_feed.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

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

  /// The newest always fits, however large it is.
  void add(std::shared_ptr<run_feed> feed, std::uint64_t likeness, std::string session) {
    const std::size_t bytes = feed->bytes();
    runs_.push_back({std::move(feed), likeness, std::move(session), bytes});
    bytes_ += bytes;
    while (runs_.size() > 1 && (runs_.size() > most_ || bytes_ > most_bytes_)) {
      bytes_ -= runs_.front().bytes;
      runs_.pop_front();
    }
  }
  /// Null when there is none of this name.
  const one* find(std::string_view run) const {
    for (const auto& r : runs_)
      if (r.feed->run() == run) return &r;
    return nullptr;
  }
  std::size_t size() const noexcept { return runs_.size(); }

 private:
  std::size_t most_, most_bytes_;
  std::deque<one> runs_;  // the oldest first
  std::size_t bytes_ = 0;
};

}  // namespace mcpbx::daemon
