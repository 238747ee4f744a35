// Spelling of enum values in JSON: one word for each, the same for reading and writing.
#pragma once
#include <cstddef>
#include <optional>
#include <string_view>

namespace mcpbx::json {

/// An enum whose words are those of its to_string; `Last` is its last value.
template <class E, E Last>
struct spoken {
  static std::string_view word(E value) { return to_string(value); }
  static std::optional<E> value(std::string_view word) {
    for (int i = 0; i <= static_cast<int>(Last); ++i)
      if (to_string(static_cast<E>(i)) == word) return static_cast<E>(i);
    return std::nullopt;
  }
};

/// An enum whose words stand in a table.
template <class E, const auto& Words>
struct listed {
  static std::string_view word(E value) {
    const auto i = static_cast<std::size_t>(value);
    return i < Words.size() ? Words[i] : Words[0];
  }
  static std::optional<E> value(std::string_view word) {
    for (std::size_t i = 0; i < Words.size(); ++i)
      if (Words[i] == word) return static_cast<E>(i);
    return std::nullopt;
  }
};

/// enum_words<E>::word(value) and enum_words<E>::value(word): how an enum is written. Words never change; a new value
/// gets a new word at the end.
template <class E>
struct enum_words;

}  // namespace mcpbx::json
