// tools/list and tools/call through a caller's session: routing, bytes, progress, cancellation, failures.
#include "test/mcp/server/fake_host.hpp"

#include <string>

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::mcp::server;
using namespace mcpbx::test;

namespace {

struct one_server {
  explicit one_server(mcp::clients::era era = mcp::clients::era::legacy)
      : server(std::make_shared<fake_client>("files", era)) {
    give(caller);
    caller.initialize();
  }
  void give(fake_caller& c) const {
    c.host.catalog = std::make_shared<mcp::catalogs::catalog>(
        std::vector<mcp::catalogs::entry_ptr>{make_tool(server, "files__read", "read"),
                                              make_tool(server, "plain", "plain")},
        1);
  }
  std::string call(const std::string& params, int id = 1) {
    return caller.ask(R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":"tools/call","params":)" +
                      params + "}");
  }
  std::shared_ptr<fake_client> server;
  fake_caller caller;
};

const std::vector<std::string>& corpus() {
  static const std::vector<std::string> values = [] {
    std::vector<std::string> v{
        R"({"n":9007199254740993,"m":18446744073709551616,"k":-0,"f":1.0,"e":1e400,"x":1E+2,"t":0.1000000000000000055511151231257827})",
        R"({"a":1,"a":2,"":"","\u0061":3})",
        R"({"s":"\ud800 \udc00\ud83d\ude00 \u0000 \/ \" \\ ü 😀"})",
        R"({ "blank" : [ 1 , 2 ] , "nested" : { "arguments" : { "name" : "x", "_meta" : null } } })",
        R"({"jsonrpc":"1.0","id":5,"method":"m","params":[],"result":1,"error":null})",
        R"({})",
    };
    std::string deep;
    for (int i = 0; i < 120; ++i) deep += "[";
    deep += "{}";
    for (int i = 0; i < 120; ++i) deep += "]";
    v.push_back(R"({"deep":)" + deep + "}");
    v.push_back(R"({"long":")" + std::string(70'000, 'y') + R"("})");
    return v;
  }();
  return values;
}

}  // namespace

TEST_CASE("arguments reach the server byte for byte and only the name changes") {
  for (const auto& arguments : corpus()) {
    CAPTURE(arguments.substr(0, 200));
    one_server s;
    CHECK(s.call(R"({"name":"files__read","arguments":)" + arguments + R"(,"vendor":[1.0]})").empty());
    REQUIRE(s.server->calls.size() == 1);
    CHECK(s.server->calls[0].params.text() == R"({"name":"read","arguments":)" + arguments + R"(,"vendor":[1.0]})");
    // Members in another order; a name that needs no change is not touched at all.
    CHECK(s.call(R"({"arguments":)" + arguments + R"(, "name" : "\u0070lain"})", 2).empty());
    CHECK(s.server->calls[1].params.text() == R"({"arguments":)" + arguments + R"(, "name" : "\u0070lain"})");
  }
}

TEST_CASE("L8: a tool's own time limits go with a caller's calls of it") {
  one_server s;
  auto brief = std::make_shared<mcp::catalogs::catalog_entry>(*make_tool(s.server, "files__brief", "brief"));
  brief->manner.limits = mcp::rpc::call_limits{milliseconds(5), milliseconds(7)};
  s.caller.host.catalog = std::make_shared<mcp::catalogs::catalog>(
      std::vector<mcp::catalogs::entry_ptr>{brief, make_tool(s.server, "files__read", "read")}, 2);
  s.call(R"({"name":"files__brief"})");
  s.call(R"({"name":"files__read"})", 2);
  REQUIRE(s.server->calls.size() == 2);
  REQUIRE(s.server->calls[0].limits.has_value());
  CHECK(s.server->calls[0].limits->idle.count() == 5);
  CHECK(s.server->calls[0].limits->hard.count() == 7);
  CHECK_FALSE(s.server->calls[1].limits.has_value());
}

