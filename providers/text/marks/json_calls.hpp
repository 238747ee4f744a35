// From a whole text that stands where calls are expected to the calls it holds: JSON in the shapes that models use, and
// Python's call syntax. What cannot be read becomes a call with `problem`, never one with other arguments.
#pragma once
#include "providers/model/names.hpp"
#include "providers/text/marks/offered_tools.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::providers::text {

/// A call with nothing but a problem; `written` is what the model wrote.
tool_call_block unreadable_call(std::string_view written, std::string_view why);

/// Appends the calls in `json`, an object or list that may need repair: {name, arguments} and its relatives
/// ("parameters", "args", "input"; {"function": {…}}, {"tool_calls": […]}).
void read_json_calls(std::string_view json, const offered_tools& tools, std::vector<tool_call_block>& out);

/// Appends the calls before the cut of a list of calls, JSON or Python's, that lost its end; of `offered` tools only,
/// if so. Returns how many bytes of `list` are done with, 0 when there is no such call. What stands behind a call must
/// not be a part of it: a call without arguments at the end is not taken, nor one there with a string that may hold the
/// end of the list.
std::size_t read_cut_list(std::string_view list, bool offered, const offered_tools& tools,
                          std::vector<tool_call_block>& out);

/// How much `json`, which has no mark around it, is a call: each object of it names an offered tool (`named`), and has
/// a member for its arguments (`with_arguments`).
struct likeness {
  bool named = false, with_arguments = false;
};
likeness likeness_of(std::string_view json, const offered_tools& tools);

/// What stands before the bracket of a call in Python's syntax, as the name of a tool: `f` of `f.call`.
std::string_view python_callee(std::string_view written);
/// Appends the calls in Python's syntax, `f(a=1)`, `f.call(a=1)` or a list of such. False, and nothing appended, when
/// `text` is none.
bool read_python_calls(std::string_view text, const offered_tools& tools, std::vector<tool_call_block>& out);
/// Whether `text` is a list of such calls of offered tools only.
bool is_python_calls(std::string_view text, const offered_tools& tools);

}  // namespace mcpbx::providers::text
