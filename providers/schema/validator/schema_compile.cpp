// Compiles a schema: makes a node with rules for each subschema that the index finds.
#include "providers/schema/validator/json_schema.hpp"
#include "providers/schema/validator/schema_index.hpp"
#include "providers/schema/validator/schema_program.hpp"
#include "providers/schema/validator/schema_values.hpp"

#include <algorithm>
#include <array>

namespace mcpbx::providers::schema {
namespace {

constexpr std::size_t max_pattern_work = 50 * pattern::max_instructions;  // instructions written for all patterns
constexpr std::string_view type_form =
    R"("null", "boolean", "object", "array", "number", "string", "integer" or an array of these)";

class compiler {
 public:
  compiler(program& p, std::span<const known_schema> known) : p_(p), index_(p, known) {}

  result<void> run() {
    if (auto opened = index_.open(); !opened) return opened;
    for (node_id next = 0; next < index_.size() && index_.state(); ++next) compile(next);
    return index_.state();
  }

 private:
  // Notes that a keyword of the present node is malformed.
  void note(std::string_view key, std::string expected, const tree::value& found) {
    index_.note(here_, key, std::move(expected), found);
  }

  // Returns a keyword's value, or null if the keyword has no meaning here.
  const tree::value* find(const tree::object& o, std::string_view key) const {
    return index_.understands(here_, key) ? o.if_contains(key) : nullptr;
  }

  void add(op what, std::uint32_t at = 0, std::uint64_t n = 0, const tree::value* value = nullptr) {
    p_.rules.push_back({what, at, n, value});
  }

  // Returns the value of a keyword if `holds` accepts it; else notes that `form` was expected and returns null.
  template <class Holds>
  const tree::value* keyword(const tree::object& o, std::string_view key, std::string_view form, Holds holds) {
    const auto* v = find(o, key);
    if (!v) return nullptr;
    if (holds(*v)) return v;
    note(key, std::string(form), *v);
    return nullptr;
  }

  node_id subschema(const tree::object& o, std::string_view key) {
    return index_.node_of(keyword(o, key, schema_form, is_schema));
  }

  std::vector<node_id> subschemas(const tree::object& o, std::string_view key) {
    std::vector<node_id> all;
    const auto* v = keyword(o, key, "an array of schemas, each an object, true or false", [](const tree::value& x) {
      return x.is_array() && std::ranges::all_of(x.get_array(), is_schema);
    });
    if (v)
      for (const auto& e : v->get_array()) all.push_back(index_.node_of(&e));
    return all;
  }

  named_nodes schema_map(const tree::object& o, std::string_view key) {
    named_nodes all;
    const auto* v = keyword(o, key, "an object of schemas", [](const tree::value& x) { return x.is_object(); });
    if (!v) return all;
    for (const auto& m : v->get_object()) {
      if (is_schema(m.value()))
        all.emplace_back(m.key(), index_.node_of(&m.value()));
      else
        index_.note_member(here_, key, m.key(), m.value());
    }
    return all;
  }

  // `key`: the keyword with the pattern.
  std::uint32_t pattern_of(std::string_view key, std::string_view text) {
    const auto [at, fresh] = pattern_ids_.try_emplace(text, static_cast<std::uint32_t>(p_.patterns.size()));
    if (fresh) {
      auto made = pattern_work_ < max_pattern_work
                      ? pattern::compile(text, &pattern_work_)
                      : result<pattern>(fail(errc::limit, "the patterns before it are too long together"));
      if (!made)
        note(key, "a regular expression that can be checked (" + made.error().message + ")", tree::value(text));
      p_.patterns.push_back(made ? std::optional(std::move(*made)) : std::nullopt);
    }
    return at->second;
  }

