// The decoder: every split gives the same, and an answer without its end is an error.
#include "test/providers/wire/decode.hpp"
#include "test/support/read_sizes.hpp"

#include <doctest/doctest.h>

namespace decoder_tests {

using namespace mcpbx;
using namespace mcpbx::test;
using mcpbx::providers::end_reason;
using kind = providers::model_error::kind;

const std::vector<std::string>& transcripts() {
  static const std::vector<std::string> all{
      stream(
          {delta(R"({"role":"assistant","content":""})"), delta(R"({"content":"Hello"})"),
           delta(R"({"content":" w\u00f6rld \ud83d"})"), delta(R"({"content":"\ude00!"})"), finish("stop"),
           R"({"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":2},"completion_tokens_details":{"reasoning_tokens":1}}})"}),
      stream({delta(R"({"content":"I look."})"),
              calls(R"([{"index":0,"id":"a","type":"function","function":{"name":"x","arguments":"{\"p\":"}}])"),
              calls(R"([{"index":0,"function":{"arguments":"\"ä\"}"}}])"), finish("tool_calls")}),
      "\xEF\xBB\xBF: OPENROUTER PROCESSING\r\n\r\ndata: : keepalive\r\n\r\nevent: keepalive\r\n\r\ndata:\r\n\r\ndata: "
      "{}\r\n\r\ndata: {\"choices\":null}\r\n\r\n" +
          std::string("id: 1\r\nretry: 5\r\ndata:{\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\r\n\r\n") +
          "data: {\"choices\":[{\"delta\":\r\ndata: {\"content\":\"b\"},\"finish_reason\":\"stop\"}]}\r\n\r\ndata: "
          "[DONE]\r\n\r\nafter the end\n",
      "data: {\"choices\":[{\"delta\":{\"content\":\"cr\"}}]}\r\rdata: " + finish("stop") + "\r\rdata: [DONE]\r\r",
      stream({delta(R"({"content":" \n<think>so"})"), delta(R"({"content":" it is</th"})"),
              delta(R"({"content":"ink>\n\nanswer <think>"})"), finish("stop")}),
      stream({delta(R"({"reasoning_content":"hm "})"), delta(R"({"reasoning_content":"yes"})"),
              delta(R"({"reasoning_details":[{"type":"reasoning.text","index":0,"text":"a"}]})"),
              delta(R"({"reasoning_details":[{"type":"reasoning.text","index":0,"text":"b","signature":"s"}]})"),
              delta(R"({"content":"ok"})"), finish("stop")}),
      stream(
          {delta(
               R"({"content":[{"type":"thinking","thinking":[{"type":"text","text":"t"}]},{"type":"text","text":"x"}]})"),
           finish("stop")}),
      stream({delta(R"({"refusal":"I will "})"), delta(R"({"refusal":"not."})"), finish("stop")}),
      stream({delta(R"({"content":"half"})")}, false),
      stream({delta(R"({"content":"half"})"), R"({"error":{"message":"boom","code":500}})"}, false),
      stream({delta(R"({"content":"half"})"), "not json"}),
      stream({delta(R"({"content":"x"})"), finish("stop")}, false),
      R"(  {"choices":[{"index":0,"message":{"role":"assistant","content":null,"refusal":null,"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"x","arguments":"{}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":1,"completion_tokens":2}})",
      "<html>no</html>",
      "hello",
      "data: [DONE]\n\n",
      R"({"choices":[{"ind)",
      ""};
  return all;
}

TEST_CASE("openai-chat, streaming: every split down to one byte tells the same") {
  for (const auto& t : transcripts()) {
    CAPTURE(t);
    CHECK(differing_split("openai-chat", t) == "");
  }
}

