// The steps in the order in which they depend on each other.
#include "providers/schema/adapt.hpp"

#include "mcp/support/text.hpp"
#include "providers/model/json_walk.hpp"
#include "providers/schema/fold.hpp"
#include "providers/schema/keywords.hpp"
#include "providers/schema/reduce.hpp"
#include "providers/schema/sound.hpp"
#include "providers/schema/valid_words.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace mcpbx::providers {
namespace {

constexpr int max_adapted_depth = 64;

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

// The schemas of a list; the same bytes when there is nothing to mend.
raw_json clean_list(const raw_json& list, int depth) {
  std::string out = "[";
  bool changed = false;
  for_each_element(list, [&](raw_json e) {
    const auto cleaned = clean(e, depth + 1);
    changed = changed || cleaned.text().data() != e.text().data();
    out.append(out.size() > 1 ? "," : "").append(cleaned.text());
    return true;
  });
  return changed ? raw_json::own(out + "]") : list;
}

// A nested schema; the same bytes when there is nothing to mend. Deeper ones are passed as they are.
raw_json clean(const raw_json& schema, int depth) {
  if (is_sound(schema.text(), max_adapted_depth - depth)) return schema;
  auto object = raw_object::open(schema);
  if (!object || depth > max_adapted_depth) return schema;
  // The older form of prefixItems; first, so that what it holds is mended as that.
  if (const auto list = object->find("items"); list.is_array()) {
    if (is_filled(list.text()) && !object->contains("prefixItems")) object->set("prefixItems", list);
    object->set("items", raw_json::literal("{}"));
  }
  mend_words(*object);
  const auto replace = [&](std::string_view key, raw_json before, raw_json after) {
    if (after.text().data() != before.text().data()) object->set(key, std::move(after));
  };
  for (const std::string_view key : {"properties", "$defs", "definitions", "patternProperties", "dependentSchemas"})
    if (const auto map = object->find(key)) replace(key, map, clean_map(map, depth));
  for (const std::string_view key : {"anyOf", "oneOf", "allOf", "prefixItems"})
    if (const auto list = object->find(key)) replace(key, list, clean_list(list, depth));
  for (const std::string_view key : {"additionalProperties", "not", "if", "then", "else", "contains", "propertyNames",
                                     "unevaluatedItems", "unevaluatedProperties"})
    if (const auto one = object->find(key); one.is_object()) replace(key, one, clean(one, depth + 1));
  const auto items = object->find("items");
  if (items.is_object()) {
    replace("items", items, clean(items, depth + 1));
  } else if (items || has_type(object->find("type"), "array")) {
    object->set("items", raw_json::literal("{}"));
  }
  return object->json();
}

// Anthropic checks the names of a tool's arguments: letters, digits, `_`, `.` and `-`, at most 64.
bool is_anthropic_argument(std::string_view name) {
  return !name.empty() && name.size() <= 64 && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == '-';
  });
}

// Takes the optional arguments with other names out. Gives the name of a required one, or "".
std::string drop_odd_arguments(raw_object& schema) {
  const auto arguments = schema.find("properties");
  std::vector<std::string> odd;
  walk::members(arguments.text(), [&](std::string_view name, std::string_view) {
    if (!is_anthropic_argument(name)) odd.emplace_back(name);
  });
  if (odd.empty()) return {};
  auto properties = raw_object::open(arguments);
  if (!properties) return {};
  std::string required;
  for_each_element(schema.find("required"), [&](raw_json e) {
    const auto name = e.as_string().value_or("");
    if (std::ranges::find(odd, name) != odd.end()) required = name;
    return required.empty();
  });
  if (!required.empty()) return required;
  for (const auto& name : odd) properties->erase(name);
  schema.set("properties", properties->json());
  return {};
}

}  // namespace

result<tool_definition> adapt_tool(std::string_view name, std::string_view description, const raw_json& schema,
                                   std::string_view api) {
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
    if (api == "anthropic")
      if (const auto odd = drop_odd_arguments(*object); !odd.empty())
        return left_out(errc::invalid_argument,
                        "it needs an argument called \"" + odd +
                            "\", and this model's API takes only names of 64 letters, digits, _ . and -.");
    tool.schema = object->json();
  }
  tool.schema = schema_for(api, tool.schema);
  auto text = printable(description, true);
  const auto room = max_description - std::min(max_description, conditions.size());
  if (text.size() > room) text = std::string(cut_utf8(text, room - std::min<std::size_t>(room, 3))) + "…";
  tool.description = text + conditions;
  if (!tool.description.empty() && text.empty()) tool.description.erase(0, 1);
  return tool;
}

}  // namespace mcpbx::providers
