// The rules by which tool calls are put together; each answers a server that was seen in the field.
#include "test/providers/wire/decode.hpp"

#include <doctest/doctest.h>

namespace assembly_tests {

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::test;

TEST_CASE("assembly rule 1: an index is a slot, sparse, from 1 and interleaved") {
  const auto d =
      decode(stream({calls(R"([{"index":1,"id":"a","function":{"name":"x","arguments":"{\"p\""}}])"),
                     calls(R"([{"index":7,"id":"b","function":{"name":"y","arguments":"{"}}])"),
                     calls(R"([{"index":1,"function":{"arguments":":1}"}},{"index":7,"function":{"arguments":"}"}}])"),
                     finish("tool_calls")}));
  REQUIRE(d.calls() == 2);
  CHECK(d.call(0).name == "x");
  CHECK(d.call(0).arguments.text() == R"({"p":1})");
  CHECK(d.call(1).id == "b");
  CHECK(d.call(1).arguments.text() == "{}");
}

TEST_CASE("assembly rule 1: the same index with a new id and a name is a new call") {
  const auto d = decode(stream({calls(R"([{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}])"),
                                calls(R"([{"index":0,"id":"b","function":{"name":"y","arguments":"{\"q\":2}"}}])"),
                                finish("tool_calls")}));
  REQUIRE(d.calls() == 2);
  CHECK(d.call(1).id == "b");
  CHECK(d.call(1).arguments.text() == R"({"q":2})");
}

TEST_CASE("assembly rule 1: where all have one index, a late piece goes to the call of its id") {
  const auto d =
      decode(stream({calls(R"([{"index":0,"id":"a","function":{"name":"x","arguments":"{\"p\":"}}])"),
                     calls(R"([{"index":0,"id":"b","function":{"name":"y","arguments":"{\"q\":"}}])"),
                     calls(R"([{"index":0,"id":"a","function":{"arguments":"1}"}}])"),
                     calls(R"([{"index":0,"id":"b","function":{"arguments":"2}"}}])"), finish("tool_calls")}));
  REQUIRE(d.calls() == 2);
  CHECK(d.call(0).arguments.text() == R"({"p":1})");
  CHECK(d.call(1).arguments.text() == R"({"q":2})");
}

TEST_CASE("assembly rule 2: without an index an unseen id is a new call and a known one goes on") {
  const auto d = decode(stream({calls(R"([{"id":"a","function":{"name":"x","arguments":"{\"p\":"}}])"),
                                calls(R"([{"id":"b","function":{"name":"y","arguments":"{}"}}])"),
                                calls(R"([{"id":"a","function":{"arguments":"1}"}}])"), finish("tool_calls")}));
  REQUIRE(d.calls() == 2);
  CHECK(d.call(0).arguments.text() == R"({"p":1})");
}

