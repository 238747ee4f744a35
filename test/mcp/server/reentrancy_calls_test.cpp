// Calls, questions, held calls, subscriptions and streams of both eras on a session that is closed, cancelled or called
// again from inside everything that it calls. Meant for the asan preset.
#include "test/mcp/server/acting_host.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace calls_reentrancy {

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::mcp::callers;
using namespace mcpbx::mcp::protocol;
using namespace mcpbx::mcp::rpc;
using namespace mcpbx::test;

struct both_eras final : message_sink {
  acting_host host;
  held_calls::options held_options;
  held_calls held{host.inner.clock, held_options};
  caller_session::options options{.version = "1"};
  caller_session session{host, options};
  line_framer framer{{}};
  std::shared_ptr<fake_client> server = std::make_shared<fake_client>("s");

  both_eras() {
    host.inner.table = &held;
    host.inner.own_method = "sampling/createMessage";
    host.inner.catalog = make_catalog({.tools = {make_tool(server, "t", "t")},
                                       .prompts = {make_feature(server, "p", "p")},
                                       .resources = {make_feature(server, "a:1", "a:1")}});
  }
  void say(std::string_view line) { framer.feed(std::string(line) + "\n", *this); }
  void on_message(message&& m) override { session.on_message(std::move(m)); }
  void on_fault(message_fault f) override { session.on_fault(f); }
  void question(std::size_t call, const std::string& method) {
    if (call < server->calls.size() && server->calls[call].done)
      server->calls[call].questions->ask({"s", method, raw_json::literal("{}")},
                                         [this](call_outcome&&) { host.ended(); });
  }
  void end(std::size_t call) {
    if (call < server->calls.size() && server->calls[call].done)
      std::exchange(server->calls[call].done, nullptr)({call_outcome::kind::result, raw_json::literal("{}"), {}});
  }
  void tick(int ms = 0) { host.inner.clock.advance(milliseconds(ms)); }
  std::string last_state() const {
    for (auto line = host.inner.sent.rbegin(); line != host.inner.sent.rend(); ++line)
      if (auto state = at(*line, {"result", "requestState"}); !state.empty()) return state;
    return "\"none\"";
  }

  void run() {
    const std::string able = R"({"roots":{},"elicitation":{}})";
    say(request("0", "initialize", R"({"protocolVersion":"2025-11-25","capabilities":)" + able + "}"));
    say(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
    say(request("1", "logging/setLevel", R"({"level":"info"})"));
    say(request("2", "resources/subscribe", R"({"uri":"a:1"})"));
    const std::string filter = R"("notifications":{"toolsListChanged":true,"resourceSubscriptions":["a:1"]},)";
    for (const char* id : {"\"l1\"", "\"l2\""}) say(request(id, "subscriptions/listen", modern_params(filter)));
    fake_client::tell(server->watching, "a:1", R"({"uri":"a:1"})");
    fake_client::tell(server->logging, "info", R"({"level":"error","data":1})");
    session.list_changed(tool_kind());
    // A legacy call whose server asks the caller, somebody else and nobody.
    say(request("3", "tools/call", R"({"name":"t","_meta":{"progressToken":1}})"));
    for (const char* method : {"roots/list", "elicitation/create", "sampling/createMessage", "nobody/can"})
      question(0, method);
    say(R"({"jsonrpc":"2.0","id":1,"result":{"roots":[]}})");
    tick();
    if (!server->calls.empty() && server->calls[0].progress)
      server->calls[0].progress(raw_json::literal(R"({"progress":1})"));
    if (!server->calls.empty() && server->calls[0].log) server->calls[0].log(raw_json::literal(R"({"level":"error"})"));
    end(0);
    // A modern call that is held, continued, asked again, and ends.
    say(request("4", "prompts/get", modern_params(R"("name":"p",)", able)));
    question(1, "elicitation/create");
    question(1, "roots/list");
    tick(1000);
    const auto again = [&](const char* id, const std::string& answers) {
      say(request(id, "prompts/get",
                  modern_params(
                      R"("name":"p","requestState":)" + last_state() + R"(,"inputResponses":)" + answers + ",", able)));
      tick(1000);
    };
    again("5", R"({"q1":{}})");
    again("6", R"({"q2":{}})");
    end(1);
    // One that its caller cancels, and one that nobody asks for again.
    say(request("7", "resources/read", modern_params(R"("uri":"a:1",)", able)));
    question(2, "roots/list");
    say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}})");
    end(2);
    say(request("8", "tools/call", modern_params(R"("name":"t",)", able)));
    question(3, "roots/list");
    tick(1000);
    tick(600'000);
    end(3);
    session.end_listens(true);
    session.close();
  }
};

TEST_CASE("caller_session: calls and questions of both eras survive whatever is done from inside") {
  const std::vector<std::function<void(both_eras&)>> actions{
      [](both_eras& c) {
        c.session.close();
        c.host.closed = true;
      },
      [](both_eras& c) {
        for (const char* id : {"3", "4", "5", "6", "7", "8", "\"l1\"", "\"l2\""})
          c.session.cancel(*rpc_id::from(raw_json::own(id)), "why");
      },
      [](both_eras& c) {
        for (std::size_t i = 0; i < c.server->calls.size(); ++i) c.end(i);
      },
      [](both_eras& c) {
        for (std::size_t i = 0; i < c.server->calls.size(); ++i) c.question(i, "roots/list");
        c.session.list_changed(tool_kind());
        c.say(R"({"jsonrpc":"2.0","id":2,"result":{}})");
      },
      [](both_eras& c) {
        c.session.end_listens(true);
        c.session.end_input();
      },
      [](both_eras& c) { c.held.close("mcpbx is stopping"); }};
  for (std::size_t what = 0; what < actions.size(); ++what) {
    bool reached = true;
    for (int at = 1; reached; ++at) {
      CAPTURE(what);
      CAPTURE(at);
      both_eras c;
      c.host.at = at;
      c.host.act = [&] { actions[what](c); };
      c.run();
      reached = c.host.calls >= at;
      CHECK(c.host.after_closing == 0);
      CHECK(c.held.size() == 0);
      CHECK(c.held.bytes() == 0);
      CHECK(c.session.open() == 0);
      CHECK(fake_client::held(c.server->watching, "a:1") == 0);
      CHECK(fake_client::held(c.server->logging, "info") == 0);
    }
  }
}

}  // namespace calls_reentrancy
