// The words of the loop's settings, in files, requests and the journal: each as an enum with its spelling. The journal
// keeps them, so they never change; a new value gets a new word at the end.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mcpbx::conf::loop {

/// The end of a run whose rounds are used up: one last call without tools, or an end with the reason.
enum class limit_policy : std::uint8_t { synthesize, stop };
/// The end of a run after a tool error, or none.
enum class tool_error_policy : std::uint8_t { go_on, stop };
/// The prompt of a round: always the same, or one that tells how many rounds remain.
enum class round_prompt_mode : std::uint8_t { implicit, progressive };
/// The source of the status lines for people.
enum class status_mode : std::uint8_t { off, names, model };
/// Treatment of calls that need approval (L19): ask the caller, make them, or refuse them.
enum class approval_mode : std::uint8_t { ask, all, none };

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
template <>
inline constexpr std::array<std::string_view, 3> words_of<approval_mode>{"ask", "all", "none"};

/// An enum that is spelled by words_of.
template <class E>
concept worded = !words_of<E>.empty();

template <worded E>
constexpr std::string_view to_string(E value) {
  return words_of<E>[static_cast<std::size_t>(value)];
}

}  // namespace mcpbx::conf::loop
