// Reads calls in Python's syntax: keyword arguments with literals as values.
#include "mcp/json/json_walk.hpp"
#include "providers/model/arguments.hpp"
#include "providers/model/json_repair.hpp"
#include "providers/text/marks/brackets.hpp"
#include "providers/text/marks/json_calls.hpp"
#include "providers/text/marks/text_scan.hpp"

#include <algorithm>
#include <optional>
#include <ranges>

namespace mcpbx::providers::text::marks {
namespace {

constexpr std::size_t max_tuple = 4096;  // bytes; one tuple may stand in another

// One call: its name and the text between its parentheses.
struct python_call {
  std::string_view name, inside, whole;
};

// Returns the next call of `text` at `at` and moves `at` behind it.
std::optional<python_call> next_call(std::string_view text, std::size_t& at) {
  const auto begin = at;
  while (at < text.size() && is_name_char(text[at])) ++at;
  const auto name = text.substr(begin, at - begin);
  if (name.empty() || at >= text.size() || text[at] != '(') return std::nullopt;
  bracket_scanner brackets;
  const auto open = at;
  at += brackets.feed(text.substr(open));
  if (!brackets.closed() || text[at - 1] != ')') return std::nullopt;
  return python_call{python_callee(name), text.substr(open + 1, at - open - 2), text.substr(begin, at - begin)};
}

// Returns the calls of `f(…)` or `[f(…), g(…)]`; none if the text is something else.
std::vector<python_call> calls_in(std::string_view text) {
  text = trimmed(text);
  const bool list = text.starts_with('[');
  if (list) {
    if (!text.ends_with(']')) return {};
    text = trimmed(text.substr(1, text.size() - 2));
  }
  std::vector<python_call> all;
  for (std::size_t at = 0; at < text.size();) {
    auto call = next_call(text, at);
    if (!call) return {};
    all.push_back(*call);
    at = skip_blanks(text, at);
    if (at == text.size()) break;
    if (text[at] != ',' && text[at] != ';') return {};
    at = skip_blanks(text, at + 1);
  }
  return list || all.size() == 1 ? all : std::vector<python_call>();
}

// Returns the end of the argument that begins at `at`: the next comma outside of brackets and strings.
std::size_t argument_end(std::string_view inside, std::size_t at) {
  std::size_t depth = 0;
  char quote = 0;
  for (; at < inside.size(); ++at) {
    const char c = inside[at];
    if (quote != 0) {
      if (c == '\\')
        ++at;
      else if (c == quote)
        quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if ((c == ')' || c == ']' || c == '}') && depth > 0) {
      --depth;
    } else if (c == ',' && depth == 0) {
      return at;
    }
  }
  return inside.size();
}

std::string json_of(std::string_view literal, int depth = max_argument_depth);

// Converts a tuple to a JSON list. Brackets around one value without a comma are no tuple, and are refused.
std::string json_of_tuple(std::string_view inside, int depth) {
  std::string json = "[";
  inside = trimmed(inside);
  if (!inside.empty() && argument_end(inside, 0) == inside.size()) return {};
  for (std::size_t at = 0; at < inside.size();) {
    const auto end = argument_end(inside, at);
    const auto one = json_of(trimmed(inside.substr(at, end - at)), depth);
    if (one.empty()) return {};
    if (json.size() > 1) json += ',';
    json += one;
    at = skip_blanks(inside, std::min(end + 1, inside.size()));
  }
  return json + "]";
}

// Converts a literal to JSON. `depth` is the number of levels that tuples may still nest.
std::string json_of(std::string_view literal, int depth) {
  if (literal.size() <= max_tuple && literal.starts_with('(') && literal.ends_with(')'))
    return depth == 0 ? std::string() : json_of_tuple(literal.substr(1, literal.size() - 2), depth - 1);
  if (const auto value = json::raw_json::parse(literal, max_argument_depth)) return std::string(value->text());
  auto value = repair_json_value(literal, number_form::python);
  if (!value || !json::raw_json::parse(value->text, max_argument_depth)) return {};
  return std::move(value->text);
}

void read_arguments_of(const python_call& written, const offered_tools& tools, std::vector<tool_call_block>& out) {
  const auto* tool = tools.find(written.name);
  tool_call_block call;
  call.name = tools.resolve(written.name);
  const auto inside = trimmed(written.inside);
  std::string json = "{";
  for (std::size_t at = 0; at < inside.size();) {
    const auto end = argument_end(inside, at);
    const auto one = trimmed(inside.substr(at, end - at));
    at = skip_blanks(inside, std::min(end + 1, inside.size()));
    const auto equals = one.find('=');
    std::size_t name_end = 0;
    while (name_end < one.size() && is_name_char(one[name_end])) ++name_end;
    if (equals == std::string_view::npos || skip_blanks(one, name_end) != equals || name_end == 0) {
      // A single value without a name may be the arguments themselves, or the only text that the tool needs.
      if (json.size() > 1 || at < inside.size()) {
        out.push_back(unreadable_call(written.whole, "its arguments have no names"));
        out.back().name = call.name;
        return;
      }
      const auto value = json_of(one);
      if (value.empty() && (one.find_first_of("(){}[]<>\"'=") != std::string_view::npos)) {
        out.push_back(unreadable_call(written.whole, "its arguments cannot be read"));
        out.back().name = call.name;
        return;
      }
      set_arguments_text(call, tool, value.empty() ? one : std::string_view(value));
      out.push_back(std::move(call));
      return;
    }
    const auto value = json_of(trimmed(one.substr(equals + 1)));
    if (value.empty()) {
      out.push_back(
          unreadable_call(written.whole, "the value of " + std::string(one.substr(0, name_end)) + " is no literal"));
      out.back().name = call.name;
      return;
    }
    if (json.size() > 1) json += ',';
    json += json::json_quoted(one.substr(0, name_end)) + ":" + value;
  }
  set_arguments(call, tool, json + "}");
  call.arguments_text = written.inside;
  out.push_back(std::move(call));
}

}  // namespace

std::string_view python_callee(std::string_view written) {
  if (written.ends_with(".call")) written.remove_suffix(5);
  return written;
}

bool read_python_calls(std::string_view text, const offered_tools& tools, std::vector<tool_call_block>& out) {
  const auto all = calls_in(text);
  for (const auto& one : all | std::views::take(max_reply_calls + 1)) read_arguments_of(one, tools, out);
  return !all.empty();
}

bool is_python_calls(std::string_view text, const offered_tools& tools) {
  const auto all = calls_in(text);
  for (const auto& one : all)
    if (tools.find(one.name) == nullptr) return false;
  return !all.empty();
}

}  // namespace mcpbx::providers::text::marks
