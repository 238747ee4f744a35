// The settings of the loop that are no numbers: words, switches and texts. A new one is a member of loop_choices, with
// its default, and a row of choice_rows, with its key and meaning: files, requests, resumed runs, the journal and the
// schema go by the rows. A word also needs its enum in loop_words.hpp.
#pragma once
#include "conf/loop/loop_numbers.hpp"
#include "conf/loop/loop_words.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace mcpbx::conf::loop {

/// A setting that is off, on, or on with a text in place of ours.
struct switch_or_text {
  bool on = false;
  std::string text;  ///< "": ours
  bool operator==(const switch_or_text&) const = default;
};

/// The sentences of progressive round prompts; {round} and {remaining} stand for numbers. Unset: our words, "":
/// nothing.
struct round_prompt_texts {
  std::optional<std::string> first, middle, last;
  bool operator==(const round_prompt_texts&) const = default;
};

/// A value that a level of settings may leave to the next one.
template <class T>
using open_value = std::optional<T>;
/// A value of a run, after all levels were laid over each other.
template <class T>
using settled_value = T;

/// A text may not be empty in files and requests; "" stands for a text that is not set.
template <template <class> class As>
struct loop_choices {
  As<limit_policy> on_limit = usual<As<limit_policy>>(limit_policy::synthesize);
  As<tool_error_policy> on_tool_error = usual<As<tool_error_policy>>(tool_error_policy::go_on);
  As<round_prompt_mode> round_prompts = usual<As<round_prompt_mode>>(round_prompt_mode::implicit);
  round_prompt_texts round_texts;  ///< each of the texts may be left open
  As<status_mode> status = usual<As<status_mode>>(status_mode::names);
  As<std::string> status_model;  ///< "": the run's own
  As<switch_or_text> guidance = usual<As<switch_or_text>>(switch_or_text{true, {}});
  As<bool> approve_destructive = usual<As<bool>>(false);
  As<bool> approve_after_output = usual<As<bool>>(false);
  As<bool> mark_results = usual<As<bool>>(false);
  As<bool> server_instructions = usual<As<bool>>(false);
  As<std::string> empty_result_text = usual<As<std::string>>("No relevant content found");
  As<approval_mode> approve = usual<As<approval_mode>>(approval_mode::ask);
  bool operator==(const loop_choices&) const = default;
};
using open_choices = loop_choices<open_value>;
using settled_choices = loop_choices<settled_value>;

/// Returns `mine`: a setting that restricts nothing has no stricter value.
template <class T>
constexpr T keep_mine(const T& mine, const T&) {
  return mine;
}
/// Returns the first of `strictest` that `mine` or `other` is, else `mine`.
template <auto... strictest, class T>
constexpr T prefer(const T& mine, const T& other) {
  for (const T value : {T(strictest)...})
    if (mine == value || other == value) return value;
  return mine;
}

template <class Open, class Settled>
struct loop_choice {
  std::string_view key;  ///< in files, requests and the journal
  Open open_choices::* open;
  Settled settled_choices::* settled;
  std::size_t journal;       ///< place in the journal, which never changes; a new one gets the next number
  std::string_view meaning;  ///< a sentence for the schema
  Settled (*stricter)(const Settled& mine, const Settled& other) = keep_mine<Settled>;
  bool names_model = false;  ///< a text that names a model entry
  bool in_files = true;      ///< false: a member of requests only, beside `limits`
};

/// True for `decltype(row.settled)` of a text.
template <class Member>
inline constexpr bool is_text = std::is_same_v<Member, std::string settled_choices::*>;

// clang-format off: one setting, one line
/// In the order of the schema.
inline constexpr auto choice_rows = [] {
  using o = open_choices;
  using s = settled_choices;
  return std::tuple{
    loop_choice{"onLimit", &o::on_limit, &s::on_limit, 0, "When the rounds are used up: one last call without tools, or an end with the reason."},
    loop_choice{"onToolError", &o::on_tool_error, &s::on_tool_error, 1, "Whether the run goes on after a tool error or stops.", prefer<tool_error_policy::stop>},
    loop_choice{"roundPrompts", &o::round_prompts, &s::round_prompts, 7, "Whether the prompt stays the same or tells the model how many rounds remain."},
    loop_choice{"roundPromptTexts", &o::round_texts, &s::round_texts, 8, "What progressive rounds say, in place of the usual words."},
    loop_choice{"status", &o::status, &s::status, 2, "The status line for people: none, from the tools' names, or written by a model."},
    loop_choice{.key = "statusModel", .open = &o::status_model, .settled = &s::status_model, .journal = 9, .meaning = "The model entry that writes the status line; the run's own model when not given.", .names_model = true},
    loop_choice{"guidance", &o::guidance, &s::guidance, 6, "The advice about tools in the system prompt: on, off, or a text in its place."},
    loop_choice{"approveDestructive", &o::approve_destructive, &s::approve_destructive, 4, "Whether tools that do not say that they only read, or destroy nothing, need a yes of the caller inside a run.", prefer<true>},
    loop_choice{"approveAfterOutput", &o::approve_after_output, &s::approve_after_output, 11, "Whether such tools need a yes once the model has been shown what a tool returned, or a server's instructions.", prefer<true>},
    loop_choice{"markResults", &o::mark_results, &s::mark_results, 10, "Whether tool output is shown to the model between marks that it cannot contain, as data."},
    loop_choice{"serverInstructions", &o::server_instructions, &s::server_instructions, 12, "Whether the model is given the instructions of the tool servers whose tools it is offered, as data."},
    loop_choice{"emptyResultText", &o::empty_result_text, &s::empty_result_text, 5, "What the model is told when a tool returns nothing."},
    loop_choice{.key = "approve", .open = &o::approve, .settled = &s::approve, .journal = 3, .meaning = "", .stricter = prefer<approval_mode::none, approval_mode::ask>, .in_files = false},
  };
}();
// clang-format on

/// Calls f(row) for each row in the order of the schema.
template <class F>
void each_choice(F&& f) {
  std::apply([&](const auto&... row) { (f(row), ...); }, choice_rows);
}

/// The index of each row in the order of the journal. Does not compile if two rows have one place, or a place no row.
inline constexpr auto journal_order = std::apply(
    [](const auto&... row) {
      constexpr std::size_t none = sizeof...(row);
      std::array<std::size_t, none> order;
      order.fill(none);
      std::size_t i = 0;
      ((order.at(row.journal) = order.at(row.journal) == none ? i++ : throw "two rows have this place"), ...);
      return order;
    },
    choice_rows);

/// Calls f(row) for each row in the order of the journal.
template <class F>
void each_choice_in_journal(F&& f) {
  [&]<std::size_t... i>(std::index_sequence<i...>) {
    (f(std::get<journal_order[i]>(choice_rows)), ...);
  }(std::make_index_sequence<journal_order.size()>());
}

// Returns false for a value that need not be written where it is the default: off, no text.
template <worded E>
constexpr bool says_something(E) {
  return true;
}
constexpr bool says_something(bool on) {
  return on;
}
inline bool says_something(const std::string& text) {
  return !text.empty();
}
inline bool says_something(const switch_or_text& v) {
  return v.on || !v.text.empty();
}
inline bool says_something(const round_prompt_texts& texts) {
  return texts != round_prompt_texts();
}

}  // namespace mcpbx::conf::loop
