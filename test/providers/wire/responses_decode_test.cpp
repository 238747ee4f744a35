// Answers of the Responses API: every split gives the same, items go back as they came, and only a terminal event says
// that all of it came.
#include "test/providers/wire/decode.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

namespace responses_decode_tests {

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::test;
using mcpbx::providers::end_reason;
using kind = providers::model_error::kind;

std::string event(std::string_view name, std::string_view more = "") {
  return "event: response." + std::string(name) + "\ndata: {\"type\":\"response." + std::string(name) +
         "\",\"sequence_number\":1" + std::string(more) + "}\n\n";
}
std::string at(int index, std::string_view more) {
  return R"(,"item_id":"item_)" + std::to_string(index) + R"(","output_index":)" + std::to_string(index) +
         std::string(more);
}
std::string added(int index, std::string_view item) {
  return event("output_item.added", R"(,"output_index":)" + std::to_string(index) + R"(,"item":)" + std::string(item));
}
std::string item_done(int index, std::string_view item) {
  return event("output_item.done", R"(,"output_index":)" + std::to_string(index) + R"(,"item":)" + std::string(item));
}
std::string begin() {
  return event("created", R"(,"response":{"id":"resp_1","object":"response","status":"in_progress","output":[]})") +
         event("in_progress", R"(,"response":{"id":"resp_1","status":"in_progress","output":[],"error":null})");
}
constexpr std::string_view used =
    R"("usage":{"input_tokens":9,"input_tokens_details":{"cached_tokens":4,"cache_write_tokens":2},"output_tokens":6,"output_tokens_details":{"reasoning_tokens":3},"total_tokens":15})";
std::string completed(std::string_view output = "[]") {
  return event("completed",
               R"(,"response":{"id":"resp_1","object":"response","status":"completed","error":null,"output":)" +
                   std::string(output) + "," + std::string(used) + "}");
}
std::string incomplete(std::string_view why) {
  return event("incomplete", R"(,"response":{"status":"incomplete","incomplete_details":{"reason":")" +
                                 std::string(why) + R"("},"output":[],)" + std::string(used) + "}");
}
std::string message_item(int index, std::string_view text) {
  return R"({"id":"item_)" + std::to_string(index) +
         R"(","type":"message","status":"completed","phase":"final_answer","role":"assistant","content":[{"type":"output_text","annotations":[],"text":)" +
         json_quoted(text) + "}]}";
}
std::string text(int index, const std::vector<std::string>& parts) {
  auto all = added(index, R"({"id":"item_)" + std::to_string(index) +
                              R"(","type":"message","status":"in_progress","role":"assistant","content":[]})");
  all += event("content_part.added", at(index, R"(,"content_index":0,"part":{"type":"output_text","text":""})"));
  std::string whole;
  for (const auto& p : parts) {
    whole += p;
    all += event("output_text.delta", at(index, R"(,"content_index":0,"delta":)" + json_quoted(p)));
  }
  all += event("output_text.done", at(index, R"(,"content_index":0,"text":)" + json_quoted(whole)));
  return all + item_done(index, message_item(index, whole));
}
std::string call_item(int index, std::string_view id, std::string_view name, std::string_view arguments,
                      std::string_view status = "completed") {
  return R"({"id":"item_)" + std::to_string(index) + R"(","type":"function_call","status":")" + std::string(status) +
         R"(","call_id":")" + std::string(id) + R"(","name":")" + std::string(name) + R"(","arguments":)" +
         json_quoted(arguments) + "}";
}
std::string call(int index, std::string_view id, std::string_view name, const std::vector<std::string>& parts) {
  auto all = added(index, call_item(index, id, name, "", "in_progress"));
  std::string whole;
  for (const auto& p : parts) {
    whole += p;
    all += event("function_call_arguments.delta", at(index, R"(,"delta":)" + json_quoted(p)));
  }
  all += event("function_call_arguments.done", at(index, R"(,"arguments":)" + json_quoted(whole)));
  return all + item_done(index, call_item(index, id, name, whole));
}
const std::string reasoning_item =
    R"({"id":"item_0","type":"reasoning","summary":[{"type":"summary_text","text":"so it is"}],"encrypted_content":"gAA\/=="})";
