// The words of the loop's settings, in files, requests and the journal: each as an enum with its spelling. The journal
// keeps them, so they never change; a new value gets a new word at the end.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mcpbx::conf {

/// The end of a run whose rounds are used up: one last call without tools, or an end with the reason.
enum class limit_policy : std::uint8_t { synthesize, stop };
/// The end of a run after a tool error, or none.
enum class tool_error_policy : std::uint8_t { go_on, stop };
/// The prompt of a round: always the same, or one that tells how many rounds remain.
enum class round_prompt_mode : std::uint8_t { implicit, progressive };
/// The source of the status lines for people.
enum class status_mode : std::uint8_t { off, names, model };

/// The spelling of each value of E in the order of the enum.
template <class E>
inline constexpr std::array<std::string_view, 0> words_of{};
template <>
inline constexpr std::array<std::string_view, 2> words_of<limit_policy>{"synthesize", "stop"};
template <>
inline constexpr std::array<std::string_view, 2> words_of<tool_error_policy>{"continue", "stop"};
template <>
inline constexpr std::array<std::string_view, 2> words_of<round_prompt_mode>{"implicit", "progressive"};
template <>
inline constexpr std::array<std::string_view, 3> words_of<status_mode>{"off", "names", "model"};

/// An enum that is spelled by words_of.
template <class E>
concept worded = !words_of<E>.empty();

template <worded E>
constexpr std::string_view to_string(E value) {
  return words_of<E>[static_cast<std::size_t>(value)];
}

/// The sentences of progressive round prompts; {round} and {remaining} stand for numbers. Unset: our words, "":
/// nothing.
struct round_prompt_texts {
  std::optional<std::string> first, middle, last;
  bool operator==(const round_prompt_texts&) const = default;
};

}  // namespace mcpbx::conf
