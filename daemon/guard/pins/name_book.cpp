// Look-up and assignment of plain names.
#include "daemon/guard/pins/name_book.hpp"

#include <algorithm>

namespace mcpbx::daemon::pins {
namespace {

/// Largest number of names of one server; those that it no longer lists are dropped first.
constexpr std::size_t most_names = 20'000;

}  // namespace

name_claims::name_claims(name_book& book, const std::vector<naming_server>& servers) : book_(book), servers_(servers) {}

const naming_server* name_claims::find(std::string_view server) const {
  const auto found = std::ranges::find(servers_, server, &naming_server::name);
  return found == servers_.end() ? nullptr : &*found;
}

// Skips a holder whose server is not configured with that name now, but keeps it: another daemon may have it.
const name_holder* name_claims::owner(std::string_view name) const {
  const auto known = book_.find(name);
  if (known == book_.end()) return nullptr;
  for (const auto& holder : known->second)
    if (const auto* s = find(holder.server); s != nullptr && (*s->wish)(holder.tool) == name) return &holder;
  return nullptr;
}

bool name_claims::settle() {
  bool changed = false;
  for (const auto& s : servers_) {
    bool claimed = false;
    for (const auto tool : s.tools) {
      std::string name = (*s.wish)(tool);
      if (name.empty() || owner(name) != nullptr) continue;
      book_[std::move(name)].push_back({std::string(s.name), std::string(tool)});
      claimed = true;
    }
    if (claimed) keep_bounded(s);
    changed = changed || claimed;
  }
  return changed;
}

std::set<std::string, std::less<>> name_claims::without_name(std::string_view server) const {
  std::set<std::string, std::less<>> out;
  const auto* s = find(server);
  if (s == nullptr) return out;
  for (const auto tool : s->tools) {
    const std::string name = (*s->wish)(tool);
    if (name.empty()) continue;
    const auto* holder = owner(name);
    if (holder == nullptr || holder->server != server || holder->tool != tool) out.emplace(tool);
  }
  return out;
}

void name_claims::keep_bounded(const naming_server& s) {
  std::size_t count = 0;
  for (const auto& [name, holders] : book_)
    count += static_cast<std::size_t>(std::ranges::count(holders, s.name, &name_holder::server));
  if (count <= most_names) return;
  const std::set<std::string_view> listed(s.tools.begin(), s.tools.end());
  for (auto& [name, holders] : book_)
    std::erase_if(holders, [&](const name_holder& h) { return h.server == s.name && !listed.contains(h.tool); });
  std::erase_if(book_, [](const auto& one) { return one.second.empty(); });
}

void forget_names(name_book& book, std::string_view server, std::string_view tool) {
  for (auto& [name, holders] : book)
    std::erase_if(holders,
                  [&](const name_holder& h) { return h.server == server && (tool.empty() || h.tool == tool); });
  std::erase_if(book, [](const auto& one) { return one.second.empty(); });
}

}  // namespace mcpbx::daemon::pins
