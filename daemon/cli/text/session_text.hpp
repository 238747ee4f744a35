// Writes sessions as Markdown for people and as JSON lines for programs.
#pragma once
#include "daemon/cli/terminal/terminal.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/search/word_match.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace mcpbx::cli::text {

/// A session as mcpbx/sessions/get tells it, all pages together.
struct session_export {
  json::raw_json head;               ///< the first answer
  std::vector<json::raw_json> runs;  ///< its `runs`
  std::vector<json::raw_json>
      messages;  ///< messages of all pages in order; `messages` of a run is the number of its own
};

/// Returns Markdown: a heading for each speaker, calls and results in fences that their content cannot close.
std::string markdown_of(const session_export& s);
/// Returns lines of JSON: {"type":"session",…}, then for each run {"type":"run",…} and its {"type":"message","run",…}.
std::string json_lines_of(const session_export& s);
/// Returns one object with the session's members, `runs` and `messages`.
std::string json_of(const session_export& s);
/// Returns a line with the words that were searched for in bold.
terminals::styled marked(const std::string& line, const search::word_search& words);
/// "2026-11-21 19:41", UTC.
std::string date_of(std::int64_t ms);

}  // namespace mcpbx::cli::text
