// Conversations that are disturbed at each of their steps: a flow is played undisturbed first, and its messages are
// counted; then it is played once for each message with an event just before that message leaves. README.md has the
// rules that hold afterwards.
#pragma once
#include "test/mcp/bridging/bridge_caller.hpp"
#include "test/mcp/bridging/bridge_server.hpp"

#include <functional>
#include <string>
#include <vector>

namespace mcpbx::test {

/// One conversation as it is being played.
struct disturbed {
  explicit disturbed(eras e) : b(e) {}
  bridge b;
  bridge_server* srv = nullptr;    ///< the one that is disturbed
  bridge_server* other = nullptr;  ///< its neighbour
  bridge_caller* caller = nullptr;
  bridge_caller* innocent = nullptr;  ///< calls the neighbour when the event comes
  bridge_caller* twin = nullptr;      ///< another caller with the same ids, once the event has made it
};

struct flow {
  std::string name;
  std::function<void(disturbed&)> prepare = {};       ///< before the servers start
  std::vector<std::function<void(disturbed&)>> acts;  ///< of the caller or the server, with time in between
  bool changes_lists = false;
};

struct event {
  std::string name;
  std::function<void(disturbed&, const bridge_step&)> happen;
  bool harmless = false;       ///< all answers must be those of an undisturbed run
  bool refuses_calls = false;  ///< new calls are refused from then on
  /// The steps that it can come before; the others would be the same once more.
  enum class place { any, server_speaks, first } before = place::any;
  /// Happens also some time after each message, when nothing is on its way.
  bool also_between = false;
  /// Leaves the servers as they are, so that the next run can go on with them.
  bool spares_servers = false;
  /// Makes the texts about changed lists, of which there is one each for all callers.
  bool changes_lists = false;
  /// Happens some seconds later.
  std::function<void(disturbed&)> aftermath = {};
};

const std::vector<flow>& flows();
const std::vector<event>& events();

/// Plays a flow in all combinations with this event before each step, and checks the rules. Returns the number of runs.
int disturb(const flow& f, const event& e);

}  // namespace mcpbx::test
