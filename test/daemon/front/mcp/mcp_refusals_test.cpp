// Requests to /mcp that are refused, each with its status and its JSON-RPC error code (Streamable HTTP of all
// revisions).
#include "test/daemon/front/chat_sources.hpp"
#include "test/daemon/front/mcp/mcp_door.hpp"

using namespace mcpbx;
using namespace mcpbx::daemon::chat;
using namespace mcpbx::daemon::door;
using namespace mcpbx::json;
using namespace mcpbx::test;

namespace {

const std::string ping = R"({"jsonrpc":"2.0","id":7,"method":"ping"})";
const std::string modern = "MCP-Protocol-Version: 2026-07-28\r\n";

std::string modern_body(std::string_view method, std::string_view more = "", std::string_view revision = "2026-07-28") {
  return R"({"jsonrpc":"2.0","id":7,"method":")" + std::string(method) + R"(","params":{)" + std::string(more) +
         R"("_meta":{"io.modelcontextprotocol/protocolVersion":")" + std::string(revision) +
         R"(","io.modelcontextprotocol/clientCapabilities":{}}}})";
}

}  // namespace

TEST_CASE("G43: every malformed or misplaced request to /mcp gets its status and its error code") {
  front_door::options o;
  o.chat = always(defaults_by([](std::string_view, std::string_view profile) -> result<chat_base> {
    if (profile.empty()) return chat_base{};
    return fail(errc::not_found, "no profile is named " + json_quoted(profile));
  }));
  mcp_door d(std::move(o));
  const auto session = d.begin();
  struct row {
    std::string request;
    int status, code;
    std::string says;
  };
  const std::string types = "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n";
  const auto with = [](const std::string& headers, const std::string& body) {
    return mcp_door::head("POST", headers + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  };
  const row rows[] = {
      // The transport: method, types, sizes.
      {mcp_door::head("PUT", "Content-Length: 0\r\n\r\n"), 405, -32600, "POST, GET and DELETE"},
      {mcp_door::head("HEAD", "\r\n"), 405, 0, ""},
      {with("Content-Type: text/plain\r\nAccept: */*\r\n", ping), 415, -32600, "Content-Type"},
      {with("Accept: */*\r\n", ping), 415, -32600, "Content-Type"},
      {with("Content-Type: application/json\r\n", ping), 406, -32600, "Accept"},
      {with("Content-Type: application/json\r\nAccept: application/json\r\n", ping), 406, -32600, "text/event-stream"},
      {with("Content-Type: application/json\r\nAccept: text/event-stream\r\n", ping), 406, -32600, "application/json"},
      {with("Content-Type: application/json\r\nAccept: */*, text/event-stream;q=0\r\nAccept: application/xml\r\n",
            ping),
       400, -32600, "Mcp-Session-Id is missing"},
      {mcp_door::head("GET", session + "\r\n"), 406, -32600, "text/event-stream"},
      {mcp_door::head("GET", session + "Accept: application/json\r\n\r\n"), 406, -32600, "text/event-stream"},
      {mcp_door::head("POST", types + "Content-Length: 99999999\r\n\r\n"), 413, -32600, "larger than"},
      {mcp_door::head("POST", types + "Host: again\r\n\r\n"), 400, 0, "Host"},
      // The body.
      {with(types, ""), 400, -32700, "parse error"},
      {with(types, "{"), 400, -32700, "parse error"},
      {with(types, "{\"a\":\"\xFF\"}"), 400, -32700, "parse error"},
      {with(types, "[1]x"), 400, -32700, "parse error"},
      {with(types, "42"), 400, -32600, "invalid request"},
      {with(types, R"({"jsonrpc":"1.0","id":7,"method":"ping"})"), 400, -32600, "\"id\":7"},
      {with(types, R"({"jsonrpc":"2.0","id":null,"method":"ping"})"), 400, -32600, "invalid request"},
      {with(types, R"({"jsonrpc":"2.0","id":7,"method":"ping","params":[]})"), 400, -32600, "\"id\":7"},
      // Sessions.
      {with(types, ping), 400, -32600, "Mcp-Session-Id is missing"},
      {with(types, R"({"jsonrpc":"2.0","method":"notifications/initialized"})"), 400, -32600, "missing"},
      {with(types, R"({"jsonrpc":"2.0","id":1,"result":{}})"), 400, -32600, "missing"},
      {with(types, "[" + mcp_door::initialize("2025-03-26") + "]"), 400, -32600, "missing"},
      {with(types + "Mcp-Session-Id: 0123\r\n", ping), 404, -32600, "no such session"},
      {with(types + "Mcp-Session-Id: 0123\r\n", mcp_door::initialize()), 404, -32600, "no such session"},
      {with(types + session, mcp_door::initialize()), 400, -32600, "initialized already"},
      {with(types + session, "[" + ping + "]"), 400, -32600, "batch"},
      {with(types, R"({"jsonrpc":"2.0","id":7,"method":"initialize","params":{}})"), 400, -32602, "protocolVersion"},
      {mcp_door::head("GET", "Accept: text/event-stream\r\n\r\n"), 400, -32600, "missing"},
      {mcp_door::head("GET", "Accept: text/event-stream\r\nMcp-Session-Id: x\r\n\r\n"), 404, -32600, "no such session"},
      {mcp_door::head("GET", "Accept: text/event-stream\r\nLast-Event-ID: 9-1\r\n" + session + "\r\n"), 400, -32600,
       "Last-Event-ID"},
      {mcp_door::head("GET", "Accept: text/event-stream\r\nLast-Event-ID: x\r\n" + session + "\r\n"), 400, -32600,
       "Last-Event-ID"},
      {mcp_door::head("DELETE", "\r\n"), 400, -32600, "missing"},
      {mcp_door::head("DELETE", "Mcp-Session-Id: x\r\n\r\n"), 404, -32600, "no such session"},
      {mcp_door::head("POST", types + session + "Content-Length: 2\r\n\r\n{}", "/mcp?x=y&profile=no%20ne"), 404, -32600,
       "profile: no profile is named \\\"no ne\\\""},
      // The revision.
      {with(types + session + "MCP-Protocol-Version: 1999-01-01\r\n", ping), 400, -32022,
       "\"supported\":[\"2026-07-28\""},
      {with(types + session + "MCP-Protocol-Version: 2025-06-18\r\nMCP-Protocol-Version: 2025-06-18\r\n", ping), 400,
       -32022, "requested"},
      {mcp_door::head("GET", "Accept: text/event-stream\r\nMCP-Protocol-Version: x\r\n" + session + "\r\n"), 400,
       -32600, "MCP-Protocol-Version"},
      {mcp_door::head("GET", "Accept: text/event-stream\r\n" + modern + session + "\r\n"), 405, -32600, "POST only"},
      {mcp_door::head("DELETE", modern + session + "\r\n"), 405, -32600, "POST only"},
      // 2026-07-28.
      {with(types + modern, ping), 400, -32602, "protocolVersion"},
      {with(types + modern, R"({"jsonrpc":"2.0","id":7,"method":"server/discover","params":{"_meta":{}}})"), 400,
       -32602, "protocolVersion"},
      {with(
           types + modern,
           R"({"jsonrpc":"2.0","id":7,"method":"x","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}})"),
       400, -32602, "clientCapabilities"},
      {with(types + modern, R"({"jsonrpc":"2.0","id":1,"result":{}})"), 400, -32600, "no responses"},
      {with(types + modern, "[" + ping + "]"), 400, -32600, "batch"},
      {with(types, modern_body("tools/list")), 400, -32020, "MCP-Protocol-Version is missing"},
      {with(types + "MCP-Protocol-Version: 2025-11-25\r\n", modern_body("tools/list")), 400, -32020, "does not match"},
      {with(types + modern, modern_body("tools/list", "", "v999")), 400, -32020, "does not match"},
      {with(types + modern + modern, modern_body("tools/list")), 400, -32020, "given twice"},
      {with(types + modern, modern_body("tools/list")), 400, -32020, "Mcp-Method is missing"},
      {with(types + modern + "Mcp-Method: TOOLS/LIST\r\n", modern_body("tools/list")), 400, -32020, "does not match"},
      {with(types + modern + "Mcp-Method: tools/call\r\n", modern_body("tools/call", R"("name":"read",)")), 400, -32020,
       "Mcp-Name is missing"},
      {with(types + modern + "Mcp-Method: tools/call\r\nMcp-Name: other\r\n",
            modern_body("tools/call", R"("name":"read",)")),
       400, -32020, "'other'"},
      {with(types + modern + "Mcp-Method: tools/call\r\nMcp-Name: =?base64?x?=\r\n",
            modern_body("tools/call", R"("name":"read",)")),
       400, -32020, "malformed"},
  };
  for (const auto& r : rows) {
    CAPTURE(r.request);
    const int fd = d.enter();
    d.write(fd, r.request);
    const auto answer = d.got(fd);
    CHECK(answer.status == r.status);
    CHECK(answer.code() == r.code);
    CHECK(contains(answer.head + answer.body, r.says));
    CHECK_FALSE(contains(answer.body, "\"id\":null"));
    if (r.status == 405) CHECK(contains(answer.head, "\r\nAllow: POST"));
    d.leave(fd);
  }
  CHECK(d.tools->calls.empty());
}

