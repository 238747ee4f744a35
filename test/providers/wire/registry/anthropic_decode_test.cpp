// Answers of the Messages API: every split gives the same, blocks go back as they came, and an answer without its end
// is an error.
#include "providers/wire/registry/registry.hpp"
#include "test/providers/wire/decode.hpp"

#include <doctest/doctest.h>

namespace anthropic_decode_tests {

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::test;
using mcpbx::providers::end_reason;
using kind = providers::model_error::kind;

std::string event(std::string_view name, std::string_view more = "") {
  return "event: " + std::string(name) + "\ndata: {\"type\":\"" + std::string(name) + "\"" + std::string(more) +
         "}\n\n";
}
std::string begin(std::string_view used = R"({"input_tokens":5,"output_tokens":1})") {
  return event("message_start",
               R"(,"message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"usage":)" +
                   std::string(used) + "}");
}
std::string open(int index, std::string_view block) {
  return event("content_block_start",
               R"(,"index":)" + std::to_string(index) + R"(,"content_block":)" + std::string(block));
}
std::string more(int index, std::string_view delta) {
  return event("content_block_delta", R"(,"index":)" + std::to_string(index) + R"(,"delta":)" + std::string(delta));
}
std::string close(int index) {
  return event("content_block_stop", R"(,"index":)" + std::to_string(index));
}
std::string stop(std::string_view reason, std::string_view extra = "") {
  return event("message_delta", R"(,"delta":{"stop_reason":")" + std::string(reason) + "\"" + std::string(extra) +
                                    R"(},"usage":{"output_tokens":7})") +
         event("message_stop");
}
std::string text_block(int index, std::string_view text) {
  return open(index, R"({"type":"text","text":""})") +
         more(index, R"({"type":"text_delta","text":)" + json_quoted(text) + "}") + close(index);
}
std::string tool(int index, std::string_view id, std::string_view name, const std::vector<std::string>& parts) {
  auto all = open(index, R"({"type":"tool_use","id":")" + std::string(id) + R"(","name":")" + std::string(name) +
                             R"(","input":{}})");
  for (const auto& p : parts)
    all += more(index, R"({"type":"input_json_delta","partial_json":)" + json_quoted(p) + "}");
  return all + close(index);
}
decoded run(std::string_view bytes, const providers::model_request* request = nullptr) {
  return decode_as("anthropic", bytes, std::string_view::npos, options(), request);
}
std::string raw(const decoded& d) {
  return std::string(d.reply->message->raw.text());
}

const std::string thinking = open(0, R"({"type":"thinking","thinking":"","signature":""})") +
                             more(0, R"({"type":"thinking_delta","thinking":"so \ud83d"})") +
                             more(0, R"({"type":"thinking_delta","thinking":"\ude00 \"it\" is"})") +
                             more(0, R"({"type":"signature_delta","signature":"Ab\/9=="})") + close(0);

