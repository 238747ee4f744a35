// The adaptation of one tool, step by step; each step relies on those before it.
#include "providers/schema/adapt/adapt.hpp"

#include "mcp/json/json_walk.hpp"
#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/text.hpp"
#include "providers/schema/adapt/annotations.hpp"
#include "providers/schema/adapt/fold.hpp"
#include "providers/schema/adapt/keywords.hpp"
#include "providers/schema/adapt/reduce.hpp"
#include "providers/schema/adapt/schema_references.hpp"
#include "providers/schema/adapt/sound.hpp"
#include "providers/schema/adapt/valid_words.hpp"
#include "providers/schema/validator/schema_program.hpp"
#include "providers/wire/registry/registry.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace mcpbx::providers::adapt {
namespace {

constexpr int max_adapted_depth = 64;

// Returns true if `type` is this type or a list that contains it.
bool has_type(const json::raw_json& type, std::string_view name) {
  if (type.is_string()) return type.as_string() == name;
  bool found = false;
  json::for_each_element(type, [&](json::raw_json t) {
    found = found || t.as_string() == name;
    return true;
  });
  return found;
}

// Repairs the subschemas of a schema. Keeps the path of the present one for its reports.
class cleaner {
 public:
  explicit cleaner(std::vector<std::string>& changes) : changes_(changes) {}

  // Returns a nested schema repaired, or its own bytes if nothing is wrong. Schemas below the limit of depth stay as
  // they are.
  json::raw_json clean(const json::raw_json& schema, int depth) {
    if (is_sound(schema.text(), max_adapted_depth - depth)) return schema;
    auto object = json::raw_object::open(schema, {}, json::most_schema_members);
    if (!object || depth > max_adapted_depth) return schema;
    // Rename the older form of prefixItems first, so that its schemas are repaired under that name.
    if (const auto list = object->find("items"); list.is_array()) {
      if (is_filled(list.text()) && !object->contains("prefixItems")) object->set("prefixItems", list);
      object->set("items", json::raw_json::literal("{}"));
    }
    mend_words(*object);
    const auto replace = [&](std::string_view key, const json::raw_json& before, json::raw_json after) {
      if (after.text().data() != before.text().data()) object->set(key, std::move(after));
    };
    for (const std::string_view key : {"properties", "$defs", "definitions", "patternProperties", "dependentSchemas"})
      if (const auto map = object->find(key))
        replace(key, map, below(schema::member_step(key), [&] { return clean_map(map, depth); }));
    for (const std::string_view key : {"anyOf", "oneOf", "allOf", "prefixItems"})
      if (const auto list = object->find(key))
        replace(key, list, below(schema::member_step(key), [&] { return clean_list(list, depth); }));
    const auto clean_one = [&](std::string_view key, const json::raw_json& one) {
      replace(key, one, below(schema::member_step(key), [&] { return clean(one, depth + 1); }));
    };
    for (const std::string_view key : {"additionalProperties", "not", "if", "then", "else", "contains", "propertyNames",
                                       "unevaluatedItems", "unevaluatedProperties"})
      if (const auto one = object->find(key); one.is_object()) clean_one(key, one);
    const auto items = object->find("items");
    if (items.is_object()) {
      clean_one("items", items);
    } else if (items || has_type(object->find("type"), "array")) {
      object->set("items", json::raw_json::literal("{}"));
    }
    return object->json();
  }

 private:
  // Calls `f` with the path extended by `step`.
  template <class F>
  json::raw_json below(const std::string& step, F&& f) {
    const auto size = path_.size();
    path_ += step;
    auto made = f();
    path_.resize(size);
    return made;
  }

  // Repairs a map of names to schemas: removes values that are no schema, turns `true` into {}.
  json::raw_json clean_map(const json::raw_json& map, int depth) {
    auto object = json::raw_object::open(map, {}, json::most_schema_members);
    if (!object) return json::raw_json::literal("{}");
    std::vector<std::string> wrong;
    std::vector<std::pair<std::string, json::raw_json>> changed;
    object->for_each([&](std::string_view name, const json::raw_json& value) {
      if (value.is_true()) {
        changed.emplace_back(name, json::raw_json::literal("{}"));
      } else if (!value.is_object()) {
        wrong.emplace_back(name);
        // Changes beyond the limit of reports are only counted.
        if (!is_flag(value.text()))
          changes_.push_back(changes_.size() < max_changes
                                 ? path_ + schema::member_step(name) + " is no schema and goes"
                                 : std::string());
      } else if (auto cleaned = below(schema::member_step(name), [&] { return clean(value, depth + 1); });
                 cleaned.text().data() != value.text().data()) {
        changed.emplace_back(name, std::move(cleaned));
      }
    });
    for (const auto& name : wrong) object->erase(name);
    for (auto& [name, value] : changed) object->set(name, std::move(value));
    return object->json();
  }

  // Repairs the schemas of a list; returns its own bytes if nothing is wrong.
  json::raw_json clean_list(const json::raw_json& list, int depth) {
    std::string out = "[";
    bool changed = false;
    std::size_t index = 0;
    json::for_each_element(list, [&](const json::raw_json& e) {
      const auto cleaned = below("[" + std::to_string(index++) + "]", [&] { return clean(e, depth + 1); });
      changed = changed || cleaned.text().data() != e.text().data();
      out.append(out.size() > 1 ? "," : "").append(cleaned.text());
      return true;
    });
    return changed ? json::raw_json::own(out + "]") : list;
  }

