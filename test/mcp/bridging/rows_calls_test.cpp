// Rows about the course of single requests: progress, cancellation, pings and errors.
#include "test/mcp/bridging/scene.hpp"

namespace {

using namespace mcpbx;
using namespace mcpbx::test;
using way = bridge_step::way;

void progress(bridge& b) {
  const auto [_, srv, c] = begin(b, {.server = [](bridge_server& s) { s.add_tool("steps"); }});
  auto& second = b.add_caller("second", "uid:2");
  second.open();
  b.pass();
  b.remark("Both callers use the same token and the same id; the server sees two tokens of mcpbx.");
  for (auto* one : {&c, &second})
    one->ask_as("\"same\"", "tools/call", R"("name":"steps","arguments":{})", R"("progressToken":"t")");
  b.pass();
  const auto calls = srv.got("tools/call");
  REQUIRE(calls.size() == 2);
  const auto token = [](const std::string& line) { return member_at(line, {"params", "_meta", "progressToken"}); };
  CHECK(token(calls[0]) != token(calls[1]));
  CHECK(token(calls[0]) != R"("t")");
  for (const auto* one : {&c, &second}) {
    const auto told = one->got("notifications/progress");
    REQUIRE(told.size() == 2);
    for (std::size_t n = 0; n < 2; ++n)
      CHECK(member_at(told[n], {"params"}) ==
            R"({"progressToken":"t","progress":)" + std::to_string(n + 1) + R"(,"total":2})");
    CHECK(contains(one->result("\"same\""), "done"));
  }
  b.remark("Without a token the caller hears of no progress.");
  c.call("steps");
  b.pass();
  CHECK(c.got("notifications/progress").size() == 2);
}

void cancellation(bridge& b) {
  const auto [_, srv, c] = begin(b, {.server = [](bridge_server& s) { s.add_tool("hold"); }});
  const auto told = [&](std::size_t n) {
    const auto all = srv.got("notifications/cancelled");
    return all.size() > n ? member_at(all[n], {"params", "requestId"}) : std::string("none");
  };
  const auto call_id = [&](std::size_t n) { return member_at(srv.got("tools/call").at(n), {"id"}); };
  b.remark("The caller cancels: the server hears it under mcpbx's id, and the caller gets no answer.");
  const auto id = c.call("hold");
  b.pass();
  c.cancel(id);
  b.pass();
  CHECK(told(0) == call_id(0));
  b.remark("A cancellation of a request that is not open reaches nobody.");
  c.cancel("77");
  c.cancel(id);
  b.pass();
  CHECK(srv.got("notifications/cancelled").size() == 1);
  b.remark("The caller leaves, which over HTTP is how a new caller cancels.");
  c.call("hold");
  b.pass();
  c.leave();
  b.pass();
  CHECK(told(1) == call_id(1));
  CHECK(c.requests().at(id).answers.empty());
  CHECK(b.rig.supervisor->open_calls() == 0);
}

void ping(bridge& b) {
  const auto [_, srv, c] = begin(b);
  const auto id = c.ask("ping");
  b.pass();
  CHECK((b.era.new_caller ? c.error_code(id) : c.result(id)) == (b.era.new_caller ? "-32601" : "{}"));
  CHECK(srv.got("ping").empty());
  if (b.era.new_server) return;
  b.remark("An old server may ping as well, and hears from mcpbx.");
  std::string heard;
  srv.life().ask({}, "ping", "", [&](const mcp::rpc::message& m) { heard = m.result.text(); });
  b.pass();
  CHECK(heard == "{}");
  CHECK(c.got("ping").empty());
}

void not_found(bridge& b) {
  const auto [_, srv, c] = begin(
      b, {.server = [](bridge_server& s) { s.resources.push_back(R"({"uri":"note://missing","name":"gone"})"); }});
  b.remark("The server lists it and does not find it.");
  const auto id = c.ask("resources/read", R"("uri":"note://missing")");
  b.pass();
  b.remark("No server has it.");
  const auto unknown = c.ask("resources/read", R"("uri":"nowhere://x")");
  b.pass(1'100);
  for (const auto& one : {id, unknown}) {
    CHECK(c.error_code(one) == (b.era.new_caller ? "-32602" : "-32002"));
    CHECK(member_at(c.answer(one), {"error", "data", "uri"}) ==
          (one == id ? R"("note://missing")" : R"("nowhere://x")"));
  }
  CHECK(srv.got("resources/read").size() == 1);
}

void errors(bridge& b) {
  const auto [_, srv, c] = begin(b, {.server = [](bridge_server& s) { s.add_tool("fail"); }});
  const auto fail_with = [&, &c = c](int code, const std::string& data = "") {
    const auto id =
        c.call("fail", R"({"code":)" + std::to_string(code) + (data.empty() ? "" : R"(,"data":)" + data) + "}");
    b.pass();
    return id;
  };
  b.remark("Errors of JSON-RPC and of the server's own pass with code, message and data.");
  for (const int own : {-32602, -32603, -32010, -31000, 7}) {
    const auto id = fail_with(own, R"({"hint" : [1,2.50]})");
    CHECK(c.error_code(id) == std::to_string(own));
    CHECK(member_at(c.answer(id), {"error", "message"}) == R"("it failed")");
    CHECK(member_at(c.answer(id), {"error", "data"}) == R"({"hint" : [1,2.50]})");
  }
  b.remark("Errors between two neighbours are none of the next one's.");
  const std::string required = R"({"requiredCapabilities":{"sampling":{}}})";
  for (const int hop : {-32020, -32022}) {
    const auto id = fail_with(hop, R"({"supported":["2030-01-01"],"requested":"2026-07-28"})");
    const bool changes = b.era.new_caller || b.era.new_server;
    CHECK(c.error_code(id) == (changes ? "-32603" : std::to_string(hop)));
  }
  const auto lacks = fail_with(-32021, required);
  if (b.era.new_caller && b.era.new_server) {
    CHECK(c.error_code(lacks) == "-32021");
    CHECK(member_at(c.answer(lacks), {"error", "data"}) == required);
    b.remark("Nor is a capability missing that the caller has declared.");
    c.capabilities = R"({"sampling":{}})";
    CHECK(c.error_code(fail_with(-32021, required)) == "-32603");
  } else if (b.era.new_server) {
    CHECK(c.error_code(lacks) == "-32602");
    CHECK(contains(c.answer(lacks), "sampling"));
  } else {
    CHECK(c.error_code(lacks) == (b.era.new_caller ? "-32603" : "-32021"));
  }
}

}  // namespace

TEST_CASE("M4: progress finds its caller when two use one token") {
  play_row("progress", "Progress: each hop has tokens of its own.", progress);
}
TEST_CASE("M4: a cancelled call and one whose caller left are cancelled at the server once") {
  play_row("cancellation", "Cancellation: by a notification, or by leaving.", cancellation);
}
TEST_CASE("M4: a ping is answered by the neighbour and never passed on") {
  play_row("ping", "Ping: between neighbours only.", ping);
}
TEST_CASE("M4: a resource that is not there has the error of the caller's revision") {
  play_row("not_found", "Resources that are not there.", not_found);
}
TEST_CASE("M4: errors pass whole and those between neighbours are made into others") {
  play_row("errors", "Errors: those of the server pass, those of a hop do not.", errors);
}
