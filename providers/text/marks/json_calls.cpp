// Reads calls in the JSON shapes that models use. Python's syntax is in python_calls.cpp.
#include "providers/text/marks/json_calls.hpp"

#include "mcp/json/json_walk.hpp"
#include "mcp/support/log.hpp"
#include "mcp/support/text.hpp"
#include "providers/model/arguments.hpp"
#include "providers/model/json_repair.hpp"
#include "providers/text/marks/brackets.hpp"
#include "providers/text/marks/text_scan.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace mcpbx::providers::text::marks {
namespace {

constexpr std::array<std::string_view, 5> name_keys{"name", "tool_name", "tool", "function_name", "action"};
constexpr std::array<std::string_view, 7> argument_keys{"arguments", "parameters", "args",        "tool_input",
                                                        "input",     "params",     "action_input"};
// Members to ignore, unless the tool has an argument of that name.
constexpr std::array<std::string_view, 5> other_keys{"type", "id", "index", "thought", "tool_call_id"};

// Returns true if the last string of `call` ends in a bracket and only brackets follow it. The bracket may have
// swapped places with the quote, and then it is the one that is missing behind the call.
bool may_hold_its_end(std::string_view call) {
  constexpr std::string_view closing = ")]}";
  const auto end = call.find_last_not_of(")]} \t\r\n");
  return end != npos && end > 0 && std::string_view("\"'`").contains(call[end]) && closing.contains(call[end - 1]);
}

// Members of one object that make a call.
struct call_form {
  std::string_view name, arguments, list;
  std::array<bool, other_keys.size()> others{};  // other_keys that the object has
  bool more = false;                             // it has further members, or two that contradict each other
};

bool is_empty(std::string_view json) {
  return json.empty() || json == "null" || json == "{}" || json == "\"\"";
}

call_form form_of(std::string_view object, int depth = 0) {
  call_form form;
  std::string_view inner;
  std::size_t name_rank = name_keys.size(), argument_rank = argument_keys.size();
  json::walk::members(object, [&](std::string_view key, std::string_view value) {
    for (std::size_t i = 0; i < name_keys.size(); ++i)
      if (key == name_keys[i]) {
        form.more = form.more || (!form.name.empty() && form.name != value);
        if (i <= name_rank) {
          name_rank = i;
          form.name = value;
        }
        return;
      }
    for (std::size_t i = 0; i < argument_keys.size(); ++i)
      if (key == argument_keys[i]) {
        form.more = form.more || (!form.arguments.empty() && form.arguments != value);
        if (i <= argument_rank) {
          argument_rank = i;
          form.arguments = value;
        }
        return;
      }
    if (key == "function" && json::walk::is_string(value)) {
      form.more = form.more || (!form.name.empty() && form.name != value);
      if (form.name.empty()) form.name = value;
      return;
    }
    if ((key == "function" || key == "tool_call" || key == "function_call") && json::walk::is_object(value)) {
      inner = value;
      return;
    }
    if (key == "tool_calls" && json::walk::is_array(value)) {
      form.list = value;
      return;
    }
    for (std::size_t i = 0; i < other_keys.size(); ++i)
      if (key == other_keys[i]) {
        const bool kind =
            key == "type" && (value == "\"function\"" || value == "\"tool_call\"" || value == "\"tool_use\"");
        form.others[i] = form.others[i] || !kind;
        return;
      }
    form.more = true;
  });
  if (!inner.empty() && form.name.empty() && depth < 4) {
    auto nested = form_of(inner, depth + 1);
    if (nested.arguments.empty())
      nested.arguments = form.arguments;
    else
      nested.more = nested.more || !is_empty(form.arguments);
    nested.more = nested.more || form.more;
    return nested;
  }
  return form;
}

// Returns `json` itself or its repaired form. Returns "" and sets `why` if it is unreadable.
std::string readable(std::string_view json, bool& repaired, std::string& why) {
  if (const auto value = json::raw_json::parse(json, max_argument_depth + 2)) return std::string(value->text());
  auto text = json.starts_with('[') ? repair_json_value(json) : repair_json(json);
  if (!text) {
    why = text.error().message;
    return {};
  }
  if (const auto value = json::raw_json::parse(text->text, max_argument_depth + 2); !value) {
    why = value.error().message;
    return {};
  }
  repaired = true;
  if (log::enabled(log::level::info)) {
    std::string all;
    for (const auto what : text->repairs) all += (all.empty() ? "" : ", ") + std::string(what);
    log::info("a tool call in a model's text was no JSON and was put right: " + all);
  }
  return std::move(text->text);
}

void read_object(std::string_view object, const offered_tools& tools, bool repaired, int depth,
                 std::vector<tool_call_block>& out) {
  if (out.size() > max_reply_calls) return;
  const auto form = form_of(object);
  if (!form.list.empty() && form.name.empty() && depth < 4) {
    json::walk::elements(form.list, [&](std::string_view one) { read_object(one, tools, repaired, depth + 1, out); });
    return;
  }
  const auto written = json::walk::text(form.name);
  if (trimmed(written).empty()) {
    out.push_back(unreadable_call(object, "it has no \"name\""));
    return;
  }
  const auto* tool = tools.find(written);
  bool lost = form.more;
  for (std::size_t i = 0; i < other_keys.size() && !lost; ++i)
    lost =
        form.others[i] && has_property(tool, other_keys[i]) && json::walk::find(form.arguments, other_keys[i]).empty();
  if (lost) {
    out.push_back(unreadable_call(
        object, form.arguments.empty() ? "it has no \"arguments\"" : "some of it stands outside of its \"arguments\""));
    out.back().name = tools.resolve(written);
    return;
  }
  tool_call_block call;
  call.name = tools.resolve(written);
  call.repaired = repaired;
  set_arguments(call, tool, form.arguments);
  out.push_back(std::move(call));
}

}  // namespace

