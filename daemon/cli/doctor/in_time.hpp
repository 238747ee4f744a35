// Checks that may block for ever, such as a stat() on a dead mount or a look-up of a name, with a bound on their time.
#pragma once
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::cli::doctor {

struct time_bounds {
  std::chrono::milliseconds each{2'000};  ///< of one check
  std::chrono::milliseconds all{6'000};   ///< of all that are asked for together
};

/// Answers questions in one child process, which stays until the end of this object. One that hangs in a question or
/// crashes is killed and not waited for, and the next question gets a new one. For programs with one thread.
class checking_child {
 public:
  using serve_function = std::function<std::string(std::string_view question)>;
  explicit checking_child(serve_function serve, const time_bounds& bounds = {});
  ~checking_child();

  /// Returns the answers in the order of the questions; nullopt for one that took too long or crashed.
  std::vector<std::optional<std::string>> ask(const std::vector<std::string>& questions);

 private:
  class process;
  serve_function serve_;
  time_bounds bounds_;
  std::unique_ptr<process> process_;
};

/// Checks that one child process computes, one after the other, once all are known.
class check_list {
 public:
  /// Adds a check. `then` gets its text in this process; nullopt: it took too long or crashed.
  void add(std::function<std::string()> check, std::function<void(std::optional<std::string>)> then);
  void run(const time_bounds& bounds = {});

 private:
  struct item {
    std::function<std::string()> check;
    std::function<void(std::optional<std::string>)> then;
  };
  std::vector<item> items_;
};

/// Runs a program found in PATH without a shell, with empty stdin and the environment of this process, and returns its
/// stdout, 1 MiB at most. nullopt: it did not start, failed, or took longer than `at_most`.
std::optional<std::string> output_of(const std::vector<std::string>& words, std::chrono::milliseconds at_most);

}  // namespace mcpbx::cli::doctor
