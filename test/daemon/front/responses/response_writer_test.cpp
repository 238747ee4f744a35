// Answers in the form of the Responses API: the order of events and their numbers, items, ends and errors.
#include "daemon/front/responses/response_writer.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace mcpbx;
using namespace mcpbx::daemon::dialects;
using namespace mcpbx::daemon::responses;
using namespace mcpbx::json;

// A name of its own, since several sources of these tests are compiled as one.
namespace mcpbx::test::response_writing {

response_writer writer(bool reasoning = true) {
  response_writer w(R"("store":true)", reasoning);
  w.name({"resp_run_1", "m", 5});
  return w;
}

// The types of a stream's events with their output index and text. The numbers must rise by one.
std::string outline(const std::string& stream) {
  std::string all;
  std::size_t at = 0;
  std::int64_t number = 0;
  while ((at = stream.find("data: ", at)) != std::string::npos) {
    const auto end = stream.find("\n\n", at);
    const auto data = raw_json::parse(stream.substr(at + 6, end - at - 6));
    REQUIRE(data.has_value());
    const auto type = member_text(*data, "type");
    REQUIRE(stream.substr(0, at).ends_with("event: " + type + "\n"));
    REQUIRE(find_member(*data, "sequence_number").as_integer() == number++);
    all += type + " " + std::string(find_member(*data, "output_index").text());
    for (const auto* key : {"item_id", "delta", "text", "arguments"})
      if (const auto value = find_member(*data, key)) all += " " + std::string(value.text());
    all += "\n";
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

TEST_CASE("D2: responses: a stream has one item after the other and ends with the whole response") {
  auto w = writer();
  std::string out;
  w.begin(out);
  w.reasoning(out, "hm");
  w.text(out, "a", false);
  w.keep_alive(out);
  w.text(out, "b", false);
  w.text(out, "c", true);
  auto o = with_finish("tool_calls");
  o.calls.push_back({"c1", "mine", R"({"n":1})"});
  w.end(out, o);
  CHECK(outline(out) == R"(response.created 
response.in_progress 
response.output_item.added 0
response.reasoning_summary_part.added 0 "rs_run_1_0"
response.reasoning_summary_text.delta 0 "rs_run_1_0" "hm"
response.reasoning_summary_text.done 0 "rs_run_1_0" "hm"
response.reasoning_summary_part.done 0 "rs_run_1_0"
response.output_item.done 0
response.output_item.added 1
response.content_part.added 1 "msg_run_1_1"
response.output_text.delta 1 "msg_run_1_1" "a"
response.output_text.delta 1 "msg_run_1_1" "b"
response.output_text.done 1 "msg_run_1_1" "ab"
response.content_part.done 1 "msg_run_1_1"
response.output_item.done 1
response.output_item.added 2
response.content_part.added 2 "msg_run_1_2"
response.output_text.delta 2 "msg_run_1_2" "c"
response.output_text.done 2 "msg_run_1_2" "c"
response.content_part.done 2 "msg_run_1_2"
response.output_item.done 2
response.output_item.added 3
response.function_call_arguments.delta 3 "fc_run_1_3" "{\"n\":1}"
response.function_call_arguments.done 3 "fc_run_1_3" "{\"n\":1}"
response.output_item.done 3
response.completed 
)");
  CHECK(out.contains("\n\n: keep-alive\nevent: "));
  const auto items = w.take_items();
  REQUIRE(items.size() == 4);
  CHECK(items[3].first == "fc_run_1_3");
  CHECK(items[3].second.text() ==
        R"({"id":"fc_run_1_3","type":"function_call","status":"completed","arguments":"{\"n\":1}","call_id":"c1",)"
        R"("name":"mine"})");
}

TEST_CASE("D2: responses: a whole answer is the response, whose status tells why it is short") {
  CHECK(writer().body({{"a"}, ""}, with_finish("stop")) ==
        R"({"id":"resp_run_1","object":"response","created_at":5,"status":"completed","error":null,)"
        R"("incomplete_details":null,"model":"m","output":[{"id":"msg_run_1_0","type":"message","status":"completed",)"
        R"("role":"assistant","content":[{"type":"output_text","text":"a","annotations":[],"logprobs":[]}]}],)"
        R"("store":true,"usage":{"input_tokens":10,"input_tokens_details":{"cached_tokens":4},"output_tokens":2,)"
        R"("output_tokens_details":{"reasoning_tokens":0},"total_tokens":12}})");
  CHECK(writer()
            .body({}, with_finish("length"))
            .contains(R"("status":"incomplete","error":null,"incomplete_details":{"reason":"max_output_tokens"})"));
  CHECK(writer().body({}, with_finish("content_filter")).contains(R"({"reason":"content_filter"})"));
  auto refused = with_finish("content_filter");
  refused.refusal = "no";
  CHECK(writer().body({}, refused).contains(R"("content":[{"type":"refusal","refusal":"no"}])"));
  CHECK(writer().body({}, refused).contains(R"("status":"completed")"));
  CHECK(writer().body({{"a"}, "hm"}, with_finish("stop")).contains(R"({"type":"summary_text","text":"hm"})"));
  CHECK_FALSE(writer(false).body({{"a"}, "hm"}, with_finish("stop")).contains("hm"));
}

TEST_CASE("D2: responses: a refusal and a fault in a stream are events of their own") {
  auto w = writer();
  std::string out;
  auto refused = with_finish("content_filter");
  refused.refusal = "no";
  w.end(out, refused);
  CHECK(outline(out).contains("response.refusal.delta 0 \"msg_run_1_0\" \"no\"\nresponse.refusal.done 0"));
  auto b = writer();
  out.clear();
  b.text(out, "so", false);
  b.broken(out, {503, "busy", "", "overloaded"});
  CHECK(outline(out).ends_with("response.output_item.done 0\nerror \nresponse.failed \n"));
  CHECK(out.contains(R"("code":"overloaded","message":"busy","param":null})"));
  CHECK(out.contains(R"("status":"failed","error":{"code":"overloaded","message":"busy"})"));
}

}  // namespace mcpbx::test::response_writing