TEST_CASE("assembly rule 2: without index and id a name after complete arguments is a new call") {
  const auto d = decode(stream({calls(R"([{"index":null,"function":{"name":"x","arguments":"{"}}])"),
                                calls(R"([{"function":{"arguments":"}"}}])"),
                                calls(R"([{"function":{"name":"x","arguments":"{\"q\":2}"}}])"), finish("stop")}));
  REQUIRE(d.calls() == 2);
  CHECK(d.call(0).arguments.text() == "{}");
  CHECK(d.call(1).arguments.text() == R"({"q":2})");
}

TEST_CASE("assembly rule 2: several calls of one chunk without index and id are one each") {
  const auto d =
      decode(stream({calls(R"([{"function":{"name":"x","arguments":""}},{"function":{"name":"x","arguments":"{}"}}])"),
                     finish("tool_calls")}));
  CHECK(d.calls() == 2);
}

TEST_CASE(
    "assembly rule 2: two calls with one id and no index are two, and one that is repeated without arguments is one") {
  const auto two = decode(stream({calls(R"([{"id":"a","function":{"name":"x","arguments":"{\"p\":1}"}}])"),
                                  calls(R"([{"id":"a","function":{"name":"x","arguments":"{\"p\":"}}])"),
                                  calls(R"([{"id":"a","function":{"arguments":"2}"}}])"), finish("tool_calls")}));
  REQUIRE(two.calls() == 2);
  CHECK(two.call(0).arguments.text() == R"({"p":1})");
  CHECK(two.call(1).arguments.text() == R"({"p":2})");
  CHECK(two.call(0).id != two.call(1).id);
  const auto whole = decode(
      R"({"choices":[{"message":{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"x","arguments":"{}"}},{"id":"a","type":"function","function":{"name":"x","arguments":{"p":2}}}]},"finish_reason":"tool_calls"}]})");
  REQUIRE(whole.calls() == 2);
  CHECK(whole.call(1).arguments.text() == R"({"p":2})");
  const auto of_one_list = decode(stream(
      {calls(
           R"([{"id":"a","function":{"name":"x","arguments":""}},{"id":"a","function":{"name":"y","arguments":"{\"p\":1}"}}])"),
       finish("tool_calls")}));
  REQUIRE(of_one_list.calls() == 2);
  CHECK(of_one_list.call(0).arguments.text() == "{}");
  CHECK(of_one_list.call(1).name == "y");
  const auto other_name =
      decode(stream({calls(R"([{"id":"a","function":{"name":"x","arguments":"{\"p\":1}"}}])"),
                     calls(R"([{"id":"a","function":{"name":"y","arguments":""}}])"),
                     calls(R"([{"id":"a","function":{"arguments":"{\"q\":2}"}}])"), finish("stop")}));
  REQUIRE(other_name.calls() == 2);
  CHECK(other_name.call(1).arguments.text() == R"({"q":2})");
  for (const std::string again : {R"("")", R"("\n")", R"("{\"p\":1}")", R"({"p":1})"}) {
    CAPTURE(again);
    const auto one = decode(
        stream({calls(R"([{"id":"a","function":{"name":"x","arguments":"{\"p\":1}"}}])"),
                calls(R"([{"id":"a","function":{"name":"x","arguments":)" + again + "}}]"), finish("tool_calls")}));
    REQUIRE(one.calls() == 1);
    CHECK(one.call(0).arguments.text() == R"({"p":1})");
  }
  const auto empty_object_first =
      decode(stream({calls(R"([{"id":"a","function":{"name":"x","arguments":"{}"}}])"),
                     calls(R"([{"id":"a","function":{"name":"x","arguments":"{\"p\":1}"}}])"), finish("tool_calls")}));
  REQUIRE(empty_object_first.calls() == 1);  // two objects in one call: neither of them may run
  CHECK_FALSE(empty_object_first.call(0).problem.empty());
}

TEST_CASE("assembly rule 3: the first id wins, an empty one is none and a repeated one is not appended") {
  const auto d =
      decode(stream({calls(R"([{"index":0,"id":"a","function":{"name":"x","arguments":"{"}}])"),
                     calls(R"([{"index":0,"id":"","function":{"arguments":"\"p\":"}}])"),
                     calls(R"([{"index":0,"id":"a","function":{"arguments":"1}"}}])"), finish("tool_calls")}));
  REQUIRE(d.calls() == 1);
  CHECK(d.call(0).id == "a");
  CHECK(d.call(0).arguments.text() == R"({"p":1})");
}

TEST_CASE("assembly rule 4: the first name wins and may come after the arguments began") {
  const auto d = decode(stream({calls(R"([{"index":0,"id":"a","function":{"arguments":"{"}}])"),
                                calls(R"([{"index":0,"function":{"name":"x","arguments":""}}])"),
                                calls(R"([{"index":0,"function":{"name":"","arguments":"}"}}])"),
                                calls(R"([{"index":0,"function":{"name":"x"}}])"), finish("tool_calls")}));
  REQUIRE(d.calls() == 1);
  CHECK(d.call(0).name == "x");
}

TEST_CASE("assembly rule 5: arguments as an object are taken and nothing is appended to them") {
  const auto d = decode(stream({calls(R"([{"index":0,"id":"a","function":{"name":"x","arguments":{"p": [1, 2]}}}])"),
                                calls(R"([{"index":0,"function":{"arguments":"{}"}}])"), finish("tool_calls")}));
  REQUIRE(d.calls() == 1);
  CHECK(d.call(0).arguments.text() == R"({"p": [1, 2]})");
}

TEST_CASE("assembly rule 5: arguments that are null, absent or blank mean an empty object") {
  for (const auto* arguments :
       {R"(,"arguments":null)", "", R"(,"arguments":"")", R"(,"arguments":"  ")", R"(,"arguments":"null")"}) {
    const auto d =
        decode(stream({calls(R"([{"index":0,"id":"a","function":{"name":"x")" + std::string(arguments) + "}}]"),
                       finish("tool_calls")}));
    REQUIRE(d.calls() == 1);
    CHECK(d.call(0).arguments.text() == "{}");
    CHECK(d.call(0).problem.empty());
  }
}

