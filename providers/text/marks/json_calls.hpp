// Reads calls from complete texts at places where calls are expected: JSON in the shapes that models use, and Python's
// call syntax. An unreadable text becomes a call with `problem`, never one with guessed arguments.
#pragma once
#include "providers/model/names.hpp"
#include "providers/text/marks/offered_tools.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::providers::text::marks {

/// Returns a call with a problem and nothing else; `written` is the model's text.
tool_call_block unreadable_call(std::string_view written, std::string_view why);

/// Appends the calls in `json`, an object or list that may need repair: {name, arguments} and its relatives
/// ("parameters", "args", "input"; {"function": {…}}, {"tool_calls": […]}).
void read_json_calls(std::string_view json, const offered_tools& tools, std::vector<tool_call_block>& out);

/// Appends the complete calls of a list, in JSON or Python, that lost its end; with `offered`, calls of offered tools
/// only. Returns the number of bytes consumed; 0: no such call. Leaves out a last call that may be incomplete: one
/// without arguments, or with a string that may contain the end of the list.
std::size_t read_cut_list(std::string_view list, bool offered, const offered_tools& tools,
                          std::vector<tool_call_block>& out);

/// Signs that `json` without a mark around it is a call: each object names an offered tool (`named`), and has a member
/// for its arguments (`with_arguments`).
struct likeness {
  bool named = false, with_arguments = false;
};
likeness likeness_of(std::string_view json, const offered_tools& tools);

/// Returns the tool's name from the text before the bracket of a Python call: `f` of `f.call`.
std::string_view python_callee(std::string_view written);
/// Appends calls in Python's syntax: `f(a=1)`, `f.call(a=1)`, or a list of them. Returns false and appends nothing if
/// `text` is something else.
bool read_python_calls(std::string_view text, const offered_tools& tools, std::vector<tool_call_block>& out);
/// Returns true if `text` is a list of Python calls of offered tools only.
bool is_python_calls(std::string_view text, const offered_tools& tools);

}  // namespace mcpbx::providers::text::marks
