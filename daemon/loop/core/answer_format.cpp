// Parses the answer, without a code fence around it, and lists the violations of the schema as sentences.
#include "daemon/loop/core/answer_format.hpp"

#include "mcp/json/object_index.hpp"
#include "providers/model/arguments.hpp"
#include "providers/schema/validator/json_schema.hpp"

#include <set>
#include <utility>

namespace mcpbx::daemon::core {
namespace {

std::string_view trimmed(std::string_view s) {
  constexpr std::string_view blanks = " \t\r\n";
  const auto from = s.find_first_not_of(blanks);
  return from == s.npos ? std::string_view() : s.substr(from, s.find_last_not_of(blanks) - from + 1);
}

std::string_view unfenced(std::string_view s) {
  constexpr std::string_view fence = "```";
  s = trimmed(s);
  const auto line = s.find('\n');
  if (line == s.npos || !s.starts_with(fence) || !s.substr(line).ends_with(fence)) return s;
  return trimmed(s.substr(line, s.size() - line - fence.size()));
}

}  // namespace

checked_answer check_answer(std::string_view text, const json::raw_json& schema) {
  const auto inside = unfenced(text);
  if (inside.empty()) return {{}, "- the answer is empty"};
  auto value = json::raw_json::parse(inside);
  if (value) value = providers::on_one_line(*std::move(value));
  if (!value) return {{}, "- the answer is not one JSON value: " + value.error().message};
  const auto compiled = providers::schema::json_schema::compile(schema);
  if (!compiled) return {std::move(*value), ""};  // cannot happen: requests with such a schema are refused
  const auto verdict = compiled->check(*value);
  if (!verdict.violations.empty()) return {{}, providers::schema::describe(verdict.violations, "answer")};
  if (!verdict.unread.empty())
    return {{},
            "- the answer could not be held against the schema, because it has " + std::string(verdict.unread) +
                "; answer without it"};
  if (!verdict.complete)
    return {{},
            "- the answer could not be held against the whole schema: the check was ended at its bound of steps or "
            "nesting; answer with a smaller value that is less deeply nested"};
  return {std::move(*value), ""};
}

std::string empty_choice(const json::raw_json& schema) {
  const auto members = json::read_members(schema, {"enum", "type", "properties", "required"});
  if (!members) return {};
  const auto& [values, type, properties, required] = *members;
  if (values.is_array() && json::for_each_element(values, [](const json::raw_json&) { return false; }) == 0)
    return ".enum";
  if (type.as_string() != "object") return {};
  json::object_index known;
  known.open(properties.text());
  std::set<std::string> seen;  // a name may be listed twice
  std::string place;
  json::for_each_element(required, [&](const json::raw_json& name) {
    const auto key = name.as_string().value_or("");
    if (!seen.insert(key).second) return true;
    if (const auto inside = empty_choice(json::raw_json::literal(known.find(key))); !inside.empty())
      place.append(".properties.").append(key).append(inside);
    return place.empty();
  });
  return place;
}

}  // namespace mcpbx::daemon::core
