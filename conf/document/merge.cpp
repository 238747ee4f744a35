// A later file wins, and its places with it.
#include "conf/document/merge.hpp"

#include <cstddef>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace mcpbx::conf::documents {

void merge(node& into, node&& from) {
  if (from.is(node::kind::broken)) return;
  if (!into.is(node::kind::object) || !from.is(node::kind::object)) {
    into = std::move(from);
    return;
  }
  into.damaged = into.damaged || from.damaged;
  std::unordered_map<std::string_view, std::size_t> known;
  into.members.reserve(into.members.size() + from.members.size());  // the views in `known` must stay where they are
  for (std::size_t i = 0; i < into.members.size(); ++i) known.emplace(into.members[i].key, i);
  for (auto& m : from.members) {
    const auto i = known.find(m.key);
    if (i == known.end()) {
      into.members.push_back(std::move(m));
    } else {
      into.members[i->second].at = m.at;
      merge(into.members[i->second].value, std::move(m.value));
    }
  }
}

}  // namespace mcpbx::conf::documents
