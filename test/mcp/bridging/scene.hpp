// Scenes of the bridge that are played in all four combinations and written down: test/transcripts/eras has one file
// for each row of the table of differences. MCPBX_UPDATE=1 writes the files anew.
#pragma once
#include "test/mcp/bridging/bridge_caller.hpp"
#include "test/mcp/bridging/bridge_server.hpp"
#include "test/support/contains.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::test {

/// The member of `_meta` in which a modern request tells the caller's capabilities.
inline constexpr std::string_view able_key = "io.modelcontextprotocol/clientCapabilities";

/// A bridge with one caller and one server, both ready.
struct scene {
  bridge& b;
  bridge_server& srv;
  bridge_caller& caller;
};
struct scene_setup {
  std::function<void(bridge_server&)> server = {};
  std::string capabilities = "{}";  ///< of the caller
  std::function<void(mcp::supervise::server_options&)> options = {};
};
/// Starts one server and opens one caller. Records everything that is sent afterwards.
scene begin(bridge& b, const scene_setup& s = {});

/// Plays a row in all four combinations and compares what was sent with test/transcripts/eras/NAME.txt. `title` stands
/// at the top of the file.
void play_row(const std::string& name, const std::string& title, void (*row)(bridge&));

/// Returns the messages that went this way from or to this participant, as far as they are recorded.
std::vector<std::string> sent(const bridge& b, bridge_step::way way, const std::string& who);
/// Returns the answers of the file's format: the messages as people read them.
std::string written(const std::vector<bridge_step>& steps);

/// Capabilities of a caller that answers every question.
inline const std::string answers_all =
    R"({"roots":{"listChanged":true},"sampling":{},"elicitation":{"form":{},"url":{}}})";
/// Answers every question of servers.
std::string answer_all(std::string_view method, const json::raw_json& params);

}  // namespace mcpbx::test
