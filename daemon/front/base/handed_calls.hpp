// Runs that wait for results of calls handed to callers over HTTP. Such a caller knows no run by name: it sends its
// whole conversation again with the results at its end, and these identify the run. If the caller never returns, the
// run ends by its own time limit. Pure.
#pragma once
#include "daemon/store/records/record.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::daemon::front {

class handed_calls {
 public:
  /// Most waiting runs; the oldest are given up.
  static constexpr std::size_t most = 256;

  struct waiting {
    std::string run;
    std::uint64_t conversation = 0;  ///< dialect_request::conversation of the request that got the calls
    std::vector<std::string> calls;  ///< ids of the handed calls
    std::uint64_t seen = 0;          ///< number of the last event that the caller received
    providers::usage told{};         ///< sum of the usage in the answers so far
    std::string principal = {};      ///< the caller's identity
  };
  /// Keeps a run. Returns the name of a run that is given up for it, if any.
  std::optional<std::string> keep(waiting w);
  /// Removes and returns the run of `principal` that waits for exactly these results in this conversation.
  std::optional<waiting> take(std::uint64_t conversation, const std::vector<stored::record::caller_result>& results,
                              std::string_view principal);
  /// The same for a run that the caller knows by its name.
  std::optional<waiting> take_run(std::string_view run, const std::vector<stored::record::caller_result>& results,
                                  std::string_view principal);

 private:
  std::optional<waiting> extract(std::deque<waiting>::iterator found);

  std::deque<waiting> runs_;  // oldest first
};

}  // namespace mcpbx::daemon::front
