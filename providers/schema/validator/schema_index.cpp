// Walks each document once and indexes every possible target of a reference.
#include "providers/schema/validator/schema_index.hpp"

#include "mcp/support/percent.hpp"
#include "providers/schema/validator/schema_uri.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace mcpbx::providers::schema {
namespace {

constexpr std::array<std::string_view, 12> single_keywords{
    "additionalProperties", "propertyNames",         "items",           "contains",     "not", "if", "then", "else",
    "unevaluatedItems",     "unevaluatedProperties", "additionalItems", "contentSchema"};
constexpr std::array<std::string_view, 5> list_keywords{"allOf", "anyOf", "oneOf", "prefixItems", "items"};
constexpr std::array<std::string_view, 5> map_keywords{"properties", "patternProperties", "$defs", "definitions",
                                                       "dependentSchemas"};
constexpr std::size_t max_notes = 16;
constexpr std::size_t max_resolved_bytes = 64 * json_schema::max_base_bytes;
constexpr std::size_t max_steps_told = 32;  // of the path of a note, the last ones

// Vocabularies of 2020-12 with keywords that are checked. The core always counts; the others have no checked keywords.
enum vocabulary : std::uint8_t { core = 0, applicator = 1, unevaluated = 2, validation = 4, every = 7 };
constexpr std::string_view vocabulary_uri = "https://json-schema.org/draft/2020-12/vocab/";
constexpr std::array<std::pair<std::string_view, vocabulary>, 7> vocabularies{{{"core", core},
                                                                               {"applicator", applicator},
                                                                               {"unevaluated", unevaluated},
                                                                               {"validation", validation},
                                                                               {"meta-data", core},
                                                                               {"format-annotation", core},
                                                                               {"content", core}}};
constexpr std::array<std::string_view, 20> validation_keywords{
    "type",          "const",         "enum",      "minimum",     "maximum",     "exclusiveMinimum", "exclusiveMaximum",
    "multipleOf",    "minLength",     "maxLength", "pattern",     "minItems",    "maxItems",         "uniqueItems",
    "minProperties", "maxProperties", "required",  "minContains", "maxContains", "dependentRequired"};

vocabulary vocabulary_of(std::string_view key) {
  if (key.starts_with('$')) return core;
  if (key.starts_with("unevaluated")) return unevaluated;
  return std::ranges::find(validation_keywords, key) != validation_keywords.end() ? validation : applicator;
}

std::string_view text_of(const tree::object& o, std::string_view key) {
  const auto* v = o.if_contains(key);
  return v && v->is_string() ? std::string_view(v->get_string()) : std::string_view();
}

std::string_view without_fragment(std::string_view uri) {
  return uri.substr(0, uri.find('#'));
}

}  // namespace

schema_index::schema_index(program& p, std::span<const known_schema> known) : p_(p) {
  for (const auto& one : known) known_.try_emplace(one.uri, document{&one.text});
}

result<void> schema_index::open() {
  const auto& root = p_.documents.front().root;
  if (!is_schema(root)) return fail(errc::invalid_argument, "a schema must be an object or a boolean");
  open_resource("", root, every);
  walk(root, 0, {});
  // Index all documents before the first reference is resolved, so that their order does not matter.
  if (!known_.empty())
    for (node_id next = 0; next < size() && state_; ++next) open_references(next);
  return state_;
}

// --- documents and what they identify ---------------------------------------------------------------------------

std::uint32_t schema_index::open_resource(std::string base, const tree::value& root, std::uint8_t understood) {
  const auto id = static_cast<std::uint32_t>(places_.size());
  by_uri_.try_emplace(base, id);
  places_.push_back({std::move(base), &root, understood, {}});
  p_.resources.emplace_back();
  return id;
}

std::optional<std::uint32_t> schema_index::resource_of(const std::string& uri, const origin& from) {
  if (const auto found = by_uri_.find(uri); found != by_uri_.end()) return found->second;
  const auto* root = known(uri);
  if (!root) return std::nullopt;
  const auto where = open_resource(uri, *root, every);
  walk(*root, where, from);
  return where;
}

const tree::value* schema_index::known(const std::string& uri) {
  const auto found = known_.find(uri);
  if (found == known_.end()) return nullptr;
  auto& one = found->second;
  if (one.parsed) return one.parsed;
  auto parsed = parsed_schema(*one.text);
  if (!parsed) {
    if (state_) state_ = fail(errc::parse, "the known schema " + uri + " cannot be read: " + parsed.error().message);
    return nullptr;
  }
  return one.parsed = &p_.documents.emplace_back(std::move(*parsed)).root;
}

