// Callers of both eras over /mcp, before tool servers of both eras: sessions and resumption for the older ones, single
// requests with checked headers for the newer ones. Written down as test/transcripts/eras/http.txt.
#include "test/daemon/front/mcp/mcp_door.hpp"
#include "test/mcp/bridging/scene.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace over_http {

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::test;
using way = bridge_step::way;

/// A door whose tool servers are those of a bridge.
struct http_scene {
  bridge& b;
  mcp_door d{};
  std::string session;  ///< the header that names the session of an old caller
  explicit http_scene(bridge& of) : b(of) { d.backend.catalog = b.rig.supervisor->snapshot(); }

  void pass() {
    for (int n = 0; n < 3; ++n) {
      d.turn();
      b.pass(20);
    }
    d.turn();
  }
  /// Headers of a request, without those that every one has.
  std::string headers(std::string_view method, std::string_view name, const std::string& more) const {
    if (!b.era.new_caller) return session + more;
    return "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: " + std::string(method) + "\r\n" +
           (name.empty() ? "" : "Mcp-Name: " + std::string(name) + "\r\n") + more;
  }
  void note(way direction, std::string text) {
    if (text.ends_with("\r\n")) text.resize(text.size() - 2);
    for (std::size_t at = 0; (at = text.find("\r\n")) != std::string::npos;) text.replace(at, 2, ", ");
    const std::string id = session.empty() ? "" : session.substr(16, session.size() - 18);
    if (const auto at = text.find(id); !id.empty() && at != std::string::npos) text.replace(at, id.size(), "@SESSION@");
    b.step({direction, "caller", std::move(text)});
  }
  int call(int id, const std::string& tool, const std::string& arguments = "{}", const std::string& more = "") {
    const std::string meta =
        b.era.new_caller
            ? R"("io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},)"
            : "";
    return post(R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":"tools/call","params":{"name":")" +
                    tool + R"(","arguments":)" + arguments + R"(,"_meta":{)" + meta + R"("progressToken":"t"}}})",
                headers("tools/call", tool, more));
  }
  int post(const std::string& body, const std::string& with) {
    note(way::caller_in, "POST /mcp  " + with + body);
    const int fd = d.enter();
    d.write(fd, mcp_door::posting(body, with));
    pass();
    return fd;
  }
  int send(const std::string& method, const std::string& with) {
    note(way::caller_in, method + " /mcp  " + with);
    const int fd = d.enter();
    d.write(fd, mcp_door::head(method, "Accept: text/event-stream\r\n" + with + "\r\n"));
    pass();
    return fd;
  }
  http_got read(int fd) {
    pass();
    auto got = d.got(fd);
    std::string body = got.body;
    for (std::size_t at = 0; (at = body.find('\n')) != std::string::npos;) body.replace(at, 1, "|");
    if (!got.header("Mcp-Session-Id").empty()) session = "Mcp-Session-Id: " + got.header("Mcp-Session-Id") + "\r\n";
    note(way::caller_out,
         std::to_string(got.status) + "  " + (got.header("Mcp-Session-Id").empty() ? "" : session) + body);
    return got;
  }
};

void http(bridge& b) {
  auto& srv = b.add_server("srv");
  srv.add_tool("hold");
  srv.tools.push_back(
      R"({"name":"where","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}})");
  srv.first = [](server_life& l, const mcp::rpc::message& m) {
    if (m.method() != "tools/call" || member_text(m.params, "name") != "where") return false;
    l.answer(m.id, R"("content":[])");
    return true;
  };
  b.start();
  b.record();
  http_scene s(b);
  const auto opened = srv.got("initialize").size();
  const auto progress = [&](int n) {
    const std::string token = member_at(srv.got("tools/call").back(), {"params", "_meta", "progressToken"});
    srv.life().notify("notifications/progress",
                      R"({"progressToken":)" + token + R"(,"progress":)" + std::to_string(n) + "}");
    s.pass();
  };
  if (!b.era.new_caller) {
    b.remark("An old caller has a session of its own with mcpbx; the server hears nothing of it.");
    const auto begun = s.read(s.post(mcp_door::initialize(), ""));
    CHECK(begun.status == 200);
    REQUIRE_FALSE(s.session.empty());
    CHECK(s.read(s.post(R"({"jsonrpc":"2.0","method":"notifications/initialized"})", s.session)).status == 202);
    CHECK(srv.got("initialize").size() == opened);
  }
  b.remark("A call with progress is answered by a stream.");
  const int fd = s.call(1, "hold");
  progress(1);
  const auto stream = s.read(fd);
  CHECK(stream.header("Content-Type") == "text/event-stream");
  CHECK(contains(stream.body, R"("progress":1)"));
  CHECK(contains(stream.body, "id: ") == !b.era.new_caller);  // only sessions are resumed
  if (b.era.new_caller) CHECK(stream.header("Mcp-Session-Id").empty());
  b.remark(b.era.new_caller ? "The caller leaves, which cancels the call."
                            : "The connection breaks, and the call goes on.");
  s.d.leave(fd);
  s.pass();
  CHECK(srv.got("notifications/cancelled").size() == (b.era.new_caller ? 1 : 0));
  if (b.era.new_caller) {
    b.remark("There is no session to resume or to end.");
    CHECK(s.read(s.send("GET", "MCP-Protocol-Version: 2026-07-28\r\nLast-Event-ID: 0-1\r\n")).status == 405);
    CHECK(s.read(s.send("DELETE", "MCP-Protocol-Version: 2026-07-28\r\n")).status == 405);
  } else {
    const auto last = stream.body.rfind("id: ") + 4;
    const std::string event = stream.body.substr(last, stream.body.find('\n', last) - last);
    srv.life().answer(*mcp::rpc::rpc_id::from(raw_json::own(member_at(srv.got("tools/call").back(), {"id"}))),
                      R"("content":[])");
    s.pass();
    b.remark("The caller comes back and gets what it has missed.");
    const auto rest = s.read(s.send("GET", s.session + "Last-Event-ID: " + event + "\r\n"));
    CHECK(contains(rest.body, R"("id":1,"result":{"content":[]})"));
    CHECK_FALSE(contains(rest.body, R"("progress":1)"));
  }
  b.remark("Headers that repeat an argument are checked for new callers, and mean nothing for old ones.");
  const auto wrong = s.read(s.call(2, "where", R"({"region":"north"})", "Mcp-Param-Region: south\r\n"));
  CHECK(wrong.status == (b.era.new_caller ? 400 : 200));
  CHECK(wrong.code() == (b.era.new_caller ? -32020 : 0));
  const auto right = s.read(s.call(3, "where", R"({"region":"north"})", "Mcp-Param-Region: north\r\n"));
  CHECK(right.status == 200);
  CHECK(contains(right.body, R"("content":[])"));
  if (!b.era.new_caller) {
    b.remark("The session ends.");
    CHECK(s.read(s.send("DELETE", s.session)).status == 200);
    CHECK(s.read(s.call(4, "where")).status == 404);
  }
  CHECK(srv.got("initialize").size() == opened);
}

}  // namespace over_http

TEST_CASE(
    "M5: over HTTP old callers have sessions that are resumed and new ones have requests whose headers are checked") {
  mcpbx::test::play_row("http", "HTTP: sessions and resumption for old callers, checked headers for new ones.",
                        over_http::http);
}
