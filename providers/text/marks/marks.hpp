// The marks of the tagged forms, and a first guess about JSON without a mark.
#pragma once
#include "providers/text/marks/offered_tools.hpp"
#include "providers/text/marks/text_scan.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace mcpbx::providers::text::marks {

enum class mark_kind : unsigned char {
  tag,        ///< calls as JSON or markup follow
  list,       ///< calls as <invoke> follow
  markup,     ///< a call itself
  pair,       ///< an argument whose call has lost its beginning
  python,     ///< <|python_tag|>
  think,      ///< reasoning follows
  end_think,  ///< reasoning came before
  role,       ///< a control token with the name of a role behind it
  control,    ///< another control token
  result      ///< an invented result of a tool, behind a call
};
struct mark {
  std::string_view text;
  mark_kind kind;
};

/// The opening mark of Gemma's calls.
inline constexpr std::string_view gemma_mark = "<|tool_call>";
/// Marks that begin with an angle bracket. None is the beginning of another.
inline constexpr std::array<mark, 56> angle_marks{{
    {"<tool_call>", mark_kind::tag},
    {"<tool_calls>", mark_kind::tag},
    {"<toolcall>", mark_kind::tag},
    {"<TOOLCALL>", mark_kind::tag},
    {"<|tool_call|>", mark_kind::tag},
    {gemma_mark, mark_kind::tag},
    {"<seed:tool_call>", mark_kind::tag},
    {"<function_call>", mark_kind::tag},
    {"<tool_use>", mark_kind::tag},
    {"<tool-use>", mark_kind::tag},
    {"<|START_ACTION|>", mark_kind::tag},
    {"<|tool_call_begin|>", mark_kind::tag},
    {"<｜tool▁call▁begin｜>", mark_kind::tag},
    {"<minimax:tool_call>", mark_kind::list},
    {"<function_calls>", mark_kind::list},
    {"<antml:function_calls>", mark_kind::list},
    {"<function=", mark_kind::markup},
    {"<function name=", mark_kind::markup},
    {"<invoke ", mark_kind::markup},
    {"<antml:invoke ", mark_kind::markup},
    {"<arg_key>", mark_kind::pair},
    {"<|python_tag|>", mark_kind::python},
    {"<|tool_call_start|>", mark_kind::python},
    {"<|python_start|>", mark_kind::python},
    {"<think>", mark_kind::think},
    {"</think>", mark_kind::end_think},
    {"<mm:think>", mark_kind::think},
    {"</mm:think>", mark_kind::end_think},
    {"<|channel>", mark_kind::think},
    {"<channel|>", mark_kind::control},
    {"<|turn>", mark_kind::role},
    {"<turn|>", mark_kind::control},
    {"<|\"|>", mark_kind::control},
    {"<tool_response|>", mark_kind::control},
    {"<|start_header_id|>", mark_kind::role},
    {"<|im_start|>", mark_kind::role},
    {"<|end_header_id|>", mark_kind::control},
    {"<|im_end|>", mark_kind::control},
    {"<|eot_id|>", mark_kind::control},
    {"<|eom_id|>", mark_kind::control},
    {"<|eot|>", mark_kind::control},
    {"<|eom|>", mark_kind::control},
    {"<|begin_of_text|>", mark_kind::control},
    {"<|end_of_text|>", mark_kind::control},
    {"<|endoftext|>", mark_kind::control},
    {"<|end|>", mark_kind::control},
    {"<|observation|>", mark_kind::control},
    {"<|user|>", mark_kind::control},
    {"<s>", mark_kind::control},
    {"</s>", mark_kind::control},
    {"<end_of_turn>", mark_kind::control},
    {"<tool_response>", mark_kind::result},
    {"<|tool_response>", mark_kind::result},
    {"<function_results>", mark_kind::result},
    {"<antml:function_results>", mark_kind::result},
    {"<tool_result>", mark_kind::result},
}};
inline constexpr std::string_view end_header = "<|end_header_id|>", fence_mark = "```",
                                  tool_calls_mark = "[TOOL_CALLS]", tool_results_mark = "[TOOL_RESULTS]",
                                  arguments_mark = "[ARGS]", call_id_mark = "[CALL_ID]",
                                  calling_mark = "[calling tool:", think_mark = "[THINK]", end_think_mark = "[/THINK]";