TEST_CASE("assembly rule 5: a JSON string that holds an object is opened") {
  const auto d =
      decode(stream({calls(R"([{"index":0,"id":"a","function":{"name":"x","arguments":"\"{\\\"p\\\":1}\""}}])"),
                     finish("tool_calls")}));
  REQUIRE(d.calls() == 1);
  CHECK(d.call(0).arguments.text() == R"({"p":1})");
}

TEST_CASE("assembly rule 6: a call without a name has a problem, and one of which nothing came is none") {
  const auto d = decode(stream(
      {calls(
           R"([{"index":0,"id":"a","function":{"arguments":"{}"}},{"index":1,"function":{"arguments":""}},{"index":2,"id":"b","function":{"name":"x","arguments":"{}"}}])"),
       finish("tool_calls")}));
  REQUIRE(d.calls() == 2);
  CHECK(d.call(0).id == "a");
  CHECK_FALSE(d.call(0).problem.empty());
  CHECK(d.call(1).id == "b");
  CHECK(decode(stream({calls(R"([{"index":0,"function":{"arguments":""}}])"), finish("tool_calls")})).reply->reason ==
        providers::end_reason::malformed_call);
}

TEST_CASE("assembly rule 6: a call without type is a function") {
  const auto d = decode(
      stream({calls(R"([{"index":1,"id":"b","function":{"name":"x","arguments":"{}"}}])"), finish("tool_calls")}));
  REQUIRE(d.calls() == 1);
  CHECK(d.call(0).id == "b");
}

TEST_CASE("assembly rule 6: missing and double ids are made, unique in the conversation") {
  providers::model_request request;
  auto earlier = std::make_shared<providers::message>();
  earlier->role = providers::role::assistant;
  earlier->blocks.emplace_back(providers::tool_call_block{"call00001", "", "x", raw_json::literal("{}"), "{}", ""});
  earlier->blocks.emplace_back(providers::tool_call_block{"call_0", "", "x", raw_json::literal("{}"), "{}", ""});
  request.messages.push_back(earlier);
  const auto d = decode(
      stream(
          {calls(
               R"([{"index":0,"function":{"name":"x","arguments":"{}"}},{"index":1,"id":"z","function":{"name":"x"}},{"index":2,"id":"z","function":{"name":"x"}},{"index":3,"id":"call_0","function":{"name":"x"}}])"),
           finish("tool_calls")}),
      std::string_view::npos, options(), &request);
  REQUIRE(d.calls() == 4);
  CHECK(d.call(0).id == "call00002");
  CHECK(d.call(1).id == "z");
  CHECK(d.call(2).id == "call00003");
  CHECK(d.call(2).provider_id == "z");
  CHECK(d.call(3).id == "call00004");
}

TEST_CASE("assembly rule 7: two finish chunks count together and calls win") {
  const auto d = decode(stream({calls(R"([{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}])"),
                                finish("tool_calls"), finish("stop")}));
  REQUIRE(d.reply);
  CHECK(d.calls() == 1);
  CHECK(d.reply->reason == providers::end_reason::tool_calls);
}

TEST_CASE("assembly: calls decide whatever the finish reason says") {
  CHECK(decode(stream({calls(R"([{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}])"), finish("stop")}))
            .reply->reason == providers::end_reason::tool_calls);
  const auto none = decode(stream({delta(R"({"content":"hi"})"), finish("tool_calls")}));
  CHECK(none.reply->reason == providers::end_reason::stop);
}

TEST_CASE("G29: the call that the model was writing when it was cut off is left out, those before it stay") {
  for (const auto* reason : {"length", "content_filter", "max_tokens", "safety", "sensitive"}) {
    const auto d =
        decode(stream({calls(R"([{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}])"),
                       calls(R"([{"index":1,"id":"b","function":{"name":"y","arguments":"{}"}}])"), finish(reason)}));
    REQUIRE(d.calls() == 1);
    CHECK(d.call(0).id == "a");
    CHECK(d.reply->reason != providers::end_reason::tool_calls);
    CHECK(d.reply->message->raw.text().find("\"b\"") == std::string_view::npos);
  }
}