// Gives every schema below `v` a node. The parser has bounded the depth of the document.
void schema_index::walk(const tree::value& v, std::uint32_t where, const origin& from) {
  if (!is_schema(v) || ids_.contains(&v) || !state_) return;
  if (size() >= json_schema::max_subschemas) {
    state_ =
        fail(errc::limit, "the schema has more than " + std::to_string(json_schema::max_subschemas) + " subschemas");
    return;
  }
  const auto* o = v.if_object();
  if (o)
    if (auto name = text_of(*o, "$id"); !name.empty() && !name.starts_with('#')) {
      auto base = resolve_uri(places_[where].base, without_fragment(name));
      base_bytes_ += base.size();
      if (base_bytes_ > json_schema::max_base_bytes) {
        state_ = fail(errc::limit, "the \"$id\"s of the schema are together longer than " +
                                       std::to_string(json_schema::max_base_bytes) + " bytes");
        return;
      }
      if (&v == places_[where].root) {
        by_uri_.try_emplace(base, where);
        places_[where].base = std::move(base);
      } else {
        where = open_resource(std::move(base), v, places_[where].vocabularies);
      }
    }
  const auto id = static_cast<node_id>(size());
  ids_.emplace(&v, id);
  sources_.push_back(&v);
  origins_.push_back(from);
  p_.nodes.push_back({.resource = where});
  if (!o) return;
  read_identifiers(*o, id);
  for (const auto& m : *o) {
    const std::string_view key = m.key();
    const auto among = [key](const auto& list) { return std::ranges::find(list, key) != list.end(); };
    if (among(single_keywords)) walk(m.value(), where, {.parent = id, .keyword = key});
    if (const auto* a = m.value().if_array(); a && among(list_keywords))
      for (std::size_t i = 0; i < a->size(); ++i) walk((*a)[i], where, {.parent = id, .keyword = key, .index = i});
    if (const auto* in = m.value().if_object(); in && among(map_keywords))
      for (const auto& e : *in) walk(e.value(), where, {.parent = id, .keyword = key, .name = e.key(), .named = true});
  }
}

void schema_index::read_identifiers(const tree::object& o, node_id id) {
  const auto where = p_.nodes[id].resource;
  if (sources_[id] == places_[where].root && !known_.empty()) read_vocabularies(o, id);
  auto& anchors = places_[where].anchors;
  if (const auto name = text_of(o, "$anchor"); !name.empty()) anchors.try_emplace(name, sources_[id]);
  if (const auto name = text_of(o, "$dynamicAnchor"); !name.empty()) {
    anchors.try_emplace(name, sources_[id]);
    p_.resources[where].dynamic_anchors.try_emplace(name, id);
  }
}

// Returns the vocabularies of a resource: $schema names its metaschema, whose $vocabulary lists them (section 8.1).
void schema_index::read_vocabularies(const tree::object& o, node_id id) {
  const auto* named = o.if_contains("$schema");
  if (!named || !named->is_string()) return;
  auto& understood = places_[p_.nodes[id].resource].vocabularies;
  understood = every;
  const auto* metaschema = known(std::string(without_fragment(named->get_string())));
  const auto* members = metaschema ? metaschema->if_object() : nullptr;
  const auto* list = members ? members->if_contains("$vocabulary") : nullptr;
  if (!list || !list->is_object()) return;
  understood = core;
  for (const auto& m : list->get_object()) {
    const std::string_view uri = m.key();
    const auto* found = uri.starts_with(vocabulary_uri)
                            ? std::ranges::find(vocabularies, uri.substr(vocabulary_uri.size()),
                                                &decltype(vocabularies)::value_type::first)
                            : vocabularies.end();
    if (found != vocabularies.end())
      understood |= found->second;
    else if (m.value().is_true())
      note(id, "$schema", "a metaschema that requires no vocabulary but those of 2020-12", *named);
  }
}

bool schema_index::understands(node_id id, std::string_view key) const {
  const auto understood = places_[p_.nodes[id].resource].vocabularies;
  if (understood == every) return true;
  const auto needed = vocabulary_of(key);
  return (understood & needed) == needed;
}

