// Writes each event as text of ours, and appends large JSON of servers and models without copying it.
#include "daemon/loop/json/event_json.hpp"

#include "daemon/loop/json/message_json.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/json/quoted_size.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <span>
#include <string>

namespace mcpbx::daemon::event_json {
namespace {

// An event that is being written. Reserves enough bytes for most events.
struct event {
  explicit event(std::string_view type) {
    json.reserve(240);
    w.begin_object().member("type", type);
  }
  json::segments whole() {
    w.end_object();
    json::segments s;
    s.append_copy(json);
    return s;
  }
  // Ends the event with this member. Shares the bytes of `value` instead of copying them.
  json::segments ended_by(std::string_view key, const json::raw_json& value) {
    w.key(key);
    json::segments s;
    s.append_copy(json);
    s.append(value);
    s.append_literal("}");
    return s;
  }

  std::string json;
  json::json_writer w{json};
};

template <class Out>
void append_usage(json::basic_json_writer<Out>& w, const providers::usage& u) {
  w.member("inputTokens", u.input).member("outputTokens", u.output).member("cachedTokens", u.cached);
  if (u.cache_write) w.member("cacheWriteTokens", u.cache_write);
  if (u.reasoning) w.member("reasoningTokens", u.reasoning);
  w.set("estimated", u.estimated);
}

}  // namespace

json::segments status(std::string_view text, std::string_view tool) {
  event e("status");
  e.w.member("text", text).filled("tool", tool);
  return e.whole();
}

json::segments round(int number, std::string_view model) {
  event e("round");
  e.w.member("round", number).member("model", model);
  return e.whole();
}

json::segments tool_call(std::string_view call, std::string_view name, std::string_view server,
                         const json::raw_json& arguments) {
  event e("tool_call");
  e.w.member("call", call).member("name", name).member("server", server);
  return e.ended_by("arguments", arguments ? arguments : json::raw_json::literal("null"));
}

json::segments tool_progress(std::string_view call, const json::raw_json& params) {
  event e("tool_progress");
  e.w.member("call", call);
  const auto pass = [&](std::string_view key, json::raw_json::kind kind) {
    const auto value = json::find_member(params, key);
    if (value.type() == kind) e.w.member(key, value);
  };
  pass("progress", json::raw_json::kind::number);
  pass("total", json::raw_json::kind::number);
  pass("message", json::raw_json::kind::string);
  return e.whole();
}

json::segments tool_log(std::string_view call, const json::raw_json& params) {
  constexpr std::size_t most_data = 16U << 10;
  event e("tool_log");
  e.w.member("call", call).member("level", json::find_member(params, "level").as_string().value_or("info"));
  const auto data = json::find_member(params, "data");
  if (data.text().size() > most_data)
    e.w.member("data", std::string(cut_utf8(data.text(), most_data)) + "… (cut: " + std::to_string(data.text().size()) +
                           " bytes)");
  else
    e.w.member("data", data);
  return e.whole();
}

json::segments tool_result(std::string_view call, bool is_error, const json::raw_json& result,
                           std::int64_t duration_ms) {
  event e("tool_result");
  e.w.member("call", call).member("isError", is_error).member("durationMs", duration_ms);
  const auto content = json::find_member(result, "content");
  return e.ended_by("content", content ? content : json::raw_json::literal("[]"));
}

json::segments answer(const stored::record::answer& a, std::string_view reason) {
  event e("answer");
  e.w.member("question", a.id);
  if (const auto action = json::find_member(a.body, "action"))
    e.w.member("action", action);
  else
    e.w.member("approve", json::find_member(a.body, "approve").is_true());
  e.w.set("expired", a.expired).set("withdrawn", a.withdrawn).filled("reason", reason);
  return e.whole();
}

// Writes the members of the event, then those of the question's body, which is an object made by approval().
json::segments question(const stored::record::question& q) {
  event e("question");
  e.w.member("question", q.id).member("kind", q.kind).member("call", q.call_id).member("expiresMs", q.expires_ms);
  e.json += ',';
  e.json += q.body.text().substr(1);
  json::segments s;
  s.append_copy(e.json);
  return s;
}

json::raw_json approval(const mcp::catalogs::catalog_entry& tool, const json::raw_json& arguments,
                        std::string_view why) {
  return approval(tool.server, tool.name, arguments, why);
}

json::raw_json input(std::string_view server, std::string_view tool, const json::raw_json& params) {
  std::string json;
  json::json_writer w(json);
  w.begin_object().member("server", server).member("tool", tool);
  const bool url = json::find_member(params, "mode").as_string() == "url";
  w.member("mode", url ? "url" : "form").member("message", json::find_member(params, "message"));
  if (url) {
    w.member("url", json::find_member(params, "url"))
        .given("elicitationId", json::find_member(params, "elicitationId"));
  } else {
    w.member("requestedSchema", json::find_member(params, "requestedSchema"));
  }
  w.end_object();
  return w.json();
}

json::raw_json approval(std::string_view server, std::string_view tool, const json::raw_json& arguments,
                        std::string_view why) {
  std::string json;
  json::json_writer w(json);
  w.begin_object().member("server", server).member("tool", tool);
  w.member("arguments", arguments ? arguments : json::raw_json::literal("{}")).member("reason", why);
  w.key("schema").token(R"({"type":"object","properties":{"approve":{"type":"boolean"},"always":{"type":"boolean"}},)"
                        R"("required":["approve"]})");
  w.end_object();
  return w.json();
}

json::segments usage(const providers::usage& so_far, std::string_view model) {
  event e("usage");
  append_usage(e.w, so_far);
  e.w.filled("model", model);
  return e.whole();
}

json::raw_json usage_members(const providers::usage& u) {
  std::string json;
  json::json_writer w(json);
  w.begin_object();
  append_usage(w, u);
  w.end_object();
  return w.json();
}

json::segments error(std::string_view message, bool retryable, bool partial, std::int64_t retry_after_ms) {
  event e("error");
  e.w.member("message", message).member("retryable", retryable).set("partial", partial);
  if (retry_after_ms > 0) e.w.member("retryAfterMs", retry_after_ms);
  return e.whole();
}

json::segments snapshot(const json::segments& round, const std::string* text, const std::vector<json::segments>& calls,
                        const std::vector<json::segments>& questions) {
  event e("snapshot");
  if (!round.empty()) {
    const json::raw_json body = round.join();
    e.w.member("round", json::find_member(body, "round").as_integer().value_or(0));
    e.w.member("model", json::member_text(body, "model"));
  }
  if (text != nullptr) e.w.member("text", *text);
  json::segments s;
  s.append_copy(e.json);
  const auto list = [&](std::string_view key, const std::vector<json::segments>& bodies) {
    std::string before(key);
    for (const auto& body : bodies) {
      s.append_copy(before);
      s.append(body);
      before = ",";
    }
    s.append_copy(bodies.empty() ? before + "]" : "]");
  };
  list(",\"calls\":[", calls);
  list(",\"questions\":[", questions);
  s.append_literal("}");
  return s;
}

json::segments done(const json::raw_json& result) {
  json::segments s;
  s.append_literal(R"({"type":"done","result":)");
  s.append(result);
  s.append_literal("}");
  return s;
}

json::raw_json result_of_done(const json::segments& body) {
  return body.pieces()[1];
}

json::raw_json run_result(const core::run_facts& run, const kept_part* kept) {
  const auto messages = std::min(run.messages.size(), kept ? kept->messages : run.messages.size());
  const auto calls = std::min(run.calls.size(), kept ? kept->calls : run.calls.size());
  // Reserves about the final size, so that the result is written without a copy. The answer is in it twice.
  const auto& answer = run.answer;
  byte_buffer json;
  json.reserve(2048 + 2 * json::quoted_size(*answer.text) + answer.partial_text.size());
  json::basic_json_writer<byte_buffer> w(json);
  w.begin_object().member("run", run.started.run);
  if (!kept || kept->session) w.filled("session", run.started.session);
  w.member("text", *answer.text).filled("partialText", answer.partial_text).given("data", answer.data);
  w.member("stopReason", stored::to_string(run.parked ? stored::stop_reason::caller_tools : answer.reason));
  w.filled("reason", answer.reason_text);
  if (answer.misconfigured) w.member("cause", to_string(errc::config));
  w.member("rounds", kept ? kept->rounds : run.rounds);
  w.key("toolCalls").begin_array();
  for (const auto& c : std::span(run.calls).first(calls)) {
    w.begin_object().member("id", c.id).member("name", c.name).member("server", c.server);
    w.member("arguments", c.arguments);
    w.member("isError", c.is_error || (kept && kept->lost.contains(c.id))).member("durationMs", c.duration_ms);
    w.set("pending", c.pending).end_object();
  }
  w.end_array().key("usage").begin_object();
  append_usage(w, run.usage);
  w.end_object().key("messages").begin_array();
  const auto inherited = run.started.inherited_count;
  for (std::size_t i = 0; i < messages; ++i) {
    if (i < run.before && i + inherited >= run.before) continue;  // inherited from the session
    append_message(w, *run.messages[i]);
  }
  w.end_array().end_object();
  return json::raw_json::whole(json.take());
}

}  // namespace mcpbx::daemon::event_json
