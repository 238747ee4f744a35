// Scripts.
#include "providers/rehearsal/rehearsal.hpp"

#include <doctest/doctest.h>

namespace {

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::providers;

TEST_CASE("rehearsal script: steps are played in order and take up question and results") {
  const auto script =
      rehearsal::read_script(R"({"steps":[{"text":"I look.","calls":[{"name":"find","arguments":{"q":"{{question}}"}}]},
      {"calls":[{"name":"open","arguments":{"path":"{{result.1.files.0}}","raw":"{{result.1}}"}}]},{"text":"It says {{result.2}}."}]})")
          .value();
  model_request r;
  r.messages = {user_message("say \"hi\"")};
  auto tools = std::make_shared<tool_set>();
  tools->tools.push_back({"find", "", {}});
  r.tools = tools;
  const auto answer = [&](const model_reply& reply, std::string_view text) {
    r.messages.push_back(reply.message);
    auto m = std::make_shared<message>();
    m->role = role::tool_results;
    m->blocks.emplace_back(
        tool_result_block{reply.message->calls()[0]->id, "",
                          raw_json::own(R"({"content":[{"type":"text","text":)" + json_quoted(text) + "}]}"), false});
    r.messages.push_back(m);
  };
  const auto one = rehearsal::plan_reply(r, script.get());
  CHECK(one.message->text() == "I look.");
  CHECK(one.message->calls()[0]->arguments.text() == R"({"q":"say \"hi\""})");
  answer(one, R"({"files":["a.txt"]})");
  const auto two = rehearsal::plan_reply(r, script.get());
  CHECK(two.message->calls()[0]->arguments.text() == R"({"path":"a.txt","raw":"{\"files\":[\"a.txt\"]}"})");
  answer(two, "hello");
  CHECK(rehearsal::plan_reply(r, script.get()).message->text() ==
        "It says hello.\n(rehearsal: not a language model; it plays a script)");
  r.messages.push_back(rehearsal::plan_reply(r, script.get()).message);
  CHECK(rehearsal::plan_reply(r, script.get()).message->text().find("has ended") != std::string::npos);
}

TEST_CASE("rehearsal script: an answer that must fit a schema is played as it is, and any other says what spoke") {
  const auto script = rehearsal::read_script(R"([{"text":"{\"a\":1}"}])");
  REQUIRE(script.has_value());
  model_request r;
  r.messages = {user_message("go")};
  CHECK(rehearsal::plan_reply(r, script->get()).message->text().ends_with("not a language model; it plays a script)"));
  r.answer_schema = raw_json::literal(R"({"type":"object"})");
  CHECK(rehearsal::plan_reply(r, script->get()).message->text() == R"({"a":1})");
}

TEST_CASE("rehearsal script: arguments that a file spreads over lines leave on one") {
  const auto script =
      rehearsal::read_script("[{\"calls\": [{\"name\": \"find\", \"arguments\": {\n  \"q\":\r\n  \"a\\nb\"\n}}]}]");
  REQUIRE(script.has_value());
  model_request r;
  r.messages = {user_message("go")};
  auto tools = std::make_shared<tool_set>();
  tools->tools.push_back({"find", "", {}});
  r.tools = tools;
  CHECK(rehearsal::plan_reply(r, script->get()).message->calls()[0]->arguments.text() == "{   \"q\":    \"a\\nb\" }");
}

TEST_CASE("rehearsal script: what is wrong is told with its step") {
  CHECK(rehearsal::read_script("nope").error().code == errc::config);
  CHECK(rehearsal::read_script("{}").error().message.find("steps") != std::string::npos);
  CHECK(rehearsal::read_script(R"([{"text":"a"},{}])").error().message.find("Step 2") != std::string::npos);
  CHECK(rehearsal::read_script(R"([{"calls":[{"arguments":{}}]}])").error().message.find("without a name") !=
        std::string::npos);
  CHECK(rehearsal::read_script(R"([{"calls":[{"name":"x","arguments":[]}]}])").error().message.find("no object") !=
        std::string::npos);
}

}  // namespace
