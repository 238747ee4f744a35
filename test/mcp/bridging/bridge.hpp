// A whole bridge in memory: callers of either era before mcpbx's own engine (caller_session, supervisor, the tables
// between them), and scripted tool servers of either era behind it. The clock is turned. Every message that is written
// in any direction is a step: it is recorded, and a test may do something just before it leaves.
#pragma once
#include "mcp/server/base/task_routes.hpp"
#include "mcp/server/caller_session.hpp"
#include "mcp/server/held_calls.hpp"
#include "test/mcp/client/supervisor_rig.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::test {

class bridge_caller;
class bridge_server;

/// One of the four combinations.
struct eras {
  bool new_caller = false, new_server = false;
  /// Returns "O>N", say: a caller before 2026-07-28, and a server of it.
  std::string sign() const { return std::string(new_caller ? "N" : "O") + ">" + (new_server ? "N" : "O"); }
  /// Returns the same in words.
  std::string words() const {
    return std::string(new_caller ? "new" : "old") + " caller, " + (new_server ? "new" : "old") + " server";
  }
};
inline constexpr eras all_eras[] = {{false, false}, {false, true}, {true, false}, {true, true}};

/// A message on its way.
struct bridge_step {
  enum class way {
    caller_in,   ///< from a caller to mcpbx
    caller_out,  ///< from mcpbx to a caller
    server_in,   ///< from mcpbx to a server
    server_out,  ///< from a server to mcpbx
    remark       ///< no message: a sentence for the reader
  };
  way direction;
  std::string who;   ///< the caller or server
  std::string line;  ///< the message
};

class bridge {
 public:
  explicit bridge(eras e);
  ~bridge();
  bridge(const bridge&) = delete;
  bridge& operator=(const bridge&) = delete;

  const eras era;
  supervisor_rig rig;
  mcp::callers::caller_session::options session_options;
  mcp::callers::held_calls::options held_options;
  mcp::callers::held_calls held{rig.time, held_options};
  mcp::server::task_routes tasks;
  bool stopping = false;  ///< no new call is admitted, as while the daemon stops
  std::shared_ptr<turn_queue> turns = std::make_shared<turn_queue>(rig.time);

  /// Adds a server that start() starts. Its era is that of the combination.
  bridge_server& add_server(const std::string& name);
  bridge_server& add_server(const std::string& name, bool modern);
  /// Adds a caller of the combination's era, which is opened by bridge_caller::open().
  bridge_caller& add_caller(const std::string& name, const std::string& principal);
  bridge_caller& add_caller(const std::string& name, const std::string& principal, bool modern);
  /// Starts all servers and waits until their lists are there.
  void start(std::function<void(mcp::supervise::server_options&)> edit = {});
  /// Takes a server out of the configuration.
  void remove_server(const std::string& name);
  /// Edits the options of a server, as a changed configuration does.
  void change_server(const std::string& name, const std::function<void(mcp::supervise::server_options&)>& edit);
  /// Runs the work that is due within so many milliseconds, in small parts.
  void pass(int ms = 30);

  /// Called before each message leaves, with its number: the first is 1. Messages are counted from count_steps() on.
  std::function<void(int, const bridge_step&)> on_step;
  void count_steps() {
    counting_ = true;
    steps_ = 0;
  }
  int steps() const { return steps_; }
  /// Counts and records a message that is about to leave.
  void step(bridge_step s);
  /// Every message since record(), in order.
  const std::vector<bridge_step>& recorded() const { return recorded_; }
  void record() { recording_ = true; }
  /// Records a sentence for the reader.
  void remark(std::string text);

  const std::vector<std::unique_ptr<bridge_caller>>& callers() const { return callers_; }
  const std::vector<std::unique_ptr<bridge_server>>& servers() const { return servers_; }

 private:
  std::vector<std::unique_ptr<bridge_server>> servers_;
  std::vector<std::unique_ptr<bridge_caller>> callers_;
  std::vector<mcp::supervise::server_options> wanted_;
  mcp::supervise::supervisor::subscription changes_;
  std::vector<bridge_step> recorded_;
  int steps_ = 0;
  bool counting_ = false, recording_ = false;
};

/// Returns the member of a JSON text at this path, as text; "" if there is none.
std::string member_at(std::string_view json, std::initializer_list<std::string_view> path);

}  // namespace mcpbx::test
