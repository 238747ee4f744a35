// Rows about the beginning of conversations and the form of requests and results.
#include "test/mcp/bridging/scene.hpp"

namespace {

using namespace mcpbx;
using namespace mcpbx::test;
using way = bridge_step::way;

constexpr std::string_view version_key = "io.modelcontextprotocol/protocolVersion",
                           info_key = "io.modelcontextprotocol/clientInfo",
                           server_key = "io.modelcontextprotocol/serverInfo";

void opening(bridge& b) {
  b.record();
  auto& srv = b.add_server("srv");
  b.remark("mcpbx finds out the server's era before any caller is there.");
  b.start();
  b.remark("Two callers open their conversations; the server hears nothing of it.");
  const auto before = sent(b, way::server_in, "srv").size();
  std::vector<std::string> ids;
  for (const std::string name : {"caller", "second"}) {
    auto& c = b.add_caller(name, "uid:1");
    if (b.era.new_caller)
      ids.push_back(c.ask("server/discover"));
    else
      c.open();
    b.pass();
    const std::string answer = c.answer("1");
    if (b.era.new_caller) {
      CHECK(member_at(answer, {"result", "supportedVersions"}) == R"(["2026-07-28"])");
      CHECK(member_at(answer, {"result", "resultType"}) == R"("complete")");
    } else {
      CHECK(member_at(answer, {"result", "protocolVersion"}) == R"("2025-11-25")");
    }
    CHECK_FALSE(member_at(answer, {"result", "capabilities", "tools"}).empty());
  }
  CHECK(sent(b, way::server_in, "srv").size() == before);
  CHECK(srv.got("initialize").size() == (b.era.new_server ? 0 : 1));
  CHECK(srv.got("server/discover").size() == 1);
  b.remark("Only a new server is told who calls, in each request.");
  auto& caller = *b.callers().front();
  caller.client_info = R"({"name":"reader","version":"1"})";
  caller.call("echo");
  b.pass();
  const std::string call = srv.got("tools/call").at(0);
  CHECK(member_at(call, {"params", "_meta", info_key}) == (b.era.new_server ? caller.client_info : ""));
  CHECK(member_at(call, {"params", "_meta", version_key}) == (b.era.new_server ? R"("2026-07-28")" : ""));
}

void caller_capabilities(bridge& b) {
  b.record();
  auto& srv = b.add_server("srv");
  for (const std::string tool : {"sample", "ask"}) srv.add_tool(tool);
  b.start();
  if (!b.era.new_server) {
    const std::string told = member_at(srv.got("initialize").at(0), {"params", "capabilities"});
    for (const std::string_view one : {"roots", "sampling", "elicitation"}) CHECK_FALSE(member_at(told, {one}).empty());
  }
  b.remark("One caller can show forms, the other one can sample; nobody gets the sum of both.");
  auto& forms = b.add_caller("forms", "uid:1");
  forms.capabilities = R"({"elicitation":{}})";
  auto& samples = b.add_caller("samples", "uid:2");
  samples.capabilities = R"({"sampling":{}})";
  for (auto* c : {&forms, &samples}) {
    c->answerer = answer_all;
    c->open();
    b.pass();
    const auto echo = c->call("echo");
    b.pass();
    CHECK_FALSE(c->result(echo).empty());
    const std::string told = member_at(srv.got("tools/call").back(), {"params", "_meta", able_key});
    CHECK(told == (b.era.new_server ? c->capabilities : ""));
  }
  b.remark("A question that its caller cannot answer is declined, or refused where nothing can be declined.");
  const auto asked = samples.call("ask");
  b.pass(200);
  const auto sampled = forms.call("sample");
  b.pass(200);
  for (const auto* c : {&forms, &samples}) {
    CHECK(c->got("elicitation/create").empty());
    CHECK(c->got("sampling/createMessage").empty());
  }
  if (!b.era.new_server) {
    CHECK(contains(samples.result(asked), R"(\"action\":\"decline\")"));
    if (b.era.new_caller) {
      CHECK(forms.error_code(sampled) == "-32021");
      CHECK(member_at(forms.answer(sampled), {"error", "data", "requiredCapabilities"}) == R"({"sampling":{}})");
    } else {
      CHECK(contains(forms.result(sampled), "-32601"));
    }
  }
}

void meta(bridge& b) {
  const auto [_, srv, c] = begin(b);
  const std::string vendor = R"("traceparent":"00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01",)"
                             R"("example.org/own":{"a" : [1.0,2]})";
  const auto id = c.call("echo", R"({"text":"hi"})", R"("progressToken":"mine",)" + vendor);
  b.pass();
  CHECK_FALSE(c.result(id).empty());
  const std::string call = srv.got("tools/call").at(0);
  CHECK(contains(call, vendor));
  CHECK(member_at(call, {"params", "_meta", "progressToken"}) != R"("mine")");
  for (const std::string_view key : {version_key, info_key, able_key})
    CHECK(member_at(call, {"params", "_meta", key}).empty() == !b.era.new_server);
}

void results(bridge& b) {
  const auto [_, srv, c] = begin(
      b, {.server = [](bridge_server& s) {
        s.first = [](server_life& l, const mcp::rpc::message& m) {
          if (m.method() != "tools/call") return false;
          l.answer(m.id,
                   R"("content":[{"type":"text","text":"caf\u00e9", "annotations":{"priority":1.0}}],"own":null)");
          return true;
        };
      }});
  const auto called = c.call("echo"), read = c.ask("resources/read", R"("uri":"note://a")"),
             listed = c.ask("tools/list");
  b.pass();
  // The members of the server itself stay byte for byte.
  CHECK(contains(c.result(called),
                 R"("content":[{"type":"text","text":"caf\u00e9", "annotations":{"priority":1.0}}],"own":null)"));
  CHECK(contains(c.result(read), R"("contents":[{"uri":"note://a","text":"a note"}])"));
  for (const auto& id : {called, read, listed}) {
    const bool cacheable = id != called;
    const std::string result = c.result(id);
    CHECK(member_at(result, {"resultType"}) == (b.era.new_caller ? R"("complete")" : ""));
    if (!b.era.new_caller || !cacheable) {
      CHECK(member_at(result, {"ttlMs"}).empty());
      CHECK(member_at(result, {"cacheScope"}).empty());
    } else {
      CHECK(member_at(result, {"ttlMs"}) == (b.era.new_server ? "60000" : "0"));
      CHECK(member_at(result, {"cacheScope"}) == (b.era.new_server ? R"("public")" : R"("private")"));
    }
    CHECK(member_at(result, {"_meta", server_key, "name"}) == (b.era.new_caller ? R"("mcpbx")" : ""));
  }
}

}  // namespace

TEST_CASE("M4: a conversation opens without the server and only a new server hears who calls") {
  play_row("opening", "Opening: mcpbx answers for itself, and opens each server once.", opening);
}
TEST_CASE("M4: capabilities of a caller reach a new server with its own requests only") {
  play_row("capabilities", "Capabilities of callers: copied for each request, never joined.", caller_capabilities);
}
TEST_CASE("M4: keys of _meta pass but for those of the era") {
  play_row("meta", "Members of _meta: the protocol's own are those of each side, all others pass.", meta);
}
TEST_CASE("M4: results get the members of the caller's era and keep all others") {
  play_row("results", "Results: resultType and caching hints are there for new callers and not for old ones.", results);
}
