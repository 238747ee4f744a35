// A bucket of tokens: so much at once, so much per second after that. For log lines and answers that a peer provokes.
#pragma once
#include "mcp/support/time.hpp"

#include <algorithm>
#include <chrono>

namespace mcpbx::mcp {

class rate_limit {
 public:
  rate_limit(double per_second, double burst) : per_second_(per_second), burst_(burst), left_(burst) {}

  /// Takes `n` tokens. Returns false, and takes none, if there are fewer.
  bool take(time_point now, double n = 1) {
    refill(now);
    if (left_ < n) return false;
    left_ -= n;
    return true;
  }

 private:
  void refill(time_point now) {
    if (started_) left_ = std::min(burst_, left_ + per_second_ * std::chrono::duration<double>(now - last_).count());
    started_ = true;
    last_ = now;
  }
  double per_second_, burst_, left_;
  time_point last_{};
  bool started_ = false;
};

}  // namespace mcpbx::mcp