TEST_CASE("results and errors reach the caller byte for byte") {
  for (const auto& value : corpus()) {
    CAPTURE(value.substr(0, 200));
    one_server s;
    s.call(R"({"name":"files__read"})");
    s.server->answer(0, value);
    REQUIRE(s.caller.host.sent.size() == 1);
    CHECK(s.caller.host.sent[0] == R"({"jsonrpc":"2.0","id":1,"result":)" + value + "}");
    s.call(R"({"name":"files__read"})");
    s.caller.host.sent.clear();
    const std::string error = R"({"code":-32042,"message":"m","data":)" + value + "}";
    s.server->answer_error(1, error);
    CHECK(s.caller.host.sent.at(0) == R"({"jsonrpc":"2.0","id":1,"error":)" + error + "}");
  }
}

TEST_CASE("a result of 16 MiB passes whole") {
  one_server s;
  s.call(R"({"name":"files__read"})");
  const std::string value = R"({"content":[{"type":"text","text":")" + std::string(16u << 20, 'z') + R"("}]})";
  s.server->answer(0, value);
  REQUIRE(s.caller.host.sent.size() == 1);
  CHECK(s.caller.host.sent[0].size() == value.size() + 34);
  CHECK(s.caller.host.sent[0].find(value) != std::string::npos);
}

TEST_CASE("params that are wrong are answered by path before any server hears of them") {
  struct row {
    const char* params;
    const char* says;
  };
  const row rows[] = {
      {R"({})", "params.name"},
      {R"({"name":7})", "params.name: expected a string, got 7"},
      {R"({"name":"files__read","name":"plain"})", "name"},
      {R"({"name":"files__read","\u006eame":"plain"})", "name"},
      {R"({"name":"files__read","arguments":{},"arguments":{}})", "arguments"},
      {R"({"name":"files__read","arguments":[1]})", "params.arguments: expected an object, got an array"},
      {R"({"name":"files__read","_meta":[]})", "params._meta: expected an object"},
      {R"({"name":"files__read","_meta":{"progressToken":1.5}})", "params._meta.progressToken"},
      {R"({"name":"files__read","_meta":{"progressToken":null}})", "params._meta.progressToken"},
      {R"({"name":"files__read","_meta":{"progressToken":1,"progressToken":2}})", "progressToken"},
  };
  one_server s;
  for (const auto& r : rows) {
    CAPTURE(r.params);
    const std::string got = s.call(r.params);
    CHECK(code_of(got) == -32602);
    CHECK(text_of(got).find(r.says) != std::string::npos);
  }
  CHECK(code_of(s.caller.ask(R"({"jsonrpc":"2.0","id":1,"method":"tools/call"})")) == -32602);
  CHECK(s.server->calls.empty());
}

TEST_CASE("an unknown tool is answered with the names that resemble it") {
  one_server s;
  CHECK(s.call(R"({"name":"files__raed"})").empty());  // its server may be starting
  s.caller.host.settle();
  REQUIRE(s.caller.host.sent.size() == 1);
  CHECK(code_of(s.caller.host.sent[0]) == -32602);
  CHECK(text_of(s.caller.host.sent[0]).find("unknown tool \"files__raed\"") == 0);
  CHECK(text_of(s.caller.host.sent[0]).find("\"files__read\"") != std::string::npos);
  CHECK(s.caller.host.sent[0].find(R"("data":{"similar":["files__read")") != std::string::npos);
}

TEST_CASE("a tool whose server becomes ready while the caller waits is called") {
  fake_caller caller;
  caller.initialize();
  caller.say(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"files__read"}})");
  auto server = std::make_shared<fake_client>("files");
  caller.host.catalog = std::make_shared<mcp::catalogs::catalog>(
      std::vector<mcp::catalogs::entry_ptr>{make_tool(server, "files__read", "read")}, 2);
  caller.host.settle();
  CHECK(server->calls.size() == 1);
  CHECK(caller.host.sent.empty());
}

TEST_CASE("tools/list waits for servers that are starting and knows no cursor") {
  one_server s;
  CHECK(s.caller.ask(R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}})").empty());
  s.caller.host.settle();
  REQUIRE(s.caller.host.sent.size() == 1);
  CHECK(s.caller.host.sent[0].find("files__read") != std::string::npos);
  CHECK(code_of(s.caller.ask(R"({"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"cursor":"x"}})")) == -32602);
}

