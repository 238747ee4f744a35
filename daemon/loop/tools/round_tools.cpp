// Caches offers in a short list ordered by last use, because a daemon sees few combinations of API and choice at a
// time.
#include "daemon/loop/tools/round_tools.hpp"

#include "daemon/loop/results/read_result.hpp"
#include "daemon/loop/run_words.hpp"
#include "daemon/loop/tools/chosen_tools.hpp"
#include "mcp/client/views/server_instructions.hpp"
#include "mcp/support/log.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::daemon::tools {
namespace {

constexpr std::size_t max_names_told = 50;
constexpr std::size_t max_question = 64u << 10;  // bytes that are looked through for names of tools

// Writes the length before each text, because names of tools may contain any character.
void add_text(std::string& key, std::string_view text) {
  key.append(std::to_string(text.size())).append(":").append(text);
}
void add_globs(std::string& key, const std::vector<std::string>& globs) {
  key.append(std::to_string(globs.size())).append("[");
  for (const auto& g : globs) add_text(key, g);
}
void add_pairs(std::string& key, const auto& renamed) {
  key.append(std::to_string(renamed.size())).append("{");
  for (const auto& [from, to] : renamed) {
    add_text(key, from);
    add_text(key, to);
  }
}
void add_servers(std::string& key, const std::shared_ptr<const std::vector<stored::server_terms>>& servers) {
  if (!servers) {
    key += '-';
    return;
  }
  key.append(std::to_string(servers->size())).append("(");
  for (const auto& s : *servers) {
    add_text(key, s.server);
    for (const auto* globs : {&s.allow, &s.deny}) add_globs(key, *globs);
    add_text(key, s.naming.prefix);
    key += s.naming.plain ? 'p' : ' ';
    for (const auto* renamed : {&s.naming.rename, &s.naming.named}) add_pairs(key, *renamed);
  }
}

std::string key_of(const stored::tool_choice& choice, const std::string& api, std::size_t room) {
  std::string key = api + '\n' + std::to_string(room) + '\n';
  for (const auto* globs : {&choice.only, &choice.allow, &choice.deny}) add_globs(key, *globs);
  add_pairs(key, choice.rename);
  if (!choice.beside) return key;
  for (const auto* globs : {&choice.beside->allow, &choice.beside->deny}) add_globs(key, *globs);
  for (const auto* servers : {&choice.beside->servers, &choice.beside->servers_now}) add_servers(key, *servers);
  return key;
}

bool word_character(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-' || c == '.';
}

// Selects at most `room` of the catalog's adapted tools: those that the question names, then one of each server in
// turn, so that no server is left out because of its name. The selected tools stay in the order of their names.
std::vector<bool> fair_choice(const offered_tools& tools, std::span<const adapted_tool> adapted, std::size_t others,
                              const question_words& question) {
  std::vector<bool> taken(adapted.size());
  std::map<std::string_view, std::vector<std::size_t>> by_server;  // indices of adapted tools, in order of names
  std::size_t count = 0;
  for (std::size_t i = 0; i < adapted.size(); ++i) {
    if (adapted[i].entry >= others) continue;
    const auto& entry = *tools.entries[adapted[i].entry];
    if (count < tools.room && !question.empty() && question.name(entry)) {
      taken[i] = true;
      ++count;
    } else {
      by_server[entry.server].push_back(i);
    }
  }
  for (std::size_t turn = 0; count < tools.room; ++turn) {
    bool any = false;
    for (const auto& [server, of_server] : by_server) {
      if (turn >= of_server.size() || count == tools.room) continue;
      taken[of_server[turn]] = any = true;
      ++count;
    }
    if (!any) break;
  }
  return taken;
}

// Fills the members of `tools` that follow from its entries. The last `own` of the entries are the run's own.
void adapt_entries(offered_tools& tools, const std::string& api, const tool_adapter& adapt, std::size_t own,
                   std::size_t reserved, const question_words& question) {
  auto set = std::make_shared<providers::tool_set>();
  set->reserved = reserved;
  auto adapted = adapt(tools.entries, api);
  tools.names.reserve(adapted.size());  // must not reallocate, because by_name has views into it
  const auto others = tools.entries.size() - own;
  const auto of_catalog =
      static_cast<std::size_t>(std::ranges::count_if(adapted, [&](const auto& tool) { return tool.entry < others; }));
  const bool crowded = of_catalog > tools.room;
  const auto taken = crowded ? fair_choice(tools, adapted, others, question) : std::vector<bool>();
  std::vector<std::size_t> entry_of;  // index of the entry of each tool in the set
  entry_of.reserve(adapted.size());
  for (std::size_t i = 0; i < adapted.size(); ++i) {
    auto& tool = adapted[i];
    if (tool.entry >= others) {
      ++set->own;
    } else if (crowded && !taken[i]) {
      tools.left_out.push_back(tools.entries[tool.entry]->name);
      continue;
    }
    tools.names.push_back(tool.definition.name);
    tools.by_name.emplace(tools.names.back(), tools.entries[tool.entry].get());
    set->tools.push_back(std::move(tool.definition));
    entry_of.push_back(tool.entry);
  }
  set->forms_for = [entries = tools.entries, entry_of = std::move(entry_of), adapt](std::string_view other) {
    std::vector<std::optional<providers::tool_definition>> by_entry(entries.size()), forms;
    for (auto& tool : adapt(entries, other)) by_entry[tool.entry] = std::move(tool.definition);
    forms.reserve(entry_of.size());
    for (const auto entry : entry_of) forms.push_back(std::move(by_entry[entry]));
    return forms;
  };
  tools.set = std::move(set);
  if (!tools.names.empty()) tools.guidance = loop::words::guidance(tools.names);
}

}  // namespace

