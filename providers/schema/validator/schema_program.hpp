// A compiled schema: nodes (subschemas) with rules (keywords) in flat tables. Made by schema_compile.cpp, read by
// schema_check.cpp and schema_words.cpp.
#pragma once
#include "providers/schema/validator/json_schema.hpp"
#include "providers/schema/validator/json_tree.hpp"
#include "providers/schema/validator/schema_pattern.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace mcpbx::providers::schema {

using node_id = std::uint32_t;
inline constexpr node_id no_node = ~0U;

enum class op : std::uint8_t {
  types,                  // n: bits of json_type
  constant,               // value
  one_of_values,          // value: array
  minimum,                // value
  maximum,                // value
  exclusive_minimum,      // value
  exclusive_maximum,      // value
  multiple_of,            // value
  min_length,             // n
  max_length,             // n
  matches,                // at: patterns; value: its text
  min_items,              // n
  max_items,              // n
  unique_items,           //
  min_properties,         // n
  max_properties,         // n
  required,               // value: array of strings
  dependent_required,     // value: object of arrays of strings
  members,                // at: member_rules (properties, patternProperties, additionalProperties)
  property_names,         // at: node
  dependent_schemas,      // at: named
  items,                  // at: item_rules (prefixItems, items)
  contains,               // at: contains_rules
  all_of,                 // at: lists
  any_of,                 // at: lists
  one_of,                 // at: lists
  negation,               // at: node
  condition,              // at: conditions
  reference,              // at: node
  dynamic_reference,      // at: dynamic_rules
  unevaluated_items,      // at: node
  unevaluated_properties  // at: node
};

/// Bits of op::types.
enum json_type : std::uint8_t {
  type_null = 1,
  type_boolean = 2,
  type_object = 4,
  type_array = 8,
  type_number = 16,
  type_string = 32,
  type_integer = 64
};

struct rule {
  op what;
  std::uint32_t at = 0;
  std::uint64_t n = 0;
  const tree::value* value = nullptr;
};

struct node {
  std::uint32_t first = 0, count = 0;  // into rules
  std::uint32_t resource = 0;
  bool never = false;        // the schema `false`
  bool unevaluated = false;  // has unevaluatedItems or unevaluatedProperties itself
};

using named_nodes = std::vector<std::pair<std::string_view, node_id>>;

struct member_rules {
  named_nodes properties;  // sorted by name
  std::vector<std::pair<std::uint32_t, node_id>> patterns;
  node_id additional = no_node;
};
struct item_rules {
  std::vector<node_id> prefix;
  node_id rest = no_node;
};
struct contains_rules {
  node_id what = no_node;
  std::uint64_t least = 1, most = ~std::uint64_t{0};
};
struct condition_rules {
  node_id when = no_node, then = no_node, otherwise = no_node;
};
struct dynamic_rules {
  node_id target = no_node;  // target without regard to the dynamic scope
  std::string_view anchor;   // "": the reference behaves as $ref
};

/// A schema with an $id of its own, or the root of a document.
struct resource {
  std::unordered_map<std::string_view, node_id> dynamic_anchors;
};

struct program {
  std::deque<tree::document> documents;  // nodes point into them; 0 is the schema itself
  std::vector<node> nodes;               // 0 is the root
  std::vector<rule> rules;
  std::vector<resource> resources;
  std::vector<std::optional<pattern>> patterns;  // none: not supported, matches everything
  std::vector<member_rules> members;
  std::vector<item_rules> items;
  std::vector<contains_rules> contains;
  std::vector<std::vector<node_id>> lists;
  std::vector<condition_rules> conditions;
  std::vector<named_nodes> named;
  std::vector<dynamic_rules> dynamics;
  std::vector<violation> notes;
};

/// Parses the text of a schema. errc::parse: unreadable, or deeper than json_schema::max_depth.
result<tree::document> parsed_schema(const json::raw_json& text);
/// Returns the demand of a rule in words: "a string", "at least 3 characters"; "" for applicators.
std::string expectation(const program& p, const rule& r, const tree::value& v);
/// Describes a subschema in a few words, for lists of alternatives; "" if there is nothing to say.
std::string brief(const program& p, node_id n, int depth = 4);
/// Describes a value in a few words: "the number 5", "an array of 3 items".
std::string in_words(const tree::value& v);
/// Returns a value as JSON, cut to about 60 bytes.
std::string shown(const tree::value& v);
/// Returns a member as a step of a path: ".name", or "[\"a name\"]" if the name is not plain.
std::string member_step(std::string_view name);
/// Returns the bits of op::types that `v` matches.
std::uint8_t types_of(const tree::value& v);

}  // namespace mcpbx::providers::schema
