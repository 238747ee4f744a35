// Checks that may block for ever, such as a stat() on a dead mount or a look-up of a name, with a bound on their time.
#pragma once
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace mcpbx::cli::doctor {

struct time_bounds {
  std::chrono::milliseconds each{2'000};  ///< of one check
  std::chrono::milliseconds all{6'000};   ///< of all together
};

/// Calls `check` for the numbers below `count`, in order, in a child process, and returns its texts; nullopt for a
/// check that took too long or crashed. A check that hangs stays behind in its process, which is killed and not waited
/// for. For programs with one thread.
std::vector<std::optional<std::string>> in_time(std::size_t count, const std::function<std::string(std::size_t)>& check,
                                                const time_bounds& bounds = {});

/// Runs a program found in PATH without a shell, with empty stdin and the environment of this process, and returns what
/// it printed on stdout, 1 MiB at most. nullopt: it did not start, failed, or took longer than `at_most` and was
/// killed.
std::optional<std::string> output_of(const std::vector<std::string>& words, std::chrono::milliseconds at_most);

}  // namespace mcpbx::cli::doctor
