// Lines are put together in one string, as those of the native stream are.
#include "daemon/front/completions/completion_json.hpp"

#include "daemon/store/records/record.hpp"
#include "mcp/json/quoted_size.hpp"
#include "mcp/redact/secret.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <array>

namespace mcpbx::daemon {
namespace {

struct ending {
  stop_reason reason;
  int status;  // of an error; 0: it is an answer
  std::string_view finish_or_code;
};

// Limits end a run with an answer (the last call without tools), or without one; then the answer lacks something.
constexpr std::array<ending, 17> endings{{
    {stop_reason::final, 0, "stop"},
    {stop_reason::caller_tools, 0, "tool_calls"},
    {stop_reason::truncated, 0, "length"},
    {stop_reason::refused, 0, "content_filter"},
    {stop_reason::max_rounds, 0, "stop"},
    {stop_reason::consecutive_errors, 0, "stop"},
    {stop_reason::repeated_calls, 0, "stop"},
    {stop_reason::token_budget, 0, "stop"},
    {stop_reason::call_budget, 0, "stop"},
    {stop_reason::tool_error, 0, "stop"},
    {stop_reason::needs_approval, 0, "stop"},
    {stop_reason::timeout, 504, "timeout"},
    {stop_reason::provider_error, 502, "provider_error"},
    {stop_reason::context_full, 400, "context_length_exceeded"},
    {stop_reason::store_error, 500, "store_error"},
    {stop_reason::cancelled, 503, "cancelled"},
    {stop_reason::interrupted, 503, "interrupted"},
}};

const ending& ending_of(std::string_view reason) {
  const auto found = std::ranges::find_if(endings, [&](const ending& e) { return to_string(e.reason) == reason; });
  return found != endings.end() ? *found : endings.front();
}

std::string_view type_of(int status) {
  if (status == 429) return "rate_limit_exceeded";
  return status < 500 ? "invalid_request_error" : "server_error";
}

std::int64_t tokens(const raw_json& usage, std::string_view key) {
  return find_member(usage, key).as_integer().value_or(0);
}

std::string usage_object(const completion_outcome& o) {
  return "{\"prompt_tokens\":" + std::to_string(o.used.input) +
         ",\"completion_tokens\":" + std::to_string(o.used.output) +
         ",\"total_tokens\":" + std::to_string(o.used.input + o.used.output) +
         ",\"prompt_tokens_details\":{\"cached_tokens\":" + std::to_string(o.used.cached) +
         ",\"audio_tokens\":0},\"completion_tokens_details\":{\"reasoning_tokens\":" +
         std::to_string(o.used.reasoning) +
         ",\"audio_tokens\":0,\"accepted_prediction_tokens\":0,\"rejected_prediction_tokens\":0}}";
}

void append_call(std::string& out, const completion_outcome::call& c) {
  out += "\"id\":";
  append_quoted(out, c.id);
  out += R"(,"type":"function","function":{"name":)";
  append_quoted(out, c.name);
  out += ",\"arguments\":";
  append_quoted(out, c.arguments);
  out += "}}";
}

std::string model_object(std::string_view name, std::int64_t created) {
  return "{\"id\":" + json_quoted(name) + R"(,"object":"model","created":)" + std::to_string(created) +
         R"(,"owned_by":"mcpbx"})";
}

}  // namespace

completion_outcome outcome_of(const raw_json& run_result, const last_error& e, bool with_text) {
  completion_outcome o;
  // One walk: the result holds the whole conversation.
  const auto read = read_members(run_result, {"usage", "data", "text", "reason", "toolCalls", "stopReason", "cause"});
  const auto [usage, data, text, reason, calls, stop, cause] = read.value_or(std::array<raw_json, 7>());
  o.used.input = tokens(usage, "inputTokens");
  o.used.output = tokens(usage, "outputTokens");
  o.used.cached = tokens(usage, "cachedTokens");
  o.used.reasoning = tokens(usage, "reasoningTokens");
  const bool answered = data || text.text().size() > 2;  // more than its quotes
  if (with_text) o.text = data ? std::string(data.text()) : text.as_string().value_or("");
  const auto why = reason.as_string().value_or("");
  bool ran_tools = false;
  for_each_element(calls, [&](const raw_json& call) {
    if (find_member(call, "pending").is_true())
      o.calls.push_back(
          {member_text(call, "id"), member_text(call, "name"), std::string(find_member(call, "arguments").text())});
    else
      ran_tools = true;
    return true;
  });
  const auto& end = ending_of(stop.as_string().value_or(""));
  if (end.status == 0) {
    o.finish = end.finish_or_code;
    const bool limit = end.reason != stop_reason::final && end.reason != stop_reason::caller_tools;
    if (limit && !answered) {
      o.text = why;
      if (o.finish == "stop") o.finish = "length";
    }
    return o;
  }
  completion_fault f{end.status, redactor::redact(why), "", std::string(end.finish_or_code)};
  if (f.message.empty()) f.message = "The run ended without an answer (" + f.code + ").";
  // Tools would be called again.
  f.final = ran_tools;
  if (end.reason == stop_reason::provider_error) {
    // What may do better was tried again here already, as often as is configured: a client that does the same only
    // multiplies that.
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

bool has_reasoning(const raw_json& run_result) {
  return find_member(run_result, "messages").text().contains(R"("type":"reasoning")");
}

void take_off_reasoning(std::vector<std::string>& rounds, std::string& thinking, const raw_json& run_result) {
  const auto messages = find_member(run_result, "messages");
  for_each_element(messages, [&](const raw_json& m) {
    std::string text, reasoning;
    if (member_text(m, "role") == "assistant")
      for_each_element(find_member(m, "content"), [&](const raw_json& part) {
        const auto type = member_text(part, "type");
        if (type == "text") text += member_text(part, "text");
        if (type == "reasoning") reasoning += member_text(part, "text");
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

completion_fault fault_of(const error& e) {
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
  return {status, redactor::redact(e.message), "", std::string(to_string(e.code)), e.code == errc::config};
}

namespace completion_json {
namespace {

// An event up to the member of its one choice.
void begin_chunk(std::string& out, const head& h) {
  out += R"(data: {"id":)";
  append_quoted(out, h.id);
  out += R"(,"object":"chat.completion.chunk","created":)";
  out += std::to_string(h.created);
  out += ",\"model\":";
  append_quoted(out, h.model);
  out += R"(,"choices":[)";
}

void end_chunk(std::string& out, const head& h) {
  out += h.with_usage ? "],\"usage\":null}\n\n" : "]}\n\n";
}

void begin_delta(std::string& out, const head& h) {
  begin_chunk(out, h);
  out += R"({"index":0,"delta":{)";
}

void end_delta(std::string& out, const head& h, std::string_view finish = {}) {
  out += R"(},"logprobs":null,"finish_reason":)";
  if (finish.empty())
    out += "null";
  else
    append_quoted(out, finish);
  out += '}';
  end_chunk(out, h);
}

}  // namespace

void append_role(std::string& out, const head& h) {
  begin_delta(out, h);
  out += R"("role":"assistant","content":"","refusal":null)";
  end_delta(out, h);
}

void append_text(std::string& out, const head& h, std::string_view text) {
  begin_delta(out, h);
  out += "\"content\":";
  append_quoted(out, text);
  end_delta(out, h);
}

void append_reasoning(std::string& out, const head& h, std::string_view text) {
  begin_delta(out, h);
  out += "\"reasoning_content\":";
  append_quoted(out, text);
  end_delta(out, h);
}

void append_calls(std::string& out, const head& h, const std::vector<completion_outcome::call>& calls) {
  for (std::size_t i = 0; i < calls.size(); ++i) {
    begin_delta(out, h);
    out += R"("tool_calls":[{"index":)" + std::to_string(i) + ",";
    append_call(out, calls[i]);
    out += ']';
    end_delta(out, h);
  }
}

void append_finish(std::string& out, const head& h, std::string_view finish) {
  begin_delta(out, h);
  end_delta(out, h, finish);
}

void append_usage(std::string& out, const head& h, const completion_outcome& o) {
  begin_chunk(out, h);
  out += "],\"usage\":" + usage_object(o) + "}\n\n";
}

void append_done(std::string& out) {
  out += "data: [DONE]\n\n";
}

void append_error(std::string& out, const completion_fault& f) {
  out += "data: " + error_body(f) + "\n\n";
}

std::string answer(const head& h, std::string_view text, std::string_view thinking, const completion_outcome& o) {
  std::string out;
  out.reserve(2048 + quoted_size(text) + quoted_size(thinking));
  out += "{\"id\":" + json_quoted(h.id) + R"(,"object":"chat.completion","created":)" + std::to_string(h.created) +
         ",\"model\":" + json_quoted(h.model) + R"(,"choices":[{"index":0,"message":{"role":"assistant","content":)";
  if (text.empty() && !o.calls.empty())
    out += "null";
  else
    append_quoted(out, text);
  out += R"(,"refusal":null)";
  if (!thinking.empty()) {
    out += R"(,"reasoning_content":)";
    append_quoted(out, thinking);
  }
  if (!o.calls.empty()) {
    out += R"(,"tool_calls":)";
    char before = '[';
    for (const auto& c : o.calls) {
      out += before;
      out += '{';
      append_call(out, c);
      before = ',';
    }
    out += ']';
  }
  out += R"(},"logprobs":null,"finish_reason":)" + json_quoted(o.finish) + "}],\"usage\":" + usage_object(o) + "}";
  return out;
}

std::string error_body(const completion_fault& f) {
  const auto or_null = [](const std::string& text) { return text.empty() ? std::string("null") : json_quoted(text); };
  return R"({"error":{"message":)" + json_quoted(f.message) + ",\"type\":" + json_quoted(type_of(f.status)) +
         ",\"param\":" + or_null(f.param) + ",\"code\":" + or_null(f.code) + "}}";
}

std::optional<std::string> models(const std::vector<std::string>& names, std::int64_t created,
                                  std::optional<std::string_view> only) {
  if (only) {
    if (std::ranges::find(names, *only) == names.end()) return std::nullopt;
    return model_object(*only, created);
  }
  std::string out = R"({"object":"list","data":[)";
  for (const auto& name : names) {
    if (!out.ends_with('[')) out += ',';
    out += model_object(name, created);
  }
  return out + "]}";
}

}  // namespace completion_json
}  // namespace mcpbx::daemon
