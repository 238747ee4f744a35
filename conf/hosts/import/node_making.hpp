// Makes nodes of a tree.
#pragma once
#include "conf/document/jsonc.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::conf::imports {

inline documents::node empty_node(documents::node::kind kind, const documents::place& at) {
  documents::node n;
  n.type = kind;
  n.at = at;
  return n;
}
inline documents::node text_node(std::string text, const documents::place& at) {
  auto n = empty_node(documents::node::kind::string, at);
  n.text = std::move(text);
  return n;
}
inline documents::node whole_node(std::int64_t value, const documents::place& at) {
  auto n = empty_node(documents::node::kind::integer, at);
  n.whole = value;
  n.real = static_cast<double>(value);
  return n;
}
inline documents::node truth_node(bool value, const documents::place& at) {
  auto n = empty_node(documents::node::kind::boolean, at);
  n.truth = value;
  return n;
}

/// Adds names to the list `key` of an object, without those that it has.
inline void add_names(documents::node& object, std::string_view key, const std::vector<std::string>& names,
                      const documents::place& at) {
  if (object.find(key) == nullptr)
    object.members.push_back({std::string(key), at, empty_node(documents::node::kind::array, at)});
  auto& items = object.find(key)->value.items;
  for (const auto& name : names) {
    bool known = false;
    for (const auto& i : items) known = known || i.text == name;
    if (!known) items.push_back(text_node(name, at));
  }
}

}  // namespace mcpbx::conf::imports