const std::vector<std::string>& transcripts() {
  static const std::vector<std::string> all{
      begin() + event("ping") + text_block(0, "Hello wörld") + stop("end_turn"),
      begin() + thinking + open(1, R"({"type":"redacted_thinking","data":"cmVk"})") + close(1) +
          text_block(2, "I look.") + tool(3, "toolu_1", "add", {"", "{\"a\":", " 1}"}) + tool(4, "toolu_2", "now", {}) +
          stop("tool_use"),
      begin() + text_block(0, "half"),
      begin() + text_block(0, "half") +
          "event: error\ndata: "
          "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n",
      begin() + tool(0, "toolu_1", "add", {"{\"a\":1}"}) + tool(1, "toolu_2", "add", {"{\"a\":"}) + stop("max_tokens"),
      begin() + text_block(0, "a") +
          open(1, R"({"type":"server_tool_use","id":"srv_1","name":"web_search","input":{}})") +
          more(1, R"({"type":"input_json_delta","partial_json":"{\"query\":\"x\"}"})") + close(1) +
          open(2, R"({"type":"web_search_tool_result","tool_use_id":"srv_1","content":[{"u": 1}]})") + close(2) +
          stop("pause_turn"),
      begin() + event("something_new", R"(,"x":{"y":[1,2]})") + "event: ping\ndata: : keepalive\n\n" +
          open(0, R"({"type":"text","text":"","citations":null})") +
          more(0, R"({"type":"citations_delta","citation":{"type":"page_location","n":1}})") +
          more(0, R"({"type":"text_delta","text":"cited"})") + more(0, R"({"type":"newer_delta","what":1})") +
          more(0, R"({"type":"citations_delta","citation":{"type":"page_location","n":2}})") + close(0) +
          stop("stop_sequence", R"(,"stop_sequence":"X")"),
      begin() + stop("refusal", R"(,"stop_details":{"category":"x","explanation":"Not this."})"),
      R"( {"id":"msg_1","type":"message","role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"},{"type":"text","text":"whole"},{"type":"tool_use","id":"toolu_1","name":"add","input":{"a": 1}}],"stop_reason":"tool_use","usage":{"input_tokens":3,"output_tokens":4}})",
      R"({"type":"error","error":{"type":"invalid_request_error","message":"no"}})",
      "<html>no</html>",
      "hello",
      "",
      "data: {\"type\":\"message_stop\"}\n\n",
      begin() + "data: {\"type\":\"content_blo",
      begin() + "data: not json\n\n",
      R"({"type":"message","content":[{"ty)"};
  return all;
}

TEST_CASE("anthropic, streaming: every split down to one byte tells the same") {
  for (const auto& t : transcripts()) {
    CAPTURE(t);
    CHECK(differing_split("anthropic", t) == "");
  }
}

TEST_CASE("anthropic, streaming: text, usage and the message that goes back") {
  const auto d = run(
      begin(R"({"input_tokens":5,"cache_read_input_tokens":100,"cache_creation_input_tokens":20,"output_tokens":1})") +
      text_block(0, "Hello") + text_block(1, " you") + stop("end_turn"));
  REQUIRE(d.reply);
  CHECK(d.text() == "Hello you");
  CHECK(d.reply->reason == end_reason::stop);
  CHECK(d.reply->raw_reason == "end_turn");
  CHECK(d.reply->usage.input == 125);
  CHECK(d.reply->usage.cached == 100);
  CHECK(d.reply->usage.cache_write == 20);
  CHECK(d.reply->usage.output == 7);  // cumulative: the last one counts
  CHECK_FALSE(d.reply->usage.estimated);
  CHECK(raw(d) == R"({"role":"assistant","content":[{"type":"text","text":"Hello"},{"type":"text","text":" you"}]})");
  CHECK(d.reply->message->origin == providers::origin{"anthropic", "https://api.example.com/v1", "m"});
}

TEST_CASE("anthropic, reasoning echo: thinking and redacted thinking go back with their signature, in their order") {
  const auto d = run(transcripts()[1]);
  REQUIRE(d.calls() == 2);
  CHECK(d.thoughts.size() == 2);
  CHECK(
      raw(d) ==
      "{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"so \xF0\x9F\x98\x80 \\\"it\\\" "
      "is\",\"signature\":\"Ab\\/9==\"},"
      R"({"type":"redacted_thinking","data":"cmVk"},{"type":"text","text":"I look."},)"
      R"({"type":"tool_use","id":"toolu_1","name":"add","input":{"a": 1}},{"type":"tool_use","id":"toolu_2","name":"now","input":{}}]})");
  const auto* thought = std::get_if<providers::reasoning_block>(&d.reply->message->blocks.front());
  REQUIRE(thought);
  CHECK(thought->text == "so \xF0\x9F\x98\x80 \"it\" is");
  CHECK(d.reply->message->text() == "I look.");
}