TEST_CASE("progress tokens of two callers may be equal and each gets its own back") {
  one_server s;
  fake_caller other;
  s.give(other);
  other.initialize();
  const std::string line =
      R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"files__read","_meta":{"progressToken":)";
  s.caller.say(line + R"("t"}}})");
  other.say(line + R"(7}}})");
  REQUIRE(s.server->calls.size() == 2);
  s.server->calls[0].progress(raw_json::literal(R"({"progressToken":101,"progress":0.50,"extra":1e400})"));
  s.server->calls[1].progress(raw_json::literal(R"({"message":"m","progressToken":102})"));
  CHECK(
      s.caller.host.sent ==
      std::vector<std::string>{
          R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":0.50,"extra":1e400}})"});
  CHECK(other.host.sent ==
        std::vector<std::string>{
            R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"message":"m","progressToken":7}})"});
  // Without a token, no progress is passed on.
  s.call(R"({"name":"files__read","_meta":{}})", 2);
  CHECK(!s.server->calls[2].progress);
}

TEST_CASE("G16: a cancelled call is cancelled at its server and gets no response") {
  one_server s;
  s.call(R"({"name":"files__read","_meta":{"progressToken":1}})");
  CHECK(s.caller.ask(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})").empty());
  CHECK(s.server->cancelled == std::vector<mcp::clients::client::ticket>{1});
  s.server->calls[0].progress(raw_json::literal(R"({"progressToken":1,"progress":1})"));
  s.server->answer(0, "{}");
  CHECK(s.caller.host.sent.empty());
  // The id is free again, and an answer to the first call does not answer the second.
  CHECK(s.call(R"({"name":"files__read"})").empty());
  s.server->answer(0, R"({"old":1})");
  CHECK(s.caller.host.sent.empty());
  s.server->answer(1, R"({"new":1})");
  CHECK(s.caller.host.sent == std::vector<std::string>{R"({"jsonrpc":"2.0","id":1,"result":{"new":1}})"});
}

TEST_CASE("G16: a caller that leaves cancels its calls and hears nothing any more") {
  one_server s;
  s.call(R"({"name":"files__read"})", 1);
  s.call(R"({"name":"plain"})", 2);
  s.caller.session.close();
  CHECK(s.server->cancelled.size() == 2);
  s.server->answer(0, "{}");
  CHECK(s.caller.host.sent.empty());
}

TEST_CASE("failures name the server and say whether trying again makes sense") {
  one_server s;
  s.call(R"({"name":"files__read"})");
  s.server->calls[0].done(
      mcp::rpc::call_outcome::failed(errc::timed_out, "tools/call files__read: files did not answer within 60 s"));
  REQUIRE(s.caller.host.sent.size() == 1);
  CHECK(
      s.caller.host.sent[0] ==
      R"({"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"tools/call files__read: files did not answer within 60 s","data":{"server":"files","cause":"timed_out"}}})");
  s.call(R"({"name":"files__read"})");
  s.caller.host.sent.clear();
  s.server->calls[1].done(mcp::rpc::call_outcome::failed(errc::unavailable, "files is restarting"));
  CHECK(s.caller.host.sent.at(0).find(R"("data":{"server":"files","cause":"unavailable","retryable":true})") !=
        std::string::npos);
  s.call(R"({"name":"files__read"})");
  s.caller.host.sent.clear();
  s.server->calls[2].done(mcp::rpc::call_outcome::failed(errc::limit, "the queue of files is full"));
  CHECK(code_of(s.caller.host.sent.at(0)) == -32001);
}

TEST_CASE("a modern server's result loses what a legacy caller does not know") {
  one_server s(mcp::clients::era::modern);
  s.call(R"({"name":"files__read"})");
  s.server->answer(0, R"({"resultType":"complete","content":[{"n":1.0}]})");
  CHECK(s.caller.host.sent.at(0) == R"({"jsonrpc":"2.0","id":1,"result":{"content":[{"n":1.0}]}})");
}