const std::string reasoning =
    added(0, R"({"id":"item_0","type":"reasoning","summary":[]})") +
    event("reasoning_summary_part.added", at(0, R"(,"summary_index":0,"part":{"type":"summary_text","text":""})")) +
    event("reasoning_summary_text.delta", at(0, R"(,"summary_index":0,"delta":"so \ud83d")")) +
    event("reasoning_summary_text.delta", at(0, R"(,"summary_index":0,"delta":"\ude00 it is")")) +
    event("reasoning_summary_part.added", at(0, R"(,"summary_index":1,"part":{"type":"summary_text","text":""})")) +
    event("reasoning_summary_text.delta", at(0, R"(,"summary_index":1,"delta":"or not")")) +
    item_done(0, reasoning_item);
decoded run(std::string_view bytes, const providers::model_request* request = nullptr) {
  return decode_as("openai-responses", bytes, std::string_view::npos, options(), request);
}
std::string raw(const decoded& d) {
  return std::string(d.reply->message->raw.text());
}

const std::vector<std::string>& transcripts() {
  static const std::vector<std::string> all{
      begin() + text(0, {"Hello ", "wörld"}) + completed(),
      begin() + reasoning + text(1, {"I look."}) + call(2, "call_1", "add", {"{\"a\":", " 1}"}) +
          call(3, "call_2", "now", {"{}"}) + completed(),
      begin() + text(0, {"half"}),
      begin() + text(0, {"half"}) +
          event("failed",
                R"(,"response":{"status":"failed","error":{"code":"server_error","message":"boom"},"output":[]})"),
      begin() + call(0, "call_1", "add", {"{}"}) + call(1, "call_2", "add", {"{\"a\":"}) +
          incomplete("max_output_tokens"),
      begin() + added(0, R"({"id":"item_0","type":"message","content":[]})") +
          event("refusal.delta", at(0, R"(,"delta":"Not ")")) + event("refusal.delta", at(0, R"(,"delta":"this.")")) +
          item_done(0, R"({"id":"item_0","type":"message","content":[{"type":"refusal","refusal":"Not this."}]})") +
          completed(),
      begin() + event("web_search_call.searching", at(0, "")) +
          item_done(0, R"({"id":"item_0","type":"web_search_call","status":"completed"})") + text(1, {"x"}) +
          event("brand_new.thing", R"(,"x":[1])") + completed() + "data: [DONE]\n\n",
      begin() + event("output_text.delta", R"(,"delta":"no ")") + event("output_text.delta", R"(,"delta":"index")") +
          completed(),
      R"({"id":"resp_1","object":"response","status":"completed","error":null,"incomplete_details":null,"output":[)" +
          message_item(0, "whole") + "," + call_item(1, "call_1", "add", "{\"a\": 1}") + "]," + std::string(used) + "}",
      R"({"error":{"message":"no","type":"invalid_request_error","code":null}})",
      "event: error\ndata: {\"type\":\"error\",\"code\":\"rate_limit_exceeded\",\"message\":\"slow "
      "down\",\"param\":null}\n\n",
      "<html>no</html>",
      "hello",
      "",
      "data: [DONE]\n\n",
      begin() + "data: {\"type\":\"response.comp",
      begin() + "data: not json\n\n"};
  return all;
}

TEST_CASE("openai-responses, streaming: every split down to one byte tells the same") {
  for (const auto& t : transcripts()) {
    CAPTURE(t);
    CHECK(differing_split("openai-responses", t) == "");
  }
}

TEST_CASE("openai-responses, streaming: text, usage and the items that go back") {
  const auto d = run(transcripts()[0]);
  REQUIRE(d.reply);
  CHECK(d.text() == "Hello wörld");
  CHECK(d.reply->reason == end_reason::stop);
  CHECK(d.reply->usage.input == 9);
  CHECK(d.reply->usage.cached == 4);
  CHECK(d.reply->usage.cache_write == 2);
  CHECK(d.reply->usage.output == 6);
  CHECK(d.reply->usage.reasoning == 3);
  CHECK_FALSE(d.reply->usage.estimated);
  CHECK(raw(d) == "[" + message_item(0, "Hello wörld") + "]");
  CHECK(d.reply->message->origin == providers::origin{"openai-responses", "https://api.example.com/v1", "m"});
}