std::size_t catalog_room(std::size_t max_tools, std::size_t own) {
  if (max_tools == 0) return any_number;
  return max_tools > own + 1 ? max_tools - own - 1 : 0;
}

const mcp::catalogs::catalog_entry* offered_tools::find(std::string_view name) const {
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : found->second;
}

std::string_view offered_tools::shown_as(std::string_view name) const {
  // Tries the same name first, because nearly every tool keeps its name.
  if (const auto* same = find(name); same != nullptr && same->name == name) return by_name.find(name)->first;
  const auto found = std::ranges::find_if(by_name, [&](const auto& tool) { return tool.second->name == name; });
  return found == by_name.end() ? std::string_view() : found->first;
}

std::vector<std::string> offered_tools::similar(std::string_view name, std::size_t most) const {
  std::vector<std::string> found;
  // A model that knows a tool from elsewhere uses the server's own name.
  for (const auto& shown : names)
    if (found.size() < most && find(shown)->tool == name) found.push_back(shown);
  const std::vector<std::string_view> all(names.begin(), names.end());
  for (const auto next : nearest_few(name, all, most))
    if (found.size() < most && std::ranges::find(found, next) == found.end()) found.emplace_back(next);
  return found;
}

offered_ptr make_offer(const mcp::catalogs::catalog_ptr& catalog, const stored::tool_choice& choice,
                       const std::string& api, std::size_t room, const tool_adapter& adapt,
                       const question_words& question, const offered_ptr& before) {
  auto tools = std::make_shared<offered_tools>();
  tools->catalog = catalog;
  tools->room = room;
  std::span<const mcp::catalogs::entry_ptr> known;
  if (before) known = before->entries;
  tools->entries = chosen_tools(*catalog, choice, known);
  // Sorts, because some servers list their tools in another order each time.
  std::ranges::sort(tools->entries, {}, [](const auto& e) -> const auto& { return e->name; });
  // If a new snapshot has the same entries for this choice, keeps the set with its cached encodings.
  if (before && before->entries == tools->entries) {
    tools->set = before->set;
    tools->names = before->names;
    tools->guidance = before->guidance;
    tools->left_out = before->left_out;
    for (std::size_t i = 0; i < tools->names.size(); ++i)
      tools->by_name.emplace(tools->names[i], before->find(tools->names[i]));
  } else {
    adapt_entries(*tools, api, adapt, 0, 1, question);
  }
  return tools;
}

