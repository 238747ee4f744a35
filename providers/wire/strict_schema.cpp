// A walk over the schema that stops at the first demand that is not fulfilled.
#include "providers/wire/strict_schema.hpp"

#include "providers/model/json_walk.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace mcpbx::providers {
namespace {

constexpr int max_levels = 10;

bool is_refused(std::string_view keyword) {
  constexpr std::array<std::string_view, 22> refused{"allOf",
                                                     "oneOf",
                                                     "not",
                                                     "if",
                                                     "then",
                                                     "else",
                                                     "dependencies",
                                                     "dependentRequired",
                                                     "dependentSchemas",
                                                     "patternProperties",
                                                     "propertyNames",
                                                     "prefixItems",
                                                     "contains",
                                                     "minContains",
                                                     "maxContains",
                                                     "uniqueItems",
                                                     "minProperties",
                                                     "maxProperties",
                                                     "unevaluatedItems",
                                                     "unevaluatedProperties",
                                                     "contentEncoding",
                                                     "contentMediaType"};
  return std::ranges::find(refused, keyword) != refused.end();
}

bool fits(std::string_view schema, int level);

bool all_fit(std::string_view map, int level) {
  bool fine = walk::is_object(map);
  walk::members(map, [&](std::string_view, std::string_view s) { fine = fine && fits(s, level); });
  return fine;
}

// Each property is required.
bool complete(std::string_view properties, std::string_view required) {
  std::vector<std::string> names;
  walk::elements(required, [&](std::string_view name) { names.push_back(walk::text(name)); });
  bool fine = true;
  walk::members(properties, [&](std::string_view key, std::string_view) {
    fine = fine && std::ranges::find(names, key) != names.end();
  });
  return fine;
}

bool fits(std::string_view schema, int level) {
  if (!walk::is_object(schema) || level > max_levels) return false;
  bool fine = true, object = false;
  std::string_view properties, required, additional;
  walk::members(schema, [&](std::string_view key, std::string_view value) {
    if (key == "properties")
      properties = value;
    else if (key == "required")
      required = value;
    else if (key == "additionalProperties")
      additional = value;
    else if (key == "type")
      object = value.find("\"object\"") != std::string_view::npos;
    else if (key == "$defs" || key == "definitions")
      fine = fine && all_fit(value, level);
    else if (key == "items")
      fine = fine && fits(value, level + 1);
    else if (key == "anyOf")
      walk::elements(value, [&](std::string_view s) { fine = fine && fits(s, level); });
    else
      fine = fine && !is_refused(key);
  });
  if (!object && properties.empty()) return fine;
  return fine && additional == "false" && (properties.empty() || all_fit(properties, level + 1)) &&
         complete(properties, required);
}

}  // namespace

bool is_strict_schema(std::string_view schema) {
  return walk::find(schema, "type") == "\"object\"" && walk::find(schema, "anyOf").empty() && fits(schema, 1);
}

}  // namespace mcpbx::providers
