// First the document is walked along the keywords that hold schemas, which finds every $id and anchor; then each
// subschema becomes a node. What only a JSON pointer leads to is walked when the pointer is met.
#include "mcp/support/percent.hpp"
#include "providers/schema/json_schema.hpp"
#include "providers/schema/schema_program.hpp"
#include "providers/schema/schema_uri.hpp"
#include "providers/schema/schema_values.hpp"

#include <boost/json/parse.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace mcpbx::providers {
namespace schema {
namespace {

namespace json = boost::json;

constexpr std::array<std::string_view, 12> single_keywords{
    "additionalProperties", "propertyNames",         "items",           "contains",     "not", "if", "then", "else",
    "unevaluatedItems",     "unevaluatedProperties", "additionalItems", "contentSchema"};
constexpr std::array<std::string_view, 5> list_keywords{"allOf", "anyOf", "oneOf", "prefixItems", "items"};
constexpr std::array<std::string_view, 5> map_keywords{"properties", "patternProperties", "$defs", "definitions",
                                                       "dependentSchemas"};
constexpr std::size_t max_notes = 16;
constexpr std::size_t max_steps_told = 32;  // of the path of a note, the last ones
constexpr std::string_view schema_form = "a schema: an object, true or false";
constexpr std::string_view type_form =
    R"("null", "boolean", "object", "array", "number", "string", "integer" or an array of these)";

bool is_schema(const json::value& v) {
  return v.is_object() || v.is_bool();
}

class compiler {
 public:
  explicit compiler(program& p) : p_(p) {}

  result<void> run() {
    if (!is_schema(p_.document)) return fail(errc::invalid_argument, "a schema must be an object or a boolean");
    open_resource("", p_.document);
    walk(p_.document, 0, {});
    for (node_id next = 0; next < sources_.size() && !too_many_; ++next) compile(next);
    if (too_many_)
      return fail(errc::limit,
                  "the schema has more than " + std::to_string(json_schema::max_subschemas) + " subschemas");
    return {};
  }

 private:
  struct place {
    std::string base;
    const json::value* root;
    std::unordered_map<std::string_view, const json::value*> anchors;
  };
  // How a node was come to from another one: `.not`, `.allOf[2]`, `.properties.name`, `.$ref`.
  static constexpr std::size_t nowhere = static_cast<std::size_t>(-1);
  struct origin {
    node_id parent = 0;
    std::string_view keyword{}, name{};
    std::size_t index = nowhere;
    bool named = false;
  };

  // A keyword of the node that is compiled is not as it should be.
  void note(std::string_view key, std::string expected, const json::value& found) {
    if (p_.notes.size() < max_notes)
      p_.notes.push_back({path_of(here_) + member_step(key), std::move(expected), in_words(found)});
  }

  // The same for a member of the keyword's value, which should have been a schema.
  void note_member(std::string_view key, std::string_view name, const json::value& found) {
    if (p_.notes.size() < max_notes)
      p_.notes.push_back(
          {path_of(here_) + member_step(key) + member_step(name), std::string(schema_form), in_words(found)});
  }

  static void add_steps(std::string& path, const origin& o) {
    path += member_step(o.keyword);
    if (o.named)
      path += member_step(o.name);
    else if (o.index != nowhere)
      path += '[' + std::to_string(o.index) + ']';
  }

  std::string path_of(node_id id) const {
    std::vector<const origin*> steps;
    for (; id != 0 && steps.size() < max_steps_told; id = origins_[id].parent) steps.push_back(&origins_[id]);
    std::string path = id == 0 ? "" : "…";
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) add_steps(path, **step);
    return path;
  }

  std::uint32_t open_resource(std::string base, const json::value& root) {
    const auto id = static_cast<std::uint32_t>(places_.size());
    by_uri_.try_emplace(base, id);
    places_.push_back({std::move(base), &root, {}});
    p_.resources.emplace_back();
    return id;
  }

