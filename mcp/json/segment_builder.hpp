// Output of a json_writer that joins written text with values kept elsewhere, without copying those.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "mcp/support/shared_bytes.hpp"

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::json {

/// Collects text, which is copied once into one block, and pieces of JSON, which are not copied.
class segment_builder {
 public:
  segment_builder& operator+=(std::string_view text) {
    text_ += text;
    return *this;
  }
  segment_builder& operator+=(char c) {
    text_ += c;
    return *this;
  }
  void append(raw_json piece) { pieces_.push_back({text_.size(), std::move(piece)}); }
  friend void append_quoted(segment_builder& out, std::string_view text) { append_quoted(out.text_, text); }
  /// Returns all that was added, and leaves the builder empty.
  segments take();

 private:
  struct piece {
    std::size_t at;  // bytes of text_ before it
    raw_json json;
  };
  byte_buffer text_;
  std::vector<piece> pieces_;
};

}  // namespace mcpbx::json
