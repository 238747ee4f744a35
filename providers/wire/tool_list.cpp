// Encodes tools once, caches them with their definitions, and concatenates them. The APIs differ in the names of
// members and in the mark for strictness.
#include "providers/wire/tool_list.hpp"

#include "mcp/json/raw_json.hpp"
#include "providers/wire/encoding.hpp"
#include "providers/wire/strict_schema.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace mcpbx::providers {
namespace {

struct form {
  std::string_view begin, schema, end;
  bool empty_description;  ///< send the description even if it is empty
};

form form_of(std::string_view api) {
  if (api == "openai-responses") return {R"({"type":"function","name":)", R"(,"parameters":)", "}", false};
  if (api == "anthropic") return {R"({"name":)", R"(,"input_schema":)", "}", false};
  if (api == "gemini") return {R"({"name":)", R"(,"parametersJsonSchema":)", "}", true};
  return {R"({"type":"function","function":{"name":)", R"(,"parameters":)", "}}", api == "ollama"};
}

std::string_view strictness(std::string_view api, const tool_definition& tool, std::optional<bool> strict,
                            bool takes_strict) {
  if (api == "gemini" || api == "ollama") return "";
  // Without the member, Responses would try to make the schema strict.
  if (api == "openai-responses" && !strict) strict = false;
  takes_strict = takes_strict || api == "openai-responses";
  if ((strict == true || (takes_strict && tool.strict)) && is_strict_schema(tool.schema.text(), api))
    return R"(,"strict":true)";
  if (api == "openai-responses" || (strict == false && api != "anthropic")) return R"(,"strict":false)";
  return "";
}

raw_json encode_tool(std::string_view api, const tool_definition& tool, std::optional<bool> strict, bool takes_strict) {
  const auto f = form_of(api);
  std::string out;
  out.reserve(256 + tool.name.size() + tool.description.size() + tool.schema.text().size());
  out += f.begin;
  append_quoted(out, tool.name);
  if (!tool.description.empty() || f.empty_description) {
    out += R"(,"description":)";
    append_quoted(out, tool.description);
  }
  out += f.schema;
  out += tool.schema.empty() ? std::string_view(R"({"type":"object","properties":{}})") : tool.schema.text();
  out += strictness(api, tool, strict, takes_strict);
  out += f.end;
  return raw_json::own(out);
}

}  // namespace

raw_json tool_list(std::string_view api, const tool_set& set, std::optional<bool> strict, bool takes_strict) {
  const auto key = std::string(api) + (!strict ? "" : *strict ? "/strict" : "/lax") + (takes_strict ? "/own" : "");
  return encoded_once(set, key, [&] {
    std::vector<raw_json> tools;
    tools.reserve(set.tools.size());
    std::size_t size = 2;  // reserve the size first, because growing a large list copies it
    for (const auto& tool : set.tools) {
      const auto encode = [&] { return encode_tool(api, tool, strict, takes_strict); };
      tools.push_back(tool.encoded ? encoded_once(*tool.encoded, key, encode) : encode());
      size += tools.back().text().size() + 1;
    }
    byte_buffer out;
    out.reserve(size);
    out.append('[');
    for (const auto& tool : tools) {
      if (&tool != &tools.front()) out.append(',');
      out.append(tool.text());
    }
    out.append(']');
    return raw_json::whole(out.take());
  });
}

}  // namespace mcpbx::providers