TEST_CASE(
    "G29: openai-chat, errors: finish reasons in capitals, and Gemini's behind a word for their kind, are understood") {
  using enum providers::end_reason;
  const std::vector<std::pair<std::string, providers::end_reason>> words{
      {"LENGTH", length},
      {"MAX_TOKENS", length},
      {"SAFETY", filter},
      {"CONTENT_FILTER", filter},
      {"RECITATION", filter},
      {"content_filter: PROHIBITED_CONTENT", filter},
      {"content_filter: A_REASON_OF_TOMORROW", filter},
      {"content_filter: MAX_TOKENS", length},
      {"MALFORMED_FUNCTION_CALL", malformed_call},
      {"function_call_filter: MALFORMED_FUNCTION_CALL", malformed_call},
      {"function_call_filter: UNEXPECTED_TOOL_CALL", malformed_call},
      {"function_call_filter:NEW", malformed_call},
      {"function_call_filter", malformed_call},
      {"new_thing", unknown},
      {"new: NEWER", unknown}};
  for (const auto& [word, reason] : words) {
    CAPTURE(word);
    const auto text = decode(stream({delta(R"({"content":"par"})"), finish(word)}));
    REQUIRE(text.reply);
    CHECK(text.reply->reason == reason);
    CHECK(text.reply->raw_reason == word);
    const auto call =
        decode(stream({calls(R"([{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}])"), finish(word)}));
    REQUIRE(call.reply);
    CHECK(call.calls() == 0);
    CHECK(call.reply->reason == reason);
  }
  for (const auto* word : {"STOP", "TOOL_CALLS", "stop: A_REASON_OF_TOMORROW", "tool-calls", "FUNCTION_CALL"}) {
    CAPTURE(word);
    CHECK(decode(stream({delta(R"({"content":"par"})"), finish(word)})).reply->reason == stop);
    CHECK(decode(stream({calls(R"([{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}])"), finish(word)}))
              .calls() == 1);
  }
  CHECK(decode(stream({delta(R"({"content":"par"})"), finish("ERROR")})).error);
}

TEST_CASE("G29: a refusal vetoes the call that the model was writing, whatever the finish reason says") {
  for (const auto* reason : {"stop", "tool_calls"}) {
    const auto d =
        decode(stream({delta(R"({"refusal":"I will not"})"),
                       calls(R"([{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}])"), finish(reason)}));
    CHECK(d.calls() == 0);
    REQUIRE(d.reply);
    CHECK(d.reply->reason == providers::end_reason::refusal);
  }
}

TEST_CASE("G29: a call is not run without a finish reason, and with one no arguments are an empty object") {
  for (const auto* arguments : {"", "{}", R"({\"p\":1})"}) {
    const auto call =
        calls(R"([{"index":0,"id":"a","function":{"name":"x","arguments":")" + std::string(arguments) + R"("}}])");
    const auto d = decode(stream({call}));
    CHECK(d.calls() == 0);
    REQUIRE(d.error);
    CHECK(d.error->type == providers::model_error::kind::cut);
    CHECK(d.error->message.find("without a finish reason") != std::string::npos);
    CHECK(decode(stream({call, finish("tool_calls")}, false)).calls() == 1);
  }
}

TEST_CASE("G29: arguments that are no object are told to the model and never guessed") {
  for (const auto* arguments : {R"({\"p\": \"hel)", "[1]", "hello", "12", R"({\"a\":1}{\"a\":2})", R"({\"a\":01})"}) {
    const auto d = decode(stream(
        {calls(R"([{"index":0,"id":"a","function":{"name":"x","arguments":")" + std::string(arguments) + R"("}}])"),
         finish("tool_calls")}));
    REQUIRE(d.calls() == 1);
    CHECK(d.call(0).arguments.empty());
    CHECK(d.call(0).problem.find("one JSON object") != std::string::npos);
    CHECK_FALSE(d.call(0).arguments_text.empty());
  }
}

TEST_CASE("assembly: a legacy function_call is a call") {
  const auto d = decode(stream({delta(R"({"function_call":{"name":"x","arguments":"{\"p\""}})"),
                                delta(R"({"function_call":{"arguments":":1}"}})"), finish("function_call")}));
  REQUIRE(d.calls() == 1);
  CHECK(d.call(0).arguments.text() == R"({"p":1})");
}

TEST_CASE("assembly: a signature on a call is kept for its origin") {
  const auto d = decode(stream(
      {calls(
           R"([{"index":0,"id":"a","function":{"name":"x","arguments":"{}"},"extra_content":{"google":{"thought_signature":"s"}}}])"),
       finish("tool_calls")}));
  CHECK(d.reply->message->raw.text().find(
            R"("arguments":"{}"},"extra_content":{"google":{"thought_signature":"s"}}})") != std::string_view::npos);
}

TEST_CASE("assembly: a flood of calls is bounded") {
  std::string list = "[";
  for (int i = 0; i < 3000; ++i)
    list += (i == 0 ? "" : ",") + (R"({"index":)" + std::to_string(i)) + R"(,"function":{"name":"x"}})";
  CHECK(decode(stream({calls(list + "]"), finish("tool_calls")})).calls() == 1024);
}

}  // namespace assembly_tests
