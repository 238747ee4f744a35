// Many tools/call through one conversation: how long, how many, at what price.
#pragma once
#include "test/bench/channel.hpp"

#include <string>

namespace mcpbx::bench {

struct call_figures {
  double p50_us = 0, p99_us = 0, per_s = 0;
  double cpu_us = 0;    ///< of the target per call
  double peak_mib = 0;  ///< of the target while it ran
};

/// `count` calls of the echo tool with `open` of them unanswered at any time, after a tenth as many to warm up. A wrong
/// answer ends the benchmark.
call_figures run_calls(channel& s, int open, int count, const std::string& arguments);

/// The arguments of a short call, and of one whose answer has `size` characters.
std::string short_arguments();
std::string size_arguments(std::size_t size);

}  // namespace mcpbx::bench
