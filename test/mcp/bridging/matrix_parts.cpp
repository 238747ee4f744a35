// The flows and events of the matrix.
#include "test/mcp/bridging/matrix.hpp"

#include <doctest/doctest.h>

#include <utility>

namespace mcpbx::test {
namespace {

using act = std::function<void(disturbed&)>;

void offers_all(disturbed& d) {
  d.srv->capabilities +=
      R"(,"prompts":{"listChanged":true},"resources":{"listChanged":true,"subscribe":true},"completions":{})";
}

flow call_of(const std::string& name, const std::string& tool, const std::string& meta = "") {
  return {.name = name,
          .prepare = [tool](disturbed& d) { d.srv->add_tool(tool); },
          .acts = {[tool, meta](disturbed& d) { d.caller->call(tool, R"({"text":"hi"})", meta); }, [](disturbed&) {},
                   [](disturbed&) {}}};
}

flow watching() {
  const act watch = [](disturbed& d) {
    if (d.b.era.new_caller)
      d.caller->ask_as("\"l\"", "subscriptions/listen",
                       R"("notifications":{"toolsListChanged":true,"resourceSubscriptions":["note://a"]})");
    else
      d.caller->ask("resources/subscribe", R"("uri":"note://a")");
  };
  const act update = [](disturbed& d) { d.srv->life().tell("notifications/resources/updated", R"("uri":"note://a")"); };
  const act end = [](disturbed& d) {
    if (d.b.era.new_caller)
      d.caller->cancel("\"l\"");
    else
      d.caller->ask("resources/unsubscribe", R"("uri":"note://a")");
  };
  return {.name = "watch", .prepare = offers_all, .acts = {watch, update, end, [](disturbed&) {}}};
}

/// The list changes and changes back, so that it is in the end what it was.
flow changing() {
  const auto change = [](disturbed& d) { d.srv->change("tools"); };
  return {.name = "lists",
          .prepare =
              [](disturbed& d) {
                for (const std::string one : {"one", "two", "three"}) d.srv->add_tool(one);
                d.srv->page = 2;
              },
          .acts = {[change](disturbed& d) {
                     d.srv->add_tool("new");
                     change(d);
                   },
                   [](disturbed& d) { d.caller->ask("tools/list"); },
                   [change](disturbed& d) {
                     d.b.pass(1'100);
                     d.srv->tools.pop_back();
                     change(d);
                   },
                   [](disturbed& d) {
                     d.b.pass(1'100);
                     d.caller->ask("tools/list");
                   }},
          .changes_lists = true};
}

flow others() {
  return {.name = "others",
          .prepare =
              [](disturbed& d) {
                offers_all(d);
                d.srv->prompts.push_back(R"({"name":"ask"})");
              },
          .acts = {[](disturbed& d) {
                     d.caller->ask("prompts/get", R"("name":"ask")");
                     d.caller->ask("resources/read", R"("uri":"note://a")");
                     d.caller->ask(
                         "completion/complete",
                         R"("ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"who","value":"A"})");
                   },
                   [](disturbed&) {}, [](disturbed&) {}}};
}

flow tasking() {
  const auto get = [](disturbed& d) {
    if (d.b.era.new_caller == d.b.era.new_server) d.caller->ask("tasks/get", R"("taskId":"t1")");
  };
  return {.name = "task",
          .prepare =
              [](disturbed& d) {
                d.srv->add_tool("job", d.srv->modern ? "" : R"(,"execution":{"taskSupport":"required"})");
                d.srv->capabilities += d.srv->modern ? R"(,"extensions":{"io.modelcontextprotocol/tasks":{}})"
                                                     : R"(,"tasks":{"cancel":{},"requests":{"tools":{"call":{}}}})";
              },
          .acts = {[](disturbed& d) {
                     d.caller->ask("tools/call", std::string(R"("name":"job","arguments":{})") +
                                                     (d.b.era.new_caller ? "" : R"(,"task":{"ttl":60000})"));
                   },
                   get, get,
                   [](disturbed& d) {
                     if (!d.b.era.new_caller && !d.b.era.new_server) d.caller->ask("tasks/result", R"("taskId":"t1")");
                   }}};
}

flow logs() {
  return {.name = "logs",
          .prepare = [](disturbed& d) { d.srv->add_tool("log"); },
          .acts = {[](disturbed& d) {
                     if (!d.b.era.new_caller) d.caller->ask("logging/setLevel", R"("level":"info")");
                     d.caller->level = "info";
                   },
                   [](disturbed& d) { d.caller->call("log"); }, [](disturbed&) {}}};
}

/// The caller never answers: the question ends with its time, or with its call.
flow unanswered() {
  return {.name = "a question without an answer",
          .prepare = [](disturbed& d) { d.srv->add_tool("ask"); },
          .acts = {[](disturbed& d) {
                     d.caller->answerer = {};
                     d.caller->call("ask");
                   },
                   [](disturbed&) {}, [](disturbed&) {}}};
}

flow crowd() {
  return {.name = "crowd",
          .prepare =
              [](disturbed& d) {
                for (const std::string one : {"hold", "ask"}) d.srv->add_tool(one);
              },
          .acts = {[](disturbed& d) {
                     d.caller->call("echo", R"({"text":"one"})");
                     d.caller->ask_as("\"h\"", "tools/call", R"("name":"hold","arguments":{})");
                     d.caller->call("ask");
                   },
                   [](disturbed&) {}, [](disturbed& d) { d.caller->cancel("\"h\""); }, [](disturbed&) {}}};
}

scripted_process& process(disturbed& d) {
  return d.srv->life().process();
}

}  // namespace

const std::vector<flow>& flows() {
  static const std::vector<flow> all = {call_of("progress", "steps", R"("progressToken":"t")"),
                                        call_of("two questions at once", "ask_two"),
                                        call_of("two questions in turn", "ask_twice"),
                                        unanswered(),
                                        call_of("roots", "roots"),
                                        watching(),
                                        changing(),
                                        others(),
                                        tasking(),
                                        logs(),
                                        crowd()};
  return all;
}

const std::vector<event>& events() {
  using step = const bridge_step&;
  static const std::vector<event> all = {
      {.name = "the server is killed", .happen = [](disturbed& d, step) { process(d).die(9); }, .also_between = true},
      {.name = "the server dies in the middle of a message",
       .happen =
           [](disturbed& d, step s) {
             CHECK(s.who == "srv");
             d.srv->cuts_next = true;
           },
       .before = event::place::server_speaks},
      {.name = "the server closes its output", .happen = [](disturbed& d, step) { process(d).close_stdout(); }},
      {.name = "the server reads no more", .happen = [](disturbed& d, step) { process(d).reads = false; }},
      {.name = "the server falls silent",
       .happen = [](disturbed& d, step) { d.srv->mute = true; },
       .before = event::place::server_speaks,
       .aftermath = [](disturbed& d) { d.srv->mute = false; }},
      {.name = "the server answers late",
       .happen = [](disturbed& d, step) { d.srv->mute = true; },
       .before = event::place::server_speaks,
       .aftermath = [](disturbed& d) { d.srv->unmute(); }},
      {.name = "the server is restarted",
       .happen = [](disturbed& d, step) { (void)d.b.rig.supervisor->restart("srv"); }},
      {.name = "the server is removed", .happen = [](disturbed& d, step) { d.b.remove_server("srv"); }},
      {.name = "the caller sends each retry twice",
       .happen = [](disturbed& d, step) { d.caller->retries = 2; },
       .before = event::place::first,
       .spares_servers = true},
      {.name = "the caller cancels",
       .happen =
           [](disturbed& d, step) {
             if (const auto id = d.caller->open_request(); !id.empty()) d.caller->cancel(id);
           },
       .also_between = true,
       .spares_servers = true},
      {.name = "the caller leaves",
       .happen = [](disturbed& d, step) { d.caller->leave(); },
       .also_between = true,
       .spares_servers = true},
      {.name = "the caller cancels what it has not asked",
       .happen =
           [](disturbed& d, step) {
             d.caller->notify("notifications/cancelled", R"({"requestId":999})");
             d.caller->notify("notifications/cancelled", R"({"requestId":"1"})");
             d.caller->notify("notifications/cancelled", R"({})");
           },
       .harmless = true,
       .spares_servers = true},
      {.name = "meanwhile the lists change",
       .happen =
           [](disturbed& d, step) {
             for (const std::string kind : {"tools", "prompts", "resources"}) d.srv->change(kind);
           },
       .harmless = true,
       .spares_servers = true,
       .changes_lists = true},
      {.name = "meanwhile a second caller has the same ids",
       .happen =
           [](disturbed& d, step) {
             auto& twin = d.b.add_caller("twin", "uid:3");
             d.twin = &twin;
             twin.open();
             for (const std::string id : {"3", "4"})
               twin.ask_as(id, "tools/call", R"("name":"echo","arguments":{"text":"twin"})");
           }},
      {.name = "meanwhile mcpbx begins to stop",
       .happen = [](disturbed& d, step) { d.b.stopping = true; },
       .refuses_calls = true},
  };
  return all;
}

}  // namespace mcpbx::test
