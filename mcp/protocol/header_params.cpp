// Walks over schemas for `x-mcp-header`, and encodes header values.
#include "mcp/protocol/header_params.hpp"

#include "mcp/redact/cut_text.hpp"
#include "mcp/support/encodings.hpp"

#include <algorithm>
#include <array>

namespace mcpbx::mcp::protocol {
namespace {

constexpr std::string_view annotation = "x-mcp-header";
/// Bound on the levels of a schema. Schemas in messages have fewer, unless the limit of messages was raised.
constexpr int most_levels = 400;
/// Bound on the headers of one tool.
constexpr std::size_t most_headers = 100;

bool is_token_char(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
         std::string_view("!#$%&'*+-.^_`|~").contains(c);
}

bool equal_without_case(std::string_view a, std::string_view b) {
  const auto low = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; };
  return std::ranges::equal(a, b, [&](char x, char y) { return low(x) == low(y); });
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

class annotation_reader {
 public:
  result<header_params> read(const json::raw_json& schema) {
    walk(schema, true, 0);
    if (!why_.empty()) return fail(errc::invalid_argument, why_);
    return std::move(found_);
  }

 private:
  bool broken(std::string why) {
    if (why_.empty()) why_ = std::move(why);
    return false;
  }

  // Looks through one schema. `reachable`: only `properties` lead to it from the root.
  bool walk(const json::raw_json& schema, bool reachable, int level) {
    if (level > most_levels) return broken("its inputSchema is nested too deeply to be searched for x-mcp-header");
    if (schema.is_array()) {
      json::for_each_element(schema, [&](const json::raw_json& one) { return walk(one, false, level + 1); });
      return why_.empty();
    }
    if (!schema.is_object() || !schema.text().contains(annotation)) return true;
    const auto open = json::raw_object::open(schema, {}, json::most_schema_members);
    if (!open) return broken("its inputSchema cannot be searched for x-mcp-header: " + open.error().message);
    open->for_each([&](std::string_view key, const json::raw_json& value) {
      if (!why_.empty()) return;
      if (key == annotation) {
        take(value, *open, reachable);
      } else if (key == "properties") {
        walk_named(value, reachable, level + 1);
      } else if (is_one_of(key, {"patternProperties", "$defs", "definitions", "dependentSchemas"})) {
        walk_named(value, false, level + 1);
      } else if (!is_one_of(key, {"default", "examples", "enum", "const"})) {  // these hold data
        walk(value, false, level + 1);
      }
    });
    return why_.empty();
  }

  // Looks through schemas under names.
  void walk_named(const json::raw_json& schemas, bool reachable, int level) {
    if (!schemas.text().contains(annotation)) return;
    const auto open = json::raw_object::open(schemas, {}, json::most_schema_members);
    if (!open) return;
    open->for_each([&](std::string_view name, const json::raw_json& value) {
      if (!why_.empty()) return;
      path_.emplace_back(name);
      walk(value, reachable, level);
      path_.pop_back();
    });
  }

  void take(const json::raw_json& value, const json::raw_object& schema, bool reachable) {
    const auto name = value.as_string();
    if (!name) return static_cast<void>(broken("x-mcp-header must be a text"));
    const std::string shown = "x-mcp-header \"" + redact::cut_for_people(*name, 60) + "\"";
    if (name->empty()) return static_cast<void>(broken("x-mcp-header must not be empty"));
    if (!std::ranges::all_of(*name, is_token_char))
      return static_cast<void>(broken(shown + " holds a character that header names do not have"));
    if (!reachable || path_.empty())
      return static_cast<void>(broken(shown + " stands where no chain of properties leads to"));
    if (!is_primitive(schema.find("type")))
      return static_cast<void>(broken(shown + " stands at a parameter that is no string, integer or boolean"));
    if (std::ranges::any_of(found_, [&](const header_param& p) { return equal_without_case(p.name, *name); }))
      return static_cast<void>(broken(shown + " is given twice"));
    if (found_.size() >= most_headers)
      return static_cast<void>(broken("it has more than " + std::to_string(most_headers) + " x-mcp-header"));
    found_.push_back({path_, *name});
  }

  static bool is_primitive(const json::raw_json& type) {
    if (const auto word = type.as_string()) return is_one_of(*word, {"string", "integer", "boolean"});
    if (!type.is_array()) return false;
    // A parameter that may be null as well has no header when it is.
    bool right = true, any = false;
    json::for_each_element(type, [&](const json::raw_json& one) {
      const auto word = one.as_string().value_or("");
      any = any || is_one_of(word, {"string", "integer", "boolean"});
      right = right && (word == "null" || is_one_of(word, {"string", "integer", "boolean"}));
      return right;
    });
    return right && any;
  }

  std::vector<std::string> path_;
  header_params found_;
  std::string why_;
};

}  // namespace

std::string_view named_member(std::string_view method) {
  if (method == "tools/call" || method == "prompts/get") return "name";
  if (method == "resources/read") return "uri";
  return method.starts_with("tasks/") ? "taskId"
                                      : "";  // the extension io.modelcontextprotocol/tasks, "Routing Headers"
}

result<header_params> read_header_params(const json::raw_json& input_schema) {
  if (!input_schema.text().contains(annotation)) return header_params();  // nearly all tools
  return annotation_reader().read(input_schema);
}

result<void> check_header_params(const feature_item& tool) {
  const auto params = read_header_params(json::find_member(tool.definition, "inputSchema"));
  if (!params)
    return fail(errc::invalid_argument,
                "tool \"" + redact::cut_for_people(tool.key, 100) + "\": " + params.error().message);
  return {};
}

header_params_of_tools header_params_of(const std::vector<feature_item>& tools) {
  header_params_of_tools all;
  for (const feature_item& tool : tools)
    if (auto params = read_header_params(json::find_member(tool.definition, "inputSchema")); params && !params->empty())
      all.insert_or_assign(tool.key, std::move(*params));
  return all;
}

std::vector<std::pair<std::string, std::string>> header_values(const header_params& params,
                                                               const json::raw_json& arguments) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const header_param& p : params) {
    json::raw_json value = arguments;
    for (const std::string& key : p.path) value = json::find_member(value, key);
    switch (value.type()) {
      case json::raw_json::kind::string:
        all.emplace_back(p.name, value.as_string().value_or(""));
        break;
      case json::raw_json::kind::number:
      case json::raw_json::kind::boolean:
        all.emplace_back(p.name, value.text());
        break;
      default:
        break;
    }
  }
  return all;
}

std::string header_text(std::string_view value) {
  constexpr std::string_view begin = "=?base64?", end = "?=";
  const auto edge = [](char c) { return c == ' ' || c == '\t'; };
  const bool plain = std::ranges::all_of(value, [](char c) { return (c >= 0x20 && c <= 0x7E) || c == '\t'; }) &&
                     (value.empty() || (!edge(value.front()) && !edge(value.back()))) &&
                     !(value.starts_with(begin) && value.ends_with(end));
  if (plain) return std::string(value);
  return std::string(begin) + base64(value) + std::string(end);
}

}  // namespace mcpbx::mcp::protocol
