// Recordings: written, read again, and asked for conversations.
#include "providers/replay/recording.hpp"

#include "test/providers/replay/replayed_conversation.hpp"
#include "test/support/contains.hpp"

#include <doctest/doctest.h>

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::providers;
using namespace mcpbx::test;

namespace {

std::string refusal(std::string_view text) {
  const auto r = replay::recording::read(text);
  return r ? "taken" : r.error().message;
}

const std::string first_line = replay::to_line(replay::header{"openai-chat", "", ""});

}  // namespace

TEST_CASE("replay: an exchange reads back as it was written") {
  auto m = std::make_shared<message>();
  m->role = role::assistant;
  m->origin = {"openai-chat", "https://x.example/v1", "m"};
  m->raw = raw_json::own(R"({"role":"assistant","content":"so"})");
  m->blocks.emplace_back(text_block{"so"});
  m->blocks.emplace_back(reasoning_block{"hm", raw_json::own(R"({"signature":"s"})")});
  m->blocks.emplace_back(call_of("id-1", "s__echo", R"({"text":"t"})"));
  recorded file({"openai-chat", "Be brief.", "7"});
  file.add(asked({system_message("Be brief."), user_message("go")}, {"s__echo", "s__add"}), m,
           {{true, "hm"}, {false, "s"}, {false, "o"}});
  const auto r = file.read();
  CHECK(r.header() == replay::header{"openai-chat", "Be brief.", "7"});
  const auto found = r.find(asked({system_message("Be brief."), user_message("go")}, {"s__echo", "s__add"}));
  REQUIRE(found.has_value());
  REQUIRE(found->answers.size() == 1);
  const auto& e = *found->answers[0];
  CHECK(e.stream == std::vector<replay::piece>{{true, "hm"}, {false, "s"}, {false, "o"}});
  CHECK(e.tools.size() == 2);
  CHECK(e.tools[0].first == "s__echo");
  CHECK((e.reply.reason == end_reason::tool_calls && e.reply.raw_reason == "raw"));
  const auto& u = e.reply.usage;
  CHECK((u.input == 1 && u.output == 2 && u.cached == 3 && u.cache_write == 4 && u.reasoning == 5 && !u.estimated));
  const auto& back = *e.reply.message;
  CHECK(back.origin == m->origin);
  CHECK(back.raw.text() == m->raw.text());
  CHECK(back.calls()[0]->id == "id-1");
  CHECK(back.calls()[0]->provider_id == "p");
  CHECK(std::get<reasoning_block>(back.blocks[1]).opaque.text() == R"({"signature":"s"})");
}

TEST_CASE("replay: each line holds only what the lines before it have not") {
  const auto q = user_message("a question"), call = calls({call_of("1", "s__echo", "{}")}),
             result = results({result_of("1", "its result")});
  recorded file;
  file.add(asked({q}), call).add(asked({q, call, result}), says("answer"));
  file.add(asked({q, call, result, says("answer"), user_message("more")}), says("end"));
  CHECK(contains(file.text, "a question"));
  CHECK(file.text.find("a question") == file.text.rfind("a question"));
  CHECK(file.text.find("its result") == file.text.rfind("its result"));
  const auto r = file.read();
  CHECK(answers(r, asked({q, call, result})) == "answer");
  CHECK(answers(r, asked({q, call, result, says("answer"), user_message("more")})) == "end");
  // Once the file was replaced, a conversation is written from its beginning.
  recorded anew;
  anew.writer = file.writer;
  anew.writer.forget();
  anew.add(asked({q, call, result}), says("answer"));
  CHECK(answers(anew.read(), asked({q, call, result})) == "answer");
}

TEST_CASE("replay: a conversation that was recorded several times has all its answers in order") {
  recorded file;
  const auto q = user_message("roll a die");
  file.add(asked({q}), says("three")).add(asked({user_message("other")}), says("x")).add(asked({q}), says("five"));
  CHECK(answers(file.read(), asked({q})) == "three|five");
}

