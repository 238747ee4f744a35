// A session as people and programs keep it: Markdown and JSON lines. Pure.
#pragma once
#include "mcp/json/raw_json.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace mcpbx::cli {

/// A session as mcpbx/sessions/get tells it, all pages together.
struct session_export {
  raw_json head;                   ///< the first answer
  std::vector<raw_json> runs;      ///< its `runs`
  std::vector<raw_json> messages;  ///< of all pages, in order; `messages` of a run says how many are its own
};

/// For people: headings for who speaks, calls and results in fences that nothing inside of them can close.
std::string markdown_of(const session_export& s);
/// For programs: {"type":"session",…}, then for each run {"type":"run",…} and its {"type":"message","run",…}, one a
/// line.
std::string json_lines_of(const session_export& s);
/// All of it as one object: the session's members, `runs` and `messages`.
std::string json_of(const session_export& s);
/// "2026-11-21 19:41", UTC.
std::string date_of(std::int64_t ms);

}  // namespace mcpbx::cli
