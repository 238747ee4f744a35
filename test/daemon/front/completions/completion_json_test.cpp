// Tests of the outcome of runs in terms of Chat Completions.
#include "daemon/front/completions/completion_json.hpp"

#include "daemon/front/dialects/openai_error.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace mcpbx;
using namespace mcpbx::daemon::dialects;
using namespace mcpbx::json;

namespace {

run_outcome outcome(const std::string& stop_reason, const std::string& text, const std::string& more = "",
                    const last_error& e = {}) {
  return outcome_of(raw_json::own(R"({"run":"r","stopReason":")" + stop_reason + R"(","text":")" + text + "\"" + more +
                                  R"(,"usage":{"inputTokens":7,"outputTokens":3,"cachedTokens":2}})"),
                    e);
}

std::string finish(const std::string& stop_reason, const std::string& text) {
  const auto o = outcome(stop_reason, text, R"(,"reason":"Because.")");
  return o.fault ? std::to_string(o.fault->status) + " " + o.fault->code : o.finish + (o.text == "Because." ? "!" : "");
}

}  // namespace

TEST_CASE("D2: every stop reason has its finish_reason, or its error") {
  CHECK(finish("final", "x") == "stop");
  CHECK(finish("final", "") == "stop");
  CHECK(finish("caller_tools", "") == "tool_calls");
  CHECK(finish("truncated", "x") == "length");
  CHECK(finish("refused", "x") == "content_filter");
  for (const auto* limit : {"max_rounds", "consecutive_errors", "repeated_calls", "token_budget", "call_budget",
                            "tool_error", "needs_approval"}) {
    CAPTURE(limit);
    CHECK(finish(limit, "an answer all the same") == "stop");
    CHECK(finish(limit, "") == "length!");  // the text is the reason for the missing answer
  }
  CHECK(finish("timeout", "") == "504 timeout");
  CHECK(finish("provider_error", "") == "502 provider_error");
  CHECK(finish("context_full", "") == "400 context_length_exceeded");
  CHECK(finish("store_error", "") == "500 store_error");
  CHECK(finish("cancelled", "") == "503 cancelled");
  CHECK(finish("interrupted", "") == "503 interrupted");
  CHECK(outcome("provider_error", "", "", {.retryable = true}).fault->status == 503);
  CHECK(outcome("provider_error", "", R"(,"cause":"config")").fault->status == 500);
}

TEST_CASE("D2: a refusal stands in its own member, whole and in a stream, beside the text that came or null") {
  const daemon::completions::completion_json::head h{.id = "i", .model = "m", .created = 1};
  const auto o = outcome("refused", "", R"(,"reason":"The model said no.")");
  CHECK(o.text == "");
  CHECK(daemon::completions::completion_json::answer(h, o.text, "", o)
            .contains(R"("content":null,"refusal":"The model said no.")"));
  const auto partly = outcome("refused", "so far", R"(,"reason":"The model said no.")");
  CHECK(daemon::completions::completion_json::answer(h, partly.text, "", partly)
            .contains(R"("content":"so far","refusal":"The model said no.")"));
  std::string chunk;
  daemon::completions::completion_json::append_refusal(chunk, h, partly.refusal);
  CHECK(chunk.contains(R"("delta":{"refusal":"The model said no."})"));
  CHECK(outcome("final", "", R"(,"reason":"x")").refusal == "");
}

