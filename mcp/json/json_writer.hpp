// The one writer of our own JSON: records, status, handshakes, requests of models. It keeps the commas; its user keeps
// the order of begin and end.
#pragma once
#include "mcp/json/enum_words.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/json/segment_builder.hpp"

#include <charconv>
#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace mcpbx::json {

/// Appends a value and all that is in it, or several with commas between them, to `out`, which must outlive the writer.
/// `Out` is std::string, byte_buffer, or segment_builder, which takes raw_json without a copy. Never reads `out`.
template <class Out>
class basic_json_writer {
 public:
  explicit basic_json_writer(Out& out) : out_(out) {}
  basic_json_writer(const basic_json_writer&) = delete;
  basic_json_writer& operator=(const basic_json_writer&) = delete;

  basic_json_writer& begin_object() { return open('{'); }
  basic_json_writer& end_object() { return close('}'); }
  basic_json_writer& begin_array() { return open('['); }
  basic_json_writer& end_array() { return close(']'); }
  basic_json_writer& key(std::string_view name) {
    separate();
    append_quoted(out_, name);
    out_ += ':';
    comma_ = false;
    return *this;
  }

  basic_json_writer& value(std::string_view text) {
    separate();
    append_quoted(out_, text);
    return *this;
  }
  basic_json_writer& value(const char* text) { return value(std::string_view(text)); }
  basic_json_writer& value(const std::string& text) { return value(std::string_view(text)); }
  basic_json_writer& value(bool b) { return token(b ? "true" : "false"); }
  basic_json_writer& value(std::integral auto n) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, n).ptr;
    return token({digits, static_cast<std::size_t>(end - digits)});
  }
  /// JSON as it stands; null when absent.
  basic_json_writer& value(const raw_json& json) {
    if (json.empty()) return token("null");
    separate();
    return more(json);
  }
  /// Checked JSON as it stands: one value, or several with the commas between them.
  basic_json_writer& token(std::string_view json) {
    separate();
    out_ += json;
    return *this;
  }
  /// Continues a value of which token() or value() wrote the first part only.
  basic_json_writer& more(std::string_view rest) {
    out_ += rest;
    return *this;
  }
  basic_json_writer& more(const raw_json& rest) {
    if constexpr (requires { out_.append(rest); })
      out_.append(rest);
    else
      out_ += rest.text();
    return *this;
  }

  template <class V>
  basic_json_writer& member(std::string_view name, const V& v) {
    return key(name).value(v);
  }
  /// Several members: names and values in turn.
  template <class V, class... More>
  basic_json_writer& members(std::string_view name, const V& v, const More&... more) {
    member(name, v);
    if constexpr (sizeof...(more) > 0) members(more...);
    return *this;
  }
  template <class E>
  basic_json_writer& word(std::string_view name, E v) {
    return member(name, enum_words<E>::word(v));
  }
  /// An array of values of one kind.
  template <class Range>
  basic_json_writer& list(std::string_view name, const Range& values) {
    key(name).begin_array();
    for (const auto& v : values) value(v);
    return end_array();
  }

  // Writes the member unless it has nothing to say: an empty text, absent JSON, an absent value, false.
  basic_json_writer& filled(std::string_view name, std::string_view text) {
    return text.empty() ? *this : member(name, text);
  }
  basic_json_writer& given(std::string_view name, const raw_json& json) {
    return json.empty() ? *this : member(name, json);
  }
  template <class V>
  basic_json_writer& given(std::string_view name, const std::optional<V>& v) {
    return v ? member(name, *v) : *this;
  }
  basic_json_writer& set(std::string_view name, bool yes) { return yes ? member(name, true) : *this; }

  /// All that was written so far, with what stood in `out` before.
  const Out& str() const noexcept { return out_; }
  raw_json json() const { return raw_json::own(out_); }

 private:
  void separate() {
    if (std::exchange(comma_, true)) out_ += ',';
  }
  basic_json_writer& open(char bracket) {
    separate();
    out_ += bracket;
    comma_ = false;
    return *this;
  }
  basic_json_writer& close(char bracket) {
    out_ += bracket;
    comma_ = true;
    return *this;
  }
  Out& out_;
  bool comma_ = false;  // before the next key or value
};

using json_writer = basic_json_writer<std::string>;
using segment_writer = basic_json_writer<segment_builder>;

/// Returns an object with these members: names and values in turn.
template <class... NamesAndValues>
std::string json_object(const NamesAndValues&... names_and_values) {
  std::string out;
  json_writer(out).begin_object().members(names_and_values...).end_object();
  return out;
}

}  // namespace mcpbx::json