TEST_CASE("replay: an error of the model reads back as it was and takes its turn among the answers") {
  using kind = model_error::kind;
  const auto q = asked({user_message("q")});
  recorded file;
  file.fails(q, {kind::overloaded, 529, 1'500, "it is busy", "", "", "", true});
  file.fails(q, {kind::cut, 200, -1, "it broke", "so far", "<call>", "the whole body", false, {7, 2, 0, 0, 0, true}},
             {{false, "so far"}});
  file.add(q, says("at last"));
  file.add(asked({user_message("q"), says("at last"), user_message("more")}), says("end"));
  const auto r = file.read();
  CHECK(answers(r, q) == "it is busy|it broke|at last");
  const auto found = r.find(q);
  REQUIRE(found);
  const auto& busy = *found->answers[0]->error;
  CHECK((busy.type == kind::overloaded && busy.http_status == 529 && busy.retry_after_ms == 1'500 && busy.retryable));
  const auto& broke = *found->answers[1]->error;
  CHECK((broke.type == kind::cut && broke.http_status == 200 && broke.retry_after_ms == -1 && !broke.retryable));
  CHECK((broke.partial_text == "so far" && broke.failed_generation == "<call>" && broke.said.empty()));
  CHECK((broke.usage.input == 7 && broke.usage.output == 2 && broke.usage.estimated && !busy.usage.estimated));
  CHECK(found->answers[1]->stream == std::vector<replay::piece>{{false, "so far"}});
  CHECK_FALSE(found->answers[2]->error);
  // Nothing follows an error in a conversation.
  CHECK(answers(r, asked({user_message("q"), says("at last"), user_message("more")})) == "end");
}

TEST_CASE("replay: of several answers those to the same tools come, else those with tools or without as now") {
  recorded file;
  const auto q = user_message("q");
  file.add(asked({q}, {"s__a"}), says("a")).add(asked({q}, {"s__a", "s__b"}), says("ab")).add(asked({q}), says("none"));
  const auto r = file.read();
  CHECK(answers(r, asked({q}, {"s__a"})) == "a");
  CHECK(answers(r, asked({q}, {"s__c"})) == "a|ab");
  CHECK(answers(r, asked({q})) == "none");
  // Tools that may not be called are no tools.
  auto last = asked({q}, {"s__a"});
  last.tool_mode = tool_mode::none;
  CHECK(answers(r, last) == "none");
  recorded without;
  without.add(asked({q}), says("none"));
  CHECK(answers(without.read(), asked({q}, {"s__a"})) == "none");
}

TEST_CASE("replay: what is not there is told by the recording that agrees longest") {
  const auto q = user_message("q"), call = calls({call_of("1", "s__echo", "{}")});
  recorded file;
  file.add(asked({user_message("something else")}), says("x"));
  file.add(asked({q}), call).add(asked({q, call, results({result_of("1", "12:00")})}), says("noon"));
  const auto r = file.read();
  CHECK(answers(r, asked({user_message("something new")})) ==
        "message 1 (user) differs in its text: recorded there is \"something else\", and \"something new\" came");
  CHECK(contains(answers(r, asked({q, call, results({result_of("1", "12:01")})})),
                 "message 3 (tool_results) differs in its result 1: recorded there is \"s__echo "));
  CHECK(contains(answers(r, asked({q, call})), "the conversation ends with message 2"));
  CHECK(contains(answers(r, asked({user_message("something else"), says("x"), q})),
                 "nothing is recorded after message 2"));
  CHECK(answers(recorded().read(), asked({q})) == "nothing is recorded in it, and message 1 (user) came: \"q\"");
}

TEST_CASE("replay: a last line that was cut off does not count, damage before it is told with its line") {
  recorded file;
  file.add(asked({user_message("q")}), says("a"));
  CHECK(answers(replay::recording::read(file.text + R"({"type":"exch)").value(), asked({user_message("q")})) == "a");
  CHECK(contains(refusal(file.text + "{\n"), "is damaged: line 3 is no JSON"));
  CHECK(contains(refusal(file.text + "{\"type\":\"song\"}\n"), "line 3 cannot be read: it is no exchange"));
  CHECK(contains(refusal(first_line + "{\"type\":\"exchange\",\"messages\":[1]}\n"), "it.messages is not"));
  CHECK(contains(refusal(first_line + "{\"type\":\"exchange\",\"messages\":[]}\n"), "it.reply is no object"));
  CHECK(contains(refusal(first_line + R"({"type":"exchange","after":"12","reply":{"role":"assistant"}})" + "\n"),
                 "line 2 goes on from a conversation that no line before it has"));
  CHECK(contains(refusal(first_line + R"({"type":"exchange","reply":{"role":"user"}})" + "\n"), "it.reply is not"));
  CHECK(contains(refusal(first_line + R"({"type":"exchange","tools":{"a":7},"reply":{"role":"assistant"}})" + "\n"),
                 "it.tools.a is not a string"));
  CHECK(contains(refusal(first_line + R"({"type":"exchange","error":7})" + "\n"), "it.error is no object"));
  CHECK(contains(refusal(first_line + R"({"type":"exchange","error":{"kind":"tired"}})" + "\n"), "it.error.kind is"));
}

TEST_CASE("replay: what is no recording, and one of a newer version, are refused with the mend") {
  for (const char* text :
       {"", "\n", "hello", "{}", "[1]\n", "{\"type\":\"recording\"}\n", "{\"type\":\"recording\",\"v\":1}\n",
        "{\"type\":\"recording\",\"v\":\"1\",\"api\":\"x\"}"}) {
    CAPTURE(text);
    CHECK(contains(refusal(text), "is no recording of mcpbx"));
  }
  const auto newer = replay::recording::read("{\"type\":\"recording\",\"v\":2,\"api\":{}}\n");
  REQUIRE_FALSE(newer.has_value());
  CHECK(newer.error().code == errc::config);
  CHECK(contains(newer.error().message, "newer mcpbx (version 2"));
}
