// Shortens foreign text for people and for the log. Redacts secrets and cuts in one step, since half of a secret is not
// recognised (docs/guarantees.md, G35). Every place that shows a part of a foreign text must use these functions.
#pragma once
#include "mcp/redact/secret_table.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace mcpbx::redact {

/// Options for showing a text.
struct shown_text {
  std::string_view mark = {};  ///< appended if something was left out
  bool keep_lines = false;     ///< as for printable()
  cut_ends cut = {};           ///< ends at which the text was cut already
};

/// Replaces every known secret by ***; at ends that were cut, also text that may be a part of one. Finds a secret that
/// JSON has with escapes, too, and then writes all printable ASCII of the text without needless ones.
std::string redacted_part(std::string_view text, cut_ends cut);
/// Returns at most the first `bytes` bytes of `text` (the mark not counted), redacted and printable. Examines only a
/// few times as many bytes, however long the text is.
std::string cut_for_people(std::string_view text, std::size_t bytes, shown_text how = {});
/// Does the same for the last bytes, without a mark.
std::string tail_for_people(std::string_view text, std::size_t bytes, shown_text how = {});
/// Returns at most the first `bytes` bytes, redacted. Keeps control characters, which the log escapes.
std::string cut_for_log(std::string_view text, std::size_t bytes, std::string_view mark = {});

}  // namespace mcpbx::redact
