// prompts/get, resources/read and completion/complete: one way with tools/call, each with a routing of its own.
#include "test/mcp/server/fake_host.hpp"

#include <string>

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::test;

namespace {

struct served {
  explicit served(mcp::clients::era era = mcp::clients::era::legacy) : server(std::make_shared<fake_client>("s", era)) {
    caller.host.catalog = make_catalog({.tools = {make_tool(server, "s__t", "t")},
                                        .prompts = {make_feature(server, "s__p", "p")},
                                        .resources = {make_feature(server, "mcpbx://s/file:///r", "file:///r")},
                                        .templates = {make_feature(server, "db://{table}", "db://{table}")}});
    caller.initialize();
  }
  std::string ask(const std::string& method, const std::string& params, const std::string& id = "1") {
    return caller.ask(request(id, method, params));
  }
  std::shared_ptr<fake_client> server;
  fake_caller caller;
};

}  // namespace

TEST_CASE("each method of calls reaches its server with only the name changed") {
  served s;
  s.ask("prompts/get", R"({ "x":[1.0], "name" : "s__p","arguments":{"a":"\u0041"},"_meta":{"vendor":2} })", "1");
  s.ask("resources/read", R"({"uri":"mcpbx://s/file:///r" ,"y":null})", "2");
  s.ask("completion/complete", R"({"ref":{"name":"s__p","type":"ref/prompt"},"argument":{"name":"a","value":"v"}})",
        "3");
  s.ask("completion/complete", R"({"ref":{"type":"ref/resource","uri":"db://{table}"},"argument":{"name":"s__p"}})",
        "4");
  REQUIRE(s.server->calls.size() == 4);
  CHECK(s.server->calls[0].method == "prompts/get");
  CHECK(s.server->calls[0].what() == "prompts/get s__p");
  CHECK(s.server->calls[0].params.text() ==
        R"({ "x":[1.0], "name" : "p","arguments":{"a":"\u0041"},"_meta":{"vendor":2} })");
  CHECK(s.server->calls[1].method == "resources/read");
  CHECK(s.server->calls[1].params.text() == R"({"uri":"file:///r" ,"y":null})");
  CHECK(s.server->calls[2].params.text() ==
        R"({"ref":{"name":"p","type":"ref/prompt"},"argument":{"name":"a","value":"v"}})");
  CHECK(s.server->calls[3].params.text() ==
        R"({"ref":{"type":"ref/resource","uri":"db://{table}"},"argument":{"name":"s__p"}})");
  s.caller.host.take();
  s.server->answer(2, R"({"completion":{"values":[]}})");
  CHECK(s.caller.host.sent.at(0) == R"({"jsonrpc":"2.0","id":3,"result":{"completion":{"values":[]}}})");
}

TEST_CASE("wrong params of each method are named and reach no server") {
  served s;
  struct row {
    std::string_view method, params, said;
  };
  const row rows[] = {
      {"prompts/get", "{}", "params.name: expected a string, got nothing"},
      {"prompts/get", R"({"name":"s__p","arguments":[]})", "params.arguments: expected an object, got an array"},
      {"prompts/get", R"({"name":"s__p","name":"s__p"})", "params: duplicate member"},
      {"prompts/get", R"({"name":"s__p","_meta":{"progressToken":1.5}})", "params._meta.progressToken: expected"},
      {"prompts/get", R"({"name":"s__p","_meta":{"progressToken":1,"progressToken":2}})", "params._meta: duplicate"},
      {"resources/read", R"({"uri":5})", "params.uri: expected a string, got 5"},
      {"resources/read", R"({"uri":"file:///r","requestState":5})", "params.requestState: expected a string, got 5"},
      {"resources/read", R"({"uri":"file:///r","inputResponses":[]})", "params.inputResponses: expected an object"},
      {"completion/complete", R"({"ref":"x"})", "params.ref: expected an object"},
      {"completion/complete", R"({"ref":{"type":"ref/tool","name":"t"}})", "params.ref.type: expected"},
      {"completion/complete", R"({"ref":{"type":"ref/prompt"}})", "params.ref.name: expected a string, got nothing"},
      {"completion/complete", R"({"ref":{"type":"ref/resource","name":"s__p"}})", "params.ref.uri: expected"},
      {"completion/complete", R"({"ref":{"type":"ref/prompt","type":"x","name":"s__p"}})", "params.ref: duplicate"},
  };
  for (const row& r : rows) {
    CAPTURE(r.params);
    const std::string got = s.ask(std::string(r.method), std::string(r.params));
    CHECK(code_of(got) == -32602);
    CHECK(text_of(got).starts_with(r.said));
  }
  CHECK(code_of(s.caller.ask(R"({"jsonrpc":"2.0","id":1,"method":"prompts/get"})")) == -32602);
  CHECK(s.server->calls.empty());
}

TEST_CASE("an unknown prompt waits once for servers that are starting and is then named") {
  served s;
  CHECK(s.ask("prompts/get", R"({"name":"s__q"})").empty());
  s.caller.host.settle();
  CHECK(text_of(s.caller.host.sent.at(0)) == R"(unknown prompt "s__q"; prompts/list tells which there are)");
  CHECK(s.ask("prompts/get", R"({"name":"s__q"})", "2").empty());
  s.caller.host.catalog = make_catalog({.prompts = {make_feature(s.server, "s__q", "q")}});
  s.caller.host.settle();
  CHECK(s.server->calls.at(0).params.text() == R"({"name":"q"})");
}

TEST_CASE("progress and cancellation and failures of each method are those of a tool call") {
  for (const std::string method : {"prompts/get", "resources/read", "completion/complete"}) {
    CAPTURE(method);
    served s;
    const std::string params =
        R"({"name":"s__p","uri":"mcpbx://s/file:///r","ref":{"type":"ref/prompt","name":"s__p"},"_meta":{"progressToken":"mine"}})";
    s.ask(method, params);
    REQUIRE(s.server->calls.size() == 1);
    s.server->calls[0].progress(raw_json::literal(R"({"progressToken":77,"progress":1})"));
    CHECK(s.caller.host.take() ==
          std::vector<std::string>{
              R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"mine","progress":1}})"});
    s.caller.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
    CHECK(s.server->cancelled == std::vector<mcp::clients::client::ticket>{1});
    s.server->calls[0].done(mcp::rpc::call_outcome::failed(errc::cancelled, "gone"));
    CHECK(s.caller.host.sent.empty());
    s.ask(method, params, "2");
    s.server->calls[1].done(mcp::rpc::call_outcome::failed(errc::timed_out, "took too long"));
    CHECK(code_of(s.caller.host.sent.at(0)) == -32000);
    s.caller.host.stopping = true;
    CHECK(text_of(s.ask(method, params, "3")) == "mcpbx is stopping");
  }
}

TEST_CASE("G48: prompts and resources that a caller reads are recorded before it has them, as calls of tools are") {
  served s;
  auto& calls = s.caller.host.calls = std::make_shared<fake_recorder>();
  s.ask("prompts/get", R"({"name":"s__p","arguments":{"a":"b"}})");
  s.server->answer(0, R"({"messages":[]})");
  CHECK(s.caller.host.sent.empty());
  calls->write();
  CHECK(s.caller.host.sent.size() == 1);
  REQUIRE(calls->records.size() == 1);
  CHECK(calls->records[0].method == "prompts/get");
  CHECK(calls->records[0].name == "s__p");
  CHECK(calls->records[0].server == "s");
  CHECK(calls->records[0].arguments.text() == R"({"a":"b"})");
  CHECK(calls->records[0].result_bytes == 15);
  s.ask("resources/read", R"({"uri":"nobody:has"})", "2");
  s.caller.host.settle();
  REQUIRE(calls->records.size() == 2);
  CHECK(calls->records[1].method == "resources/read");
  CHECK(calls->records[1].name == "nobody:has");
  CHECK(calls->records[1].arguments.text() == R"("nobody:has")");
  CHECK(calls->records[1].decision == mcp::server::call_decision::unknown);
  s.ask("completion/complete", R"({"ref":{"type":"ref/prompt","name":"s__p"},"argument":{"name":"a","value":""}})",
        "3");
  CHECK(calls->records.size() == 2);
}

TEST_CASE("G41: a prompt or resource that a caller may not read goes to no server and is recorded as refused") {
  served s;
  auto& calls = s.caller.host.calls = std::make_shared<fake_recorder>();
  s.caller.host.read_refusal = "needs a yes of the user";
  s.ask("prompts/get", R"({"name":"s__p"})");
  calls->write();
  CHECK(text_of(s.caller.host.sent.at(0)) == "prompt s p needs a yes of the user");
  CHECK(calls->records.at(0).decision == mcp::server::call_decision::refused);
  s.caller.host.calls = nullptr;
  CHECK(s.ask("completion/complete",
              R"({"ref":{"type":"ref/prompt","name":"s__p"},"argument":{"name":"a","value":""}})", "3")
            .find("needs a yes") != std::string::npos);
  CHECK(s.server->calls.empty());
}

TEST_CASE("a URI in a result leads to the server that said it") {
  served s;
  struct row {
    std::string_view method, result;
  };
  const row rows[] = {
      {"tools/call", R"({"content":[{"type":"resource_link","uri":"seen:1"},{"type":"text","text":"\"uri\""}]})"},
      {"tools/call", R"({"content":[{"type":"resource","resource":{"uri":"seen:1","text":"x"}}]})"},
      {"prompts/get", R"({"messages":[{"role":"user","content":{"type":"resource","resource":{"uri":"seen:1"}}}]})"},
      {"resources/read", R"({"contents":[{"uri":"seen:1","text":""}]})"}};
  for (const row& r : rows) {
    CAPTURE(r.result);
    served t;
    t.ask(std::string(r.method), R"({"name":"s__p","uri":"mcpbx://s/file:///r"})");
    if (r.method == "tools/call") t.caller.host.settle();
    t.ask(std::string(r.method), R"({"name":"s__t","uri":"mcpbx://s/file:///r"})", "2");
    t.caller.host.settle();
    t.server->answer(t.server->calls.size() - 1, r.result);
    t.ask("resources/read", R"({"uri":"seen:1"})", "3");
    REQUIRE(t.server->calls.back().method == "resources/read");
    CHECK(t.server->calls.back().params.text() == R"({"uri":"seen:1"})");
  }
  CHECK(s.ask("resources/read", R"({"uri":"seen:1"})").empty());
  s.caller.host.settle();
  CHECK(code_of(s.caller.host.sent.at(0)) == -32002);
}

TEST_CASE("a batch holds every method and answers of all in one array") {
  served s;
  fake_caller old;
  old.host.catalog = s.caller.host.catalog;
  old.initialize("2025-03-26");
  old.say("[" + request("1", "prompts/get", R"({"name":"s__p"})") + "," +
          request("2", "resources/read", R"({"uri":"mcpbx://s/file:///r"})") + "," +
          request("3", "logging/setLevel", R"({"level":"error"})") + "," +
          request("4", "completion/complete", R"({"ref":{"type":"ref/prompt","name":"s__p"}})") + "," +
          request("5", "resources/subscribe", R"({"uri":"mcpbx://s/file:///r"})") + "]");
  CHECK(old.host.sent.empty());
  s.server->answer(2, R"({"c":1})");
  s.server->answer(1, R"({"b":1})");
  s.server->answer(0, R"({"a":1})");
  CHECK(
      old.host.sent ==
      std::vector<std::string>{
          R"([{"jsonrpc":"2.0","id":3,"result":{}},{"jsonrpc":"2.0","id":5,"result":{}},{"jsonrpc":"2.0","id":4,"result":{"c":1}},{"jsonrpc":"2.0","id":2,"result":{"b":1}},{"jsonrpc":"2.0","id":1,"result":{"a":1}}])"});
}

TEST_CASE("a task is found again at its server by requests of the same era and principal") {
  served s;
  s.ask("tools/call", R"({"name":"s__t","task":{"ttl":1}})");
  CHECK(s.server->calls.at(0).params.text() == R"({"name":"t","task":{"ttl":1}})");
  CHECK(s.server->calls.at(0).notified);
  s.server->answer(0, R"({"task":{"taskId":"a","status":"working"}})");
  for (const std::string method : {"tasks/get", "tasks/result", "tasks/cancel"}) {
    s.ask(method, R"({"taskId":"a"})", "\"" + method + "\"");
    CHECK(s.server->calls.back().method == method);
    CHECK(s.server->calls.back().params.text() == R"({"taskId":"a"})");
  }
  const auto before = s.server->calls.size();
  CHECK(text_of(s.ask("tasks/get", R"({"taskId":"b"})")) == R"(unknown task "b")");
  const std::string declared = R"({"extensions":{"io.modelcontextprotocol/tasks":{}}})";
  CHECK(code_of(s.ask("tasks/get", modern_params(R"("taskId":"a",)", declared))) == -32602);
  CHECK(code_of(s.ask("tasks/get", modern_params(R"("taskId":"a",)"))) == -32021);
  CHECK(code_of(s.ask("tasks/update", R"({"taskId":"a"})")) == -32602);
  CHECK(code_of(s.ask("tasks/result", modern_params(R"("taskId":"a",)"))) == -32601);
  s.caller.host.who = "uid:2";
  CHECK(code_of(s.ask("tasks/get", R"({"taskId":"a"})")) == -32602);
  CHECK(s.server->calls.size() == before);

  served n(mcp::clients::era::modern);
  n.ask("tools/call", modern_params(R"("name":"s__t",)", R"({"extensions":{"io.modelcontextprotocol/tasks":{}}})"));
  n.server->answer(0, R"({"resultType":"task","taskId":"a","status":"working"})");
  CHECK(at(n.caller.host.sent.at(0), {"result", "resultType"}) == R"("task")");
  n.ask("tasks/update", modern_params(R"("taskId":"a","inputResponses":{"k":{}},)", declared), "2");
  CHECK(n.server->calls.at(1).params.text().starts_with(R"({"taskId":"a","inputResponses":{"k":{}},)"));
  CHECK(code_of(n.ask("tasks/get", R"({"taskId":"a"})", "3")) == -32602);
}

TEST_CASE("tasks/list tells a caller its own tasks in pages as their servers tell them now") {
  served s;
  const auto make = [&](const std::string& id, const std::string& who) {
    s.caller.host.who = who;
    s.ask("tools/call", R"({"name":"s__t","task":{}})", "\"" + id + "\"");
    s.server->answer(s.server->calls.size() - 1, R"({"task":{"taskId":")" + id + R"(","status":"working"}})");
  };
  make("foreign", "uid:2");
  for (int i = 0; i < 34; ++i) make("t" + std::to_string(i), "uid:1");
  const auto list = [&](const std::string& params, std::size_t expected) {
    const auto before = s.server->calls.size();
    CHECK(s.ask("tasks/list", params, "1") == "");
    REQUIRE(s.server->calls.size() == before + expected);
    for (std::size_t i = before; i < before + expected; ++i) {
      CHECK(s.server->calls[i].method == "tasks/get");
      const std::string id = member_text(s.server->calls[i].params, "taskId");
      if (id == "t1")
        s.server->answer_error(i, R"({"code":-32602,"message":"no such task"})");
      else
        s.server->answer(i, R"({"taskId":")" + id + R"(","status":"completed","_meta":{"x":1}})");
    }
    return s.caller.host.take().at(0);
  };
  const std::string first = list("{}", 32);
  CHECK(first.starts_with(
      R"({"jsonrpc":"2.0","id":1,"result":{"tasks":[{"taskId":"t0","status":"completed"},{"taskId":"t2",)"));
  CHECK(first.find("foreign") == std::string::npos);
  const std::string cursor(at(first, {"result", "nextCursor"}));
  REQUIRE_FALSE(cursor.empty());
  CHECK(
      list(R"({"cursor":)" + cursor + "}", 2) ==
      R"({"jsonrpc":"2.0","id":1,"result":{"tasks":[{"taskId":"t32","status":"completed"},{"taskId":"t33","status":"completed"}]}})");
  CHECK(code_of(s.ask("tasks/list", R"({"cursor":"x"})")) == -32602);
  CHECK(code_of(s.ask("tasks/list", modern_params(""))) == -32601);
  s.caller.host.who = "uid:3";
  CHECK(s.ask("tasks/list", "{}") == R"({"jsonrpc":"2.0","id":1,"result":{"tasks":[]}})");
}

TEST_CASE("a tasks/list that a server has no room for is an error, and not a list without tasks") {
  served s;
  s.caller.host.who = "uid:1";
  s.ask("tools/call", R"({"name":"s__t","task":{}})", "1");
  s.server->answer(s.server->calls.size() - 1, R"({"task":{"taskId":"t","status":"working"}})");
  s.caller.host.take();
  CHECK(s.ask("tasks/list", "{}", "2") == "");
  s.server->calls.back().done(mcp::rpc::call_outcome::failed(errc::limit, "has 1024 requests waiting"));
  CHECK(code_of(s.caller.host.take().at(0)) == mcp::rpc::code::overloaded);
}

TEST_CASE("a tasks/list that is cancelled cancels what it asks and gets no answer") {
  served s;
  s.ask("tools/call", R"({"name":"s__t","task":{}})", "9");
  s.server->answer(0, R"({"task":{"taskId":"a","status":"working"}})");
  s.caller.host.take();
  s.ask("tasks/list", "{}");
  s.caller.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
  CHECK(s.server->cancelled.size() == 1);
  s.server->calls.at(1).done(mcp::rpc::call_outcome::failed(errc::cancelled, "gone"));
  CHECK(s.caller.host.sent.empty());
}

TEST_CASE("the table of tasks is bounded and the oldest goes first") {
  mcp::server::task_routes tasks;
  const auto id = [](std::size_t i) { return "t" + std::to_string(i); };
  for (std::size_t i = 0; i <= mcp::server::task_routes::most_tasks; ++i) tasks.add("p", id(i), {});
  CHECK(tasks.size() == mcp::server::task_routes::most_tasks);
  CHECK(tasks.find("p", id(0), false) == nullptr);
  CHECK(tasks.find("p", id(1), false) != nullptr);
  tasks.add("p", std::string(mcp::server::task_routes::longest_id + 1, 'x'), {});
  tasks.add("p", "", {});
  tasks.add("p", id(1), {{}, "again", false});
  CHECK(tasks.size() == mcp::server::task_routes::most_tasks);
  CHECK(tasks.find("p", id(1), false)->server == "again");
}

TEST_CASE("a caller with many tasks pushes out its own and not those of others") {
  mcp::server::task_routes tasks;
  tasks.add("quiet", "t", {{}, "s", false});
  for (std::size_t i = 0; i < 2 * mcp::server::task_routes::most_tasks; ++i) tasks.add("loud", std::to_string(i), {});
  CHECK(tasks.size() == mcp::server::task_routes::most_tasks);
  REQUIRE(tasks.find("quiet", "t", false) != nullptr);
  CHECK(tasks.find("quiet", "t", false)->server == "s");
  CHECK(tasks.find("loud", "0", false) == nullptr);
  CHECK(tasks.find("loud", std::to_string(2 * mcp::server::task_routes::most_tasks - 1), false) != nullptr);
}
