// Writes our own small JSON (status, errors, handshakes) straight into one string. Commas come from what was written
// last, so there is no nesting to keep track of; the writer's user keeps the order of begin and end.
#pragma once
#include "mcp/json/raw_json.hpp"

#include <charconv>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace mcpbx::mcp {

class json_out {
 public:
  json_out& begin_object() { return open('{'); }
  json_out& end_object() { return close('}'); }
  json_out& begin_array() { return open('['); }
  json_out& end_array() { return close(']'); }
  json_out& key(std::string_view name) {
    separate();
    append_quoted(out_, name);
    out_ += ':';
    return *this;
  }

  json_out& value(std::string_view text) {
    separate();
    append_quoted(out_, text);
    return *this;
  }
  json_out& value(const char* text) { return value(std::string_view(text)); }
  json_out& value(const std::string& text) { return value(std::string_view(text)); }
  json_out& value(bool b) { return token(b ? "true" : "false"); }
  json_out& value(std::integral auto n) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, n).ptr;
    return token({digits, static_cast<std::size_t>(end - digits)});
  }
  /// JSON as it stands; null when absent.
  json_out& value(const raw_json& json) { return token(json.empty() ? std::string_view("null") : json.text()); }

  template <class V>
  json_out& member(std::string_view name, const V& v) {
    return key(name).value(v);
  }

  const std::string& str() const noexcept { return out_; }
  raw_json json() const { return raw_json::own(out_); }

 private:
  void separate() {
    if (!out_.empty() && out_.back() != '{' && out_.back() != '[' && out_.back() != ':') out_ += ',';
  }
  json_out& open(char bracket) {
    separate();
    out_ += bracket;
    return *this;
  }
  json_out& close(char bracket) {
    out_ += bracket;
    return *this;
  }
  json_out& token(std::string_view text) {
    separate();
    out_ += text;
    return *this;
  }
  std::string out_;
};

}  // namespace mcpbx::mcp
