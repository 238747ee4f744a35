// Search for words in the records of a run: questions, answers of models and results of tools. No I/O.
#pragma once
#include "daemon/store/records/record.hpp"
#include "daemon/store/records/sessions.hpp"
#include "mcp/search/word_match.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::daemon::stored {

/// One run in which the words were found.
struct word_hit {
  std::string session, run, principal;
  std::int64_t started_ms = 0;
  std::string role;  ///< of who said it: "user", "assistant" or "tool"; or "trace", if the words are its trace id
  std::string line;  ///< with the words, without secrets, at most 300 bytes and marks
};

/// Looks through one run. Feed it its records in order, until found() has something.
class run_search {
 public:
  static constexpr std::size_t longest_line = 300;
  explicit run_search(const search::word_search& words) : words_(words) {}
  /// Takes a record as stored text. Returns true once all words were found in one message.
  bool add(std::string_view text);
  const std::string& role() const noexcept { return role_; }
  const std::string& line() const noexcept { return line_; }

 private:
  bool look(std::string_view role, std::string_view text);
  bool look_at_trace(const trace::trace_context& trace);
  const search::word_search& words_;
  std::string role_, line_;
};

}  // namespace mcpbx::daemon::stored