tool_call_block unreadable_call(std::string_view written, std::string_view why) {
  tool_call_block call;
  call.name = nameless_call;
  call.arguments_text = written;
  call.problem = "The tool call could not be read (" + std::string(why) +
                 "), so no tool was run. Write it again in exactly the form that you were told.";
  return call;
}

void read_json_calls(std::string_view json, const offered_tools& tools, std::vector<tool_call_block>& out) {
  bool repaired = false;
  std::string why;
  const auto text = readable(json, repaired, why);
  if (text.empty()) {
    out.push_back(unreadable_call(json, why));
    return;
  }
  if (json::walk::is_object(text)) return read_object(text, tools, repaired, 0, out);
  const auto before = out.size();
  json::walk::elements(text, [&](std::string_view one) { read_object(one, tools, repaired, 0, out); });
  if (out.size() == before) out.push_back(unreadable_call(json, "the list is empty"));
}

std::size_t read_cut_list(std::string_view list, bool offered, const offered_tools& tools,
                          std::vector<tool_call_block>& out) {
  std::size_t done = 0, before_last = 0;
  bool doubtful = false;
  for (auto at = skip_blanks(list, 1); list.starts_with('[') && at < list.size() && out.size() <= max_reply_calls;) {
    const auto begin = at;
    while (at < list.size() && is_name_char(list[at])) ++at;
    const bool python = at > begin;
    if (at == list.size() || list[at] != (python ? '(' : '{')) break;
    bracket_scanner brackets;
    at += brackets.feed(list.substr(at));
    if (!brackets.closed()) break;
    const auto call = list.substr(begin, at - begin);
    const auto behind = at;
    // Only the end of the text or the next call may follow.
    at = skip_blanks(list, at);
    if (at < list.size()) {
      if (list[at] != ',') break;
      at = skip_blanks(list, at + 1);
      if (at < list.size() && (python ? !is_name_char(list[at]) : list[at] != '{')) break;
    }
    if (offered && !python) {
      const auto like = likeness_of(call, tools);
      if (!like.named || !like.with_arguments) break;
    }
    if (python && !is_python_calls(call, tools)) break;
    if (python)
      read_python_calls(call, tools, out);
    else
      read_json_calls(call, tools, out);
    before_last = std::exchange(done, behind);
    doubtful = at == list.size() && may_hold_its_end(call);
  }
  if (done == 0) return done;
  const bool without_arguments = out.back().arguments.text() == "{}" && !takes_nothing(tools.find(out.back().name));
  if (!doubtful && !without_arguments) return done;
  out.pop_back();
  return before_last;
}

likeness likeness_of(std::string_view json, const offered_tools& tools) {
  bool repaired = false;
  std::string why;
  const auto text = readable(json, repaired, why);
  if (text.empty()) return {};
  likeness found{true, true};
  int many = 0;
  const auto look = [&](this const auto& self, std::string_view one, int depth) -> void {
    const auto form = form_of(one);
    if (!form.list.empty() && form.name.empty() && depth < 4)
      return json::walk::elements(form.list, [&](std::string_view inner) { self(inner, depth + 1); });
    ++many;
    found.named = found.named && json::walk::is_string(form.name) && tools.find(json::walk::text(form.name)) != nullptr;
    found.with_arguments = found.with_arguments && !form.arguments.empty();
  };
  if (json::walk::is_object(text))
    look(text, 0);
  else
    json::walk::elements(text, [&](std::string_view one) { look(one, 0); });
  return many > 0 ? found : likeness{};
}

}  // namespace mcpbx::providers::text::marks
