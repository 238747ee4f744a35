// The cache is a short list ordered by last use: a daemon sees few combinations of API and filter at a time.
#include "daemon/loop/round_tools.hpp"

#include "daemon/loop/chosen_tools.hpp"
#include "daemon/loop/words.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::daemon {
namespace {

std::string key_of(const tool_choice& choice, const std::string& api) {
  std::string key = api;
  for (const auto* globs : {&choice.only, &choice.allow, &choice.deny}) {
    key += '\r';
    for (const auto& g : *globs) {
      key += '\n';
      key += g;
    }
  }
  key += '\r';
  for (const auto& [from, to] : choice.rename) key.append("\n").append(from).append("\n").append(to);
  return key;
}

}  // namespace

const mcp::catalog_entry* offered_tools::find(std::string_view name) const {
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : found->second;
}

std::string_view offered_tools::shown_as(std::string_view name) const {
  // Nearly every tool keeps its name.
  if (const auto* same = find(name); same != nullptr && same->name == name) return by_name.find(name)->first;
  const auto found = std::ranges::find_if(by_name, [&](const auto& tool) { return tool.second->name == name; });
  return found == by_name.end() ? std::string_view() : found->first;
}

std::vector<std::string> offered_tools::similar(std::string_view name, std::size_t most) const {
  std::vector<std::string> found;
  // A model that knows a tool from elsewhere asks for it by the server's own name.
  for (const auto& shown : names)
    if (found.size() < most && find(shown)->tool == name) found.push_back(shown);
  std::vector<std::string_view> rest(names.begin(), names.end());
  while (found.size() < most) {
    const auto next = nearest(name, rest);
    if (next.empty()) break;
    if (std::ranges::find(found, next) == found.end()) found.emplace_back(next);
    std::erase(rest, next);
  }
  return found;
}

offered_ptr round_tools::offer(const mcp::catalog_ptr& catalog, const tool_choice& choice, const std::string& api) {
  auto key = key_of(choice, api);
  auto hit = std::ranges::find(cache_, key, &cached::key);
  if (hit != cache_.end()) {
    std::rotate(cache_.begin(), hit, hit + 1);
    if (cache_.front().tools->catalog == catalog) return cache_.front().tools;
  } else {
    if (cache_.size() == max_cached) cache_.pop_back();
    cache_.insert(cache_.begin(), {std::move(key), nullptr});
  }
  auto& place = cache_.front().tools;
  auto tools = std::make_shared<offered_tools>();
  tools->catalog = catalog;
  std::span<const mcp::entry_ptr> before;
  if (place) before = place->entries;
  tools->entries = chosen_tools(*catalog, choice, before);
  // Servers that keep their tools in a map list them in another order each time.
  std::ranges::sort(tools->entries, {}, [](const auto& e) -> const auto& { return e->name; });
  // A new snapshot that changes nothing for this filter keeps the set, and with it the encoded bytes.
  if (place && place->entries == tools->entries) {
    tools->set = place->set;
    tools->names = place->names;
    tools->guidance = place->guidance;
    for (std::size_t i = 0; i < tools->names.size(); ++i)
      tools->by_name.emplace(tools->names[i], place->find(tools->names[i]));
  } else {
    adapt(*tools, api);
  }
  return place = std::move(tools);
}

void round_tools::adapt(offered_tools& tools, const std::string& api) {
  auto set = std::make_shared<providers::tool_set>();
  auto adapted = adapt_(tools.entries, api);
  tools.names.reserve(adapted.size());  // by_name has views into it
  for (auto& tool : adapted) {
    tools.names.push_back(tool.definition.name);
    tools.by_name.emplace(tools.names.back(), tools.entries[tool.entry].get());
    set->tools.push_back(std::move(tool.definition));
  }
  tools.set = std::move(set);
  if (!tools.names.empty()) tools.guidance = words::guidance(tools.names);
}

offered_ptr round_tools::with_own(const offered_tools& base, const std::vector<mcp::entry_ptr>& own,
                                  const std::string& api) {
  auto tools = std::make_shared<offered_tools>();
  tools->catalog = base.catalog;
  for (const auto& e : base.entries)
    if (std::ranges::find(own, e->name, [](const auto& mine) -> const auto& { return mine->name; }) == own.end())
      tools->entries.push_back(e);
  tools->entries.insert(tools->entries.end(), own.begin(), own.end());
  adapt(*tools, api);
  return tools;
}

}  // namespace mcpbx::daemon