std::string server_instructions(const offered_tools& tools, std::size_t most) {
  std::unordered_set<const mcp::catalogs::catalog_entry*> shown;
  for (const auto& [name, entry] : tools.by_name) shown.insert(entry);
  std::vector<mcp::catalogs::entry_ptr> entries;
  std::ranges::copy_if(tools.entries, std::back_inserter(entries),
                       [&](const auto& e) { return shown.contains(e.get()); });
  return mcp::views::joined_instructions(entries, most);
}

offered_ptr round_tools::offer(const mcp::catalogs::catalog_ptr& catalog, const stored::tool_choice& choice,
                               const std::string& api, std::size_t room, const question_words& question) {
  auto key = key_of(choice, api, room);
  if (!question.empty() && catalog->entries().size() > room)  // only then does the question matter
    for (const auto& e : catalog->entries())
      if (question.name(*e)) key.append("\t").append(e->name);
  auto hit = std::ranges::find(cache_, key, &cached::key);
  if (hit != cache_.end()) {
    std::rotate(cache_.begin(), hit, hit + 1);
    if (cache_.front().tools->catalog == catalog) return cache_.front().tools;
  } else {
    if (cache_.size() == max_cached) cache_.pop_back();
    cache_.insert(cache_.begin(), {std::move(key), nullptr});
  }
  auto& place = cache_.front().tools;
  const auto before = std::exchange(place, make_offer(catalog, choice, api, room, adapt_, question, place));
  if (!before || before->set != place->set) tell_left_out(*place);
  return place;
}

offered_ptr round_tools::with_own(const offered_tools& base, const std::vector<mcp::catalogs::entry_ptr>& own,
                                  const std::string& api, const question_words& question) {
  auto tools = std::make_shared<offered_tools>();
  tools->catalog = base.catalog;
  tools->room = base.room;
  for (const auto& e : base.entries)
    if (std::ranges::find(own, e->name, [](const auto& mine) -> const auto& { return mine->name; }) == own.end())
      tools->entries.push_back(e);
  tools->entries.insert(tools->entries.end(), own.begin(), own.end());
  const bool reads_on = std::ranges::any_of(own, [](const auto& e) { return results::read_result::is(*e); });
  adapt_entries(*tools, api, adapt_, own.size(), own.size() + (reads_on ? 0 : 1), question);
  return tools;
}

question_words::question_words(std::string_view question) {
  question = question.substr(0, max_question);
  for (std::size_t at = 0; at < question.size();) {
    std::size_t end = at;
    while (end < question.size() && word_character(question[end])) ++end;
    auto word = question.substr(at, end - at);
    while (word.ends_with('.')) word.remove_suffix(1);  // full stop of a sentence
    if (!word.empty() && word.size() <= 128) words_.emplace(word);
    at = end + 1;
  }
}

bool question_words::name(const mcp::catalogs::catalog_entry& tool) const {
  return words_.contains(tool.name) || words_.contains(tool.tool);
}

std::string left_out_text(const offered_tools& tools) {
  if (tools.left_out.empty()) return "";
  return counted(tools.left_out.size(), "tool") + " of " + std::to_string(tools.left_out.size() + tools.names.size()) +
         " not offered: the model has room for " + std::to_string(tools.room) +
         "; name a tool in the question, choose with --tools, tools.allow or a profile, or raise maxTools of the model";
}

void round_tools::tell_left_out(const offered_tools& tools) {
  const auto& all = tools.left_out;
  if (all.empty()) return;
  std::string names;
  for (std::size_t i = 0; i < all.size() && i < max_names_told; ++i) names += (i == 0 ? "" : ", ") + all[i];
  if (all.size() > max_names_told) names += " and " + std::to_string(all.size() - max_names_told) + " more";
  auto line =
      std::to_string(all.size()) + " of " + std::to_string(all.size() + tools.names.size()) +
      " tools are not offered to a model that has room for " + std::to_string(tools.room) + " (maxTools): " + names +
      "; choose with tools.allow or tools.deny of their servers or of a profile, or raise maxTools of the model";
  if (told_.size() >= max_told) told_.clear();
  if (told_.insert(stable_hash(line)).second) log::warn(std::move(line));
}

}  // namespace mcpbx::daemon::tools