  std::vector<std::string>& changes_;
  std::string path_ = "inputSchema";
};

constexpr std::string_view argument_names = "this model's API takes only names of 64 letters, digits, _ . and -";

// Returns true if an API that is strict about names of arguments accepts this one.
bool is_plain_argument(std::string_view name) {
  return !name.empty() && name.size() <= 64 && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == '-';
  });
}

// Removes optional arguments with other names. Returns the name of a required one that is refused, or "".
std::string drop_odd_arguments(json::raw_object& schema, std::vector<std::string>& changes) {
  const auto arguments = schema.find("properties");
  std::vector<std::string> odd;
  json::walk::members(arguments.text(), [&](std::string_view name, std::string_view) {
    if (!is_plain_argument(name)) odd.emplace_back(name);
  });
  if (odd.empty()) return {};
  auto properties = json::raw_object::open(arguments, {}, json::most_schema_members);
  if (!properties) return {};
  std::string required;
  const std::unordered_set<std::string_view> is_odd(odd.begin(), odd.end());
  json::for_each_element(schema.find("required"), [&](json::raw_json e) {
    const auto name = e.as_string().value_or("");
    if (is_odd.contains(name)) required = name;
    return required.empty();
  });
  if (!required.empty()) return required;
  for (const auto& name : odd) {
    properties->erase(name);
    changes.push_back("the argument " + json::json_quoted(cut_utf8(name, 128)) + " goes, because " +
                      std::string(argument_names));
  }
  schema.set("properties", properties->json());
  return {};
}

// Returns the schema without invisible characters. For titles and descriptions the report lists them, elsewhere it only
// says so.
json::raw_json seen_schema(const json::raw_json& schema, std::vector<std::string>& changes) {
  if (redact::without_hidden(schema).text().data() == schema.text().data()) return schema;
  const auto described = clean_annotations(schema, changes);
  auto seen = redact::without_hidden(described);
  if (seen.text().data() != described.text().data())
    changes.emplace_back("inputSchema loses characters that are not seen, in names or values");
  return seen;
}

// Cuts the list of changes to max_changes and counts the rest, so that a server cannot flood the log.
void bound_changes(std::vector<std::string>& changes) {
  if (changes.size() <= max_changes) return;
  const auto more = changes.size() - max_changes;
  changes.resize(max_changes);
  changes.push_back("and " + std::to_string(more) + " more of this kind");
}

}  // namespace

result<tool_definition> adapt_tool(std::string_view name, std::string_view description, const json::raw_json& schema,
                                   std::string_view api) {
  const auto left_out = [&](errc code, std::string_view why) {
    return fail(code, "The tool \"" + std::string(name) + "\" is left out: " + std::string(why));
  };
  tool_definition tool;
  tool.name = name;
  std::string conditions;
  if (!schema.is_object()) {
    tool.schema = json::raw_json::literal(R"({"type":"object","properties":{}})");
  } else {
    // First step: a name without its invisible characters may be a keyword, which the later steps must see.
    auto object = json::raw_object::open(cleaner(tool.changes).clean(seen_schema(schema, tool.changes), 0), {},
                                         json::most_schema_members);
    if (!object) return left_out(object.error().code, "its schema cannot be read: " + object.error().message);
    for (const auto* key : {"$schema", "$id", "$comment"}) object->erase(key);
    conditions = fold_combinators(*object, object->json());
    const auto type = object->find("type");
    if (type && type.is_string() && type.as_string() != "object")
      return left_out(errc::invalid_argument,
                      "its schema is of type " + std::string(type.text()) + " where arguments are an object.");
    if (type.is_array() && !has_type(type, "object"))
      return left_out(errc::invalid_argument, "its schema allows no object, and arguments are one.");
    if (!type.is_string()) object->set("type", json::raw_json::literal("\"object\""));
    if (!object->find("properties").is_object()) object->set("properties", json::raw_json::literal("{}"));
    if (const auto* known = registry::find_api(api); known != nullptr && known->schema.plain_argument_names)
      if (const auto odd = drop_odd_arguments(*object, tool.changes); !odd.empty())
        return left_out(errc::invalid_argument,
                        "it needs an argument called \"" + odd + "\", and " + std::string(argument_names) + ".");
    // Last step, because the earlier ones may have removed the target of a reference.
    tool.schema = mend_references(object->json(), tool.changes);
  }
  // Once more after all steps that write descriptions: cutting one may have left a joiner at its end.
  tool.schema = redact::without_hidden(clean_annotations(schema_for(api, tool.schema), tool.changes));
  bound_changes(tool.changes);
  const auto text = text_for_models(description, max_description - std::min(max_description, conditions.size()));
  tool.description = text + redact::printable(conditions, true);
  if (!tool.description.empty() && text.empty()) tool.description.erase(0, 1);
  return tool;
}

std::string changes_in_words(const tool_definition& tool) {
  std::string all;
  for (const auto& c : tool.changes) all += (all.empty() ? "" : "; ") + redact::printable(c);
  return all;
}

}  // namespace mcpbx::providers::adapt
