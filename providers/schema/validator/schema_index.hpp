// Finds what a schema consists of: its documents, each subschema in them with its place, every $id and anchor, and
// where a reference leads (JSON Schema 2020-12 Core, sections 8 and 9). A part of compiling: it fills the nodes and
// resources.
#pragma once
#include "providers/schema/validator/json_schema.hpp"
#include "providers/schema/validator/json_tree.hpp"
#include "providers/schema/validator/schema_program.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace mcpbx::providers::schema {

inline constexpr std::string_view schema_form = "a schema: an object, true or false";

inline bool is_schema(const tree::value& v) {
  return v.is_object() || v.is_bool();
}

/// Index of the nodes of one schema and of the known documents that it refers to. It may grow during a loop over it: a
/// subschema that only a JSON pointer reaches is found when the pointer is resolved.
class schema_index {
 public:
  /// `p` must hold the schema as its first document; it and `known` must outlive this.
  schema_index(program& p, std::span<const known_schema> known);

  /// Finds all subschemas. errc::invalid_argument: the root is no schema; other errors as for state().
  result<void> open();
  /// Returns the first error: errc::limit for too many subschemas, errc::parse for an unreadable known document.
  const result<void>& state() const noexcept { return state_; }

  std::size_t size() const noexcept { return sources_.size(); }
  const tree::value& source(node_id id) const { return *sources_[id]; }
  /// Returns the node of a value inside the documents; no_node for null and for values that are no subschema.
  node_id node_of(const tree::value* v) const;
  /// Returns true if `key` has a meaning in the node. A metaschema among the known documents may omit vocabularies.
  bool understands(node_id id, std::string_view key) const;
  /// Resolves `reference`, the value of the keyword `key` in the node `at`; no_node: it leads out of the documents.
  node_id resolve(std::string_view reference, node_id at, std::string_view key);

  /// Notes that the keyword `key` of a node, or the member `name` of its value, is malformed.
  void note(node_id id, std::string_view key, std::string expected, const tree::value& found);
  void note_member(node_id id, std::string_view key, std::string_view name, const tree::value& found);

 private:
  // The root of a document, or a schema with an $id of its own.
  struct place {
    std::string base;
    const tree::value* root;
    std::uint8_t vocabularies;
    std::unordered_map<std::string_view, const tree::value*> anchors;
  };
  // Step from another node to this one: `.not`, `.allOf[2]`, `.properties.name`, `.$ref`.
  static constexpr std::size_t nowhere = static_cast<std::size_t>(-1);
  struct origin {
    node_id parent = 0;
    std::string_view keyword{}, name{};
    std::size_t index = nowhere;
    bool named = false;
  };
  struct document {
    const json::raw_json* text;
    const tree::value* parsed = nullptr;
  };

  std::uint32_t open_resource(std::string base, const tree::value& root, std::uint8_t vocabularies);
  std::optional<std::uint32_t> resource_of(const std::string& uri, const origin& from);
  const tree::value* known(const std::string& uri);
  void walk(const tree::value& v, std::uint32_t where, const origin& from);
  void read_identifiers(const tree::object& o, node_id id);
  void read_vocabularies(const tree::object& o, node_id id);
  void open_references(node_id id);
  const tree::value* follow(const tree::value& root, std::string_view pointer, std::uint32_t& where) const;
  static void add_steps(std::string& path, const origin& o);
  std::string path_of(node_id id) const;
  void add_note(std::string path, std::string expected, const tree::value& found);

  program& p_;
  std::unordered_map<std::string, document> known_;
  result<void> state_;
  std::size_t base_bytes_ = 0;      // each "$id" makes an address as long as the one that it stands in
  std::size_t resolved_bytes_ = 0;  // of the addresses that references were resolved to
  std::vector<place> places_;       // by resource
  std::unordered_map<std::string, std::uint32_t> by_uri_;
  std::unordered_map<const tree::value*, node_id> ids_;
  std::vector<const tree::value*> sources_;  // by node
  std::vector<origin> origins_;              // by node
};

}  // namespace mcpbx::providers::schema
