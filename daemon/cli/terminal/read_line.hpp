// Reads lines that a person types, while something else may end the wait.
#pragma once
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <string>

namespace mcpbx::cli::terminals {

/// Watch over an open question while the person thinks.
struct question_watch {
  int fd = -1;                       ///< becomes readable when something may have changed; -1: never
  std::function<bool()> still_open;  ///< called then; false: the question was answered elsewhere
};

enum class unanswered : std::uint8_t { end_of_input, interrupted, withdrawn };

/// Returns true if standard input and standard error are a terminal.
bool can_ask();

/// Drops input that was typed before a question appeared.
void drop_typed();

/// Reads one line from standard input, without its end; at most `most` bytes of it.
std::expected<std::string, unanswered> read_line(const question_watch& watch, std::size_t most);

}  // namespace mcpbx::cli::terminals
