// A caller's session that is closed, cancelled or called again from inside everything that it calls. Meant for the asan
// preset.
#include "test/mcp/server/acting_host.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace session_reentrancy {

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::mcp::callers;
using namespace mcpbx::mcp::rpc;
using namespace mcpbx::test;

struct conversation final : message_sink {
  acting_host host;
  caller_session::options options{.version = "1", .max_open = 3};
  caller_session session{host, options};
  line_framer framer{{}};
  std::shared_ptr<fake_client> server = std::make_shared<fake_client>("s");

  conversation() {
    host.inner.catalog =
        make_catalog({.tools = {make_tool(server, "echo", "echo")},
                      .resources = {make_feature(server, "x:/a", "x:/a"), make_feature(server, "x:/a/b", "x:/a/b")}});
  }
  void say(std::string_view line) { framer.feed(std::string(line) + "\n", *this); }
  void on_message(message&& m) override { session.on_message(std::move(m)); }
  void on_fault(message_fault f) override { session.on_fault(f); }

  void run() {
    say(R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{"roots":{}},"clientInfo":{"name":"t","version":"1"}}})");
    say(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
    say(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{},"_meta":{"progressToken":7}}})");
    say(R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"none"}})");
    host.inner.settle();
    say("no message");
    say(R"({"jsonrpc":"2.0","id":3,"method":"mcpbx/slow"})");
    for (const int belongs : {0, 1, 0, 1})
      (void)session.ask("roots/list", {}, belongs && !host.inner.slow.empty() ? &host.inner.slow.front() : nullptr,
                        milliseconds(5), [this](call_outcome&&) { host.ended(); });
    say(R"({"jsonrpc":"2.0","id":1,"result":{}})");
    session.withdraw(3, "why");
    say(R"([{"jsonrpc":"2.0","id":4,"method":"ping"},{"id":5},{"jsonrpc":"2.0","id":6,"method":"mcpbx/echo"},{"jsonrpc":"2.0","id":7,"method":"nope"}])");
    say(R"({"jsonrpc":"2.0","id":8,"method":"mcpbx/forget"})");
    say(R"({"jsonrpc":"2.0","id":9,"method":"tools/list"})");
    session.list_changed(mcp::protocol::tool_kind());
    for (auto& c : server->calls) {
      if (c.progress) c.progress(raw_json::own(R"({"progressToken":1,"progress":1})"));
      if (c.log) c.log(raw_json::own(R"({"level":"info","data":"x"})"));
    }
    say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}})");
    for (std::size_t i = 0; i < server->calls.size(); ++i)
      if (server->calls[i].done) server->answer(i, R"({"content":[]})");
    for (const auto& reply : std::exchange(host.inner.slow, {})) reply.result(raw_json::literal("{}"));
    watch();
    (void)session.ask("roots/list", {}, nullptr, milliseconds(5), [this](call_outcome&&) { host.ended(); });
    host.inner.clock.advance(milliseconds(5));
    session.close();
  }
  // Everything that is told to several watchers of one caller.
  void watch() {
    for (const std::string_view uri : {"x:/a", "x:/a/b"})
      say(request(uri == "x:/a" ? "20" : "21", "resources/subscribe", R"({"uri":")" + std::string(uri) + "\"}"));
    say(request("22", "logging/setLevel", R"({"level":"debug"})"));
    for (const std::string_view id : {"23", "24"})
      say(request(std::string(id), "subscriptions/listen",
                  modern_params(
                      R"("notifications":{"resourcesListChanged":true,"resourceSubscriptions":["x:/a","x:/a/b"]},)")));
    for (const std::string_view uri : {"x:/a", "x:/a/b"})
      fake_client::tell(server->watching, std::string(uri), R"({"uri":"x:/a/b"})");
    fake_client::tell(server->logging, "debug", R"({"level":"info","data":"x"})");
    session.list_changed(mcp::protocol::resource_kind());
    session.end_listens(true);
  }
};

TEST_CASE("caller_session: it may be closed, cancelled and spoken to from inside everything that it calls") {
  const std::vector<std::function<void(conversation&)>> actions{
      [](conversation& c) {
        c.session.close();
        c.host.closed = true;
      },
      [](conversation& c) {
        for (int id = 0; id < 10; ++id) c.session.cancel(*rpc_id::from(raw_json::own(std::to_string(id))), "why");
      },
      [](conversation& c) {
        auto line = parse_message(raw_json::own(R"({"jsonrpc":"2.0","id":"in","method":"mcpbx/slow"})"));
        c.session.on_message(std::move(*line));
        c.session.list_changed(mcp::protocol::tool_kind());
      },
      [](conversation& c) {
        for (const auto& reply : std::exchange(c.host.inner.slow, {})) reply.result(raw_json::literal("{}"));
        c.host.inner.settle();
      }};
  for (std::size_t what = 0; what < actions.size(); ++what) {
    bool reached = true;
    for (int at = 1; reached; ++at) {
      CAPTURE(what);
      CAPTURE(at);
      conversation c;
      c.host.at = at;
      c.host.act = [&] { actions[what](c); };
      c.run();
      reached = c.host.calls >= at;
      CHECK(c.host.after_closing == 0);
    }
  }
}

}  // namespace session_reentrancy
