// The answer to one tasks/list of a legacy caller (2025-11-25, tasks, "Listing Tasks"): the tasks that mcpbx knows of
// its principal, at whatever servers they are, each in the state that its server tells now. Knows no I/O.
#pragma once
#include "mcp/client/client.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/server/base/reply_once.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace mcpbx::mcp::callers {

class caller_session;

class task_listing : public std::enable_shared_from_this<task_listing> {
 public:
  /// Most tasks of one page, each of which its server is asked for, and bytes that a server's answer may have.
  static constexpr std::size_t most_tasks = 32, longest_task = std::size_t{64} << 10;

  /// Answers `reply` once the servers have told the state of a page's tasks, or with an error; errc::limit: a server
  /// has too many calls waiting. Leaves out a task whose server does not know it any more or does not answer.
  static void start(caller_session& s, const json::raw_json& params, const server::reply_once& reply);

 private:
  struct one {
    std::weak_ptr<clients::client> server;
    clients::client::ticket ticket = 0;
    json::raw_json task;
  };
  explicit task_listing(const server::reply_once& reply) : reply_(reply) {}
  void told(std::size_t place, const rpc::call_outcome& outcome);
  void cancel();
  void answer();

  server::reply_once reply_;
  std::vector<one> tasks_;
  std::optional<error> overload_;
  std::size_t open_ = 0;
  std::uint64_t next_ = 0;  // number to go on behind; 0: there are no more
};

}  // namespace mcpbx::mcp::callers
