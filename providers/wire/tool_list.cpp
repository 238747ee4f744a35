// Encodes tools once, caches them with their definitions, and concatenates them. The APIs differ in the names of
// members and in the mark for strictness.
#include "providers/wire/tool_list.hpp"

#include "mcp/json/json_writer.hpp"
#include "providers/wire/encoding.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace mcpbx::providers::wire {
namespace {

// Returns the member strict of a tool, if it is sent.
std::optional<bool> strictness(const tool_form& form, const tool_definition& tool, std::optional<bool> strict,
                               bool takes_strict) {
  if (form.strict == strict_mark::none) return std::nullopt;
  const bool always = form.strict == strict_mark::always;
  if (always && !strict) strict = false;
  takes_strict = takes_strict || always;
  if ((strict == true || (takes_strict && tool.strict)) && is_strict_schema(tool.schema.text(), form.rules))
    return true;
  if (always || (strict == false && form.strict != strict_mark::only_true)) return false;
  return std::nullopt;
}

json::raw_json encode_tool(const tool_form& form, const tool_definition& tool, std::optional<bool> strict,
                           bool takes_strict) {
  std::string out;
  out.reserve(256 + tool.name.size() + tool.description.size() + tool.schema.text().size());
  json::json_writer w(out);
  w.begin_object();
  if (form.shape != tool_shape::plain) w.member("type", "function");
  if (form.shape == tool_shape::nested) w.key("function").begin_object();
  w.member("name", tool.name);
  if (!tool.description.empty() || form.empty_description) w.member("description", tool.description);
  w.member(form.schema,
           tool.schema.empty() ? json::raw_json::literal(R"({"type":"object","properties":{}})") : tool.schema);
  w.given("strict", strictness(form, tool, strict, takes_strict));
  if (form.shape == tool_shape::nested) w.end_object();
  w.end_object();
  return w.json();
}

}  // namespace

json::raw_json tool_list(const tool_form& form, const tool_set& set, std::optional<bool> strict, bool takes_strict) {
  const auto key = std::string(form.name) +
                   (!strict   ? ""
                    : *strict ? "/strict"
                              : "/lax") +
                   (takes_strict ? "/own" : "");
  return encoded_once(set, key, [&] {
    std::vector<json::raw_json> tools;
    tools.reserve(set.tools.size());
    std::size_t size = 2;  // reserve the size first, because growing a large list copies it
    for (const auto& tool : set.tools) {
      const auto encode = [&] { return encode_tool(form, tool, strict, takes_strict); };
      tools.push_back(tool.encoded ? encoded_once(*tool.encoded, key, encode) : encode());
      size += tools.back().text().size() + 1;
    }
    byte_buffer out;
    out.reserve(size);
    json::basic_json_writer<byte_buffer> w(out);
    w.begin_array();
    for (const auto& tool : tools) w.value(tool);
    w.end_array();
    return json::raw_json::whole(out.take());
  });
}

}  // namespace mcpbx::providers::wire