/// A mark that may close a call. Behind a complete call it is ignored.
struct closing_mark {
  std::string_view text;
  bool outer;  ///< it closes the mark around calls
};
inline constexpr std::array<closing_mark, 24> closing_marks{{{"</tool_call>", true},
                                                             {"</tool_calls>", true},
                                                             {"</toolcall>", true},
                                                             {"</TOOLCALL>", true},
                                                             {"</seed:tool_call>", true},
                                                             {"</minimax:tool_call>", true},
                                                             {"</function_call>", true},
                                                             {"</function_calls>", true},
                                                             {"</antml:function_calls>", true},
                                                             {"</tool_use>", true},
                                                             {"</tool-use>", true},
                                                             {"<|tool_call_end|>", true},
                                                             {"<|/tool_call|>", true},
                                                             {"<｜tool▁call▁end｜>", true},
                                                             {"<|END_ACTION|>", true},
                                                             {"<|python_end|>", true},
                                                             {"<|call|>", true},
                                                             {"<tool_call|>", true},
                                                             {"[/TOOL_CALLS]", true},
                                                             {"</function>", false},
                                                             {"</invoke>", false},
                                                             {"</antml:invoke>", false},
                                                             {"<function>", false},
                                                             {"[/ARGS]", false}}};

/// Comparison of a text with a mark: begins() or begins_like().
using compare_mark = match (*)(std::string_view s, std::string_view mark);
/// Compares `s` with a range of marks and returns the surest of all answers.
template <class Marks>
match begins_any(std::string_view s, Marks&& marks, compare_mark compare = begins) {
  auto found = match::no;
  for (const std::string_view mark : marks) {
    const auto one = compare(s, mark);
    if (one == match::yes) return one;
    if (one == match::maybe) found = one;
  }
  return found;
}
/// Returns the mark that `s` begins with, or null. Sets `maybe` if `s` may still become another one.
inline const std::string_view* first_of(std::string_view s, std::span<const std::string_view> marks, bool& maybe,
                                        compare_mark compare = begins) {
  for (const auto& mark : marks) {
    const auto one = compare(s, mark);
    if (one == match::yes) return &mark;
    maybe = maybe || one == match::maybe;
  }
  return nullptr;
}

/// Marks that some model families put between the name of a tool and its arguments.
inline constexpr std::array<std::string_view, 2> argument_marks{"<|tool_call_argument_begin|>", "<｜tool▁sep｜>"};

/// Length in bytes of the longest tag that match_tag() finds.
inline constexpr std::size_t longest_tag = 64;
/// Result of a search for a mark at the beginning of a text, with the length of the mark.
struct found_tag {
  match is = match::no;
  std::size_t size = 0;
};
/// Compares the beginning of `s` with `tag`, a mark in square brackets or an opening or closing tag. Accepts the usual
/// misspellings: any case, blanks inside angle brackets, and attributes (NAME="…") of an opening tag.
found_tag match_tag(std::string_view s, std::string_view tag);
/// Compares with a mark of the table: marks around calls and results as match_tag() does, marks that are a call
/// themselves in any case, all others exactly.
found_tag match_mark(std::string_view s, const mark& m);
/// Compares with a closing mark as match_tag() does, except for the one that looks like an opening mark.
found_tag match_mark(std::string_view s, const closing_mark& m);

/// Finds a special token of any model at the beginning of `s`: <|WORD|>, also with the bars of another script. Such
/// tokens are never shown to people.
found_tag match_special(std::string_view s);

/// Marks of the tables that are possible at an angle bracket, each as a bit.
struct possible_marks {
  match is = match::no;                    ///< yes: at least one; maybe: more text is needed
  std::uint64_t opening = 0, closing = 0;  ///< bits of angle_marks and of closing_marks
};
/// Returns the marks that are possible at the angle bracket at the beginning of `s`, nearly always none. Decides by the
/// first two bytes that are no blanks, so that most brackets cost no comparison.
possible_marks marks_at(std::string_view s);
inline match begins_some_mark(std::string_view s) {
  return marks_at(s).is;
}

/// Guess about a text that begins with `{` or `[`, as far as it has come.
struct untagged_guess {
  match is = match::no;  ///< yes: read on to its end and judge then
  bool named = false;    ///< an offered tool's name has come already
  bool python = false;   ///< it looks like a list of Python calls
};
untagged_guess guess_untagged(std::string_view text, const offered_tools& tools, bool at_line_start);

}  // namespace mcpbx::providers::text::marks