  static std::string_view text_of(const json::object& o, std::string_view key) {
    const auto* v = o.if_contains(key);
    return v && v->is_string() ? std::string_view(v->get_string()) : std::string_view();
  }

  // Gives every schema below `v` a node. The depth is that of the document, which the parser bounds.
  void walk(const json::value& v, std::uint32_t where, const origin& from) {
    if (!is_schema(v) || ids_.contains(&v)) return;
    if (sources_.size() >= json_schema::max_subschemas) {
      too_many_ = true;
      return;
    }
    const auto* o = v.if_object();
    if (o)
      if (auto id = text_of(*o, "$id"); !id.empty() && !id.starts_with('#')) {
        auto base = resolve_uri(places_[where].base, id.substr(0, id.find('#')));
        if (&v == &p_.document) {
          by_uri_.try_emplace(base, 0);
          places_[0].base = std::move(base);
        } else {
          where = open_resource(std::move(base), v);
        }
      }
    const auto id = static_cast<node_id>(sources_.size());
    ids_.emplace(&v, id);
    sources_.push_back(&v);
    origins_.push_back(from);
    p_.nodes.push_back({.resource = where});
    if (!o) return;
    if (const auto name = text_of(*o, "$anchor"); !name.empty()) places_[where].anchors.try_emplace(name, &v);
    if (const auto name = text_of(*o, "$dynamicAnchor"); !name.empty()) {
      places_[where].anchors.try_emplace(name, &v);
      p_.resources[where].dynamic_anchors.try_emplace(name, id);
    }
    for (const auto& m : *o) {
      const std::string_view key = m.key();
      const auto among = [key](const auto& list) { return std::ranges::find(list, key) != list.end(); };
      if (among(single_keywords)) walk(m.value(), where, {.parent = id, .keyword = key});
      if (const auto* a = m.value().if_array(); a && among(list_keywords))
        for (std::size_t i = 0; i < a->size(); ++i) walk((*a)[i], where, {.parent = id, .keyword = key, .index = i});
      if (const auto* in = m.value().if_object(); in && among(map_keywords))
        for (const auto& e : *in)
          walk(e.value(), where, {.parent = id, .keyword = key, .name = e.key(), .named = true});
    }
  }

  // --- references -----------------------------------------------------------------------------------------------

  const json::value* follow(const json::value& root, std::string_view pointer, std::uint32_t& where) {
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
      if (const auto known = ids_.find(at); known != ids_.end()) where = p_.nodes[known->second].resource;
    }
    return at;
  }

  // The node that `reference`, a keyword's value in the node `at`, leads to; no_node when it leads out of the document.
  node_id resolve(std::string_view reference, node_id at, std::string_view key) {
    const auto from = p_.nodes[at].resource;
    const auto hash = reference.find('#');
    const auto uri = reference.substr(0, hash);
    const auto fragment = hash == reference.npos ? std::string() : percent_decoded(reference.substr(hash + 1));
    auto where = from;
    if (!uri.empty()) {
      const auto found = by_uri_.find(resolve_uri(places_[from].base, uri));
      if (found == by_uri_.end()) return no_node;
      where = found->second;
    }
    const json::value* target = places_[where].root;
    if (fragment.starts_with('/')) {
      target = follow(*target, fragment, where);
    } else if (!fragment.empty()) {
      const auto found = places_[where].anchors.find(fragment);
      target = found == places_[where].anchors.end() ? nullptr : found->second;
    }
    if (!target || !is_schema(*target)) return no_node;
    walk(*target, where, {.parent = at, .keyword = key});
    const auto id = ids_.find(target);
    return id == ids_.end() ? no_node : id->second;
  }

  // --- one node -------------------------------------------------------------------------------------------------

  void add(op what, std::uint32_t at = 0, std::uint64_t n = 0, const json::value* value = nullptr) {
    p_.rules.push_back({what, at, n, value});
  }

  node_id child(const json::value* v) const {
    if (!v) return no_node;
    const auto found = ids_.find(v);
    return found == ids_.end() ? no_node : found->second;
  }

