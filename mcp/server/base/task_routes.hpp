// Remembers which tool server has which task, for tasks/get and the other methods that name one (2025-11-25, tasks; the
// extension io.modelcontextprotocol/tasks of 2026-07-28). One table for all callers, since a later request may come on
// another connection. Tasks of the two eras differ, so that each is found by requests of its own era only.
#pragma once
#include "mcp/client/client.hpp"
#include "mcp/rpc/rpc_message.hpp"
#include "mcp/server/base/modern_request.hpp"
#include "mcp/support/keyed_hash.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::mcp::server {

/// Returns true if the caller declares the extension.
bool has_tasks(const modern_request& m);
/// Returns the error for a caller that uses tasks but has not declared the extension.
rpc::rpc_error tasks_undeclared();

class task_routes {
 public:
  static constexpr std::size_t most_tasks = 4096, longest_id = 1024;
  struct route {
    std::weak_ptr<clients::client> owner;
    std::string server;  ///< configured name
    bool modern = false;
    std::uint64_t number = 0;  ///< set by add(); later tasks have larger ones
  };
  /// Legacy tasks of a principal, the oldest first.
  struct listed {
    struct one {
      std::string id;
      route to;
    };
    std::vector<one> tasks;
    std::uint64_t next = 0;  ///< number of the last one if there are more, else 0
  };

  /// Notes a task that a call of this principal has made. Without room, the oldest one of the principal with most tasks
  /// is forgotten; ids longer than longest_id are not kept. Of two tasks with one id the later counts.
  void add(std::string_view principal, std::string_view id, route to);
  /// Returns the route of a task of this principal, or null; valid until the next add().
  const route* find(std::string_view principal, std::string_view id, bool modern) const;
  /// Returns at most `most` legacy tasks of this principal behind number `after`.
  listed page(std::string_view principal, std::uint64_t after, std::size_t most) const;
  std::size_t size() const noexcept { return size_; }

 private:
  struct share {
    text_map<route> routes;         // by key
    std::deque<std::string> order;  // keys, the oldest first
  };
  static std::string key_of(std::string_view id, bool modern);
  std::map<std::string, share, std::less<>> shares_;  // by principal
  std::size_t size_ = 0;
  std::uint64_t last_number_ = 0;
};

}  // namespace mcpbx::mcp::server
