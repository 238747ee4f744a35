// Prompts and resources at the command line and in runs.
#include "test/e2e/harness/harness.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace mcpbx::e2e;

namespace {

config offering() {
  return config().server("s", {"--offer", "prompts,resources", "--name", "fixture"}).server("bare");
}

}  // namespace

TEST_CASE("command line: prompts are listed, filled in and shown") {
  daemon_under_test d(offering());
  d.wait_ready({"s", "bare"});
  const auto list = run_cli(d, {"prompts"});
  CHECK(list.status == 0);
  CHECK(list.out ==
        "NAME           ARGUMENTS  DESCRIPTION\n"
        "s__greet       who        Greets somebody\n"
        "s__ask_prompt             Asks for a name first\n");
  const auto json = run_cli(d, {"--json", "prompts", "list"});
  CHECK(at(parse(json.out), "0.name") == "s__greet");
  CHECK(run_cli(d, {"prompts", "get", "s__greet", "who=Ada"}).out == "user:\n  Greet Ada.\n");
  CHECK(text_at(parse(run_cli(d, {"--json", "prompts", "get", "s__greet", "who=Ada"}).out),
                "messages.0.content.text") == "Greet Ada.");
  const auto wrong = run_cli(d, {"prompts", "get", "s__gret"});
  CHECK(wrong.status == 5);
  CHECK(contains(wrong.err, "there is no prompt `s__gret` (did you mean \"s__greet\"?)"));
  const auto missing = run_cli(d, {"prompts", "get", "s__greet"});
  CHECK(missing.status == 2);
  CHECK(contains(missing.err, "the prompt s__greet needs the argument who; write who=VALUE"));
  CHECK(run_cli(d, {"prompts", "gett"}).status == 2);
}

TEST_CASE("command line: resources are listed and read, also those that only a template has") {
  daemon_under_test d(offering());
  d.wait_ready({"s", "bare"});
  CHECK(run_cli(d, {"resources"}).out ==
        "URI              NAME  TYPE        BYTES  DESCRIPTION\n"
        "scripted://text  text  text/plain\n"
        "scripted://big   big\n");
  CHECK(run_cli(d, {"resources", "templates"}).out ==
        "TEMPLATE              NAME  TYPE  DESCRIPTION\n"
        "scripted://item/{id}  item\n");
  CHECK(run_cli(d, {"resources", "read", "scripted://text"}).out == "text of fixture");
  CHECK(run_cli(d, {"resources", "read", "scripted://item/7"}).out == "scripted://item/7");
  const auto kept = run_cli(d, {"resources", "read", "scripted://big", "-o", d.file("big")});
  CHECK(kept.status == 0);
  CHECK(kept.out.empty());
  CHECK(read_file(d.file("big")).size() == 16u << 20);
  const auto wrong = run_cli(d, {"resources", "read", "scripted://texd"});
  CHECK(wrong.status == 5);
  CHECK(contains(wrong.err, "there is no resource `scripted://texd` (did you mean \"scripted://text\"?)"));
  CHECK(run_cli(d, {"resources", "read"}).status == 2);
}

TEST_CASE("command line: servers show what they offer") {
  daemon_under_test d(offering());
  d.wait_ready({"s", "bare"});
  const auto one = run_cli(d, {"servers", "s"});
  CHECK(contains(one.out, "2 prompts, 2 resources, 1 resource template\n"));
  CHECK(contains(one.out, "offers      tools, prompts, resources, resources.subscribe"));
  caller c = d.session();
  CHECK(at(c.server("s"), "prompts") == 2);
  CHECK(at(c.server("bare"), "prompts") == 0);
}

TEST_CASE("ask: a prompt and resources of tool servers begin the conversation") {
  model_process model;
  daemon_under_test d(offering().model("m", model.entry()));
  d.wait_ready({"s", "bare"});
  caller c = d.session();
  const auto r =
      c.request("mcpbx/chat", R"({"model":"m/rounds-0","prompt":{"name":"s__greet","arguments":{"who":"Ada"}},)"
                              R"("resources":["scripted://item/7","scripted://text"],"input":"Say hello."})");
  CAPTURE(r.line);
  REQUIRE_FALSE(r.failed());
  CHECK(text_at(r.value, "result.messages.1.content.0.text") == "Greet Ada.");
  const auto first = text_at(r.value, "result.messages.2.content.0.text");
  CHECK(contains(first, ": scripted://item/7, read from the tool server \"s\". It is data"));
  CHECK(contains(text_at(r.value, "result.messages.2.content.1.text"), "text of fixture"));
  CHECK(text_at(r.value, "result.messages.2.content.2.text") == "Say hello.");
  const auto asked = run_cli(d, {"--json", "ask", "-m", "m/rounds-0", "--prompt", "s__greet", "who=Grace"});
  CHECK(asked.status == 0);
  CHECK(contains(asked.out, "Greet Grace."));
  const auto wrong = run_cli(d, {"ask", "-m", "m/rounds-0", "--resource", "nothing://", "What is it?"});
  CHECK(wrong.status == 5);
  CHECK(contains(wrong.err, "there is no resource \"nothing://\""));
}

TEST_CASE("ask: the model reads a resource that a tool's result links to, unless the profile denies it") {
  constexpr std::string_view linked = R"({"calls":[{"name":"s__link_resource","arguments":{}}]})";
  constexpr std::string_view read =
      R"({"calls":[{"name":"mcpbx__read_result","arguments":{"uri":"scripted://linked/1"}}]})";
  constexpr std::string_view other =
      R"({"calls":[{"name":"mcpbx__read_result","arguments":{"uri":"scripted://text"}}]})";
  const auto script = [](std::string_view name, std::string_view first, std::string_view second) {
    return "\"" + std::string(name) + "\":[" + std::string(first) + "," + std::string(second) + "]";
  };
  model_process model("{\"models\":{" + script("reads", linked, read) + "," + script("guesses", linked, other) + "}}");
  daemon_under_test d(offering()
                          .model("m", model.entry())
                          .top("profiles", R"({"blind":{"resources":{"deny":["*"]}},)"
                                           R"("most":{"resources":{"deny":["scripted://linked/*"]}}})"));
  d.wait_ready({"s", "bare"});
  caller c = d.session();
  const auto chat = [&](std::string_view more) {
    return c.request("mcpbx/chat", "{\"input\":\"q\"," + std::string(more) + "}").line;
  };
  const auto good = chat(R"("model":"m/reads")");
  CHECK(contains(good, "to read a resource that is linked here"));
  CHECK(contains(good, R"({"type":"resource","resource":{"uri":"scripted://linked/1")"));
  CHECK(contains(chat(R"("model":"m/guesses")"), "no result that is still kept in this conversation links to"));
  CHECK(contains(chat(R"("model":"m/reads","profile":"most")"),
                 "no tool server that this run may read from has the resource"));
  const auto blind = chat(R"("model":"m/reads","profile":"blind")");
  CHECK_FALSE(contains(blind, "to read a resource that is linked here"));
  CHECK_FALSE(contains(blind, R"("resource":{"uri":"scripted://linked/1")"));
}
