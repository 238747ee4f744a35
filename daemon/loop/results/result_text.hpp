// The text of a tool's result as spans of the server's JSON, so that a part can be taken without unescaping or copying
// the rest. Offsets count the bytes of these spans one after another.
#pragma once
#include "mcp/json/raw_json.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::daemon::results {

/// Shares the bytes of the result, and is immutable after construction.
class result_text {
 public:
  /// Takes the text parts and the texts of embedded resources, or, if the content says nothing, the structured content
  /// as JSON. Shares the bytes of `result`.
  explicit result_text(const json::raw_json& result);

  std::size_t size() const noexcept { return size_; }
  /// Returns the greatest offset up to `at` that splits neither a character nor an escape.
  std::size_t boundary(std::size_t at) const;
  /// Appends the bytes from `from` up to `to`, which must be boundaries, to `json` as the inside of a JSON string, with
  /// a line break between two spans.
  void append(std::string& json, std::size_t from, std::size_t to) const;

 private:
  struct span {
    std::string_view text;  // points into result_
    std::size_t at = 0;     // offset of its first byte
    bool escaped = true;    // true: inside of a JSON string; false: plain text, such as structured content
  };
  void add(std::string_view text, bool escaped);

  json::raw_json result_;
  std::vector<span> spans_;
  std::size_t size_ = 0;
};

/// Returns the text of one part of a result's content, as a JSON string: of a text part or of an embedded resource with
/// text. Else absent.
json::raw_json text_of_part(const json::raw_json& part);

/// Returns true if the content has no parts, or only blank texts.
bool says_nothing(const json::raw_json& content);

}  // namespace mcpbx::daemon::results
