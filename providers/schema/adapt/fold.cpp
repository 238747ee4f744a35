// Merges branches: the result has the union of their properties, and requires those that every branch requires.
#include "providers/schema/adapt/fold.hpp"

#include "mcp/json/json_writer.hpp"
#include "mcp/support/text.hpp"
#include "providers/schema/adapt/adapt.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace mcpbx::providers::adapt {
namespace {

constexpr int max_fold_depth = 8;
constexpr std::size_t max_fold_work = 32U << 20;  // bytes to read; a bound, since branches may refer to each other

// Distinct texts in order. Indexed, because a schema may have a hundred thousand of them.
class text_list {
 public:
  void add(std::string text) {
    if (known_.insert(text).second) all_.push_back(std::move(text));
  }
  const std::vector<std::string>& all() const { return all_; }

 private:
  std::vector<std::string> all_;
  std::unordered_set<std::string> known_;
};

// A property with its different schemas.
struct merged_property {
  std::string name;
  std::vector<json::raw_json> schemas;
  std::unordered_set<std::string_view> known;  // of the texts of `schemas`
};

struct merged {
  std::vector<merged_property> properties;
  std::unordered_map<std::string, std::size_t> places;  // of a property, by its name
  text_list required;
  std::string conditions;
};

// Target of references, with the number of bytes read so far.
struct document {
  const json::raw_json& root;
  std::size_t work = 0;
};

std::vector<std::string> strings_of(const json::raw_json& list) {
  text_list all;
  json::for_each_element(list, [&](json::raw_json e) {
    if (auto s = e.as_string()) all.add(*std::move(s));
    return true;
  });
  return all.all();
}

void add_property(merged& m, const std::string& name, const json::raw_json& schema) {
  const auto [place, fresh] = m.places.try_emplace(name, m.properties.size());
  if (fresh) m.properties.push_back({name, {}, {}});
  auto& property = m.properties[place->second];
  if (property.known.insert(schema.text()).second) property.schemas.push_back(schema);
}

// Appends a condition, unless the description would then exceed its limit.
void tell(merged& m, std::string_view condition) {
  if (m.conditions.size() + condition.size() <= max_description) m.conditions += condition;
}

// Follows "#/$defs/a/b" inside `root`; leaves other references alone.
json::raw_json resolve(json::raw_json branch, document& in) {
  for (int i = 0; i < max_fold_depth; ++i) {
    const auto ref = json::find_member(branch, "$ref").as_string();
    if (!ref || !ref->starts_with("#/")) return branch;
    in.work += in.root.text().size();
    if (in.work > max_fold_work) return {};
    json::raw_json at = in.root;
    for (std::size_t from = 2; from <= ref->size() && at;) {
      const auto end = std::min(ref->find('/', from), ref->size());
      at = json::find_member(at, std::string_view(*ref).substr(from, end - from), json::most_schema_members);
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

void collect(const json::raw_json& schema, document& from, int depth, merged& out);

void collect_choices(std::string_view key, const json::raw_json& branches, document& from, int depth, merged& out) {
  std::vector<std::vector<std::string>> demands;
  json::for_each_element(branches, [&](json::raw_json b) {
    merged branch;
    collect(resolve(b, from), from, depth + 1, branch);
    for (const auto& p : branch.properties)
      for (const auto& s : p.schemas) add_property(out, p.name, s);
    demands.push_back(branch.required.all());
    tell(out, branch.conditions);
    return true;
  });
  if (demands.empty()) return;
  if (key == "allOf") {
    for (auto& fields : demands)
      for (auto& f : fields) out.required.add(std::move(f));
    return;
  }
  const bool differ = std::any_of(demands.begin(), demands.end(), [&](const auto& d) { return d != demands.front(); });
  std::unordered_map<std::string_view, std::size_t> demanded;  // by how many; each names a field once
  for (const auto& d : demands)
    for (const auto& f : d) ++demanded[f];
  for (const auto& f : demands.front())
    if (demanded[f] == demands.size()) out.required.add(f);
  if (!differ) return;
  std::string sets;
  for (const auto& d : demands)
    if (!d.empty()) sets += (sets.empty() ? "" : " or ") + listed(d);
  tell(out, std::string(" Give ") + (key == "oneOf" ? "exactly" : "at least") +
                " one of these sets of arguments: " + sets + ".");
}

void collect(const json::raw_json& schema, document& from, int depth, merged& out) {
  from.work += schema.text().size();
  if (depth > max_fold_depth || from.work > max_fold_work) return;
  auto object = json::raw_object::open(schema, {}, json::most_schema_members);
  if (!object) return;
  if (auto properties = json::raw_object::open(object->find("properties"), {}, json::most_schema_members))
    properties->for_each([&](std::string_view name, json::raw_json s) { add_property(out, std::string(name), s); });
  for (auto& f : strings_of(object->find("required"))) out.required.add(std::move(f));
  for (const std::string_view key : {"allOf", "anyOf", "oneOf"})
    if (const auto branches = object->find(key); branches.is_array()) collect_choices(key, branches, from, depth, out);
  for (const std::string_view key : {"not", "enum"})
    if (const auto more = object->find(key))
      tell(out, " Arguments must " + std::string(key == "not" ? "not match " : "be one of ") +
                    std::string(cut_utf8(more.text(), 200)) + ".");
}

}  // namespace

std::string fold_combinators(json::raw_object& schema, const json::raw_json& root) {
  const auto keys = {"allOf", "anyOf", "oneOf", "not", "enum"};
  if (std::none_of(keys.begin(), keys.end(), [&](auto key) { return schema.contains(key); })) return {};
  merged all;
  document from{root};
  collect(root, from, 0, all);
  for (const auto* key : keys) schema.erase(key);
  std::string properties;
  json::json_writer w(properties);
  w.begin_object();
  for (const auto& [name, schemas, known] : all.properties) {
    w.key(name);
    if (schemas.size() == 1)
      w.value(schemas.front());
    else
      w.begin_object().list("anyOf", schemas).end_object();
  }
  w.end_object();
  schema.set("properties", w.json());
  if (const auto& names = all.required.all(); !names.empty()) {
    std::string required;
    json::json_writer list(required);
    list.begin_array();
    for (const auto& name : names) list.value(name);
    list.end_array();
    schema.set("required", list.json());
  } else {
    schema.erase("required");
  }
  return all.conditions;
}

}  // namespace mcpbx::providers::adapt