  // The value of a keyword when `holds` for it, which is `form`; a note, and none, otherwise.
  template <class Holds>
  const json::value* keyword(const json::object& o, std::string_view key, std::string_view form, Holds holds) {
    const auto* v = o.if_contains(key);
    if (!v) return nullptr;
    if (holds(*v)) return v;
    note(key, std::string(form), *v);
    return nullptr;
  }

  node_id subschema(const json::object& o, std::string_view key) {
    return child(keyword(o, key, schema_form, is_schema));
  }

  std::vector<node_id> subschemas(const json::object& o, std::string_view key) {
    std::vector<node_id> all;
    const auto* v = keyword(o, key, "an array of schemas, each an object, true or false", [](const json::value& x) {
      return x.is_array() && std::ranges::all_of(x.get_array(), is_schema);
    });
    if (v)
      for (const auto& e : v->get_array()) all.push_back(child(&e));
    return all;
  }

  named_nodes schema_map(const json::object& o, std::string_view key) {
    named_nodes all;
    const auto* v = keyword(o, key, "an object of schemas", [](const json::value& x) { return x.is_object(); });
    if (!v) return all;
    for (const auto& m : v->get_object()) {
      if (is_schema(m.value()))
        all.emplace_back(m.key(), child(&m.value()));
      else
        note_member(key, m.key(), m.value());
    }
    return all;
  }

  // `key`: the keyword with the pattern.
  std::uint32_t pattern_of(std::string_view key, std::string_view text) {
    const auto [at, fresh] = pattern_ids_.try_emplace(text, static_cast<std::uint32_t>(p_.patterns.size()));
    if (fresh) {
      auto made = pattern::compile(text);
      if (!made)
        note(key, "a regular expression that can be checked (" + made.error().message + ")", json::value(text));
      p_.patterns.push_back(made ? std::optional(std::move(*made)) : std::nullopt);
    }
    return at->second;
  }

  void compile(node_id id) {
    const auto& source = *sources_[id];
    const auto first = p_.rules.size();
    here_ = id;
    if (const auto* o = source.if_object()) {
      values(*o);
      numbers_and_sizes(*o);
      objects(*o);
      arrays(*o);
      logic(*o, id);
    } else {
      p_.nodes[id].never = !source.get_bool();
    }
    p_.nodes[id].first = static_cast<std::uint32_t>(first);
    p_.nodes[id].count = static_cast<std::uint32_t>(p_.rules.size() - first);
  }

  static std::uint8_t type_bit(const json::value& v) {
    static constexpr std::array<std::pair<std::string_view, json_type>, 7> known{{{"null", type_null},
                                                                                  {"boolean", type_boolean},
                                                                                  {"object", type_object},
                                                                                  {"array", type_array},
                                                                                  {"number", type_number},
                                                                                  {"string", type_string},
                                                                                  {"integer", type_integer}}};
    if (const auto* s = v.if_string())
      for (const auto& [name, bit] : known)
        if (std::string_view(*s) == name) return bit;
    return 0;
  }

  void values(const json::object& o) {
    const auto* type = keyword(o, "type", type_form, [](const json::value& v) {
      const auto* a = v.if_array();
      return type_bit(v) != 0 ||
             (a && !a->empty() && std::ranges::all_of(*a, [](const auto& e) { return type_bit(e) != 0; }));
    });
    if (type) {
      unsigned bits = type_bit(*type);
      if (const auto* a = type->if_array())
        for (const auto& e : *a) bits |= type_bit(e);
      add(op::types, 0, bits);
    }
    if (const auto* v = o.if_contains("const")) add(op::constant, 0, 0, v);
    if (const auto* v = keyword(o, "enum", "an array", [](const json::value& x) { return x.is_array(); }))
      add(op::one_of_values, 0, 0, v);
  }