TEST_CASE("openai-responses, reasoning echo: encrypted reasoning and phase go back unchanged, in their order") {
  const auto d = run(transcripts()[1]);
  REQUIRE(d.reply);
  CHECK(raw(d) == "[" + reasoning_item + "," + message_item(1, "I look.") + "," +
                      call_item(2, "call_1", "add", "{\"a\": 1}") + "," + call_item(3, "call_2", "now", "{}") + "]");
  const auto* thought = std::get_if<providers::reasoning_block>(&d.reply->message->blocks.front());
  REQUIRE(thought);
  CHECK(thought->text == "so \xF0\x9F\x98\x80 it is\n\nor not");
  CHECK(thought->opaque.text() == reasoning_item);
}

TEST_CASE("openai-responses, parallel calls: each item is a call, joined by its index") {
  const auto d = run(transcripts()[1]);
  REQUIRE(d.calls() == 2);
  CHECK(d.reply->reason == end_reason::tool_calls);
  CHECK(d.call(0).id == "call_1");
  CHECK(d.call(0).name == "add");
  CHECK(d.call(0).arguments.text() == R"({"a": 1})");
  CHECK(d.call(1).arguments.text() == "{}");
  const auto mixed = run(begin() + added(0, call_item(0, "a", "x", "")) + added(1, call_item(1, "b", "y", "")) +
                         event("function_call_arguments.delta", at(0, R"(,"delta":"{\"p\"")")) +
                         event("function_call_arguments.delta", at(1, R"(,"delta":"{\"q\":2}")")) +
                         event("function_call_arguments.delta", at(0, R"(,"delta":":1}")")) + completed());
  REQUIRE(mixed.calls() == 2);
  CHECK(mixed.call(0).arguments.text() == R"({"p":1})");
  CHECK(mixed.call(1).arguments.text() == R"({"q":2})");
  CHECK(raw(mixed) == "[" + call_item(0, "a", "x", R"({"p":1})") + "," + call_item(1, "b", "y", R"({"q":2})") + "]");
}

TEST_CASE("openai-responses: what a server left out of its stream is taken from the terminal event") {
  const auto d = run(begin() + completed("[" + message_item(0, "all") + "," + call_item(1, "a", "x", "{}") + "]"));
  REQUIRE(d.calls() == 1);
  CHECK(d.text() == "all");
  CHECK(raw(d) == "[" + message_item(0, "all") + "," + call_item(1, "a", "x", "{}") + "]");
  CHECK(run(transcripts()[7]).text() == "no index");
  // Text that came as deltas is not repeated.
  CHECK(run(begin() + text(0, {"once"}) + completed("[" + message_item(0, "once") + "]")).text() == "once");
}

TEST_CASE("openai-responses: ids that are missing, double or taken are made, and go back made") {
  providers::model_request request;
  auto earlier = std::make_shared<providers::message>();
  earlier->role = providers::role::assistant;
  earlier->blocks.emplace_back(providers::tool_call_block{"old", "", "x", raw_json::literal("{}"), "{}", ""});
  request.messages.push_back(earlier);
  const auto d = run(begin() + call(0, "", "x", {"{}"}) + call(1, "z", "x", {"{}"}) + call(2, "z", "x", {"{}"}) +
                         call(3, "old", "x", {"{}"}) + completed(),
                     &request);
  REQUIRE(d.calls() == 4);
  CHECK(d.call(0).id == "call00001");
  CHECK(d.call(1).id == "z");
  CHECK(d.call(2).id == "call00002");
  CHECK(d.call(3).id == "call00003");
  for (std::size_t i = 0; i < 4; ++i) CHECK(raw(d).find("\"call_id\":\"" + d.call(i).id + "\"") != std::string::npos);
}

TEST_CASE("G29: openai-responses: the call that the model was writing when it was stopped is left out") {
  for (const auto* why : {"max_output_tokens", "content_filter"}) {
    const auto d = run(begin() + call(0, "call_1", "add", {"{}"}) + call(1, "call_2", "add", {"{}"}) + incomplete(why));
    REQUIRE(d.calls() == 1);
    CHECK(d.call(0).id == "call_1");
    CHECK(raw(d).find("call_2") == std::string::npos);
    CHECK(d.reply->reason == (std::string_view(why) == "content_filter" ? end_reason::filter : end_reason::length));
  }
  // Reasoning does not go back without the item that it belongs to.
  const auto alone = run(begin() + reasoning + call(1, "call_1", "add", {"{}"}) + incomplete("max_output_tokens"));
  CHECK(alone.calls() == 0);
  CHECK(alone.reply->message->raw.empty());
  // A call that was never done, when the answer was cut.
  CHECK(run(begin() + added(0, call_item(0, "a", "x", "{}", "in_progress")) + text(1, {"t"}) +
            incomplete("max_output_tokens"))
            .calls() == 0);
}

TEST_CASE("G29: openai-responses: arguments that are no object are told to the model, and go back readable") {
  const auto d = run(begin() + call(0, "a", "x", {"{\"p\": \"hel"}) + completed());
  REQUIRE(d.calls() == 1);
  CHECK(d.call(0).arguments.empty());
  CHECK(d.call(0).problem.find("one JSON object") != std::string::npos);
  CHECK(raw(d).find(R"("arguments":"{\"unreadable_arguments\":\"{\\\"p\\\": \\\"hel\"}")") != std::string::npos);
}

TEST_CASE("G29: openai-responses: a call that is never done is told to the model, unless all of its arguments came") {
  const auto begun = begin() + added(0, call_item(0, "a", "x", "", "in_progress"));
  const auto piece = [](std::string_view json) {
    return event("function_call_arguments.delta", at(0, R"(,"delta":)" + json_quoted(json)));
  };
  for (const auto& bytes : {begun, begun + piece(""), begun + piece("{\"p\": 1"),
                            begun + item_done(0, call_item(0, "a", "x", "", "incomplete"))}) {
    CAPTURE(bytes);
    const auto d = run(bytes + completed());
    REQUIRE(d.calls() == 1);
    CHECK(d.call(0).arguments.empty());
    CHECK(d.call(0).problem.find("broken off") != std::string::npos);
    CHECK(raw(d).find("unreadable_arguments") != std::string::npos);
  }
  CHECK(run(begun + piece("{\"p\":1}") + completed()).call(0).arguments.text() == R"({"p":1})");
  const auto whole = begin() + added(0, call_item(0, "a", "x", R"({"p":1})", "in_progress"));
  CHECK(run(whole + completed()).call(0).arguments.text() == R"({"p":1})");
  // The end alone says that there are none.
  CHECK(run(begun + event("function_call_arguments.done", at(0, R"(,"arguments":"")")) + completed())
            .call(0)
            .arguments.text() == "{}");
  CHECK(run(begun + item_done(0, call_item(0, "a", "x", "")) + completed()).call(0).arguments.text() == "{}");
}

TEST_CASE("openai-responses: a refusal is one, and vetoes a call") {
  const auto d = run(transcripts()[5]);
  REQUIRE(d.reply);
  CHECK(d.reply->reason == end_reason::refusal);
  const auto* refusal = std::get_if<providers::refusal_block>(&d.reply->message->blocks.back());
  REQUIRE(refusal);
  CHECK(refusal->text == "Not this.");
  const auto both =
      run(begin() + item_done(0, R"({"id":"i","type":"message","content":[{"type":"refusal","refusal":"No."}]})") +
          call(1, "a", "x", {"{}"}) + completed());
  CHECK(both.calls() == 0);
  CHECK(both.reply->reason == end_reason::refusal);
}

TEST_CASE("openai-responses: a message that was cut off goes back as words, not as an item that it never became") {
  const auto d = run(begin() + event("output_text.delta", R"(,"output_index":0,"delta":"Hel")") +
                     event("output_text.delta", R"(,"output_index":0,"delta":"lo")") + incomplete("max_output_tokens"));
  REQUIRE(d.reply);
  CHECK(d.reply->reason == end_reason::length);
  CHECK(raw(d) == R"([{"type":"message","role":"assistant","content":"Hello"}])");
}

TEST_CASE("openai-responses: items of the provider's own tools are kept for it, unknown events are skipped") {
  const auto d = run(transcripts()[6]);
  REQUIRE(d.reply);
  CHECK(raw(d) == R"([{"id":"item_0","type":"web_search_call","status":"completed"},)" + message_item(1, "x") + "]");
}

TEST_CASE("openai-responses: one JSON body instead of a stream is read") {
  const auto d = run(transcripts()[8]);
  REQUIRE(d.calls() == 1);
  CHECK(d.text() == "whole");
  CHECK(d.reply->reason == end_reason::tool_calls);
  CHECK(d.reply->usage.input == 9);
}

TEST_CASE("L8: openai-responses: a stream that counts nothing is estimated") {
  const auto d = run(begin() + text(0, {"some words"}) + event("completed", R"(,"response":{"status":"completed"})"));
  REQUIRE(d.reply);
  CHECK(d.reply->usage.estimated);
}

TEST_CASE("openai-responses, errors: an answer without its end, with an error or with garbage is an error (G28)") {
  struct row {
    std::string bytes;
    kind type;
    std::string_view partial;
  };
  const auto half = begin() + text(0, {"half"});
  const auto failed = [&](std::string_view error) {
    return half + event("failed", R"(,"response":{"status":"failed","output":[],"error":)" + std::string(error) + "}");
  };
  for (const auto& r : std::vector<row>{
           {half, kind::cut, "half"},
           {half + "data: [DONE]\n\n", kind::cut, "half"},
           {half + "data: {\"type\":\"response.compl", kind::cut, "half"},
           {failed(R"({"code":"server_error","message":"boom"})"), kind::refused, "half"},
           {failed(R"({"code":"rate_limit_exceeded","message":"boom"})"), kind::overloaded, "half"},
           {failed(R"({"code":"context_length_exceeded","message":"boom"})"), kind::context_full, "half"},
           {failed(R"({"code":"invalid_prompt","message":"boom"})"), kind::bad_request, "half"},
           {failed("null"), kind::refused, "half"},
           {half + "data: {\"type\":\"error\",\"code\":\"server_error\",\"message\":\"boom\"}\n\n", kind::refused,
            "half"},
           {transcripts()[10], kind::overloaded, ""},
           {half + "data: not JSON\n\n", kind::garbage, "half"},
           {R"({"error":{"message":"boom","type":"server_error"}})", kind::refused, ""},
           {R"({"object":"response","status":"failed","error":{"code":"server_error","message":"boom"},"output":[]})",
            kind::refused, ""},
           {R"({"hello":1})", kind::garbage, ""},
           {"<html>Bad gateway</html>", kind::garbage, ""},
           {"hello", kind::garbage, ""},
           {"", kind::cut, ""},
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

// Ways of servers and proxies to count items, and to name them in the events.
struct numbering {
  std::string_view what;
  std::function<int(int place)> index;
  std::function<std::string(int place, int event)> id;
};
const std::vector<numbering> numberings = [] {
  const auto own_id = [](int place, int) { return "item_" + std::to_string(place); };
  const auto same = [](int place) { return place; };
  const auto none = [](int) { return -1; };
  const auto zero = [](int) { return 0; };
  return std::vector<numbering>{
      {"by the book", same, own_id},
      {"from 1", [](int place) { return place + 1; }, own_id},
      {"0 for all", zero, own_id},
      {"backwards", [](int place) { return 9 - place; }, own_id},
      {"none", none, own_id},
      {"from 1, without ids", [](int place) { return place + 1; }, [](int, int) { return ""; }},
      {"0 for all, without ids", zero, [](int, int) { return ""; }},
      {"none, without ids", none, [](int, int) { return ""; }},
      {"another id in each event", same,
       [](int place, int event) { return "x" + std::to_string(place) + "_" + std::to_string(event); }},
      {"another id in each event, 0 for all", zero,
       [](int place, int event) { return "x" + std::to_string(place) + "_" + std::to_string(event); }},
      {"the same id for all", same, [](int, int) { return "item"; }}};
}();

std::string numbered(const numbering& n, int place) {
  return n.index(place) < 0 ? std::string() : R"(,"output_index":)" + std::to_string(n.index(place));
}
std::string of_item(const numbering& n, int place, int event) {
  const auto id = n.id(place, event);
  return (id.empty() ? "" : R"(,"item_id":")" + id + "\"") + numbered(n, place);
}
std::string named_item(const numbering& n, int place, int event, std::string_view rest) {
  const auto id = n.id(place, event);
  return "{" + (id.empty() ? "" : R"("id":")" + id + "\",") + std::string(rest) + "}";
}

TEST_CASE("openai-responses: however items are counted and named, each is taken once and none is lost") {
  const std::string said =
      R"("type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"hello"}])";
  const auto called = [](std::string_view id, std::string_view arguments) {
    return R"("type":"function_call","status":"completed","call_id":")" + std::string(id) +
           R"(","name":"add","arguments":)" + json_quoted(arguments);
  };
  const std::vector<std::string> bodies{said, called("c1", R"({"n":1})"), called("c2", R"({"n":2})")};
  enum class final_list { none, in_order, another_order };
  for (const auto& n : numberings)
    for (const auto list : {final_list::none, final_list::in_order, final_list::another_order})
      for (const bool announced : {true, false}) {
        CAPTURE(n.what);
        CAPTURE(static_cast<int>(list));
        CAPTURE(announced);
        std::string all = begin();
        for (int place = 0; place < 3; ++place) {
          if (announced) {
            all +=
                event("output_item.added",
                      numbered(n, place) + R"(,"item":)" +
                          named_item(n, place, 1,
                                     place == 0 ? R"("type":"message","role":"assistant","content":[])"
                                                : R"("type":"function_call","name":"add","arguments":"","call_id":"c)" +
                                                      std::to_string(place) + "\""));
            if (place == 0)
              all += event("output_text.delta", of_item(n, place, 2) + R"(,"delta":"hel")") +
                     event("output_text.delta", of_item(n, place, 3) + R"(,"delta":"lo")");
            else
              all += event("function_call_arguments.delta",
                           of_item(n, place, 2) + R"(,"delta":"{\"n\":)" + std::to_string(place) + "\"") +
                     event("function_call_arguments.delta", of_item(n, place, 3) + R"(,"delta":"}")");
          }
          all += event("output_item.done", numbered(n, place) + R"(,"item":)" + named_item(n, place, 4, bodies[place]));
        }
        std::string output;
        const std::vector<int> order = list == final_list::none       ? std::vector<int>{}
                                       : list == final_list::in_order ? std::vector{0, 1, 2}
                                                                      : std::vector{2, 0, 1};
        for (const int place : order) output += (output.empty() ? "" : ",") + named_item(n, place, 5, bodies[place]);
        const auto d = run(all + completed("[" + output + "]"));
        REQUIRE(d.reply);
        CHECK(d.text() == "hello");
        std::vector<std::string> arguments;
        for (const auto* call : d.reply->message->calls())
          arguments.push_back(call->provider_id + std::string(call->arguments.text()));
        std::ranges::sort(arguments);
        CHECK(arguments == std::vector<std::string>{R"(c1{"n":1})", R"(c2{"n":2})"});
      }
}