TEST_CASE("G43: token, host and origin are checked at /mcp as everywhere, and errors there are JSON-RPC") {
  mcp_door d({}, {.on_port = true, .token = "0123456789abcdef"});
  const std::string good = "Authorization: Bearer 0123456789abcdef\r\n";
  const auto asked = [&](const std::string& headers) {
    const int fd = d.enter();
    return d.post(fd, mcp_door::initialize(), headers);
  };
  const auto none = asked("");
  CHECK(none.status == 401);
  CHECK(none.header("WWW-Authenticate") == "Bearer");
  CHECK(none.code() == -32600);
  CHECK(asked("Authorization: Bearer wrong\r\n").status == 401);
  CHECK(asked(good + "Origin: http://evil.example\r\n").status == 403);
  CHECK(asked(good + "Origin: http://localhost:3000\r\n").status == 200);
  const int fd = d.enter();
  d.write(fd, "GET /mcp HTTP/1.1\r\nHost: evil.example\r\n" + good + "\r\n");
  const auto foreign = d.got(fd);
  CHECK(foreign.status == 403);
  CHECK(foreign.code() == -32600);
}

TEST_CASE("G42: a tool server that may not call is refused at /mcp before it has a session or a place") {
  mcp_door d;
  d.door->serves_port("127.0.0.1:1", {.on_port = true, .token = {}}, "",
                      [](const mcp::socket::tcp_ends&, const std::function<void(result<std::string>)>& then) {
                        then(fail(errc::unavailable, "a tool server may not call"));
                      });
  for (int i = 0; i < 3; ++i) {
    const int fd = d.enter();
    const auto answer = d.post(fd, mcp_door::initialize());
    CHECK(answer.status == 403);
    CHECK(answer.code() == -32600);
    CHECK(answer.header("Mcp-Session-Id").empty());
    CHECK(answer.header("Connection") == "close");
    d.leave(fd);
  }
  CHECK(d.door->callers() == 0);
}