  void numbers_and_sizes(const json::object& o) {
    const auto number = [&](std::string_view key, op what) {
      if (const auto* v = keyword(o, key, "a number", [](const json::value& x) { return x.is_number(); }))
        add(what, 0, 0, v);
    };
    number("minimum", op::minimum);
    number("maximum", op::maximum);
    number("exclusiveMinimum", op::exclusive_minimum);
    number("exclusiveMaximum", op::exclusive_maximum);
    if (const auto* v = keyword(o, "multipleOf", "a number greater than 0", [](const json::value& x) {
          return x.is_number() && compare_numbers(x, json::value(0)) > 0;
        }))
      add(op::multiple_of, 0, 0, v);
    for (const auto& [key, what] : {std::pair{"minLength", op::min_length},
                                    {"maxLength", op::max_length},
                                    {"minItems", op::min_items},
                                    {"maxItems", op::max_items},
                                    {"minProperties", op::min_properties},
                                    {"maxProperties", op::max_properties}})
      if (const auto n = count(o, key)) add(what, 0, *n);
    if (const auto* v = keyword(o, "pattern", "a string", [](const json::value& x) { return x.is_string(); }))
      add(op::matches, pattern_of("pattern", v->get_string()), 0, v);
    if (const auto* v = keyword(o, "uniqueItems", "true or false", [](const json::value& x) { return x.is_bool(); });
        v && v->get_bool())
      add(op::unique_items);
  }

  std::optional<std::uint64_t> count(const json::object& o, std::string_view key) {
    const auto* v = keyword(o, key, "an integer of at least 0", [](const json::value& x) {
      return x.is_number() && is_integer(x) && compare_numbers(x, json::value(0)) >= 0;
    });
    if (!v) return std::nullopt;
    if (v->is_double()) return v->get_double() < 1e18 ? static_cast<std::uint64_t>(v->get_double()) : ~std::uint64_t{0};
    return v->to_number<std::uint64_t>();
  }

  static bool all_strings(const json::value& v) {
    return v.is_array() && std::ranges::all_of(v.get_array(), [](const auto& e) { return e.is_string(); });
  }

  void objects(const json::object& o) {
    if (const auto* v = keyword(o, "required", "an array of strings", all_strings); v && !v->get_array().empty())
      add(op::required, 0, 0, v);
    if (const auto* v = keyword(o, "dependentRequired", "an object of arrays of strings", [](const json::value& x) {
          return x.is_object() &&
                 std::ranges::all_of(x.get_object(), [](const auto& m) { return all_strings(m.value()); });
        }))
      add(op::dependent_required, 0, 0, v);
    member_rules m;
    m.properties = schema_map(o, "properties");
    std::ranges::sort(m.properties, {}, &named_nodes::value_type::first);
    for (const auto& [text, id] : schema_map(o, "patternProperties"))
      m.patterns.emplace_back(pattern_of("patternProperties", text), id);
    m.additional = subschema(o, "additionalProperties");
    if (!m.properties.empty() || !m.patterns.empty() || m.additional != no_node) {
      add(op::members, static_cast<std::uint32_t>(p_.members.size()));
      p_.members.push_back(std::move(m));
    }
    if (const auto n = subschema(o, "propertyNames"); n != no_node) add(op::property_names, n);
    if (auto named = schema_map(o, "dependentSchemas"); !named.empty()) {
      add(op::dependent_schemas, static_cast<std::uint32_t>(p_.named.size()));
      p_.named.push_back(std::move(named));
    }
  }

  void arrays(const json::object& o) {
    item_rules i;
    i.prefix = subschemas(o, "prefixItems");
    // The older drafts' tuple form is understood: many tool servers still write it.
    if (const auto* v = o.if_contains("items"); v && v->is_array()) {
      if (i.prefix.empty()) i.prefix = subschemas(o, "items");
      i.rest = subschema(o, "additionalItems");
    } else {
      i.rest = subschema(o, "items");
    }
    if (!i.prefix.empty() || i.rest != no_node) {
      add(op::items, static_cast<std::uint32_t>(p_.items.size()));
      p_.items.push_back(std::move(i));
    }
    if (const auto n = subschema(o, "contains"); n != no_node) {
      contains_rules c{.what = n};
      c.least = count(o, "minContains").value_or(1);
      c.most = count(o, "maxContains").value_or(c.most);
      add(op::contains, static_cast<std::uint32_t>(p_.contains.size()));
      p_.contains.push_back(c);
    }
  }

