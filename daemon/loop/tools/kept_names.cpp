// Compares each offer with the last one first, because in most runs the tools do not change.
#include "daemon/loop/tools/kept_names.hpp"

#include "daemon/loop/run_words.hpp"
#include "mcp/support/log.hpp"
#include "mcp/support/text.hpp"
#include "providers/model/names.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

namespace mcpbx::daemon::tools {
namespace {}  // namespace

void kept_names::remember(const std::string& name, tool t) {
  if (tools_.emplace(name, t).second) names_.emplace(std::move(t), name);
}

void kept_names::remember(const offered_tools& tools) {
  for (const auto& name : tools.names) {
    const auto& entry = *tools.find(name);
    remember(name, {entry.server, entry.tool});
  }
}

void kept_names::restore(std::span<const stored::record::meant_tool> tools) {
  for (const auto& t : tools) remember(t.name, {t.server, t.tool});
}

// Returns the wanted name with as many digits of the tool's hash as make it unique.
std::string kept_names::free_name(const std::string& wanted, const tool& of, const offered_tools& tools) const {
  const auto hash = hex(stable_hash(of.first + "\n" + of.second), 16);
  std::string name;
  for (std::size_t digits = 6; digits <= hash.size(); ++digits) {
    name = wanted.substr(0, providers::max_tool_name - digits - 1) + "_" + hash.substr(0, digits);
    if (!tools_.contains(name) && tools.find(name) == nullptr) break;
  }
  return name;
}

offered_ptr kept_names::settle(offered_ptr tools) {
  if (last_ ? last_->set == tools->set : tools_.empty()) return last_ = std::move(tools);
  if (last_) remember(*last_);
  std::vector<std::string> names;
  names.reserve(tools->names.size());
  for (const auto& name : tools->names) {
    const auto& entry = *tools->find(name);
    tool t{entry.server, entry.tool};
    if (const auto before = names_.find(t); before != names_.end()) {
      names.push_back(before->second);
    } else if (tools_.contains(name)) {
      names.push_back(free_name(name, t, *tools));
      log::warn("the tool " + json::json_quoted(entry.tool) + " of server \"" + entry.server + "\" is named " +
                names.back() + ", because the conversation uses the name " + name + " for another tool");
    } else {
      names.push_back(name);
    }
  }
  if (names == tools->names) return last_ = std::move(tools);
  auto settled = std::make_shared<offered_tools>();
  settled->catalog = tools->catalog;
  settled->entries = tools->entries;
  settled->room = tools->room;
  settled->left_out = tools->left_out;
  settled->names = std::move(names);
  auto set = std::make_shared<providers::tool_set>();
  set->tools = tools->set->tools;
  set->forms_for = tools->set->forms_for;
  set->own = tools->set->own;
  set->reserved = tools->set->reserved;
  for (std::size_t i = 0; i < settled->names.size(); ++i) {
    settled->by_name.emplace(settled->names[i], tools->find(tools->names[i]));
    if (settled->names[i] == tools->names[i]) continue;
    set->tools[i].name = settled->names[i];
    set->tools[i].encoded = nullptr;  // the cached encoding has the other name
  }
  settled->set = std::move(set);
  settled->guidance = loop::words::guidance(settled->names);
  return last_ = std::move(settled);
}

}  // namespace mcpbx::daemon::tools
