// A question of the loop suites and its answer, the same for the bare loop and for mcpbxd.
#pragma once
#include <functional>
#include <string>
#include <vector>

namespace mcpbx::bench {

struct loop_case {
  int rounds = 0;  ///< with one tool call each, before the answer
  int tokens = 20;
  int gap_us = 0;  ///< between tokens
  bool stream = false;
  int concurrency = 1;
  int runs = 1;
  /// The name that tells bench_model all of it.
  std::string script() const {
    return "bench-" + std::to_string(rounds) + "-" + std::to_string(tokens) + "-" + std::to_string(gap_us);
  }
};

struct loop_figures {
  std::vector<double> run_us, first_token_us;
  double wall_us = 0;
  double tokens = 0;
};

/// The bytes of one token of bench_model.
inline constexpr double token_bytes = 5;

/// The loop with next to nothing in it: no checks, no limits, no journal, no events.
loop_figures run_bare(const loop_case& what, int model_port, const std::string& bin);
/// The same through mcpbxd: `concurrency` connections, one run at a time on each.
loop_figures run_chats(const loop_case& what, const std::string& socket);
/// The same over HTTP at a path ("/v1/messages"), on connections from `connect`. `rounds` are not checked.
loop_figures run_http_chats(const loop_case& what, const std::function<int()>& connect, const std::string& door);

}  // namespace mcpbx::bench
