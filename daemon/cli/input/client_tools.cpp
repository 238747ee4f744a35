// Reads the caller's tool definitions and results; its errors describe the expected form.
#include "daemon/cli/input/client_tools.hpp"

#include "daemon/cli/input/input_files.hpp"
#include "mcp/json/json_writer.hpp"

#include <optional>
#include <string_view>
#include <unordered_set>

namespace mcpbx::cli::input {
namespace {

// Returns a result in MCP's shape, or nullopt.
std::optional<std::string> result_of(const json::raw_json& value) {
  if (auto text = value.as_string()) {
    std::string json;
    json::json_writer w(json);
    w.begin_object().key("content").begin_array().token(json::json_object("type", "text", "text", *text));
    w.end_array().end_object();
    return json;
  }
  const bool has_content =
      json::find_member(value, "content").is_array() || json::find_member(value, "structuredContent").is_object();
  if (value.is_object() && has_content) return one_line(value);
  return std::nullopt;
}

// Returns true for a definition in OpenAI's form, which has its members under `function` or beside `type`.
bool is_openai_form(const json::raw_json& definition) {
  return json::find_member(definition, "function").is_object() || json::member_text(definition, "type") == "function";
}

// Returns a definition in MCP's form.
std::string definition_of(const json::raw_json& definition) {
  if (!is_openai_form(definition)) return one_line(definition);
  const json::raw_json function = json::find_member(definition, "function");
  const json::raw_json from = function.is_object() ? function : definition;
  std::string json;
  json::json_writer w(json);
  w.begin_object();
  for (const std::string_view key : {"name", "description"})
    if (const json::raw_json value = json::find_member(from, key)) w.key(key).token(one_line(value));
  const json::raw_json parameters = json::find_member(from, "parameters");
  w.key("inputSchema").token(parameters ? one_line(parameters) : R"({"type":"object","properties":{}})");
  w.end_object();
  return json;
}

}  // namespace

result<std::string> client_tools_of(const json::raw_json& definitions) {
  if (!definitions.is_array() || json::for_each_element(definitions, [](const json::raw_json&) { return true; }) == 0)
    return fail(errc::invalid_argument,
                R"(--client-tools: expected an array of definitions, such as [{"name":"look_up","description":"…",)"
                R"("inputSchema":{"type":"object"}}], or definitions in OpenAI's form, {"type":"function",)"
                R"("function":{…}})");
  bool any = false;
  json::for_each_element(definitions, [&](const json::raw_json& one) { return !(any = is_openai_form(one)); });
  if (!any) return one_line(definitions);
  std::string json;
  json::json_writer w(json);
  w.begin_array();
  json::for_each_element(definitions, [&](const json::raw_json& one) { return w.token(definition_of(one)), true; });
  w.end_array();
  return json;
}

std::vector<std::string> handed_calls_of(const json::raw_json& result) {
  std::vector<std::string> lines;
  const auto run = json::find_member(result, "run");
  json::for_each_element(json::find_member(result, "toolCalls"), [&](const json::raw_json& call) {
    if (!json::find_member(call, "pending").is_true()) return true;
    json::json_writer w(lines.emplace_back());
    w.begin_object().key("run").token(run.text());
    for (const std::string_view key : {"id", "name", "arguments"})
      w.key(key).token(json::find_member(call, key).text());
    w.end_object();
    return true;
  });
  return lines;
}

result<std::string> results_message(const json::raw_json& results) {
  const auto members = results.is_object() ? json::raw_object::open(results) : fail(errc::parse, "");
  if (!members)
    return fail(errc::invalid_argument, R"(--results: expected an object with a result for every call, such as )"
                                        R"({"call_1":"the text of the result"})");
  std::unordered_set<std::string_view> ids;
  std::string message;
  json::json_writer w(message);
  w.begin_object().member("role", "tool").key("content").begin_array();
  error wrong{errc::invalid_argument, ""};
  members->for_each([&](std::string_view id, const json::raw_json& value) {
    const std::string quoted = json::json_quoted(id);
    const auto one = result_of(value);
    if (!one)
      wrong.message =
          "--results: expected " + quoted +
          R"( to be a text or a result as tools give it, such as {"content":[{"type":"text","text":"42"}]})";
    if (!ids.insert(id).second) wrong.message = "--results: " + quoted + " is there twice";
    w.begin_object().member("type", "tool_result").member("id", id);
    w.key("result").token(one.value_or("{}")).end_object();
  });
  if (ids.empty()) wrong.message = "--results: there is no result in it; name each by the id of its call";
  if (!wrong.message.empty()) return std::unexpected(wrong);
  w.end_array().end_object();
  return message;
}

}  // namespace mcpbx::cli::input
