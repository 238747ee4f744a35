// One loop; what differs are the names of members, and what is said of strictness.
#include "providers/wire/tool_list.hpp"

#include "mcp/support/raw_json.hpp"
#include "providers/wire/strict_schema.hpp"

namespace mcpbx::providers {
namespace {

struct form {
  std::string_view begin, schema, end;
  bool empty_description;  ///< is sent, too
};

form form_of(std::string_view api) {
  if (api == "openai-responses") return {R"({"type":"function","name":)", R"(,"parameters":)", "}", false};
  if (api == "anthropic") return {R"({"name":)", R"(,"input_schema":)", "}", false};
  if (api == "gemini") return {R"({"name":)", R"(,"parametersJsonSchema":)", "}", true};
  return {R"({"type":"function","function":{"name":)", R"(,"parameters":)", "}}", api == "ollama"};
}

std::string_view strictness(std::string_view api, const tool_definition& tool, std::optional<bool> strict) {
  if (api == "gemini" || api == "ollama") return "";
  // Left out, Responses would try to make the schema strict.
  if (api == "openai-responses" && !strict) strict = false;
  if (strict == true && is_strict_schema(tool.schema.text())) return R"(,"strict":true)";
  if (api == "openai-responses" || (strict == false && api != "anthropic")) return R"(,"strict":false)";
  return "";
}

}  // namespace

std::string tool_list(std::string_view api, const tool_set& set, std::optional<bool> strict) {
  const auto f = form_of(api);
  std::string out = "[";
  for (const auto& tool : set.tools) {
    if (out.size() > 1) out += ',';
    out += f.begin;
    append_quoted(out, tool.name);
    if (!tool.description.empty() || f.empty_description) {
      out += R"(,"description":)";
      append_quoted(out, tool.description);
    }
    out += f.schema;
    out += tool.schema.empty() ? std::string_view(R"({"type":"object","properties":{}})") : tool.schema.text();
    out += strictness(api, tool, strict);
    out += f.end;
  }
  return out + "]";
}

}  // namespace mcpbx::providers