TEST_CASE("openai-responses: a call that the deltas of another one interleave keeps its own arguments") {
  for (const auto& n : numberings) {
    if (n.id(0, 1) != n.id(0, 2) || n.id(0, 1) == n.id(1, 1)) continue;  // nothing would tell the two apart
    CAPTURE(n.what);
    std::string all = begin();
    for (int place = 0; place < 2; ++place)
      all += event("output_item.added",
                   numbered(n, place) + R"(,"item":)" +
                       named_item(n, place, 1,
                                  R"("type":"function_call","name":"add","arguments":"","call_id":"c)" +
                                      std::to_string(place) + "\""));
    for (const int place : {1, 0, 0, 1})
      all += event("function_call_arguments.delta",
                   of_item(n, place, 2) + R"(,"delta":)" + json_quoted(std::to_string(place)));
    for (const int place : {0, 1})
      all += event(
          "output_item.done",
          numbered(n, place) + R"(,"item":)" +
              named_item(n, place, 4,
                         R"("type":"function_call","status":"completed","name":"add","arguments":"","call_id":"c)" +
                             std::to_string(place) + "\""));
    const auto d = run(all + completed());
    REQUIRE(d.reply);
    REQUIRE(d.calls() == 2);
    for (const auto* call : d.reply->message->calls())
      CHECK(call->arguments_text == (call->provider_id == "c0" ? "00" : "11"));
  }
}

TEST_CASE("openai-responses: a flood of items is bounded") {
  std::string all = begin();
  for (int i = 0; i < 5000; ++i) all += item_done(i, call_item(i, "", "x", "{}"));
  CHECK(run(all + completed()).calls() == 4096);
}

}  // namespace responses_decode_tests
