// Answers in the form of the Messages API: the order of events, contiguous blocks, stop reasons and errors.
#include "daemon/front/messages/message_writer.hpp"

#include "daemon/front/messages/messages_error.hpp"
#include "mcp/json/raw_json.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace mcpbx;
using namespace mcpbx::daemon::dialects;
using namespace mcpbx::daemon::messages;
using namespace mcpbx::json;

// A name of its own, since several sources of these tests are compiled as one.
namespace mcpbx::test::message_writing {

message_writer writer(bool thinking = true) {
  message_writer w(thinking);
  w.name({"msg_1", "m", 5});
  return w;
}

// The names of a stream's events with their index and what tells them apart.
std::string outline(const std::string& stream) {
  std::string all;
  std::size_t at = 0;
  while ((at = stream.find("data: ", at)) != std::string::npos) {
    const auto end = stream.find("\n\n", at);
    const auto data = raw_json::parse(stream.substr(at + 6, end - at - 6));
    REQUIRE(data.has_value());
    const auto type = member_text(*data, "type");
    REQUIRE(stream.substr(0, at).ends_with("event: " + type + "\n"));
    all += type + " " + std::string(find_member(*data, "index").text());
    all += std::string(find_member(*data, "delta").text()) + std::string(find_member(*data, "content_block").text()) +
           "\n";
    at = end;
  }
  return all;
}

run_outcome with_finish(std::string finish) {
  run_outcome o;
  o.finish = std::move(finish);
  o.used.input = 10;
  o.used.cached = 4;
  o.used.output = 2;
  return o;
}

TEST_CASE("D2: messages: a stream has one block after the other, each round's text its own, and ends with the usage") {
  auto w = writer();
  std::string out;
  w.begin(out);
  CHECK(out.contains(R"("message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],)"));
  out.clear();
  w.reasoning(out, "hm");
  w.text(out, "a", false);
  w.text(out, "b", false);
  w.keep_alive(out);
  w.text(out, "c", true);
  auto o = with_finish("tool_calls");
  o.calls.push_back({"c1", "mine", R"({"n":1})"});
  o.calls.push_back({"c2", "mine", ""});
  w.end(out, o);
  CHECK(outline(out) == R"(content_block_start 0{"type":"thinking","thinking":"","signature":""}
content_block_delta 0{"type":"thinking_delta","thinking":"hm"}
content_block_delta 0{"type":"signature_delta","signature":"mcpbx"}
content_block_stop 0
content_block_start 1{"type":"text","text":""}
content_block_delta 1{"type":"text_delta","text":"a"}
content_block_delta 1{"type":"text_delta","text":"b"}
ping 
content_block_stop 1
content_block_start 2{"type":"text","text":""}
content_block_delta 2{"type":"text_delta","text":"c"}
content_block_stop 2
content_block_start 3{"type":"tool_use","id":"c1","name":"mine","input":{}}
content_block_delta 3{"type":"input_json_delta","partial_json":"{\"n\":1}"}
content_block_stop 3
content_block_start 4{"type":"tool_use","id":"c2","name":"mine","input":{}}
content_block_delta 4{"type":"input_json_delta","partial_json":"{}"}
content_block_stop 4
message_delta {"stop_reason":"tool_use","stop_sequence":null}
message_stop 
)");
  CHECK(out.contains(R"("usage":{"input_tokens":6,"cache_creation_input_tokens":0,"cache_read_input_tokens":4,)"
                     R"("output_tokens":2})"));
}

TEST_CASE("D2: messages: reasoning that was not asked for is nowhere in the answer") {
  auto w = writer(false);
  std::string out;
  w.reasoning(out, "secret");
  CHECK(out.empty());
  CHECK_FALSE(w.body({{"so"}, "secret"}, with_finish("stop")).contains("secret"));
}

TEST_CASE("D2: messages: a whole answer has thinking, texts and calls, and its stop reason") {
  auto o = with_finish("tool_calls");
  o.calls.push_back({"c1", "mine", R"({"n":1})"});
  CHECK(
      writer().body({{"a", "b"}, "hm"}, o) ==
      R"({"id":"msg_1","type":"message","role":"assistant","model":"m","content":[)"
      R"({"type":"thinking","thinking":"hm","signature":"mcpbx"},{"type":"text","text":"a"},{"type":"text","text":"b"},)"
      R"({"type":"tool_use","id":"c1","name":"mine","input":{"n":1}}],"stop_reason":"tool_use","stop_sequence":null,)"
      R"("usage":{"input_tokens":6,"cache_creation_input_tokens":0,"cache_read_input_tokens":4,"output_tokens":2}})");
  CHECK(writer().body({}, with_finish("stop")).contains(R"("content":[],"stop_reason":"end_turn")"));
  CHECK(writer().body({}, with_finish("length")).contains(R"("stop_reason":"max_tokens")"));
  auto refused = with_finish("content_filter");
  refused.refusal = "no";
  CHECK(
      writer()
          .body({}, refused)
          .contains(
              R"("stop_reason":"refusal","stop_sequence":null,"stop_details":{"type":"refusal","category":null,"explanation":"no"})"));
}

TEST_CASE("D2: messages: errors have the type of their status, also inside of a stream") {
  CHECK(messages_error_body({400, "x: bad", "x", ""}) ==
        R"({"type":"error","error":{"type":"invalid_request_error","message":"x: bad","param":"x"}})");
  for (const auto& [status, word] :
       {std::pair{401, "authentication_error"}, std::pair{403, "permission_error"}, std::pair{404, "not_found_error"},
        std::pair{413, "request_too_large"}, std::pair{429, "rate_limit_error"}, std::pair{500, "api_error"},
        std::pair{502, "api_error"}, std::pair{503, "overloaded_error"}, std::pair{504, "timeout_error"},
        std::pair{415, "invalid_request_error"}})
    CHECK(messages_error_type(status) == word);
  std::string out;
  writer().broken(out, {503, "busy", "", ""});
  CHECK(out ==
        "event: error\ndata: "
        R"({"type":"error","error":{"type":"overloaded_error","message":"busy"}})"
        "\n\n");
}

}  // namespace mcpbx::test::message_writing
