// Encodes tools once, caches them with their definitions, and concatenates them. The APIs differ in the names of
// members and in the mark for strictness.
#include "providers/wire/tool_list.hpp"

#include "mcp/json/raw_json.hpp"
#include "providers/wire/encoding.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace mcpbx::providers {
namespace {

std::string_view strictness(const tool_form& form, const tool_definition& tool, std::optional<bool> strict,
                            bool takes_strict) {
  if (form.strict == strict_mark::none) return "";
  const bool always = form.strict == strict_mark::always;
  if (always && !strict) strict = false;
  takes_strict = takes_strict || always;
  if ((strict == true || (takes_strict && tool.strict)) && is_strict_schema(tool.schema.text(), form.rules))
    return R"(,"strict":true)";
  if (always || (strict == false && form.strict != strict_mark::only_true)) return R"(,"strict":false)";
  return "";
}

raw_json encode_tool(const tool_form& f, const tool_definition& tool, std::optional<bool> strict, bool takes_strict) {
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
  out += strictness(f, tool, strict, takes_strict);
  out += f.end;
  return raw_json::own(out);
}

}  // namespace

raw_json tool_list(const tool_form& form, const tool_set& set, std::optional<bool> strict, bool takes_strict) {
  const auto key = std::string(form.name) +
                   (!strict   ? ""
                    : *strict ? "/strict"
                              : "/lax") +
                   (takes_strict ? "/own" : "");
  return encoded_once(set, key, [&] {
    std::vector<raw_json> tools;
    tools.reserve(set.tools.size());
    std::size_t size = 2;  // reserve the size first, because growing a large list copies it
    for (const auto& tool : set.tools) {
      const auto encode = [&] { return encode_tool(form, tool, strict, takes_strict); };
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
