// Requests of 2026-07-28 at /mcp: one in each POST, without a session.
#include "test/daemon/front/mcp/mcp_door.hpp"

#include <chrono>
#include <functional>

using namespace mcpbx;
using namespace mcpbx::daemon::door;
using namespace mcpbx::json;
using namespace mcpbx::test;
using namespace std::chrono_literals;

TEST_CASE("2026-07-28: a request needs no session, and its answer is JSON unless something has to be said before it") {
  mcp_door d;
  const int fd = d.enter();
  d.post_modern(fd, "server/discover");
  const auto discovered = d.got(fd);
  CHECK(discovered.status == 200);
  CHECK(discovered.header("Content-Type") == "application/json");
  CHECK(discovered.header("Mcp-Session-Id").empty());
  CHECK(contains(discovered.body, "\"supportedVersions\":[\"2026-07-28\""));

  d.post_modern(fd, "tools/call", R"("name":"read","arguments":{})", "read");
  d.answer(0);
  CHECK(contains(d.got(fd).body, R"("id":7,"result":{"content":[])"));

  d.post_modern(fd, "tools/call", R"("name":"read","arguments":{})", "=?base64?cmVhZA==?=");
  d.progress(1, 1);
  const auto begun = d.got(fd);
  CHECK(begun.header("Content-Type") == "text/event-stream");
  // Streams of this revision cannot be resumed: events have no ids, and the first one says something.
  CHECK(begun.body.starts_with(
      R"(data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":3)"));
  d.answer(1);
  bool ended = false;
  CHECK(mcp_door::events(d.raw(fd), &ended).starts_with(R"(data: {"jsonrpc":"2.0","id":7,"result")"));
  CHECK(ended);
  // The connection goes on.
  d.post_modern(fd, "tools/list");
  d.backend.settle();
  CHECK(d.got(fd).status == 200);
}

TEST_CASE("2026-07-28: headers that contradict a call are refused also when its tool comes while the call waits") {
  for (const std::string value : {"", "b", "a"}) {
    mcp_door d;
    const auto without = d.backend.catalog;
    auto tool = std::make_shared<mcp::catalogs::catalog_entry>(*make_tool(d.tools, "late", "late"));
    tool->definition = raw_json::own(
        R"({"name":"late","inputSchema":{"type":"object","properties":{"r":{"type":"string","x-mcp-header":"R"}}}})");
    const int fd = d.enter();
    const auto body =
        R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"late","arguments":{"r":"a"},"_meta":{)"
        R"("io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}})";
    d.write(fd,
            mcp_door::posting(body, "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: late\r\n" +
                                        (value.empty() ? "" : "Mcp-Param-R: " + value + "\r\n")));
    CHECK(d.raw(fd).empty());
    d.backend.catalog = std::make_shared<mcp::catalogs::catalog>(std::vector<mcp::catalogs::entry_ptr>{tool}, 1);
    d.backend.settle();
    d.turn();
    CHECK(d.tools->calls.size() == (value == "a" ? 1 : 0));
    if (value == "a") continue;
    const auto answer = d.got(fd);
    CHECK(answer.status == 400);
    CHECK(answer.code() == -32020);
  }
}

TEST_CASE("2026-07-28: a stream begins after 10 s of silence, with comments that keep it alive") {
  mcp_door d;
  const int fd = d.enter();
  d.post_modern(fd, "tools/call", R"("name":"read","arguments":{})", "read");
  d.time.advance(9999ms);
  CHECK(d.raw(fd).empty());
  d.time.advance(1ms);
  CHECK(d.got(fd).header("Content-Type") == "text/event-stream");
  d.time.advance(20s);
  CHECK(mcp_door::events(d.raw(fd)) == ":\n\n");
}

TEST_CASE("2026-07-28: the end of the connection cancels the request, before and after its stream has begun") {
  mcp_door d;
  const int quiet = d.enter(), streaming = d.enter();
  d.post_modern(quiet, "tools/call", R"("name":"read","arguments":{})", "read");
  d.post_modern(streaming, "tools/call", R"("name":"read","arguments":{})", "read");
  d.progress(1, 1);
  d.leave(quiet);
  CHECK(d.tools->cancelled == std::vector<mcp::clients::client::ticket>{1});
  d.leave(streaming);
  CHECK(d.tools->cancelled == std::vector<mcp::clients::client::ticket>{1, 2});
  d.tools->answer(0, "{}");
  d.tools->answer(1, "{}");
  CHECK(d.door->callers() == 0);
}

