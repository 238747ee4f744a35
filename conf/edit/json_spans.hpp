// The bytes of a JSONC document's values: which part of the text is which member, element, bracket and comma. Made of a
// text that parse_jsonc() took without an error, so it checks nothing itself.
#pragma once
#include <cstddef>
#include <string_view>
#include <vector>

namespace mcpbx::conf::edit {

struct json_part;

/// One value as the bytes [begin, end) of its text.
struct json_span {
  std::size_t begin = 0, end = 0;
  std::vector<json_part> parts;  ///< members of an object or elements of a list, in the order of the file

  bool is_object(std::string_view text) const { return text[begin] == '{'; }
  bool is_list(std::string_view text) const { return text[begin] == '['; }
};

/// One member or element.
struct json_part {
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  std::size_t begin = 0, key_end = 0;  ///< of the quoted key; of an element both are the begin of the value
  json_span value;
  std::size_t comma = none;  ///< position of the comma behind the value
};

/// Returns the spans of the document's value. `text` must have passed parse_jsonc() without an error.
json_span spans_of(std::string_view text);

/// Returns the position behind blanks and comments that begin at `at`.
std::size_t behind_blanks(std::string_view text, std::size_t at);

}  // namespace mcpbx::conf::edit
