// Rows about questions of servers to callers, and about tasks.
#include "test/mcp/bridging/scene.hpp"

namespace {

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::test;
using way = bridge_step::way;

void questions(bridge& b) {
  const auto [_, srv, c] = begin(b, {.server =
                                         [](bridge_server& s) {
                                           for (const std::string t : {"ask_two", "ask_twice", "roots", "ask"})
                                             s.add_tool(t);
                                         },
                                     .capabilities = answers_all});
  auto& caller = c;
  const auto asked = [&](const std::string& tool, const std::string& heard) {
    const auto id = caller.call(tool);
    b.pass(300);
    INFO(tool);
    CHECK(contains(caller.result(id), heard));
    if (b.era.new_caller) CHECK(member_at(caller.result(id), {"resultType"}) == R"("complete")");
    return id;
  };
  b.remark("Two questions at once.");
  const auto two = asked("ask_two", "word");
  const std::string first = caller.requests().at(two).answers.at(0);
  if (b.era.new_caller) {
    CHECK(member_at(first, {"result", "resultType"}) == R"("input_required")");
    const auto requests = raw_object::open(raw_json::own(member_at(first, {"result", "inputRequests"})));
    CHECK(requests->size() == 2);  // both in one result
    const std::string state = member_at(first, {"result", "requestState"});
    CHECK((state == R"("state-1")") == b.era.new_server);  // the state of a new server passes untouched
    if (b.era.new_server)
      CHECK(member_at(srv.got("tools/call").at(1), {"params", "requestState"}) == state);
    else
      CHECK(srv.got("tools/call").size() == 1);  // the call stays open meanwhile
  } else {
    CHECK(caller.got("elicitation/create").size() == 1);
    CHECK(caller.got("sampling/createMessage").size() == 1);
    CHECK(member_at(caller.got("elicitation/create").at(0), {"params", "_meta", "mcpbx/server"}) == R"("srv")");
    if (b.era.new_server) CHECK(member_at(srv.got("tools/call").at(1), {"params", "requestState"}) == R"("state-1")");
  }
  b.remark("Two questions one after the other.");
  asked("ask_twice", "this");
  b.remark("Roots.");
  asked("roots", "file:///work");
  if (b.era.new_caller && !b.era.new_server) {
    b.remark("A requestState of mcpbx is good once, and for its own request only.");
    const std::string state = member_at(first, {"result", "requestState"});
    for (const std::string tool : {"ask_two", "ask"}) {
      const auto again = caller.ask("tools/call", R"("name":")" + tool + R"(","arguments":{},"requestState":)" + state);
      b.pass();
      CHECK(caller.error_code(again) == "-32602");
    }
  }
  if (b.era.new_server) return;
  srv.add_tool("hold");
  srv.change("tools");
  b.pass(1'200);
  b.remark("Of two connections of one person the one is asked that can answer, although the other one called later.");
  auto& plain = b.add_caller("plain", "uid:1");
  plain.open();
  b.pass();
  const auto open = caller.call("ask"), later = plain.call("hold");
  b.pass(300);
  CHECK(contains(caller.result(open), "this"));
  CHECK(plain.got("elicitation/create").empty());
  CHECK(plain.answer(later).empty());
  plain.cancel(later);
  b.pass();
  b.remark("With calls of two principals at one old server, its question could be anybody's, and nobody gets it.");
  auto& second = b.add_caller("second", "uid:2");
  second.open();
  const auto held = second.call("hold");
  b.pass();
  const auto before = caller.received().size();
  const auto refused = caller.call("ask");
  b.pass(300);
  CHECK(contains(caller.result(refused), "perCaller"));
  CHECK(caller.received().size() == before + 1);
  second.cancel(held);
  b.pass();
}

void url_questions(bridge& b) {
  const auto [_, srv, c] = begin(b, {.server =
                                         [](bridge_server& s) {
                                           s.add_tool("visit");
                                           s.add_tool("fail");
                                         },
                                     .capabilities = answers_all});
  b.remark("The server asks for a visit while it works.");
  const auto visit = c.call("visit");
  b.pass(300);
  CHECK(contains(c.result(visit), "accept"));
  if (b.era.new_caller) {
    const std::string first = c.requests().at(visit).answers.at(0);
    CHECK(contains(first, R"("url":"https://sign.example/in")"));
    CHECK_FALSE(contains(first, "elicitationId"));  // it has no new form
  } else {
    const auto asked = c.got("elicitation/create");
    REQUIRE(asked.size() == 1);
    CHECK(member_at(asked[0], {"params", "url"}) == R"("https://sign.example/in")");
    CHECK_FALSE(member_at(asked[0], {"params", "elicitationId"}).empty());
  }
  if (b.era.new_server) return;
  b.remark("The server refuses until the person has been there.");
  if (b.era.new_caller) c.answerer = {};
  const std::string data =
      R"({"elicitations":[{"mode":"url","message":"Sign in","url":"https://sign.example/again","elicitationId":"e2"}]})";
  const auto refused = c.call("fail", R"({"code":-32042,"data":)" + data + "}");
  b.pass(300);
  const std::string first = c.requests().at(refused).answers.at(0);
  if (b.era.new_caller) {
    CHECK(member_at(first, {"result", "resultType"}) == R"("input_required")");
    CHECK(contains(first, "https://sign.example/again"));
    CHECK(member_at(first, {"result", "requestState"}).empty());  // nothing is kept: the request is simply made again
  } else {
    CHECK(member_at(first, {"error", "code"}) == "-32042");
    CHECK(member_at(first, {"error", "data"}) == data);
  }
  b.remark("It tells that the visit is over.");
  const auto before = c.received().size();
  srv.life().notify("notifications/elicitation/complete", R"({"elicitationId":"e2"})");
  b.pass();
  CHECK(c.got("notifications/elicitation/complete").size() == (b.era.new_caller ? 0 : 1));
  CHECK(c.received().size() == before + (b.era.new_caller ? 0 : 1));
}

void roots_changed(bridge& b) {
  const auto [_, srv, c] =
      begin(b, {.server = [](bridge_server& s) { s.add_tool("roots"); }, .capabilities = answers_all});
  const auto told = [&, &s = srv] { return s.got("notifications/roots/list_changed").size(); };
  b.remark("Nobody is told who has not asked for roots.");
  c.notify("notifications/roots/list_changed");
  b.pass();
  CHECK(told() == 0);
  const auto asked = c.call("roots");
  b.pass(300);
  CHECK(contains(c.result(asked), "file:///work"));
  b.remark("They change.");
  c.answerer = [](std::string_view, const raw_json&) { return R"({"roots":[{"uri":"file:///other"}]})"; };
  c.notify("notifications/roots/list_changed");
  b.pass();
  CHECK(told() == (!b.era.new_caller && !b.era.new_server ? 1 : 0));
  b.remark("The next question gets the new ones.");
  const auto again = c.call("roots");
  b.pass(300);
  CHECK(contains(c.result(again), "file:///other"));
}

void own_roots(bridge& b) {
  const auto [_, srv, c] = begin(
      b,
      {.server = [](bridge_server& s) { s.add_tool("roots"); },
       .capabilities = answers_all,
       .options = [](mcp::supervise::server_options& o) { o.sharing = mcp::supervise::server_sharing::per_caller; }});
  b.remark("The caller's own process asks during a call.");
  const auto asked = c.call("roots");
  b.pass(300);
  CHECK(contains(c.result(asked), "file:///work"));
  if (b.era.new_server) return;  // it asks nothing by itself
  b.remark("Another caller has a process of its own as well.");
  auto& other = b.add_caller("other", "uid:1");
  other.answerer = [](std::string_view, const raw_json&) { return R"({"roots":[{"uri":"file:///theirs"}]})"; };
  other.capabilities = answers_all;
  other.open();
  other.call("echo");
  b.pass(300);
  REQUIRE(srv.lives.size() == 3);
  b.remark("The first caller's roots change, and its process asks for them outside of any call.");
  c.answerer = [](std::string_view, const raw_json&) { return R"({"roots":[{"uri":"file:///other"}]})"; };
  c.notify("notifications/roots/list_changed");
  b.pass();
  CHECK(srv.got("notifications/roots/list_changed").size() == (b.era.new_caller ? 0 : 1));
  std::string heard[3];
  for (std::size_t life = 0; life < 3; ++life)
    srv.lives[life]->ask({}, "roots/list", "{}",
                         [&heard, life](const mcp::rpc::message& m) { heard[life] = m.result.text(); });
  b.pass(300);
  const std::string none = R"({"roots":[]})";
  CHECK(heard[0] == none);  // the process that keeps the lists has no caller
  CHECK(heard[1] == (b.era.new_caller ? none : R"({"roots":[{"uri":"file:///other"}]})"));
  CHECK(heard[2] == (b.era.new_caller ? none : R"({"roots":[{"uri":"file:///theirs"}]})"));
}

void tasks(bridge& b) {
  const bool across = b.era.new_caller != b.era.new_server;
  const auto setup = [&](bridge_server& s) {
    s.add_tool("job", s.modern ? "" : R"(,"execution":{"taskSupport":"required"})");
    s.capabilities += s.modern ? R"(,"extensions":{"io.modelcontextprotocol/tasks":{}})"
                               : R"(,"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}})";
  };
  const auto [_, srv, c] =
      begin(b, {.server = setup,
                .capabilities = b.era.new_caller ? R"({"extensions":{"io.modelcontextprotocol/tasks":{}}})" : "{}"});
  b.remark("Tasks are told within an era only.");
  std::string told = c.answer("1");
  if (b.era.new_caller) {
    const auto id = c.ask("server/discover");
    b.pass();
    told = c.answer(id);
  }
  CHECK(contains(told, "tasks") == !across);
  if (!across && !b.era.new_caller) CHECK(member_at(told, {"result", "capabilities", "tasks", "list"}) == "{}");
  const auto listed = c.ask("tools/list");
  b.pass();
  if (across) {
    b.remark("Across eras the tool is run to its end here.");
    const auto id = c.call("job");
    b.pass(300);
    CHECK(contains(c.result(id), b.era.new_server ? "done at once" : "the job is done"));
    CHECK(member_at(c.result(id), {"resultType"}) == (b.era.new_caller ? R"("complete")" : ""));
    return;
  }
  b.remark("The task of the caller goes to the server that has it.");
  const auto id =
      c.ask("tools/call",
            std::string(R"("name":"job","arguments":{})") + (b.era.new_caller ? "" : R"(,"task":{"ttl":60000})"),
            R"("progressToken":"mine")");
  b.pass();
  CHECK(contains(c.result(id), R"("taskId":"t1")"));
  if (!b.era.new_caller) {
    b.remark("Its progress comes although the call has been answered.");
    const std::string token = member_at(srv.got("tools/call").back(), {"params", "_meta", "progressToken"});
    srv.life().notify("notifications/progress", R"({"progressToken":)" + token + R"(,"progress":0.50})");
    b.pass();
    const auto progress = c.got("notifications/progress");
    REQUIRE(progress.size() == 1);
    CHECK(member_at(progress[0], {"params"}) == R"({"progressToken":"mine","progress":0.50})");
  }
  std::string got;
  for (int n = 0; n < 2; ++n) {
    got = c.ask("tasks/get", R"("taskId":"t1")");
    b.pass();
  }
  CHECK(contains(c.result(got), R"("status":"completed")"));
  if (!b.era.new_caller) {
    const auto result = c.ask("tasks/result", R"("taskId":"t1")");
    b.pass();
    CHECK(contains(c.result(result), "the job is done"));
    const auto list = c.ask("tasks/list");
    b.pass();
    CHECK(contains(c.result(list), R"("tasks":[{"taskId":"t1")"));
  }
  b.remark("Somebody else has no such task.");
  auto& second = b.add_caller("second", "uid:2");
  second.capabilities = c.capabilities;
  second.open();
  const auto theirs = second.ask("tasks/get", R"("taskId":"t1")");
  b.pass();
  CHECK(second.error_code(theirs) == "-32602");
  if (b.era.new_caller) return;
  const auto none = second.ask("tasks/list");
  b.pass();
  CHECK(contains(second.result(none), R"("tasks":[])"));
}

}  // namespace

TEST_CASE("M6: questions of servers reach the caller of the call in the way of its era") {
  play_row("questions", "Sampling, elicitation and roots: requests of old servers, rounds of new ones.", questions);
}
TEST_CASE("M6: a person is sent to an address in the way of the caller's era") {
  play_row("url_questions", "Elicitation by address: requests, errors and rounds.", url_questions);
}
TEST_CASE(
    "M6: changed roots are told to old servers that have asked for them and reach others with the next question") {
  play_row("roots_changed", "Changed roots.", roots_changed);
}
TEST_CASE("M6: a process of one caller gets the roots of that caller at any time") {
  play_row("own_roots", "Roots outside of a call, with a process for each caller.", own_roots);
}
TEST_CASE("M4: tasks pass within an era and are run to their end across") {
  play_row("tasks", "Tasks: within an era only.", tasks);
}
