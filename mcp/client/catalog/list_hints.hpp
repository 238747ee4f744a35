// Hints for the caching of lists (2026-07-28, caching): told by modern servers, joined for modern callers.
#pragma once
#include "mcp/protocol/features.hpp"
#include "mcp/support/time.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace mcpbx::mcp::catalogs {

/// The hints of one server about its list of one kind.
struct told_hints {
  milliseconds ttl{0};
  bool is_private = true;          ///< cacheScope is not "public"
  time_point fresh_until = never;  ///< end of the ttl, if the server reports no changes; else never
};

/// The hints about a list of all servers.
struct list_hints {
  milliseconds ttl{0};     ///< time for which the list may be considered fresh
  bool is_private = true;  ///< callers must not share it
};

/// The latest hints of each server. All snapshots of a catalog share one book, since hints change without the lists.
class hint_book {
 public:
  /// Sets a server's hints about its list of this kind.
  void set(const std::string& server, const protocol::feature_kind& kind, const told_hints& hints);
  /// Forgets them, because the server has no such list.
  void erase(const std::string& server, const protocol::feature_kind& kind);
  /// Forgets the servers that are not among these.
  void keep_only(std::span<const std::string> servers);
  /// Returns the least time of all lists of this kind, and whether one of them is private. Without any list, nothing
  /// may be kept.
  list_hints joined(const protocol::feature_kind& kind, time_point now) const;

 private:
  struct entry {
    std::string server;
    std::size_t kind = 0;
    told_hints hints{};
  };
  std::vector<entry>::iterator find(const std::string& server, const protocol::feature_kind& kind);
  std::vector<entry> entries_;
};

}  // namespace mcpbx::mcp::catalogs