TEST_CASE("anthropic, reasoning echo: thinking whose text is left out keeps its signature") {
  const auto d = run(begin() + open(0, R"({"type":"thinking","thinking":"","signature":""})") +
                     more(0, R"({"type":"signature_delta","signature":"sig"})") + close(0) + text_block(1, "a") +
                     stop("end_turn"));
  CHECK(raw(d).starts_with(
      R"({"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"sig"},{"type":"text")"));
}

TEST_CASE("anthropic, parallel calls: each has its block, arguments in pieces and none at all") {
  const auto d = run(transcripts()[1]);
  REQUIRE(d.calls() == 2);
  CHECK(d.reply->reason == end_reason::tool_calls);
  CHECK(d.call(0).id == "toolu_1");
  CHECK(d.call(0).name == "add");
  CHECK(d.call(0).arguments.text() == R"({"a": 1})");
  CHECK(d.call(1).arguments.text() == "{}");
  // Interleaved deltas belong to their index.
  const auto mixed =
      run(begin() + open(0, R"({"type":"tool_use","id":"a","name":"x","input":{}})") +
          open(1, R"({"type":"tool_use","id":"b","name":"y","input":{}})") +
          more(0, R"({"type":"input_json_delta","partial_json":"{\"p\""})") +
          more(1, R"({"type":"input_json_delta","partial_json":"{\"q\":2}"})") +
          more(0, R"({"type":"input_json_delta","partial_json":":1}"})") + close(0) + close(1) + stop("end_turn"));
  REQUIRE(mixed.calls() == 2);
  CHECK(mixed.call(0).arguments.text() == R"({"p":1})");
  CHECK(mixed.call(1).arguments.text() == R"({"q":2})");
  CHECK(mixed.reply->reason == end_reason::tool_calls);
}

TEST_CASE("anthropic: ids that are missing, double, taken or not usable are made, and go back made") {
  providers::model_request request;
  auto earlier = std::make_shared<providers::message>();
  earlier->role = providers::role::assistant;
  earlier->blocks.emplace_back(providers::tool_call_block{"old", "", "x", raw_json::literal("{}"), "{}", ""});
  request.messages.push_back(earlier);
  const auto d = run(begin() + tool(0, "", "x", {}) + tool(1, "z", "x", {}) + tool(2, "z", "x", {}) +
                         tool(3, "old", "x", {}) + tool(4, "a|b", "x", {}) + stop("tool_use"),
                     &request);
  REQUIRE(d.calls() == 5);
  CHECK(d.call(0).id == "call00001");
  CHECK(d.call(1).id == "z");
  CHECK(d.call(2).id == "call00002");
  CHECK(d.call(3).id == "call00003");
  CHECK(d.call(4).id == "call00004");
  CHECK(d.call(4).provider_id == "a|b");
  for (std::size_t i = 0; i < 5; ++i) CHECK(raw(d).find("\"id\":\"" + d.call(i).id + "\"") != std::string::npos);
  CHECK(raw(d).find("a|b") == std::string::npos);
}

TEST_CASE("G29: anthropic: the call that the model was writing when it was cut off is left out, those before it stay") {
  const auto d = run(transcripts()[4]);
  REQUIRE(d.calls() == 1);
  CHECK(d.call(0).id == "toolu_1");
  CHECK(d.reply->reason == end_reason::length);
  CHECK(raw(d).find("toolu_2") == std::string::npos);
  for (const auto* reason : {"refusal", "model_context_window_exceeded"})
    CHECK(run(begin() + tool(0, "a", "x", {"{}"}) + stop(reason)).calls() == 0);
}

