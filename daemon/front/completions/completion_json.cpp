// Writing of chunks, answers and errors, each into one string for speed.
#include "daemon/front/completions/completion_json.hpp"

#include "daemon/store/records/record.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/json/quoted_size.hpp"
#include "mcp/redact/secret.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <array>

namespace mcpbx::daemon {
namespace {

struct ending {
  stop_reason reason;
  int status;  // status of an error; 0: an answer
  std::string_view finish_or_code;
};

// Limits end a run with an answer (the last call, without tools) or without one; the answer is then incomplete.
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

void write_or_null(json_writer& w, std::string_view key, const std::string& text) {
  if (text.empty())
    w.member(key, raw_json());
  else
    w.member(key, text);
}

void write_usage(json_writer& w, const completion_outcome& o) {
  w.begin_object().member("prompt_tokens", o.used.input).member("completion_tokens", o.used.output);
  w.member("total_tokens", o.used.input + o.used.output);
  w.key("prompt_tokens_details").begin_object().member("cached_tokens", o.used.cached).member("audio_tokens", 0);
  w.end_object().key("completion_tokens_details").begin_object().member("reasoning_tokens", o.used.reasoning);
  w.member("audio_tokens", 0).member("accepted_prediction_tokens", 0).member("rejected_prediction_tokens", 0);
  w.end_object().end_object();
}

// Writes the members of a call and ends the object that the caller has begun.
void end_with_call(json_writer& w, const completion_outcome::call& c) {
  w.member("id", c.id).member("type", "function").key("function").begin_object();
  w.member("name", c.name).member("arguments", c.arguments).end_object().end_object();
}

void write_model(json_writer& w, std::string_view name, std::int64_t created) {
  w.begin_object().member("id", name).member("object", "model").member("created", created);
  w.member("owned_by", "mcpbx").end_object();
}

}  // namespace

completion_outcome outcome_of(const raw_json& run_result, const last_error& e, bool with_text) {
  completion_outcome o;
  // Reads all members in one pass, because the result holds the whole conversation.
  const auto read = read_members(run_result, {"usage", "data", "text", "reason", "toolCalls", "stopReason", "cause"});
  const auto [usage, data, text, reason, calls, stop, cause] = read.value_or(std::array<raw_json, 7>());
  o.used.input = tokens(usage, "inputTokens");
  o.used.output = tokens(usage, "outputTokens");
  o.used.cached = tokens(usage, "cachedTokens");
  o.used.reasoning = tokens(usage, "reasoningTokens");
  const bool answered = data || text.text().size() > 2;  // more than the two quotes
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
    if (end.reason == stop_reason::refused) o.refusal = why;
    const bool limit = end.reason != stop_reason::final && end.reason != stop_reason::caller_tools;
    if (limit && !answered && o.refusal.empty()) {
      o.text = why;
      if (o.finish == "stop") o.finish = "length";
    }
    return o;
  }
  completion_fault f{end.status, redactor::redact(why), "", std::string(end.finish_or_code)};
  if (f.message.empty()) f.message = "The run ended without an answer (" + f.code + ").";
  // A repeated request would run the tools again.
  f.final = ran_tools;
  if (end.reason == stop_reason::provider_error) {
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

// One event, whose `choices` holds one entry or none.
class chunk {
 public:
  chunk(std::string& out, const head& h) : w(out += "data: "), out_(out), head_(h) {
    w.begin_object().member("id", h.id).member("object", "chat.completion.chunk").member("created", h.created);
    w.member("model", h.model).key("choices").begin_array();
  }
  json_writer& begin_delta() { return w.begin_object().member("index", 0).key("delta").begin_object(); }
  void end_delta(std::string_view finish = {}) {
    w.end_object().member("logprobs", raw_json()).key("finish_reason");
    if (finish.empty())
      w.token("null");
    else
      w.value(finish);
    w.end_object().end_array();
    if (head_.with_usage) w.member("usage", raw_json());
    end();
  }
  void end() {
    w.end_object();
    out_ += "\n\n";
  }

  json_writer w;

 private:
  std::string& out_;
  const head& head_;
};

}  // namespace

void append_role(std::string& out, const head& h) {
  chunk c(out, h);
  c.begin_delta().member("role", "assistant").member("content", "").member("refusal", raw_json());
  c.end_delta();
}

void append_text(std::string& out, const head& h, std::string_view text) {
  chunk c(out, h);
  c.begin_delta().member("content", text);
  c.end_delta();
}

void append_reasoning(std::string& out, const head& h, std::string_view text) {
  chunk c(out, h);
  c.begin_delta().member("reasoning_content", text);
  c.end_delta();
}

void append_refusal(std::string& out, const head& h, std::string_view why) {
  chunk c(out, h);
  c.begin_delta().member("refusal", why);
  c.end_delta();
}

void append_calls(std::string& out, const head& h, const std::vector<completion_outcome::call>& calls) {
  for (std::size_t i = 0; i < calls.size(); ++i) {
    chunk c(out, h);
    end_with_call(c.begin_delta().key("tool_calls").begin_array().begin_object().member("index", i), calls[i]);
    c.w.end_array();
    c.end_delta();
  }
}

void append_finish(std::string& out, const head& h, std::string_view finish) {
  chunk c(out, h);
  c.begin_delta();
  c.end_delta(finish);
}

void append_usage(std::string& out, const head& h, const completion_outcome& o) {
  chunk c(out, h);
  write_usage(c.w.end_array().key("usage"), o);
  c.end();
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
  json_writer w(out);
  w.begin_object().member("id", h.id).member("object", "chat.completion").member("created", h.created);
  w.member("model", h.model).key("choices").begin_array().begin_object().member("index", 0);
  w.key("message").begin_object().member("role", "assistant").key("content");
  if (text.empty() && (!o.calls.empty() || !o.refusal.empty()))
    w.token("null");
  else
    w.value(text);
  write_or_null(w, "refusal", o.refusal);
  w.filled("reasoning_content", thinking);
  if (!o.calls.empty()) {
    w.key("tool_calls").begin_array();
    for (const auto& c : o.calls) end_with_call(w.begin_object(), c);
    w.end_array();
  }
  w.end_object().member("logprobs", raw_json()).member("finish_reason", o.finish).end_object().end_array();
  write_usage(w.key("usage"), o);
  w.end_object();
  return out;
}

std::string error_body(const completion_fault& f) {
  std::string out;
  json_writer w(out);
  w.begin_object().key("error").begin_object().member("message", f.message).member("type", type_of(f.status));
  write_or_null(w, "param", f.param);
  write_or_null(w, "code", f.code);
  w.end_object().end_object();
  return out;
}

std::optional<std::string> models(const std::vector<std::string>& names, std::int64_t created,
                                  std::optional<std::string_view> only) {
  std::string out;
  json_writer w(out);
  if (only) {
    if (std::ranges::find(names, *only) == names.end()) return std::nullopt;
    write_model(w, *only, created);
    return out;
  }
  w.begin_object().member("object", "list").key("data").begin_array();
  for (const auto& name : names) write_model(w, name, created);
  w.end_array().end_object();
  return out;
}

}  // namespace completion_json
}  // namespace mcpbx::daemon
