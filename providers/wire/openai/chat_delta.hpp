// The vendor fields of a chat-completions answer, which come in pieces and which their origin wants back (DeepSeek,
// OpenRouter, DIAL, Gemini).
#pragma once
#include "mcp/json/raw_json.hpp"
#include "providers/wire/string_joiner.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::providers {

/// Fields of an assistant message that only its origin understands and wants back.
class vendor_fields {
 public:
  /// Whether a field of a message or delta is to be kept: `reasoning…`, `thinking…`, `custom_content`, `extra_content`.
  static bool kept(std::string_view key);
  /// Whether it is reasoning: `reasoning…` or `thinking…`.
  static bool is_reasoning(std::string_view key);
  /// Joins a further piece: strings are appended, lists go on, `custom_content` is merged (delta_merge.hpp), anything
  /// else replaces; null changes nothing. Of more than `max_fields` fields the others are left out, and so is
  /// `custom_content` of more than `max_merged` values: merging them would take long.
  static constexpr std::size_t max_fields = 1000, max_merged = 100'000;
  void add(std::string_view key, std::string_view value);
  bool empty() const;
  /// Appends `,"key":value` for each field; `reasoning` false: but for reasoning.
  void write(std::string& out, bool reasoning = true) const;
  /// `{"key":value,…}`, or absent.
  raw_json object() const;

 private:
  // An element of a list. Only what goes on is taken apart, once; its texts then grow in place.
  struct element {
    std::string json;  // as it came, until a piece is merged into it
    std::vector<std::pair<std::string, std::string>> members;
    std::map<std::string, std::size_t, std::less<>> places;  // of the members

    bool merge(std::string_view piece);
    std::string_view find(std::string_view key) const;
    void put(std::string_view key, std::string_view value);
    void write(std::string& out) const;
  };
  struct field {
    std::string key;
    std::string text;                 // of a string, unescaped
    std::vector<element> elements;    // of a list
    std::vector<std::string> deltas;  // what is to be merged
    std::string value;                // of anything else
    string_joiner joiner;
    char kind = 0;           // '"', '[', 'm' (merged), 'v', or 'x' (left out)
    std::size_t values = 0;  // of the deltas
  };
  static void write_value(std::string& out, const field& f);
  std::vector<field> fields_;
  std::map<std::string, std::size_t, std::less<>> places_;  // of the fields
};

}  // namespace mcpbx::providers
