// Latest answers of /v1/responses, by their ids: a request may name an earlier response, or items of it, instead of
// sending them again. Older ones are forgotten; of a forgotten response the journal may still know the session. Pure.
#pragma once
#include "mcp/json/raw_json.hpp"

#include <cstddef>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace mcpbx::daemon::front {

class kept_responses {
 public:
  /// Bounds of all; the oldest ones go first.
  static constexpr std::size_t most = 1024, most_bytes = 8u << 20;

  struct entry {
    std::string id;         ///< "resp_…"
    std::string session;    ///< of its run, or ""
    std::string principal;  ///< the caller's identity
    std::vector<std::pair<std::string, json::raw_json>> items;
  };
  /// Keeps a response, unless it is larger than all may be.
  void keep(entry e);
  /// Returns the response of this caller, or null. Valid until the next keep().
  const entry* find(std::string_view id, std::string_view principal) const;
  /// Returns an item of a response of this caller, or an absent value. Its id is KIND_RESPONSE_NUMBER, as
  /// response_writer makes it.
  json::raw_json item(std::string_view item_id, std::string_view principal) const;
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  static std::size_t size_of(const entry& e);
  void drop_oldest();

  std::list<entry> entries_;  // oldest first
  std::unordered_map<std::string, std::list<entry>::iterator> by_id_;
  std::size_t bytes_ = 0;
};

}  // namespace mcpbx::daemon::front
