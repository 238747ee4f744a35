// Collects vendor fields of a chat-completions answer, which come in pieces and are sent back to their origin
// (DeepSeek, OpenRouter, DIAL, Gemini).
#pragma once
#include "mcp/json/json_writer.hpp"
#include "providers/wire/string_joiner.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::providers::openai {

/// Fields of an assistant message that only its origin understands and expects back.
class vendor_fields {
 public:
  /// Returns true for fields to keep: `reasoning…`, `thinking…`, `custom_content`, `extra_content`.
  static bool kept(std::string_view key);
  /// Returns true for fields with reasoning: `reasoning…`, `thinking…`.
  static bool is_reasoning(std::string_view key);
  /// Joins a piece: appends strings and lists, merges `custom_content` (delta_merge.hpp), replaces other values; null
  /// changes nothing. Drops fields beyond `max_fields`, and `custom_content` of more than `max_merged` values, which
  /// would take long to merge.
  static constexpr std::size_t max_fields = 1000, max_merged = 100'000;
  void add(std::string_view key, std::string_view value);
  bool empty() const;
  /// Writes a member for each field; leaves out reasoning if `reasoning` is false.
  void write(json::json_writer& w, bool reasoning = true) const;
  /// Returns `{"key":value,…}`, or an absent value.
  json::raw_json object() const;

 private:
  // An element of a list. It is split into members once, when a piece must be merged; its texts then grow in place.
  struct element {
    std::string json;  // the element as it came, until a piece is merged into it
    std::vector<std::pair<std::string, std::string>> members;
    std::map<std::string, std::size_t, std::less<>> places;  // index of members by name

    bool merge(std::string_view piece);
    std::string_view find(std::string_view key) const;
    void put(std::string_view key, std::string_view value);
    void write(json::json_writer& w) const;
  };
  struct field {
    std::string key;
    std::string text;                 // content of a string, unescaped
    std::vector<element> elements;    // elements of a list
    std::vector<std::string> deltas;  // pieces to merge at the end
    std::string value;                // any other value
    wire::string_joiner joiner;
    char kind = 0;           // '"', '[', 'm' (merged), 'v', or 'x' (left out)
    std::size_t values = 0;  // number of values in `deltas`
  };
  static void write_value(json::json_writer& w, const field& f);
  std::vector<field> fields_;
  std::map<std::string, std::size_t, std::less<>> places_;  // index of fields by name
};

}  // namespace mcpbx::providers::openai
