// Runs that wait for callers over HTTP, who have been handed calls of their own tools. Such a caller knows no run by
// name: it sends its whole conversation again, with the results at its end, and by these the run is found. A caller
// that never comes back leaves its run here until the run itself has waited long enough. Pure.
#pragma once
#include "daemon/store/records/record.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::daemon {

class handed_calls {
 public:
  /// More than these are not kept: the oldest are given up.
  static constexpr std::size_t most = 256;

  struct waiting {
    std::string run;
    std::uint64_t conversation = 0;  ///< completion_request::conversation of the request that was answered with them
    std::vector<std::string> calls;  ///< their ids
    std::uint64_t seen = 0;          ///< the number of the last event that its caller was told
    providers::usage told{};         ///< what the usage of the answers so far adds up to
    std::string principal = {};      ///< whose it is
  };
  /// Remembers a run. Gives the one that is given up for it, if any.
  std::optional<std::string> keep(waiting w);
  /// The run of `principal` that waits for exactly these results in this conversation; it is forgotten here.
  std::optional<waiting> take(std::uint64_t conversation, const std::vector<record::caller_result>& results,
                              std::string_view principal);

 private:
  std::deque<waiting> runs_;  // the oldest first
};

}  // namespace mcpbx::daemon
