// The checks of one resource definition, and of one template.
#include "mcp/protocol/resources.hpp"

#include "mcp/protocol/definition_checks.hpp"
#include "mcp/redact/cut_text.hpp"
#include "mcp/redact/hidden_text.hpp"

#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace mcpbx::mcp::protocol {
namespace {

using kind = json::raw_json::kind;

constexpr std::array resource_members = {
    optional_member{"title", kind::string},       optional_member{"description", kind::string},
    optional_member{"mimeType", kind::string},    optional_member{"size", kind::number},
    optional_member{"annotations", kind::object}, optional_member{"icons", kind::array},
    optional_member{"_meta", kind::object}};

result<feature_item> read_located(json::raw_json definition, std::string_view noun, std::string_view member) {
  const auto object = json::raw_object::open(
      definition, {member, "name", "title", "description", "mimeType", "size", "annotations", "icons", "_meta"});
  if (!object)
    return fail(errc::protocol, definition.is_object() ? object.error().message
                                                       : "a " + std::string(noun) + " definition must be an object");
  auto key = read_key(*object, member, longest_uri);
  if (!key) return std::unexpected(key.error());
  const auto refuse = [&](const std::string& what) {
    return fail(errc::protocol, std::string(noun) + " \"" + redact::cut_for_people(*key, 200) + "\": " + what);
  };
  if (!object->find("name").is_string()) return refuse("name must be a string");
  if (auto wrong = wrong_member(*object, resource_members); !wrong.empty()) return refuse(wrong);
  if (auto wrong = wrong_annotations(object->find("annotations")); !wrong.empty()) return refuse(wrong);
  feature_item item;
  item.key = std::move(*key);
  item.definition = std::move(definition);
  return item;
}

}  // namespace

result<feature_item> read_resource(json::raw_json definition) {
  return read_located(std::move(definition), "resource", "uri");
}

result<feature_item> read_template(json::raw_json definition) {
  return read_located(std::move(definition), "resource template", "uriTemplate");
}

}  // namespace mcpbx::mcp::protocol
