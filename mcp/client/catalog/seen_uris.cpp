// One list for each server, so that room is taken from the server that has most of it.
#include "mcp/client/catalog/seen_uris.hpp"

#include "mcp/protocol/resources.hpp"

#include <algorithm>

namespace mcpbx::mcp::catalogs {

std::size_t seen_uris::cost(std::string_view uri) noexcept {
  constexpr std::size_t of_an_entry = 128;  // nodes of the list and the map
  return uri.size() + of_an_entry;
}

void seen_uris::add(const std::string& server, std::string_view uri) {
  if (uri.empty() || uri.size() > protocol::longest_uri) return;
  if (std::ranges::any_of(uri, [](unsigned char c) { return c < 0x20 || c == 0x7F; })) return;
  share& s = shares_[server];
  if (const auto known = s.by_uri.find(uri); known != s.by_uri.end()) {
    s.uris.splice(s.uris.begin(), s.uris, known->second);
    return;
  }
  s.uris.push_front({std::string(uri), ++times_});
  s.by_uri.emplace(s.uris.front().uri, s.uris.begin());
  s.bytes += cost(uri);
  bytes_ += cost(uri);
  ++uris_;
  while (uris_ > most_uris)
    drop_oldest(std::ranges::max_element(shares_, {}, [](const auto& x) { return x.second.uris.size(); })->second);
  while (bytes_ > most_bytes)
    drop_oldest(std::ranges::max_element(shares_, {}, [](const auto& x) { return x.second.bytes; })->second);
}

void seen_uris::drop_oldest(share& s) {
  const std::size_t freed = cost(s.uris.back().uri);
  s.by_uri.erase(s.uris.back().uri);
  s.uris.pop_back();
  s.bytes -= freed;
  bytes_ -= freed;
  --uris_;
}

bool seen_uris::said(std::string_view server, std::string_view uri) const {
  const auto found = shares_.find(server);
  return found != shares_.end() && found->second.by_uri.contains(uri);
}

const std::string* seen_uris::first_to_say(std::string_view uri,
                                           const std::function<bool(const std::string& server)>& allowed) const {
  const std::string* first = nullptr;
  std::uint64_t when = 0;
  for (const auto& [server, s] : shares_) {
    const auto found = s.by_uri.find(uri);
    if (found == s.by_uri.end() || (first != nullptr && found->second->first > when) || !allowed(server)) continue;
    first = &server;
    when = found->second->first;
  }
  return first;
}

void seen_uris::keep_only(std::span<const std::string> servers) {
  std::erase_if(shares_, [&](const auto& x) {
    if (std::ranges::find(servers, x.first) != servers.end()) return false;
    uris_ -= x.second.uris.size();
    bytes_ -= x.second.bytes;
    return true;
  });
}

}  // namespace mcpbx::mcp::catalogs
