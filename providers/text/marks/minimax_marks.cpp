// Looks at the token first: only behind it a mark counts.
#include "providers/text/marks/minimax_marks.hpp"

namespace mcpbx::providers::text::marks {

minimax_found match_minimax(std::string_view s) {
  constexpr std::string_view section = "<tool_call>", invoke = "<invoke ";
  if (const auto token = begins(s, minimax_mark); token != match::yes) return {.is = token};
  const auto next = behind_blanks(s, minimax_mark.size());
  if (next == npos) return {.is = match::maybe};
  const auto behind = s.substr(next);
  const auto opens_section = begins(behind, section), opens_call = begins(behind, invoke);
  if (opens_section == match::yes) return {match::yes, minimax_kind::section, next + section.size()};
  if (opens_call == match::yes) return {match::yes, minimax_kind::invoke, minimax_mark.size()};
  if (opens_section == match::maybe || opens_call == match::maybe) return {.is = match::maybe};
  return {match::yes, minimax_kind::other, minimax_mark.size()};
}

}  // namespace mcpbx::providers::text::marks