TEST_CASE("G29: anthropic: arguments that are no object are told to the model, and go back as an object") {
  const auto d = run(begin() + tool(0, "a", "x", {"{\"p\": \"hel"}) + stop("tool_use"));
  REQUIRE(d.calls() == 1);
  CHECK(d.call(0).arguments.empty());
  CHECK(d.call(0).problem.find("one JSON object") != std::string::npos);
  CHECK(raw(d).find(R"("input":{"unreadable_arguments":"{\"p\": \"hel"})") != std::string::npos);
}

TEST_CASE("G29: anthropic: a call whose block never ends is told to the model, unless all of its arguments came") {
  const auto open_call = [](std::string_view input) {
    return begin() + open(0, R"({"type":"tool_use","id":"a","name":"x","input":)" + std::string(input) + "}");
  };
  const auto piece = [](std::string_view json) {
    return more(0, R"({"type":"input_json_delta","partial_json":)" + json_quoted(json) + "}");
  };
  for (const auto& bytes : {open_call("{}"), open_call("{}") + piece(""), open_call("{}") + piece("{\"p\": 1")}) {
    CAPTURE(bytes);
    const auto d = run(bytes + stop("tool_use"));
    REQUIRE(d.calls() == 1);
    CHECK(d.call(0).arguments.empty());
    CHECK(d.call(0).problem.find("broken off") != std::string::npos);
    CHECK(raw(d).find("unreadable_arguments") != std::string::npos);
  }
  CHECK(run(open_call("{}") + piece("{\"p\":1}") + stop("tool_use")).call(0).arguments.text() == R"({"p":1})");
  CHECK(run(open_call(R"({"p":1})") + stop("tool_use")).call(0).arguments.text() == R"({"p":1})");
  // The end alone says that there are none.
  CHECK(run(open_call("{}") + close(0) + stop("tool_use")).call(0).arguments.text() == "{}");
  CHECK(run(R"({"content":[{"type":"tool_use","id":"a","name":"x","input":{}}],"stop_reason":"tool_use"})")
            .call(0)
            .problem == "");
}

TEST_CASE("anthropic: a paused turn goes back as it came, with the provider's own tools") {
  const auto d = run(transcripts()[5]);
  REQUIRE(d.reply);
  CHECK(d.reply->reason == end_reason::pause);
  CHECK(d.calls() == 0);
  CHECK(
      raw(d) ==
      R"({"role":"assistant","content":[{"type":"text","text":"a"},{"type":"server_tool_use","id":"srv_1","name":"web_search","input":{"query":"x"}},)"
      R"({"type":"web_search_tool_result","tool_use_id":"srv_1","content":[{"u": 1}]}]})");
}

TEST_CASE(
    "anthropic, stop sequences: a stop sequence ends the answer, and citations and unknown events are kept or "
    "skipped") {
  const auto d = run(transcripts()[6]);
  REQUIRE(d.reply);
  CHECK(d.reply->reason == end_reason::stop);
  CHECK(d.reply->raw_reason == "stop_sequence");
  CHECK(
      raw(d) ==
      R"({"role":"assistant","content":[{"type":"text","text":"cited","citations":[{"type":"page_location","n":1},{"type":"page_location","n":2}]}]})");
}

TEST_CASE("anthropic: a refusal is one, with its explanation") {
  const auto d = run(transcripts()[7]);
  REQUIRE(d.reply);
  CHECK(d.reply->reason == end_reason::refusal);
  const auto* refusal = std::get_if<providers::refusal_block>(&d.reply->message->blocks.back());
  REQUIRE(refusal);
  CHECK(refusal->text == "Not this.");
  CHECK(d.reply->message->raw.empty());
}

TEST_CASE("anthropic: what the API refuses to take back is left out: empty texts, thoughts that stand last") {
  const auto d = run(begin() + open(0, R"({"type":"text","text":""})") + close(0) + text_block(1, "a") +
                     open(2, R"({"type":"thinking","thinking":"t","signature":"s"})") + close(2) + stop("max_tokens"));
  CHECK(raw(d) == R"({"role":"assistant","content":[{"type":"text","text":"a"}]})");
  CHECK(run(begin() + thinking + stop("max_tokens")).reply->message->raw.empty());
}

TEST_CASE("anthropic: blanks beside a call are text to the caller and not taken back by the API") {
  const auto d = run(begin() + text_block(0, "\n\n") +
                     open(1, R"({"type":"tool_use","id":"a","name":"x","input":{}})") + close(1) + stop("tool_use"));
  CHECK(d.text() == "\n\n");
  CHECK(d.reply->message->text() == "\n\n");
  CHECK(raw(d) == R"({"role":"assistant","content":[{"type":"tool_use","id":"a","name":"x","input":{}}]})");
}

TEST_CASE("anthropic: one JSON body instead of a stream is read") {
  const auto d = run(transcripts()[8]);
  REQUIRE(d.calls() == 1);
  CHECK(d.text() == "whole");
  CHECK(d.call(0).arguments.text() == R"({"a": 1})");
  CHECK(d.reply->usage.input == 3);
  CHECK(
      raw(d) ==
      R"({"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"},{"type":"text","text":"whole"},{"type":"tool_use","id":"toolu_1","name":"add","input":{"a": 1}}]})");
}

TEST_CASE(
    "anthropic: one JSON body whose content is null is an empty answer, and an error body without content an error") {
  const auto d = run(
      R"({"id":"msg_1","type":"message","role":"assistant","content":null,"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":0}})");
  REQUIRE(d.reply);
  CHECK(d.text() == "");
  CHECK(d.reply->reason == end_reason::stop);
  CHECK(run(R"({"type":"error","content":null,"error":{"type":"api_error","message":"no"}})").error);
  CHECK(run(R"({"content":null})").error);
  CHECK(run(R"({"type":"message","content":null})").error);
  CHECK(
      run(R"({"type":"message","content":null,"stop_reason":"end_turn","error":{"type":"overloaded_error","message":"x"}})")
          .error);
}

TEST_CASE("anthropic, streaming: an answer that its first event gives whole ends as that event says") {
  const auto whole = [](std::string_view reason) {
    return event("message_start",
                 R"(,"message":{"type":"message","role":"assistant","content":[{"type":"text","text":"I look."},)"
                 R"({"type":"tool_use","id":"a","name":"x","input":{"p":1}}],"stop_reason":)" +
                     std::string(reason) + R"(,"usage":{"input_tokens":3,"output_tokens":4}})");
  };
  const auto d = run(whole("\"tool_use\"") + event("message_stop"));
  REQUIRE(d.calls() == 1);
  CHECK(d.text() == "I look.");
  CHECK(d.call(0).arguments.text() == R"({"p":1})");
  CHECK(d.reply->reason == end_reason::tool_calls);
  CHECK(d.reply->raw_reason == "tool_use");
  CHECK(differing_split("anthropic", whole("\"tool_use\"") + event("message_stop")) == "");
  // G29: the call that it was writing when it was cut off is none.
  const auto cut = run(whole("\"max_tokens\"") + event("message_stop"));
  CHECK(cut.calls() == 0);
  CHECK(cut.reply->reason == end_reason::length);
  // A later value counts, and only message_stop confirms that the answer is complete.
  CHECK(run(whole("\"tool_use\"") + stop("end_turn")).reply->raw_reason == "end_turn");
  CHECK(run(whole("null") + stop("tool_use")).calls() == 1);
  for (const auto& bytes : {whole("\"tool_use\""), whole("null") + event("message_stop")}) {
    const auto broken = run(bytes);
    REQUIRE(broken.error);
    CHECK(broken.error->type == kind::cut);
  }
}

TEST_CASE("L8: anthropic: a stream that counts nothing is estimated") {
  const auto d = run(begin("{}") + open(0, R"({"type":"text","text":"some words"})") + close(0) +
                     event("message_delta", R"(,"delta":{"stop_reason":"end_turn"})") + event("message_stop"));
  REQUIRE(d.reply);
  CHECK(d.reply->usage.estimated);
}

TEST_CASE("anthropic, errors: an answer without its end, with an error or with garbage is an error (G28)") {
  struct row {
    std::string bytes;
    kind type;
    std::string_view partial;
  };
  const auto half = begin() + text_block(0, "half");
  for (const auto& r : std::vector<row>{
           {half, kind::cut, "half"},
           {half + event("message_delta", R"(,"delta":{"stop_reason":"end_turn"})"), kind::cut, "half"},
           {half + "data: [DONE]\n\n", kind::cut, "half"},
           {half + event("message_stop"), kind::cut, "half"},
           {half + "data: {\"type\":\"message_st", kind::cut, "half"},
           {half + "data: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"x\"}}\n\n",
            kind::overloaded, "half"},
           {transcripts()[3], kind::overloaded, "half"},
           {half + "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"x\"}}\n\n",
            kind::refused, "half"},
           {half + "data: not JSON\n\n", kind::garbage, "half"},
           {R"({"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 5 tokens"}})",
            kind::context_full, ""},
           {R"({"type":"error","error":{"type":"authentication_error","message":"x"}})", kind::bad_request, ""},
           {R"({"hello":1})", kind::garbage, ""},
           {"<html>Bad gateway</html>", kind::garbage, ""},
           {"hello", kind::garbage, ""},
           {"", kind::cut, ""},
           {"data: {\"type\":\"message_stop\"}\n\n", kind::garbage, ""},
       }) {
    CAPTURE(r.bytes);
    const auto d = run(r.bytes);
    CHECK(d.ends == 1);
    REQUIRE(d.error);
    CHECK(d.error->type == r.type);
    CHECK(d.error->partial_text == r.partial);
    CHECK(d.error->message.find("model \"m\" at api.example.com") != std::string::npos);
  }
}

TEST_CASE("anthropic, errors: statuses and bodies become kind, mend, and whether to ask again") {
  struct row {
    int status;
    std::string_view type, more;
    kind what;
    bool retryable;
  };
  for (const auto& r : std::vector<row>{
           {400, "invalid_request_error", "", kind::bad_request, false},
           {401, "authentication_error", "", kind::bad_request, false},
           {402, "billing_error", "", kind::bad_request, false},
           {403, "permission_error", "", kind::bad_request, false},
           {404, "not_found_error", "", kind::bad_request, false},
           {413, "request_too_large", "", kind::context_full, false},
           {429, "rate_limit_error", "", kind::overloaded, true},
           {429, "rate_limit_error", R"(,"details":{"error_code":"ramp_limit_exceeded"})", kind::overloaded, true},
           {429, "rate_limit_error", R"(,"details":{"error_code":"enforced_spend_limit_reached"})", kind::bad_request,
            false},
           {500, "api_error", "", kind::refused, true},
           {504, "timeout_error", "", kind::refused, true},
           {529, "overloaded_error", "", kind::overloaded, true}}) {
    CAPTURE(r.type);
    const auto body = R"({"type":"error","error":{"type":")" + std::string(r.type) + R"(","message":"Said so.")" +
                      std::string(r.more) + R"(},"request_id":"req_1"})";
    const auto e = providers::registry::find_codec("anthropic")->decode_error(r.status, body, options());
    CHECK(e.type == r.what);
    CHECK(e.retryable == r.retryable);
    CHECK(e.message.find("Said so. ") != std::string::npos);
  }
}

TEST_CASE("anthropic: blocks whose index is 0 for all, or in no event, are told apart by their order") {
  const auto transcript = begin() + text_block(0, "Hello") + tool(1, "a", "add", {"{\"n\":", "1}"}) +
                          tool(2, "b", "add", {"{\"n\":2}"}) + stop("tool_use");
  for (const std::string_view index : {",\"index\":0", ""}) {
    std::string odd = transcript;
    for (const std::string_view own : {",\"index\":0", ",\"index\":1", ",\"index\":2"})
      for (auto at = odd.find(own); at != odd.npos; at = odd.find(own, at + index.size()))
        odd.replace(at, own.size(), index);
    const auto d = run(odd);
    CHECK(d.text() == "Hello");
    REQUIRE(d.calls() == 2);
    CHECK(d.call(0).arguments.text() == R"({"n":1})");
    CHECK(d.call(1).arguments.text() == R"({"n":2})");
  }
}

TEST_CASE("G29: anthropic: a reason that is not known vetoes the last call and is no whole answer") {
  const auto d = run(begin() + tool(0, "a", "add", {"{}"}) + tool(1, "b", "add", {"{}"}) + stop("new_thing"));
  CHECK(d.calls() == 1);
  CHECK(d.reply->reason == end_reason::unknown);
  CHECK(d.reply->raw_reason == "new_thing");
}

TEST_CASE("anthropic: a flood of blocks is bounded") {
  std::string all = begin();
  for (int i = 0; i < 5000; ++i) all += open(i, R"({"type":"tool_use","id":"","name":"x","input":{}})");
  CHECK(run(all + stop("tool_use")).calls() == 4096);
}

}  // namespace anthropic_decode_tests
