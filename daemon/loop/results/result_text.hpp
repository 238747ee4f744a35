// The text of a tool's result as the spans the server wrote, so that a part of it can be taken without unescaping, or
// copying, the rest. Offsets count the bytes of those spans one after another.
#pragma once
#include "mcp/json/raw_json.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::daemon {

class result_text {
 public:
  /// Text parts and the texts of embedded resources; where these say nothing, the structured content as JSON.
  explicit result_text(const raw_json& result);

  std::size_t size() const noexcept { return size_; }
  /// The greatest offset up to `at` that splits neither a character nor an escape.
  std::size_t boundary(std::size_t at) const;
  /// Appends bytes `from` … `to` (both boundaries) to the inside of a JSON string; parts are parted by a line break.
  void append(std::string& json, std::size_t from, std::size_t to) const;

 private:
  struct span {
    std::string_view text;  // into result_
    std::size_t at = 0;     // its offset
    bool escaped = true;    // the inside of a JSON string, as opposed to text that is none
  };
  void add(std::string_view text, bool escaped);

  raw_json result_;
  std::vector<span> spans_;
  std::size_t size_ = 0;
};

/// The text of one part of a result's content as a JSON string, or absent: of text parts and of resources with text.
raw_json text_of_part(const raw_json& part);

/// Whether the content says nothing: no part, or blank texts only.
bool says_nothing(const raw_json& content);

}  // namespace mcpbx::daemon
