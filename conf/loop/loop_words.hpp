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

/// When the rounds are used up: one last call without tools, or an end with the reason.
enum class limit_policy : std::uint8_t { synthesize, stop };
/// Whether the run goes on after a tool error.
enum class tool_error_policy : std::uint8_t { go_on, stop };
/// Whether each round says where the run stands.
enum class round_prompt_mode : std::uint8_t { implicit, progressive };
/// Where the status lines for people come from.
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

/// What a run with progressive round prompts says in its rounds; {round} and {remaining} stand for numbers. Unset: our
/// words, "": nothing.
struct round_prompt_texts {
  std::optional<std::string> first, middle, last;
  bool operator==(const round_prompt_texts&) const = default;
};

}  // namespace mcpbx::conf
