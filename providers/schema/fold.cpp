// Merging branches: the union of properties; required are the fields that every choice demands.
#include "providers/schema/fold.hpp"

#include "mcp/support/text.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace mcpbx::providers {
namespace {

constexpr int max_fold_depth = 8;

struct merged {
  std::vector<std::pair<std::string, std::vector<raw_json>>> properties;  // each with its different schemas
  std::vector<std::string> required;
  std::string conditions;
};

void add_unique(std::vector<std::string>& to, std::string text) {
  if (std::find(to.begin(), to.end(), text) == to.end()) to.push_back(std::move(text));
}

std::vector<std::string> strings_of(const raw_json& list) {
  std::vector<std::string> all;
  for_each_element(list, [&](raw_json e) {
    if (auto s = e.as_string()) add_unique(all, *std::move(s));
    return true;
  });
  return all;
}

void add_property(merged& m, const std::string& name, const raw_json& schema) {
  for (auto& [known, schemas] : m.properties)
    if (known == name) {
      const bool same =
          std::any_of(schemas.begin(), schemas.end(), [&](const auto& s) { return s.text() == schema.text(); });
      if (!same) schemas.push_back(schema);
      return;
    }
  m.properties.push_back({name, {schema}});
}

// "#/$defs/a/b" inside `root`; other references are left alone.
raw_json resolve(raw_json branch, const raw_json& root) {
  for (int i = 0; i < max_fold_depth; ++i) {
    const auto ref = find_member(branch, "$ref").as_string();
    if (!ref || !ref->starts_with("#/")) return branch;
    raw_json at = root;
    for (std::size_t from = 2; from <= ref->size() && at;) {
      const auto end = std::min(ref->find('/', from), ref->size());
      at = find_member(at, std::string_view(*ref).substr(from, end - from));
      from = end + 1;
    }
    if (!at.is_object()) return {};
    branch = at;
  }
  return branch;
}

std::string listed(const std::vector<std::string>& fields) {
  std::string text;
  for (const auto& f : fields) text += (text.empty() ? "" : ", ") + f;
  return "(" + text + ")";
}

void collect(const raw_json& schema, const raw_json& root, int depth, merged& out);

void collect_choices(std::string_view key, const raw_json& branches, const raw_json& root, int depth, merged& out) {
  std::vector<std::vector<std::string>> demands;
  for_each_element(branches, [&](raw_json b) {
    merged branch;
    collect(resolve(b, root), root, depth + 1, branch);
    for (const auto& [name, schemas] : branch.properties)
      for (const auto& s : schemas) add_property(out, name, s);
    demands.push_back(std::move(branch.required));
    out.conditions += branch.conditions;
    return true;
  });
  if (demands.empty()) return;
  if (key == "allOf") {
    for (auto& fields : demands)
      for (auto& f : fields) add_unique(out.required, std::move(f));
    return;
  }
  const bool differ = std::any_of(demands.begin(), demands.end(), [&](const auto& d) { return d != demands.front(); });
  for (const auto& f : demands.front())
    if (std::all_of(demands.begin(), demands.end(),
                    [&](const auto& d) { return std::find(d.begin(), d.end(), f) != d.end(); }))
      add_unique(out.required, f);
  if (!differ) return;
  std::string sets;
  for (const auto& d : demands)
    if (!d.empty()) sets += (sets.empty() ? "" : " or ") + listed(d);
  out.conditions += std::string(" Give ") + (key == "oneOf" ? "exactly" : "at least") +
                    " one of these sets of arguments: " + sets + ".";
}

void collect(const raw_json& schema, const raw_json& root, int depth, merged& out) {
  auto object = raw_object::open(schema);
  if (!object || depth > max_fold_depth) return;
  if (auto properties = raw_object::open(object->find("properties")))
    properties->for_each([&](std::string_view name, raw_json s) { add_property(out, std::string(name), s); });
  for (auto& f : strings_of(object->find("required"))) add_unique(out.required, std::move(f));
  for (const std::string_view key : {"allOf", "anyOf", "oneOf"})
    if (const auto branches = object->find(key); branches.is_array()) collect_choices(key, branches, root, depth, out);
  for (const std::string_view key : {"not", "enum"})
    if (const auto more = object->find(key))
      out.conditions += " Arguments must " + std::string(key == "not" ? "not match " : "be one of ") +
                        std::string(cut_utf8(more.text(), 200)) + ".";
}

}  // namespace

std::string fold_combinators(raw_object& schema, const raw_json& root) {
  const auto keys = {"allOf", "anyOf", "oneOf", "not", "enum"};
  if (std::none_of(keys.begin(), keys.end(), [&](auto key) { return schema.contains(key); })) return {};
  merged all;
  collect(root, root, 0, all);
  for (const auto* key : keys) schema.erase(key);
  std::string properties;
  for (const auto& [name, schemas] : all.properties) {
    properties += properties.empty() ? "{" : ",";
    append_quoted(properties, name);
    properties += ':';
    if (schemas.size() == 1) {
      properties += schemas.front().text();
      continue;
    }
    properties += R"({"anyOf":[)";
    for (std::size_t i = 0; i < schemas.size(); ++i) properties.append(i == 0 ? "" : ",").append(schemas[i].text());
    properties += "]}";
  }
  schema.set("properties", raw_json::own(properties.empty() ? "{}" : properties + "}"));
  std::string required;
  for (const auto& f : all.required) {
    required += required.empty() ? "[" : ",";
    append_quoted(required, f);
  }
  if (!required.empty())
    schema.set("required", raw_json::own(required + "]"));
  else
    schema.erase("required");
  return all.conditions;
}

}  // namespace mcpbx::providers
