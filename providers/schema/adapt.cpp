// The steps in the order in which they depend on each other.
#include "providers/schema/adapt.hpp"

#include "mcp/support/text.hpp"
#include "providers/schema/fold.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace mcpbx::providers {
namespace {

constexpr int max_depth = 64;

// Whether `schema` says that it is of this type, alone or among others.
bool has_type(const raw_json& type, std::string_view name) {
  if (type.is_string()) return type.as_string() == name;
  bool found = false;
  for_each_element(type, [&](raw_json t) {
    found = found || t.as_string() == name;
    return true;
  });
  return found;
}

raw_json clean(const raw_json& schema, int depth);

// A map of names to schemas: what is no schema goes, `true` becomes {}.
raw_json clean_map(const raw_json& map, int depth) {
  auto object = raw_object::open(map);
  if (!object) return raw_json::literal("{}");
  std::vector<std::string> wrong;
  std::vector<std::pair<std::string, raw_json>> changed;
  object->for_each([&](std::string_view name, raw_json value) {
    if (value.is_true())
      changed.emplace_back(name, raw_json::literal("{}"));
    else if (!value.is_object())
      wrong.emplace_back(name);
    else if (auto cleaned = clean(value, depth + 1); cleaned.text().data() != value.text().data())
      changed.emplace_back(name, std::move(cleaned));
  });
  for (const auto& name : wrong) object->erase(name);
  for (auto& [name, value] : changed) object->set(name, std::move(value));
  return object->json();
}

// A nested schema; the same bytes when there is nothing to mend. Deeper ones are passed as they are.
raw_json clean(const raw_json& schema, int depth) {
  auto object = raw_object::open(schema);
  if (!object || depth > max_depth) return schema;
  const auto replace = [&](std::string_view key, raw_json before, raw_json after) {
    if (after.text().data() != before.text().data()) object->set(key, std::move(after));
  };
  for (const std::string_view key : {"properties", "$defs", "definitions"})
    if (const auto map = object->find(key)) replace(key, map, clean_map(map, depth));
  const auto items = object->find("items");
  if (items.is_array()) {
    if (!object->contains("prefixItems")) object->set("prefixItems", items);
    object->set("items", raw_json::literal("{}"));
  } else if (items.is_object()) {
    replace("items", items, clean(items, depth + 1));
  } else if (items || has_type(object->find("type"), "array")) {
    object->set("items", raw_json::literal("{}"));
  }
  return object->json();
}

}  // namespace

result<tool_definition> adapt_tool(std::string_view name, std::string_view description, const raw_json& schema) {
  const auto left_out = [&](errc code, std::string_view why) {
    return fail(code, "The tool \"" + std::string(name) + "\" is left out: " + std::string(why));
  };
  tool_definition tool;
  tool.name = name;
  std::string conditions;
  if (!schema.is_object()) {
    tool.schema = raw_json::literal(R"({"type":"object","properties":{}})");
  } else {
    auto object = raw_object::open(clean(schema, 0));
    if (!object) return left_out(object.error().code, "its schema cannot be read: " + object.error().message);
    for (const auto* key : {"$schema", "$id", "$comment"}) object->erase(key);
    conditions = fold_combinators(*object, object->json());
    const auto type = object->find("type");
    if (type && type.is_string() && type.as_string() != "object")
      return left_out(errc::invalid_argument,
                      "its schema is of type " + std::string(type.text()) + " where arguments are an object.");
    if (type.is_array() && !has_type(type, "object"))
      return left_out(errc::invalid_argument, "its schema allows no object, and arguments are one.");
    if (!type.is_string()) object->set("type", raw_json::literal("\"object\""));
    if (!object->find("properties").is_object()) object->set("properties", raw_json::literal("{}"));
    tool.schema = object->json();
  }
  auto text = printable(description, true);
  const auto room = max_description - std::min(max_description, conditions.size());
  if (text.size() > room) text = std::string(cut_utf8(text, room - std::min<std::size_t>(room, 3))) + "…";
  tool.description = text + conditions;
  if (!tool.description.empty() && text.empty()) tool.description.erase(0, 1);
  return tool;
}

}  // namespace mcpbx::providers
