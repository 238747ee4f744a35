// A scripted tool server of either era that offers everything: tools that answer, ask, log, report progress and make
// tasks, prompts, resources, completions, subscriptions. It keeps account of what it was asked and has asked, over all
// of its lives, so that a test can tell if mcpbx left anything open.
#pragma once
#include "test/mcp/bridging/bridge.hpp"

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::test {

/// One process of the server.
class server_life : public std::enable_shared_from_this<server_life> {
 public:
  server_life(bridge_server& of, scripted_process& p) : server_(of), process_(p) {}

  /// Sends a line.
  void say(const std::string& line);
  /// Answers a request with the members of a result; a modern server says that it is complete.
  void answer(const mcp::rpc::rpc_id& id, const std::string& members, bool cacheable = false);
  /// Answers with a whole result object.
  void answer_raw(const mcp::rpc::rpc_id& id, const std::string& result);
  void refuse(const mcp::rpc::rpc_id& id, int code, std::string_view text, std::string_view data = {});
  void notify(std::string_view method, const std::string& params = "");
  /// Asks mcpbx something about a request, as legacy servers do, and calls `then` with the response.
  void ask(const mcp::rpc::rpc_id& about, const std::string& method, const std::string& params,
           std::function<void(const mcp::rpc::message&)> then);
  /// Tells of a change, to the subscription if it is a modern server.
  void tell(std::string_view method, const std::string& members = "");

  scripted_process& process() { return process_; }
  std::map<std::string, std::string> open;     ///< requests of mcpbx without an answer: id to method
  std::map<std::string, int> asked;            ///< questions: id to number of responses
  std::map<std::string, std::string> about;    ///< the request that each question is about
  std::set<std::string> subscribed;            ///< URIs, of a legacy server
  std::map<std::string, std::string> listens;  ///< open subscriptions: id to their filter
  std::map<std::string, int> polls;            ///< of tasks
  std::map<std::string, std::string> tasks;    ///< tasks: id to state
  std::vector<std::string> stray;              ///< messages that a right client does not send

 private:
  friend class bridge_server;
  std::vector<std::string> kept_back_;
  bridge_server& server_;
  scripted_process& process_;
  std::map<std::string, std::function<void(const mcp::rpc::message&)>> then_;
  int next_question_ = 1;
};

class bridge_server {
 public:
  bridge_server(bridge& b, std::string name, bool modern);
  ~bridge_server();
  bridge_server(const bridge_server&) = delete;
  bridge_server& operator=(const bridge_server&) = delete;

  const std::string name;
  const bool modern;
  bridge& owner() { return bridge_; }
  std::vector<std::string> tools, prompts, resources, templates;      ///< definitions
  std::string capabilities;                                           ///< members of its capabilities
  std::size_t page = 0;                                               ///< items of a list's page; 0: all
  std::string list_hints = R"("ttlMs":60000,"cacheScope":"public")";  ///< of a modern server
  std::string revision = "2025-11-25";                                ///< of a legacy server
  bool mute = false;                                                  ///< keeps back all that it says, until unmute()
  bool cuts_next = false;                                             ///< dies in the middle of its next message
  /// Says what it has kept back.
  void unmute();
  /// Sees every request first; returns true if it has dealt with it.
  std::function<bool(server_life&, const mcp::rpc::message&)> first;

  /// Adds a tool with this name and further members of its definition.
  void add_tool(const std::string& tool, const std::string& more = "");
  /// The life that is running, or the last one.
  server_life& life() { return *lives.back(); }
  std::vector<std::shared_ptr<server_life>> lives;
  /// Returns the messages with this method that any life received.
  std::vector<std::string> got(std::string_view method) const;
  /// Tells of a changed list.
  void change(std::string_view kind) { life().tell("notifications/" + std::string(kind) + "/list_changed"); }

  script life_script();

 private:
  void take(server_life& l, const mcp::rpc::message& m);
  void take_request(server_life& l, const mcp::rpc::message& m);
  void list(server_life& l, const mcp::rpc::message& m, std::string_view member, const std::vector<std::string>& items);
  void call(server_life& l, const mcp::rpc::message& m);
  void call_tool(server_life& l, const mcp::rpc::message& m, const std::string& tool);
  void task_method(server_life& l, const mcp::rpc::message& m);
  void ask_for(server_life& l, const mcp::rpc::message& m, const std::vector<std::string>& questions, bool in_turn);

  bridge& bridge_;
  std::vector<std::string> received_;
};

/// Questions as servers ask them: `{"method":…,"params":…}`.
namespace question {
extern const std::string form, url, sampling, roots;
}  // namespace question

}  // namespace mcpbx::test
