// Gives typed words the type that the tool's schema wants.
#include "daemon/cli/input/call_arguments.hpp"

#include "daemon/cli/input/input_files.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>

namespace mcpbx::cli::input {
namespace {

// Returns the JSON Schema types of `value`; a number without a fraction is an integer too.
bool fits(const json::raw_json& value, std::string_view type) {
  using kind = json::raw_json::kind;
  switch (value.type()) {
    case kind::object:
      return type == "object";
    case kind::array:
      return type == "array";
    case kind::string:
      return type == "string";
    case kind::number:
      return type == "number" || (type == "integer" && value.text().find_first_of(".eE") == std::string_view::npos);
    case kind::boolean:
      return type == "boolean";
    case kind::null:
      return type == "null";
    case kind::absent:
      break;
  }
  return false;
}

}  // namespace

result<std::vector<std::pair<std::string, std::string>>> key_values(const std::vector<std::string>& words,
                                                                    std::string_view mend) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const auto& word : words) {
    const auto equals = word.find('=');
    if (equals == std::string::npos || equals == 0)
      return fail(errc::invalid_argument,
                  "`" + std::string(cut_utf8(word, 100)) + "` is no argument; " + std::string(mend));
    std::string key = word.substr(0, equals);
    if (std::ranges::any_of(pairs, [&](const auto& given) { return given.first == key; }))
      return fail(errc::invalid_argument, "the argument " + key + " is given twice");
    pairs.emplace_back(std::move(key), word.substr(equals + 1));
  }
  return pairs;
}

result<std::string> typed_value(const json::raw_json& schema, const std::string& key, const std::string& value) {
  const json::raw_json type =
      json::find_member(json::find_member(json::find_member(schema, "properties"), key), "type");
  std::vector<std::string> types;
  if (auto one = type.as_string()) types.push_back(*one);
  json::for_each_element(type, [&](const json::raw_json& t) {
    if (auto one = t.as_string()) types.push_back(*one);
    return true;
  });
  const auto parsed = json::raw_json::parse(value);
  if (types.empty()) {
    const bool literal = parsed && !parsed->is_string() && !parsed->is_object() && !parsed->is_array();
    return literal ? one_line(*parsed) : json::json_quoted(value);
  }
  const auto asked = [&](std::string_view t) { return std::find(types.begin(), types.end(), t) != types.end(); };
  // A string is taken as it was typed: "42" and "true" are texts like any other where only a text is asked for.
  if (parsed && !parsed->is_string() &&
      std::any_of(types.begin(), types.end(), [&](const auto& t) { return fits(*parsed, t); }))
    return one_line(*parsed);
  if (asked("string")) return json::json_quoted(value);
  std::string wanted;
  for (const auto& t : types) wanted += (wanted.empty() ? "" : " or ") + t;
  return fail(errc::invalid_argument, "the argument " + key + " must be of type " + wanted + ", but `" +
                                          std::string(cut_utf8(value, 100)) + "` is not");
}

result<std::string> arguments_of_words(const std::vector<std::string>& words, const json::raw_json& schema) {
  const auto pairs = key_values(words, "write key=value, or --args with a JSON object");
  if (!pairs) return std::unexpected(pairs.error());
  std::string out;
  json::json_writer w(out);
  w.begin_object();
  for (const auto& [key, word] : *pairs) {
    auto value = typed_value(schema, key, word);
    if (!value) return value;
    w.key(key).token(*value);
  }
  w.end_object();
  return out;
}

result<std::string> arguments_of_json(std::string_view text) {
  constexpr int deepest = 10'000;  // the daemon's own limit is what counts
  auto parsed = json::raw_json::parse(text, deepest);
  if (!parsed) return fail(errc::invalid_argument, "--args is no JSON: " + parsed.error().message);
  if (!parsed->is_object())
    return fail(errc::invalid_argument, "--args must be a JSON object, such as {\"path\":\"a.txt\"}");
  return one_line(*parsed);
}

}  // namespace mcpbx::cli::input
