// The table of endings, and what the result of a run says about its answer.
#include "daemon/front/dialects/run_outcome.hpp"

#include "daemon/store/records/record.hpp"
#include "mcp/redact/secret.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace mcpbx::daemon::dialects {
namespace {

struct ending {
  stored::stop_reason reason;
  int status;  // status of an error; 0: an answer
  std::string_view finish_or_code;
};

// Limits end a run with an answer (the last call, without tools) or without one; the answer is then incomplete.
constexpr std::array<ending, 17> endings{{
    {stored::stop_reason::final, 0, "stop"},
    {stored::stop_reason::caller_tools, 0, "tool_calls"},
    {stored::stop_reason::truncated, 0, "length"},
    {stored::stop_reason::refused, 0, "content_filter"},
    {stored::stop_reason::max_rounds, 0, "stop"},
    {stored::stop_reason::consecutive_errors, 0, "stop"},
    {stored::stop_reason::repeated_calls, 0, "stop"},
    {stored::stop_reason::token_budget, 0, "stop"},
    {stored::stop_reason::call_budget, 0, "stop"},
    {stored::stop_reason::tool_error, 0, "stop"},
    {stored::stop_reason::needs_approval, 0, "stop"},
    {stored::stop_reason::timeout, 504, "timeout"},
    {stored::stop_reason::provider_error, 502, "provider_error"},
    {stored::stop_reason::context_full, 400, "context_length_exceeded"},
    {stored::stop_reason::store_error, 500, "store_error"},
    {stored::stop_reason::cancelled, 503, "cancelled"},
    {stored::stop_reason::interrupted, 503, "interrupted"},
}};

const ending& ending_of(std::string_view reason) {
  const auto found =
      std::ranges::find_if(endings, [&](const ending& e) { return stored::to_string(e.reason) == reason; });
  return found != endings.end() ? *found : endings.front();
}

std::int64_t tokens(const json::raw_json& usage, std::string_view key) {
  return json::find_member(usage, key).as_integer().value_or(0);
}

}  // namespace

run_outcome outcome_of(const json::raw_json& run_result, const last_error& e, bool with_text) {
  run_outcome o;
  // Reads all members in one pass, because the result holds the whole conversation.
  const auto read =
      json::read_members(run_result, {"usage", "data", "text", "reason", "toolCalls", "stopReason", "cause"});
  const auto [usage, data, text, reason, calls, stop, cause] = read.value_or(std::array<json::raw_json, 7>());
  o.used.input = tokens(usage, "inputTokens");
  o.used.output = tokens(usage, "outputTokens");
  o.used.cached = tokens(usage, "cachedTokens");
  o.used.cache_write = tokens(usage, "cacheWriteTokens");
  o.used.reasoning = tokens(usage, "reasoningTokens");
  const bool answered = data || text.text().size() > 2;  // more than the two quotes
  if (with_text) o.text = data ? std::string(data.text()) : text.as_string().value_or("");
  const auto why = reason.as_string().value_or("");
  bool ran_tools = false;
  json::for_each_element(calls, [&](const json::raw_json& call) {
    if (json::find_member(call, "pending").is_true())
      o.calls.push_back({json::member_text(call, "id"), json::member_text(call, "name"),
                         std::string(json::find_member(call, "arguments").text())});
    else
      ran_tools = true;
    return true;
  });
  const auto& end = ending_of(stop.as_string().value_or(""));
  if (end.status == 0) {
    o.finish = end.finish_or_code;
    if (end.reason == stored::stop_reason::refused) o.refusal = why;
    const bool limit = end.reason != stored::stop_reason::final && end.reason != stored::stop_reason::caller_tools;
    if (limit && !answered && o.refusal.empty()) {
      o.text = why;
      if (o.finish == "stop") o.finish = "length";
    }
    return o;
  }
  request_fault f{end.status, redact::redactor::redact(why), "", std::string(end.finish_or_code)};
  if (f.message.empty()) f.message = "The run ended without an answer (" + f.code + ").";
  // A repeated request would run the tools again.
  f.final = ran_tools;
  if (end.reason == stored::stop_reason::provider_error) {
    // The daemon has already retried as often as configured; retries of the client would only multiply that.
    f.final = true;
    if (cause.as_string() == to_string(errc::config)) {
      f.status = 500;
      f.code = "config";
    } else if (e.retryable) {
      f.status = 503;
      f.retry_after_ms = e.retry_after_ms;
    }
  }
  o.fault = std::move(f);
  return o;
}

bool has_reasoning(const json::raw_json& run_result) {
  return json::find_member(run_result, "messages").text().contains(R"("type":"reasoning")");
}

void take_off_reasoning(std::vector<std::string>& rounds, std::string& thinking, const json::raw_json& run_result) {
  const auto messages = json::find_member(run_result, "messages");
  json::for_each_element(messages, [&](const json::raw_json& m) {
    std::string text, reasoning;
    if (json::member_text(m, "role") == "assistant")
      json::for_each_element(json::find_member(m, "content"), [&](const json::raw_json& part) {
        const auto type = json::member_text(part, "type");
        if (type == "text") text += json::member_text(part, "text");
        if (type == "reasoning") reasoning += json::member_text(part, "text");
        return true;
      });
    const auto kept = trimmed(text), thought = trimmed(reasoning);
    if (thought.empty()) return true;
    for (auto& said : rounds) {
      const auto all = trimmed(said);
      if (all.size() <= kept.size() || !all.ends_with(kept)) continue;
      const auto before = trimmed(all.substr(0, all.size() - kept.size()));
      if (before.empty() || !thought.ends_with(before)) continue;
      thinking += before;
      said = std::string(kept);
      break;
    }
    return true;
  });
}

request_fault fault_of(const error& e) {
  int status = 500;
  switch (e.code) {
    case errc::invalid_argument:
    case errc::parse:
      status = 400;
      break;
    case errc::not_found:
      status = 404;
      break;
    case errc::limit:
      status = 429;
      break;
    case errc::unavailable:
    case errc::cancelled:
      status = 503;
      break;
    case errc::timed_out:
      status = 504;
      break;
    case errc::peer:
    case errc::protocol:
      status = 502;
      break;
    case errc::io:
    case errc::config:
    case errc::internal:
      break;
  }
  return {status, redact::redactor::redact(e.message), "", std::string(to_string(e.code)), e.code == errc::config};
}

}  // namespace mcpbx::daemon::dialects