// --- references -------------------------------------------------------------------------------------------------

void schema_index::open_references(node_id id) {
  const auto* o = sources_[id]->if_object();
  if (!o) return;
  for (const std::string_view key : {"$ref", "$dynamicRef"})
    if (const auto uri = without_fragment(text_of(*o, key)); !uri.empty())
      resource_of(resolve_uri(places_[p_.nodes[id].resource].base, uri), {.parent = id, .keyword = key});
}

node_id schema_index::node_of(const tree::value* v) const {
  if (!v) return no_node;
  const auto found = ids_.find(v);
  return found == ids_.end() ? no_node : found->second;
}

// Follows a JSON pointer (RFC 6901) from `root`. Sets `where` to the resource of the innermost schema on the way.
const tree::value* schema_index::follow(const tree::value& root, std::string_view pointer, std::uint32_t& where) const {
  const auto* at = &root;
  while (!pointer.empty()) {
    pointer.remove_prefix(1);
    std::string name(pointer.substr(0, pointer.find('/')));
    pointer.remove_prefix(name.size());
    for (std::size_t i = 0; (i = name.find('~', i)) != name.npos; ++i)
      if (i + 1 < name.size() && (name[i + 1] == '0' || name[i + 1] == '1'))
        name.replace(i, 2, name[i + 1] == '0' ? "~" : "/");
    if (const auto* o = at->if_object()) {
      at = o->if_contains(name);
    } else if (const auto* a = at->if_array()) {
      std::size_t index = 0;
      const auto* end = name.data() + name.size();
      const auto [stop, ec] = std::from_chars(name.data(), end, index);
      at = ec == std::errc() && stop == end && index < a->size() ? &(*a)[index] : nullptr;
    } else {
      at = nullptr;
    }
    if (!at) return nullptr;
    if (const auto known = node_of(at); known != no_node) where = p_.nodes[known].resource;
  }
  return at;
}

node_id schema_index::resolve(std::string_view reference, node_id at, std::string_view key) {
  auto where = p_.nodes[at].resource;
  const auto uri = without_fragment(reference);
  const auto fragment =
      uri.size() == reference.size() ? std::string() : percent_decoded(reference.substr(uri.size() + 1));
  if (!uri.empty()) {
    // Each is written out with the address that it is relative to.
    resolved_bytes_ += places_[where].base.size() + uri.size();
    if (resolved_bytes_ > max_resolved_bytes) return no_node;
    const auto found = resource_of(resolve_uri(places_[where].base, uri), {.parent = at, .keyword = key});
    if (!found) return no_node;
    where = *found;
  }
  const tree::value* target = places_[where].root;
  if (fragment.starts_with('/')) {
    target = follow(*target, fragment, where);
  } else if (!fragment.empty()) {
    const auto found = places_[where].anchors.find(fragment);
    target = found == places_[where].anchors.end() ? nullptr : found->second;
  }
  if (!target || !is_schema(*target)) return no_node;
  walk(*target, where, {.parent = at, .keyword = key});
  return node_of(target);
}

// --- notes ------------------------------------------------------------------------------------------------------

void schema_index::add_steps(std::string& path, const origin& o) {
  path += member_step(o.keyword);
  if (o.named)
    path += member_step(o.name);
  else if (o.index != nowhere)
    path += '[' + std::to_string(o.index) + ']';
}

std::string schema_index::path_of(node_id id) const {
  std::vector<const origin*> steps;
  for (; id != 0 && steps.size() < max_steps_told; id = origins_[id].parent) steps.push_back(&origins_[id]);
  std::string path = id == 0 ? "" : "…";
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) add_steps(path, **step);
  return path;
}

void schema_index::add_note(std::string path, std::string expected, const tree::value& found) {
  if (p_.notes.size() < max_notes) p_.notes.push_back({std::move(path), std::move(expected), in_words(found)});
}

void schema_index::note(node_id id, std::string_view key, std::string expected, const tree::value& found) {
  if (p_.notes.size() < max_notes) add_note(path_of(id) + member_step(key), std::move(expected), found);
}

void schema_index::note_member(node_id id, std::string_view key, std::string_view name, const tree::value& found) {
  if (p_.notes.size() < max_notes)
    add_note(path_of(id) + member_step(key) + member_step(name), std::string(schema_form), found);
}

}  // namespace mcpbx::providers::schema