TEST_CASE("a server that is gone from the configuration is named") {
  one_server s;
  s.server.reset();
  const std::string got = s.call(R"({"name":"files__read"})");
  CHECK(code_of(got) == -32000);
  CHECK(text_of(got).find("files") != std::string::npos);
}

TEST_CASE("G13: calls of many callers get their own answers in whatever order they come") {
  auto server = std::make_shared<fake_client>("files");
  std::vector<std::unique_ptr<fake_caller>> callers;
  for (int c = 0; c < 50; ++c) {
    callers.push_back(std::make_unique<fake_caller>());
    callers.back()->host.catalog = std::make_shared<mcp::catalogs::catalog>(
        std::vector<mcp::catalogs::entry_ptr>{make_tool(server, "files__read", "read")}, 1);
    callers.back()->initialize();
  }
  std::vector<std::pair<int, int>> order;
  for (int id = 0; id < 200; ++id)
    for (int c = 0; c < 50; ++c) {
      callers[static_cast<std::size_t>(c)]->say(R"({"jsonrpc":"2.0","id":)" + std::to_string(id) +
                                                R"(,"method":"tools/call","params":{"name":"files__read"}})");
      order.emplace_back(c, id);
    }
  REQUIRE(server->calls.size() == 10'000);
  // A stride that is coprime to the count visits every call once, far out of order.
  for (std::size_t i = 0, at = 0; i < order.size(); ++i, at = (at + 7'919) % order.size())
    server->answer(
        at, R"({"canary":")" + std::to_string(order[at].first) + "-" + std::to_string(order[at].second) + R"("})");
  int crossed = 0;
  for (int c = 0; c < 50; ++c) {
    auto& sent = callers[static_cast<std::size_t>(c)]->host.sent;
    REQUIRE(sent.size() == 200);
    for (const auto& line : sent)
      if (line.find(R"("canary":")" + std::to_string(c) + "-" + id_of(line) + "\"") == std::string::npos) ++crossed;
  }
  CHECK(crossed == 0);
}

TEST_CASE("G20: calls are refused while mcpbx stops and those that go on are answered") {
  one_server s;
  CHECK(s.call(R"({"name":"files__read"})", 1).empty());
  s.caller.host.stopping = true;
  const std::string refused = s.call(R"({"name":"files__read"})", 2);
  CHECK(refused.find(R"("message":"mcpbx is stopping")") != std::string::npos);
  CHECK(refused.find(R"("retryable":true)") != std::string::npos);
  REQUIRE(s.server->calls.size() == 1);
  s.server->answer(0, R"({"content":[]})");
  CHECK(id_of(s.caller.host.sent.back()) == "1");
}

TEST_CASE("G37: a call of a withheld tool is refused at once, with the reason and the mend") {
  one_server s;
  mcp::catalogs::withheld_tools withheld;
  withheld.emplace("files__write", mcp::catalogs::withheld_tool{
                                       "files", "write", std::make_shared<const std::string>("it changed; accept it")});
  s.caller.host.catalog = std::make_shared<mcp::catalogs::catalog>(
      std::vector<mcp::catalogs::entry_ptr>{make_tool(s.server, "files__read", "read")}, 2, std::move(withheld));
  const auto refused = s.call(R"({"name":"files__write"})");
  CHECK(text_of(refused) == "the tool \"files__write\" of tool server \"files\" is not offered: it changed; accept it");
  CHECK(refused.find(R"("server":"files")") != std::string::npos);
  CHECK(s.caller.host.waiting.empty());
  CHECK(s.server->calls.empty());
}

namespace {

/// Returns name, server, decision and end of each record, and the size of the result.
std::string told(const fake_recorder& calls) {
  std::string out;
  for (const auto& r : calls.records)
    out += "[" + r.name + " " + r.server + " " + std::string(mcp::server::to_string(r.decision)) + " " +
           std::string(mcp::server::to_string(r.end)) + " " + std::to_string(r.result_bytes) + "]";
  return out;
}

}  // namespace

TEST_CASE("G48: every call is recorded before it is answered: results, errors, failures, refusals and unknown tools") {
  one_server s;
  auto calls = s.caller.host.calls = std::make_shared<fake_recorder>();
  const auto ask = [&](const std::string& params, const std::function<void(std::size_t)>& answer = {}) {
    calls->records.clear();
    s.caller.host.sent.clear();
    const std::size_t before = s.server->calls.size();
    CHECK(s.call(params) == "");
    if (answer) answer(before);
    CHECK(s.caller.host.sent.empty());
    calls->write();
    CHECK(s.caller.host.sent.size() == 1);
    return told(*calls);
  };
  CHECK(ask(R"({"name":"files__read","arguments":{"a":1}})", [&](std::size_t i) {
          s.server->answer(i, R"({"content":[]})");
        }) == "[files__read files called result 14]");
  CHECK(calls->records[0].arguments.text() == R"({"a":1})");
  CHECK(s.caller.host.sent[0] == R"({"jsonrpc":"2.0","id":1,"result":{"content":[]}})");
  CHECK(ask(R"({"name":"files__read"})", [&](std::size_t i) { s.server->answer(i, R"({"isError":true})"); }) ==
        "[files__read files called tool_error 16]");
  CHECK(ask(R"({"name":"files__read"})", [&](std::size_t i) {
          s.server->answer_error(i, R"({"code":-1,"message":"m"})");
        }) == "[files__read files called error 0]");
  CHECK(ask(R"({"name":"files__read"})", [&](std::size_t i) {
          s.server->calls[i].done(mcp::rpc::call_outcome::failed(errc::timed_out, "too late"));
        }) == "[files__read files called failed 0]");
  CHECK(ask(R"({"name":"nope"})", [&](std::size_t) { s.caller.host.settle(); }) == "[nope  unknown error 0]");
  CHECK(ask(R"({"name":5})") == "[  refused error 0]");
  CHECK(ask(R"({"name":"plain","arguments":[]})") == "[plain  refused error 0]");
  CHECK(ask("{}") == "[  refused error 0]");
  s.caller.host.stopping = true;
  CHECK(ask(R"({"name":"plain"})") == "[plain  refused error 0]");
  CHECK(code_of(s.caller.host.sent[0]) != 0);
}

TEST_CASE("G48: a call whose caller has gone or cancelled is recorded when it is over") {
  one_server s;
  auto calls = s.caller.host.calls = std::make_shared<fake_recorder>();
  s.call(R"({"name":"files__read"})", 1);
  s.call(R"({"name":"plain"})", 2);
  s.caller.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
  CHECK(s.server->cancelled.size() == 1);
  s.server->calls[0].done(mcp::rpc::call_outcome::failed(errc::cancelled, "was cancelled"));
  s.caller.session.close();
  s.server->answer(1, R"({"content":[]})");
  CHECK(told(*calls) == "[files__read files called cancelled 0][plain files called cancelled 0]");
  s.caller.host.sent.clear();
  calls->write();
  CHECK(s.caller.host.sent.empty());
}

TEST_CASE("G48: an answer that waits for its record is not sent to a caller that has gone") {
  one_server s;
  auto calls = s.caller.host.calls = std::make_shared<fake_recorder>();
  s.call(R"({"name":"files__read"})");
  s.server->answer(0, R"({"content":[]})");
  s.caller.session.close();
  calls->write();
  CHECK(s.caller.host.sent.empty());
  CHECK(calls->records.size() == 1);
}

TEST_CASE("G18: a tool server is told whose each call is, so that it can share out its queue") {
  one_server s;
  fake_caller other;
  s.give(other);
  other.initialize();
  const std::string line = R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"plain"}})";
  CHECK(s.caller.ask(line).empty());
  CHECK(other.ask(line).empty());
  CHECK(s.call(R"({"name":"plain"})", 2).empty());
  REQUIRE(s.server->calls.size() == 3);
  CHECK(s.server->calls[0].asker != nullptr);
  CHECK(s.server->calls[0].asker == s.server->calls[2].asker);
  CHECK(s.server->calls[0].asker != s.server->calls[1].asker);
}