TEST_CASE("openai-chat, streaming: a long answer tells the same in reads of any size") {
  std::vector<std::string> payloads;
  for (int i = 0; i < 500; ++i)
    payloads.push_back(delta("{\"content\":\"w\u00f6rd \xE2\x82\xAC " + std::to_string(i) + " \"}"));
  payloads.push_back(delta("{\"content\":\"" + std::string(70'000, 'x') + "\"}"));
  payloads.push_back(calls(
      "[{\"index\":0,\"id\":\"a\",\"type\":\"function\",\"function\":{\"name\":\"x\",\"arguments\":\"{\\\"p\\\":\\\"" +
      std::string(40'000, 'y') + "\"}}]"));
  payloads.push_back(calls(R"([{"index":0,"function":{"arguments":"\"}"}}])"));
  payloads.push_back(finish("tool_calls"));
  const auto bytes = stream(payloads);
  const auto whole = told(decode(bytes));
  CHECK(whole.find("call=ax{") != std::string::npos);
  for (const std::size_t step : awkward_sizes) {
    CAPTURE(step);
    CHECK((told(decode(bytes, step)) == whole));
  }
}

TEST_CASE("openai-chat, streaming: text and usage of a stream, and what is but text is kept once") {
  const auto d = decode(transcripts()[0]);
  REQUIRE(d.reply);
  CHECK(d.text() == "Hello wörld \xF0\x9F\x98\x80!");
  CHECK(d.reply->reason == end_reason::stop);
  CHECK(d.reply->raw_reason == "stop");
  CHECK(d.reply->usage.input == 5);
  CHECK(d.reply->usage.output == 3);
  CHECK(d.reply->usage.cached == 2);
  CHECK(d.reply->usage.reasoning == 1);
  CHECK_FALSE(d.reply->usage.estimated);
  CHECK_FALSE(d.reply->message->raw);
  REQUIRE(d.reply->message->blocks.size() == 1);
  CHECK(d.reply->message->origin == providers::origin{"openai-chat", "https://api.example.com/v1", "m"});
}

TEST_CASE("L3: text beside calls, reasoning and vendor fields are kept for the origin") {
  const auto beside = decode(transcripts()[1]);
  CHECK(beside.reply->message->text() == "I look.");
  CHECK(
      beside.reply->message->raw.text() ==
      R"({"role":"assistant","content":"I look.","tool_calls":[{"id":"a","type":"function","function":{"name":"x","arguments":"{\"p\":\"ä\"}"}}]})");
  const auto thought = decode(transcripts()[5]);
  CHECK(
      thought.reply->message->raw.text() ==
      R"({"role":"assistant","content":"ok","reasoning_content":"hm yes","reasoning_details":[{"type":"reasoning.text","index":0,"text":"ab","signature":"s"}]})");
  const auto* block = std::get_if<providers::reasoning_block>(&thought.reply->message->blocks.front());
  REQUIRE(block);
  CHECK(block->text == "hm yes");
  CHECK(block->opaque.is_object());
}

TEST_CASE("decoder: a dialect's oddities are read") {
  CHECK(decode(transcripts()[2]).text() == "ab");
  CHECK(decode(transcripts()[3]).text() == "cr");
  const auto think = decode(transcripts()[4]);
  CHECK(think.text() == "answer <think>");
  CHECK(told(think).find("thoughts=so it is ") != std::string::npos);
  CHECK(decode(transcripts()[6]).text() == "x");
  const auto refusal = decode(transcripts()[7]);
  CHECK(refusal.reply->reason == end_reason::refusal);
  CHECK(refusal.reply->message->raw.text() == R"({"role":"assistant","content":"","refusal":"I will not."})");
  CHECK(decode(stream({R"({"choices":[{"index":1,"delta":{"content":"no"}}]})", delta(R"({"content":"yes"})"),
                       finish("stop")}))
            .text() == "yes");
}

TEST_CASE("decoder: one JSON body instead of a stream is read, without what must not be echoed") {
  const auto d = decode(transcripts()[12]);
  REQUIRE(d.calls() == 1);
  CHECK(
      d.reply->message->raw.text() ==
      R"({"role":"assistant","content":"","tool_calls":[{"id":"a","type":"function","function":{"name":"x","arguments":"{}"}}]})");
  auto o = options();
  o.null_content = true;
  CHECK(decode(transcripts()[12], std::string_view::npos, o)
            .reply->message->raw.text()
            .starts_with(R"({"role":"assistant","content":null,)"));
}

TEST_CASE("decoder: no end mark is fine after a finish reason, and bytes after the end mark do not matter") {
  CHECK(decode(transcripts()[11]).reply);
  CHECK(decode(transcripts()[2]).reply);
  // Neither content nor an end: the last event may lack its empty line.
  CHECK(decode("data: " + delta(R"({"content":"a"})") + "\n\ndata: " + finish("stop")).reply);
}

TEST_CASE("openai-chat, errors: an answer without its end, with an error or with garbage is an error (G28)") {
  struct row {
    std::string bytes;
    kind type;
    std::string_view partial;
  };
  const auto half = delta(R"({"content":"half"})");
  const std::vector<row> rows{
      {stream({half}, false), kind::cut, "half"},
      {stream({half}), kind::cut, "half"},
      {stream({half}, false) + "data: {\"choices\":[{\"index\":0,\"del", kind::cut, "half"},
      {stream({half, R"({"error":{"message":"boom","type":"server_error"}})"}), kind::refused, "half"},
      {stream({half, R"({"error":"boom"})"}), kind::refused, "half"},
      {stream({half, R"({"object":"error","message":"boom","code":400})"}), kind::bad_request, "half"},
      {stream({half}, false) + "event: error\ndata: {\"error\":{\"message\":\"boom\"}}\n\n", kind::refused, "half"},
      {stream(
           {half,
            R"({"error":{"code":429,"message":"boom"},"choices":[{"index":0,"delta":{},"finish_reason":"error"}]})"}),
       kind::overloaded, "half"},
      {stream({half, R"({"choices":[{"index":0,"delta":{},"finish_reason":"error"}]})"}), kind::refused, "half"},
      {stream({half, "not JSON"}), kind::garbage, "half"},
      {R"({"error":{"message":"boom","type":"server_error"}})", kind::refused, ""},
      {R"({"error":{"message":"too long","code":"context_length_exceeded"}})", kind::context_full, ""},
      {R"({"choices":[{"index":0,"message":{"content":"ha)", kind::cut, ""},
      {R"({"hello":1})", kind::garbage, ""},
      {R"([])", kind::garbage, ""},
      {"<html>Bad gateway</html>", kind::garbage, ""},
      {"hello", kind::garbage, ""},
      {"", kind::cut, ""},
      {"data: [DONE]\n\n", kind::garbage, ""},
      {": keep-alive\n\n", kind::cut, ""},
  };
  for (const auto& r : rows) {
    CAPTURE(r.bytes);
    const auto d = decode(r.bytes);
    CHECK(d.ends == 1);
    REQUIRE(d.error);
    CHECK(d.error->type == r.type);
    CHECK(d.error->partial_text == r.partial);
    CHECK(d.error->message.find("model \"m\" at api.example.com") != std::string::npos);
  }
}

TEST_CASE("G33: an event that is too large stops the answer, with the limit and what helps") {
  const auto d = decode(stream({delta(R"({"content":"half"})")}, false) + "data: " + std::string(9U << 20, 'x'));
  REQUIRE(d.error);
  CHECK(d.error->type == kind::garbage);
  CHECK(d.error->partial_text == "half");
  CHECK(d.error->message.ends_with(
      "sent one event of more than 8 MiB, so its answer was stopped. Ask for less at once."));
}

TEST_CASE("decoder: a stream that never says how much it counted is estimated") {
  const auto d = decode(transcripts()[1]);
  CHECK(d.reply->usage.estimated);
  CHECK(d.reply->usage.output > 0);
}

TEST_CASE("L8: a stream that counts nothing in its usage is estimated too") {
  const auto d = decode(stream({delta(R"({"content":"some words"})"), finish("stop"),
                                R"({"choices":[],"usage":{"prompt_tokens":0,"completion_tokens":0}})"}));
  REQUIRE(d.reply);
  CHECK(d.reply->usage.estimated);
  CHECK(d.reply->usage.output > 0);
}

}  // namespace decoder_tests