  void compile(node_id id) {
    const auto& source = index_.source(id);
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

  static std::uint8_t type_bit(const tree::value& v) {
    static constexpr std::array<std::pair<std::string_view, json_type>, 7> known{{{"null", type_null},
                                                                                  {"boolean", type_boolean},
                                                                                  {"object", type_object},
                                                                                  {"array", type_array},
                                                                                  {"number", type_number},
                                                                                  {"string", type_string},
                                                                                  {"integer", type_integer}}};
    if (v.is_string())
      for (const auto& [name, bit] : known)
        if (v.get_string() == name) return bit;
    return 0;
  }

  void values(const tree::object& o) {
    const auto* type = keyword(o, "type", type_form, [](const tree::value& v) {
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
    if (const auto* v = find(o, "const")) add(op::constant, 0, 0, v);
    if (const auto* v = keyword(o, "enum", "an array", [](const tree::value& x) { return x.is_array(); }))
      add(op::one_of_values, 0, 0, v);
  }

  void numbers_and_sizes(const tree::object& o) {
    const auto number = [&](std::string_view key, op what) {
      if (const auto* v = keyword(o, key, "a number", [](const tree::value& x) { return x.is_number(); }))
        add(what, 0, 0, v);
    };
    number("minimum", op::minimum);
    number("maximum", op::maximum);
    number("exclusiveMinimum", op::exclusive_minimum);
    number("exclusiveMaximum", op::exclusive_maximum);
    if (const auto* v = keyword(o, "multipleOf", "a number greater than 0", [](const tree::value& x) {
          return x.is_number() && compare_numbers(x, tree::value(std::int64_t{0})) > 0;
        }))
      add(op::multiple_of, 0, 0, v);
    for (const auto& [key, what] : {std::pair{"minLength", op::min_length},
                                    {"maxLength", op::max_length},
                                    {"minItems", op::min_items},
                                    {"maxItems", op::max_items},
                                    {"minProperties", op::min_properties},
                                    {"maxProperties", op::max_properties}})
      if (const auto n = count(o, key)) add(what, 0, *n);
    if (const auto* v = keyword(o, "pattern", "a string", [](const tree::value& x) { return x.is_string(); }))
      add(op::matches, pattern_of("pattern", v->get_string()), 0, v);
    if (const auto* v = keyword(o, "uniqueItems", "true or false", [](const tree::value& x) { return x.is_bool(); });
        v && v->get_bool())
      add(op::unique_items);
  }

  std::optional<std::uint64_t> count(const tree::object& o, std::string_view key) {
    const auto* v = keyword(o, key, "an integer of at least 0", [](const tree::value& x) {
      return x.is_number() && is_integer(x) && compare_numbers(x, tree::value(std::int64_t{0})) >= 0;
    });
    if (!v) return std::nullopt;
    if (v->is_double()) return v->get_double() < 1e18 ? static_cast<std::uint64_t>(v->get_double()) : ~std::uint64_t{0};
    return v->kind() == tree::kind::uint64 ? v->get_uint64() : static_cast<std::uint64_t>(v->get_int64());
  }

  static bool all_strings(const tree::value& v) {
    return v.is_array() && std::ranges::all_of(v.get_array(), [](const auto& e) { return e.is_string(); });
  }

  void objects(const tree::object& o) {
    if (const auto* v = keyword(o, "required", "an array of strings", all_strings); v && !v->get_array().empty())
      add(op::required, 0, 0, v);
    if (const auto* v = keyword(o, "dependentRequired", "an object of arrays of strings", [](const tree::value& x) {
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

  void arrays(const tree::object& o) {
    item_rules i;
    i.prefix = subschemas(o, "prefixItems");
    // The older drafts' tuple form is understood: many tool servers still write it.
    if (const auto* v = find(o, "items"); v && v->is_array()) {
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

  void logic(const tree::object& o, node_id id) {
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
    const auto is_text = [](const tree::value& v) { return v.is_string(); };
    if (const auto* v = keyword(o, "$ref", "a string", is_text)) {
      if (const auto n = index_.resolve(v->get_string(), id, "$ref"); n != no_node)
        add(op::reference, n);
      else
        unresolved("$ref", *v);
    }
    if (const auto* v = keyword(o, "$dynamicRef", "a string", is_text)) {
      if (const auto n = index_.resolve(v->get_string(), id, "$dynamicRef"); n != no_node) {
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

  void unresolved(std::string_view key, const tree::value& reference) {
    note(key, "a reference to a schema in the same document", reference);
  }

  program& p_;
  schema_index index_;
  node_id here_ = 0;  // the present node
  std::size_t pattern_work_ = 0;
  std::unordered_map<std::string_view, std::uint32_t> pattern_ids_;
};

}  // namespace

result<tree::document> parsed_schema(const json::raw_json& text) {
  tree::document d{text.detached(), std::make_unique<std::pmr::monotonic_buffer_resource>(), {}};
  auto root = tree::read(d.text.text(), json_schema::max_depth, *d.memory);
  if (!root) return fail(errc::parse, "it has " + root.error().message);
  d.root = *root;
  return d;
}

result<json_schema> json_schema::compile(const json::raw_json& source, std::span<const known_schema> known) {
  const auto too_large = [](std::string_view what) {
    return fail(errc::limit, std::string(what) + " larger than " + std::to_string(max_text >> 20) + " MiB");
  };
  if (source.text().size() > max_text) return too_large("the schema is");
  std::size_t size = 0;
  for (const auto& one : known) size += one.text.text().size();
  if (size > max_text) return too_large("the known schemas are");
  auto document = parsed_schema(source);
  if (!document) return fail(errc::parse, "the schema cannot be read: " + document.error().message);
  auto p = std::make_shared<program>();
  p->documents.push_back(std::move(*document));
  if (auto done = schema::compiler(*p, known).run(); !done) return std::unexpected(done.error());
  return json_schema(std::move(p));
}

const std::vector<violation>& json_schema::notes() const noexcept {
  return program_->notes;
}

std::size_t json_schema::subschemas() const noexcept {
  return program_->nodes.size();
}

}  // namespace mcpbx::providers::schema
