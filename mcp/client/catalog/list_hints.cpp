// Joins the hints of servers for one list.
#include "mcp/client/catalog/list_hints.hpp"

#include <algorithm>

namespace mcpbx::mcp::catalogs {

std::vector<hint_book::entry>::iterator hint_book::find(const std::string& server, const protocol::feature_kind& kind) {
  return std::ranges::find_if(entries_, [&](const entry& e) { return e.kind == kind.index() && e.server == server; });
}

void hint_book::set(const std::string& server, const protocol::feature_kind& kind, const told_hints& hints) {
  const auto found = find(server, kind);
  if (found == entries_.end())
    entries_.push_back({server, kind.index(), hints});
  else
    found->hints = hints;
}

void hint_book::erase(const std::string& server, const protocol::feature_kind& kind) {
  if (const auto found = find(server, kind); found != entries_.end()) entries_.erase(found);
}

void hint_book::keep_only(std::span<const std::string> servers) {
  std::erase_if(entries_, [&](const entry& e) { return std::ranges::find(servers, e.server) == servers.end(); });
}

list_hints hint_book::joined(const protocol::feature_kind& kind, time_point now) const {
  list_hints all{milliseconds::max(), false};
  bool any = false;
  for (const entry& e : entries_) {
    if (e.kind != kind.index()) continue;
    any = true;
    all.is_private = all.is_private || e.hints.is_private;
    milliseconds left = e.hints.ttl;
    if (e.hints.fresh_until != never)
      left = std::clamp(std::chrono::duration_cast<milliseconds>(e.hints.fresh_until - now), milliseconds(0), left);
    all.ttl = std::min(all.ttl, left);
  }
  return any ? all : list_hints{};
}

}  // namespace mcpbx::mcp::catalogs