  void logic(const json::object& o, node_id id) {
    for (const auto& [key, what] : {std::pair{"allOf", op::all_of}, {"anyOf", op::any_of}, {"oneOf", op::one_of}})
      if (auto list = subschemas(o, key); !list.empty()) {
        add(what, static_cast<std::uint32_t>(p_.lists.size()));
        p_.lists.push_back(std::move(list));
      }
    if (const auto n = subschema(o, "not"); n != no_node) add(op::negation, n);
    if (const auto n = subschema(o, "if"); n != no_node) {
      add(op::condition, static_cast<std::uint32_t>(p_.conditions.size()));
      p_.conditions.push_back({n, subschema(o, "then"), subschema(o, "else")});
    }
    const auto is_text = [](const json::value& v) { return v.is_string(); };
    if (const auto* v = keyword(o, "$ref", "a string", is_text)) {
      if (const auto n = resolve(v->get_string(), id, "$ref"); n != no_node)
        add(op::reference, n);
      else
        unresolved("$ref", *v);
    }
    if (const auto* v = keyword(o, "$dynamicRef", "a string", is_text)) {
      if (const auto n = resolve(v->get_string(), id, "$dynamicRef"); n != no_node) {
        const std::string_view text = v->get_string();
        const auto hash = text.find('#');
        auto anchor = hash == text.npos ? std::string_view() : text.substr(hash + 1);
        const auto& there = p_.resources[p_.nodes[n].resource].dynamic_anchors;
        const auto found = there.find(anchor);
        if (found == there.end() || found->second != n) anchor = {};
        add(op::dynamic_reference, static_cast<std::uint32_t>(p_.dynamics.size()));
        p_.dynamics.push_back({n, anchor});
      } else {
        unresolved("$dynamicRef", *v);
      }
    }
    // These two come last: they go by what the others have looked at.
    if (const auto n = subschema(o, "unevaluatedItems"); n != no_node) {
      add(op::unevaluated_items, n);
      p_.nodes[id].unevaluated = true;
    }
    if (const auto n = subschema(o, "unevaluatedProperties"); n != no_node) {
      add(op::unevaluated_properties, n);
      p_.nodes[id].unevaluated = true;
    }
  }

  void unresolved(std::string_view key, const json::value& reference) {
    note(key, "a reference to a schema in the same document", reference);
  }

  program& p_;
  bool too_many_ = false;
  std::vector<place> places_;  // by resource
  std::unordered_map<std::string, std::uint32_t> by_uri_;
  std::unordered_map<const json::value*, node_id> ids_;
  std::vector<const json::value*> sources_;  // by node
  std::vector<origin> origins_;              // by node
  node_id here_ = 0;                         // the node that is compiled
  std::unordered_map<std::string_view, std::uint32_t> pattern_ids_;
};

}  // namespace
}  // namespace schema

result<json_schema> json_schema::compile(const raw_json& source) {
  if (source.text().size() > max_text)
    return fail(errc::limit, "the schema is larger than " + std::to_string(max_text >> 20) + " MiB");
  auto p = std::make_shared<schema::program>();
  boost::json::parse_options options;
  options.max_depth = max_depth;
  boost::json::error_code ec;
  p->document = boost::json::parse(source.text(), ec, {}, options);
  if (ec) return fail(errc::parse, "the schema cannot be read: " + ec.message());
  if (auto done = schema::compiler(*p).run(); !done) return std::unexpected(done.error());
  return json_schema(std::move(p));
}

const std::vector<violation>& json_schema::notes() const noexcept {
  return program_->notes;
}

std::size_t json_schema::subschemas() const noexcept {
  return program_->nodes.size();
}

}  // namespace mcpbx::providers