TEST_CASE(
    "2026-07-28: methods that are not served are 404, revisions that are not spoken 400, wrong params an answer") {
  mcp_door d;
  const int fd = d.enter();
  for (const char* method :
       {"initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "no/such"}) {
    CAPTURE(method);
    d.post_modern(fd, method);
    const auto answer = d.got(fd);
    CHECK(answer.status == 404);
    CHECK(answer.code() == -32601);
    CHECK(contains(answer.body, "\"id\":7"));
  }
  const auto other = d.post(fd, modern_body("server/discover", "", "v999"),
                            "MCP-Protocol-Version: v999\r\nMcp-Method: server/discover\r\n");
  CHECK(other.status == 400);
  CHECK(other.code() == -32022);
  CHECK(contains(other.body, "\"requested\":\"v999\""));
  d.post_modern(fd, "tools/call", R"("name":"unknown")", "unknown");
  d.backend.settle();
  const auto unknown = d.got(fd);
  CHECK(unknown.status == 200);
  CHECK(unknown.code() == -32602);
}

TEST_CASE(
    "a modern notification is accepted and does nothing, and a session header means nothing to a modern request") {
  mcp_door d;
  const int fd = d.enter();
  CHECK(d.post(fd, R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})", modern).status ==
        202);
  const auto answer = d.post(fd, modern_body("no/such"), modern + "Mcp-Method: no/such\r\nMcp-Session-Id: unknown\r\n");
  CHECK(answer.header("Mcp-Session-Id").empty());
  CHECK(contains(answer.body, "\"id\":7"));
}