TEST_CASE("D2: the caller's calls are handed over with arguments as text, ours are not") {
  const auto o = outcome("caller_tools", "",
                         R"(,"toolCalls":[{"id":"a","name":"calc","arguments":{},"isError":false},)"
                         R"({"id":"b","name":"mine","arguments":{"city": "Oslo"},"pending":true}])");
  REQUIRE(o.calls.size() == 1);
  CHECK(o.calls[0].id == "b");
  CHECK(o.calls[0].arguments == R"({"city": "Oslo"})");
  const auto json = daemon::completions::completion_json::answer({.id = "i", .model = "m", .created = 1}, "", "", o);
  CHECK(
      json.find(R"("content":null,"refusal":null,"tool_calls":[{"id":"b","type":"function","function":{"name":"mine",)"
                R"("arguments":"{\"city\": \"Oslo\"}"}}])") != std::string::npos);
  CHECK(json.find(R"("prompt_tokens":7,"completion_tokens":3,"total_tokens":10)") != std::string::npos);
  CHECK(raw_json::parse(json).has_value());
  const auto thought =
      daemon::completions::completion_json::answer({.id = "i", .model = "m", .created = 1}, "", "de\"ep", o);
  CHECK(thought.find(R"("refusal":null,"reasoning_content":"de\"ep","tool_calls")") != std::string::npos);
  std::string chunks;
  daemon::completions::completion_json::append_calls(chunks, {.id = "i", .model = "m", .created = 1}, o.calls);
  CHECK(chunks.find(R"("delta":{"tool_calls":[{"index":0,"id":"b","type":"function")") != std::string::npos);
}

TEST_CASE("F5: what was told as text and is reasoning in its message is none of an answer that is no stream") {
  const auto result = raw_json::literal(
      R"({"messages":[{"role":"user","content":[{"type":"text","text":"q"}]},{"role":"assistant","content":[)"
      R"({"type":"reasoning","text":"I plan."},{"type":"tool_call","id":"1","name":"x","arguments":{}}]},)"
      R"({"role":"assistant","content":[{"type":"reasoning","text":"So.\nsecret"},{"type":"text","text":"vis"}]}]})");
  std::string thinking = "So.";
  std::vector<std::string> rounds{"I plan.", "secret\n\nvis"};
  take_off_reasoning(rounds, thinking, result);
  CHECK(rounds == std::vector<std::string>{"", "vis"});
  CHECK(thinking == "So.I plan.secret");
  // All else stays.
  rounds = {"vis", "another vis", "secret"};
  take_off_reasoning(rounds, thinking = "", result);
  CHECK(rounds == std::vector<std::string>{"vis", "another vis", "secret"});
  CHECK(thinking.empty());
}

TEST_CASE("D2: a client is to repeat only what was not tried again here, would call no tool and may do better") {
  const std::string ran = R"(,"toolCalls":[{"id":"a","name":"calc","arguments":{},"isError":false}])";
  CHECK_FALSE(outcome("interrupted", "").fault->final);
  CHECK_FALSE(outcome("timeout", "").fault->final);
  CHECK(outcome("interrupted", "", ran).fault->final);
  CHECK(outcome("provider_error", "").fault->final);
  CHECK(outcome("provider_error", "", R"(,"cause":"config")").fault->final);
  const auto busy = outcome("provider_error", "", "", {.retryable = true, .retry_after_ms = 3'600'000});
  CHECK(busy.fault->final);
  CHECK(busy.fault->retry_after_ms == 3'600'000);
  CHECK(outcome("cancelled", "", "", {.retryable = true, .retry_after_ms = 5}).fault->retry_after_ms == 0);
  CHECK(fault_of({errc::config, "no model"}).final);
  CHECK_FALSE(fault_of({errc::limit, "too many"}).final);
}

TEST_CASE("D2: an error's body has message, type, param and code, and no secret") {
  CHECK(openai_error_body({404, "no", "model", "model_not_found"}) ==
        R"({"error":{"message":"no","type":"invalid_request_error","param":"model","code":"model_not_found"}})");
  CHECK(openai_error_body({503, "busy", "", ""}) ==
        R"({"error":{"message":"busy","type":"server_error","param":null,"code":null}})");
  CHECK(fault_of({errc::limit, "too many"}).status == 429);
  CHECK(fault_of({errc::not_found, "none"}).status == 404);
  CHECK(fault_of({errc::unavailable, "stopping"}).status == 503);
}
