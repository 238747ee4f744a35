// The words that the journal writes for the enums of records, in the order of their values. They never change; a new
// value gets a new word at the end.
#pragma once
#include "daemon/store/record.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace mcpbx::daemon {

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

namespace record_words {

inline constexpr std::array<std::string_view, 9> model_error{"connection", "time_limit",  "refused",
                                                             "overloaded", "bad_request", "context_full",
                                                             "cut",        "garbage",     "configuration"};
inline constexpr std::array<std::string_view, 2> on_limit{"synthesize", "stop"};
inline constexpr std::array<std::string_view, 2> on_tool_error{"continue", "stop"};
inline constexpr std::array<std::string_view, 3> status_mode{"off", "names", "model"};
inline constexpr std::array<std::string_view, 2> round_prompt_mode{"implicit", "progressive"};
inline constexpr std::array<std::string_view, 3> approval_mode{"ask", "all", "none"};

}  // namespace record_words

/// words_of<E>::word(value) and words_of<E>::value(word).
template <class E>
struct words_of;
template <>
struct words_of<providers::role> : spoken<providers::role, providers::role::tool_results> {};
template <>
struct words_of<providers::end_reason> : spoken<providers::end_reason, providers::end_reason::malformed_call> {};
template <>
struct words_of<stop_reason> : spoken<stop_reason, stop_reason::repeated_calls> {};
template <>
struct words_of<record::result_cause> : spoken<record::result_cause, record::result_cause::refused> {};
template <>
struct words_of<providers::model_error::kind> : listed<providers::model_error::kind, record_words::model_error> {};
template <>
struct words_of<on_limit> : listed<on_limit, record_words::on_limit> {};
template <>
struct words_of<on_tool_error> : listed<on_tool_error, record_words::on_tool_error> {};
template <>
struct words_of<status_mode> : listed<status_mode, record_words::status_mode> {};
template <>
struct words_of<round_prompt_mode> : listed<round_prompt_mode, record_words::round_prompt_mode> {};
template <>
struct words_of<approval_mode> : listed<approval_mode, record_words::approval_mode> {};

}  // namespace mcpbx::daemon
