// Foreign text of bounded length, for people and for the log. Secrets are taken out before it is cut, in one step,
// since half of a secret is not recognised (docs/guarantees.md, G35): whoever shows a part of a foreign text calls one
// of these.
#pragma once
#include "mcp/redact/secret_table.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace mcpbx {

/// How a text is shown.
struct shown_text {
  std::string_view mark = {};  ///< put behind a text of which something was left out
  bool keep_lines = false;     ///< as in printable()
  cut_ends cut = {};           ///< what the text has lost already
};

/// `text`, a part of a longer one where `cut` says so, with *** for every value that the redactor knows and, at ends
/// that were cut, for what may be a part of one.
std::string redacted_part(std::string_view text, cut_ends cut);
/// The first `bytes` bytes of `text` at most (the mark not counted), redacted and printable. Of a text of any size only
/// a few times as much is looked at.
std::string cut_for_people(std::string_view text, std::size_t bytes, shown_text how = {});
/// The same of its last bytes; no mark.
std::string tail_for_people(std::string_view text, std::size_t bytes, shown_text how = {});
/// The first `bytes` bytes at most, redacted and otherwise as they are: the log escapes what does not belong there.
std::string cut_for_log(std::string_view text, std::size_t bytes, std::string_view mark = {});

}  // namespace mcpbx