TEST_CASE("2026-07-28: subscriptions/listen is a stream with what was asked for, and ends with a result at the stop") {
  mcp_door d;
  const int fd = d.enter();
  d.post_modern(fd, "subscriptions/listen", R"("notifications":{"toolsListChanged":true})");
  const auto begun = d.got(fd);
  CHECK(begun.header("Content-Type") == "text/event-stream");
  CHECK(begun.body.starts_with(R"(data: {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged")"));
  CHECK(contains(begun.body, R"("io.modelcontextprotocol/subscriptionId":7)"));
  d.backend.list_changed(mcp::protocol::tool_kind());
  CHECK(contains(mcp_door::events(d.raw(fd)), R"("method":"notifications/tools/list_changed")"));
  d.backend.list_changed(mcp::protocol::prompt_kind());
  CHECK(d.raw(fd).empty());
  d.door->refuse_calls();
  bool ended = false;
  CHECK(contains(mcp_door::events(d.raw(fd), &ended), R"(data: {"jsonrpc":"2.0","id":7,"result":{)"));
  CHECK(ended);
}

TEST_CASE("G18: subscriptions have the places of streams, and give them back") {
  front_door::options o;
  o.max_callers = 8;  // two streams
  mcp_door d(std::move(o));
  const int one = d.enter(), two = d.enter(), three = d.enter();
  const auto listen = [&](int fd) {
    d.post_modern(fd, "subscriptions/listen", R"("notifications":{})");
    return d.got(fd);
  };
  CHECK(listen(one).status == 200);
  CHECK(listen(two).status == 200);
  const auto full = listen(three);
  CHECK(full.status == 503);
  CHECK(contains(full.body, "\"id\":7"));
  d.leave(one);
  CHECK(listen(three).status == 200);
}

TEST_CASE("/mcp: a door that closes or is destroyed inside of anything that it calls does so once, at every event") {
  for (const bool destroy : {false, true}) {
    int most = 0;
    for (int at = 1; at <= most + 1; ++at) {
      mcp_door d;
      int calls = 0;
      d.backend.called = [&] {
        if (++calls != at || !d.door) return;
        if (destroy)
          d.door.reset();
        else
          d.door->close();
      };
      const auto enter = [&] { return d.door ? d.enter() : -1; };
      const auto write = [&](int fd, const std::string& text) {
        if (fd >= 0) d.write(fd, text);
      };
      const int fd = enter();
      write(fd, mcp_door::posting(mcp_door::initialize()));
      std::string session;
      if (fd >= 0) session = "Mcp-Session-Id: " + d.got(fd).header("Mcp-Session-Id") + "\r\n";
      const int stream = enter(), call = enter(), modern = enter(), listen = enter();
      write(fd, mcp_door::posting(R"({"jsonrpc":"2.0","method":"notifications/initialized"})", session));
      write(stream, mcp_door::head("GET", "Accept: text/event-stream\r\n" + session + "\r\n"));
      write(call, mcp_door::posting(mcp_door::call(), session));
      write(fd, mcp_door::posting(R"({"jsonrpc":"2.0","id":8,"method":"tools/list"})", session));
      if (modern >= 0) d.post_modern(modern, "tools/call", R"("name":"read","arguments":{})", "read");
      if (listen >= 0) d.post_modern(listen, "subscriptions/listen", R"("notifications":{"toolsListChanged":true})");
      d.backend.settle();
      d.turn();
      for (auto& c : d.tools->calls)
        if (c.progress) c.progress(raw_json::own(R"({"progress":1})"));
      if (d.backend.list_changed) d.backend.list_changed(mcp::protocol::tool_kind());
      d.turn();
      for (std::size_t i = 0; i < d.tools->calls.size(); ++i) d.answer(i);
      write(fd, mcp_door::head("DELETE", session + "\r\n"));
      d.time.advance(20s);
      d.turn();
      most = std::max(most, calls);
    }
    CHECK(most > 5);
  }
}
