// The checks of one tool definition.
#include "mcp/protocol/tools.hpp"

#include "mcp/protocol/definition_checks.hpp"
#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/text.hpp"

#include <array>
#include <string_view>

namespace mcpbx::mcp::protocol {
namespace {

constexpr std::size_t longest_name = 128;

using kind = json::raw_json::kind;

constexpr std::array optional_members = {
    optional_member{"description", kind::string}, optional_member{"title", kind::string},
    optional_member{"annotations", kind::object}, optional_member{"icons", kind::array},
    optional_member{"execution", kind::object},   optional_member{"_meta", kind::object}};
constexpr std::array optional_annotations = {
    optional_member{"title", kind::string}, optional_member{"readOnlyHint", kind::boolean},
    optional_member{"destructiveHint", kind::boolean}, optional_member{"idempotentHint", kind::boolean},
    optional_member{"openWorldHint", kind::boolean}};

/// Returns the fault of an inputSchema, or "". An absent one, null and true are accepted, since they demand nothing.
std::string wrong_input_schema(const json::raw_json& schema) {
  if (!schema || schema.is_null() || schema.is_true()) return {};
  if (schema.text() == "false") return "inputSchema is false, so that no arguments fit it";
  if (!schema.is_object()) return "inputSchema must be an object";
  const json::raw_json type = json::find_member(schema, "type");
  if (type && type.as_string() != "object") return "inputSchema.type must be \"object\"";
  return {};
}

/// Returns the fault of an outputSchema, or "". It is an object (old revisions) or any JSON Schema, even true or false.
std::string wrong_output_schema(const json::raw_json& schema) {
  if (!schema || schema.is_object() || schema.type() == kind::boolean) return {};
  return "outputSchema must be a JSON Schema";
}

bool hint(const json::raw_object& annotations, std::string_view key, bool otherwise) {
  const json::raw_json value = annotations.find(key);
  return value ? value.is_true() : otherwise;
}

}  // namespace

result<feature_item> read_tool(json::raw_json definition) {
  const auto object = json::raw_object::open(definition, {"name", "title", "description", "inputSchema", "outputSchema",
                                                          "annotations", "execution", "icons", "_meta"});
  if (!object)
    return fail(errc::protocol,
                definition.is_object() ? object.error().message : "a tool definition must be an object");
  const auto name = read_key(*object, "name", longest_name);
  if (!name) return std::unexpected(name.error());
  const auto refuse = [&](std::string what) {
    return fail(errc::protocol, "tool \"" + redact::printable(*name) + "\": " + std::move(what));
  };
  if (auto wrong = wrong_input_schema(object->find("inputSchema")); !wrong.empty()) return refuse(std::move(wrong));
  if (auto wrong = wrong_output_schema(object->find("outputSchema")); !wrong.empty()) return refuse(std::move(wrong));
  if (auto wrong = wrong_member(*object, optional_members); !wrong.empty()) return refuse(std::move(wrong));

  feature_item tool;
  tool.key = *name;
  tool.description = object->find("description").as_string().value_or("");
  tool.title = object->find("title").as_string().value_or("");
  if (const json::raw_json raw = object->find("annotations")) {
    const auto annotations =
        json::raw_object::open(raw, {"title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"});
    if (!annotations) return refuse("annotations: " + annotations.error().message);
    if (auto wrong = wrong_member(*annotations, optional_annotations, "annotations."); !wrong.empty())
      return refuse(std::move(wrong));
    tool.read_only = hint(*annotations, "readOnlyHint", false);
    tool.destructive = hint(*annotations, "destructiveHint", true);
    tool.idempotent = hint(*annotations, "idempotentHint", false);
    tool.open_world = hint(*annotations, "openWorldHint", true);
    if (auto title = annotations->find("title").as_string()) tool.title = std::move(*title);
  }
  tool.definition = std::move(definition);
  return tool;
}

}  // namespace mcpbx::mcp::protocol
