// Writes one event after the other; nothing here decides when.
#include "daemon/loop/json/event_json.hpp"

#include "daemon/loop/json/message_json.hpp"
#include "mcp/json/quoted_size.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <span>
#include <string>

namespace mcpbx::daemon::event_json {
namespace {

template <class Out>
void member(Out& json, std::string_view key, std::string_view text) {
  json += ",\"";
  json += key;
  json += "\":";
  append_quoted(json, text);
}

template <class Out>
void member(Out& json, std::string_view key, std::int64_t number) {
  json += ",\"";
  json += key;
  json += "\":";
  json += std::to_string(number);
}

template <class Out>
void member(Out& json, std::string_view key, bool is) {
  json += ",\"";
  json += key;
  json += is ? "\":true" : "\":false";
}

// An event, with room for what most of them hold.
std::string begun(std::string_view type) {
  std::string json;
  json.reserve(240);
  json += R"({"type":")";
  json += type;
  json += '"';
  return json;
}

segments whole(std::string& json) {
  json += '}';
  segments s;
  s.append_copy(json);
  return s;
}

template <class Out>
void append_usage(Out& json, const providers::usage& u) {
  json += "\"inputTokens\":";
  json += std::to_string(u.input);
  member(json, "outputTokens", u.output);
  member(json, "cachedTokens", u.cached);
  if (u.cache_write) member(json, "cacheWriteTokens", u.cache_write);
  if (u.reasoning) member(json, "reasoningTokens", u.reasoning);
  if (u.estimated) member(json, "estimated", true);
}

}  // namespace

segments status(std::string_view text, std::string_view tool) {
  std::string json = begun("status");
  member(json, "text", text);
  if (!tool.empty()) member(json, "tool", tool);
  return whole(json);
}

segments round(int number, std::string_view model) {
  std::string json = begun("round");
  member(json, "round", static_cast<std::int64_t>(number));
  member(json, "model", model);
  return whole(json);
}

segments tool_call(std::string_view call, std::string_view name, std::string_view server, const raw_json& arguments) {
  std::string json = begun("tool_call");
  member(json, "call", call);
  member(json, "name", name);
  member(json, "server", server);
  json += ",\"arguments\":";
  segments s;
  s.append_copy(json);
  s.append(arguments ? arguments : raw_json::literal("null"));
  s.append_literal("}");
  return s;
}

segments tool_progress(std::string_view call, const raw_json& params) {
  std::string json = begun("tool_progress");
  member(json, "call", call);
  const auto pass = [&](std::string_view key, raw_json::kind kind) {
    const auto value = find_member(params, key);
    if (value.type() != kind) return;
    json += ",\"";
    json += key;
    json += "\":";
    json += value.text();
  };
  pass("progress", raw_json::kind::number);
  pass("total", raw_json::kind::number);
  pass("message", raw_json::kind::string);
  return whole(json);
}

segments tool_log(std::string_view call, const raw_json& params) {
  constexpr std::size_t most_data = 16U << 10;
  std::string json = begun("tool_log");
  member(json, "call", call);
  member(json, "level", find_member(params, "level").as_string().value_or("info"));
  const auto data = find_member(params, "data");
  if (data.text().size() > most_data) {
    member(json, "data",
           std::string(cut_utf8(data.text(), most_data)) + "… (cut: " + std::to_string(data.text().size()) + " bytes)");
  } else {
    json += ",\"data\":";
    json += data ? data.text() : std::string_view("null");
  }
  return whole(json);
}

segments tool_result(std::string_view call, bool is_error, const raw_json& result, std::int64_t duration_ms) {
  std::string json = begun("tool_result");
  member(json, "call", call);
  member(json, "isError", is_error);
  member(json, "durationMs", duration_ms);
  json += ",\"content\":";
  segments s;
  s.append_copy(json);
  const auto content = find_member(result, "content");
  s.append(content ? content : raw_json::literal("[]"));
  s.append_literal("}");
  return s;
}

segments answer(const record::answer& a) {
  std::string json = begun("answer");
  member(json, "question", a.id);
  member(json, "approve", find_member(a.body, "approve").is_true());
  if (a.expired) member(json, "expired", true);
  return whole(json);
}

// The body is an object of ours: its members go on after the question's.
segments question(const record::question& q) {
  std::string json = begun("question");
  member(json, "question", q.id);
  member(json, "kind", q.kind);
  member(json, "call", q.call_id);
  member(json, "expiresMs", q.expires_ms);
  json += ',';
  json += q.body.text().substr(1);
  segments s;
  s.append_copy(json);
  return s;
}

raw_json approval(const mcp::catalog_entry& tool, const raw_json& arguments, std::string_view why) {
  std::string json = "{\"server\":";
  append_quoted(json, tool.server);
  member(json, "tool", tool.name);
  json += ",\"arguments\":";
  json += arguments ? arguments.text() : std::string_view("{}");
  member(json, "reason", why);
  json += R"(,"schema":{"type":"object","properties":{"approve":{"type":"boolean"},"always":{"type":"boolean"}},)"
          R"("required":["approve"]}})";
  return raw_json::own(std::move(json));
}

segments usage(const providers::usage& so_far, std::string_view model) {
  std::string json = begun("usage");
  json += ',';
  append_usage(json, so_far);
  if (!model.empty()) member(json, "model", model);
  return whole(json);
}

raw_json usage_members(const providers::usage& u) {
  std::string json = "{";
  append_usage(json, u);
  return raw_json::own(json + "}");
}

segments error(std::string_view message, bool retryable, bool partial, std::int64_t retry_after_ms) {
  std::string json = begun("error");
  member(json, "message", message);
  member(json, "retryable", retryable);
  if (partial) member(json, "partial", true);
  if (retry_after_ms > 0) member(json, "retryAfterMs", retry_after_ms);
  return whole(json);
}

segments snapshot(const segments& round, const std::string* text, const std::vector<segments>& calls,
                  const std::vector<segments>& questions) {
  std::string json = begun("snapshot");
  if (!round.empty()) {
    const raw_json body = round.join();
    member(json, "round", find_member(body, "round").as_integer().value_or(0));
    member(json, "model", member_text(body, "model"));
  }
  if (text != nullptr) member(json, "text", *text);
  segments s;
  s.append_copy(json);
  const auto list = [&](std::string_view key, const std::vector<segments>& bodies) {
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

segments done(const raw_json& result) {
  segments s;
  s.append_literal(R"({"type":"done","result":)");
  s.append(result);
  s.append_literal("}");
  return s;
}

raw_json result_of_done(const segments& body) {
  return body.pieces()[1];
}

raw_json run_result(const run_core& core, const kept_part* kept) {
  const auto messages = std::min(core.messages().size(), kept ? kept->messages : core.messages().size());
  const auto calls = std::min(core.calls().size(), kept ? kept->calls : core.calls().size());
  // In one piece of its size: it has the answer twice, and is not copied.
  byte_buffer json;
  json.reserve(2048 + 2 * quoted_size(core.text()) + core.partial_text().size());
  json += R"({"run":)";
  append_quoted(json, core.started().run);
  if (!core.started().session.empty() && (!kept || kept->session)) member(json, "session", core.started().session);
  member(json, "text", core.text());
  if (!core.partial_text().empty()) member(json, "partialText", core.partial_text());
  if (core.data()) {
    json += ",\"data\":";
    json += core.data().text();
  }
  member(json, "stopReason", to_string(core.parked() ? stop_reason::caller_tools : core.reason()));
  if (!core.reason_text().empty()) member(json, "reason", core.reason_text());
  if (core.misconfigured()) member(json, "cause", to_string(errc::config));
  member(json, "rounds", static_cast<std::int64_t>(kept ? kept->rounds : core.rounds()));
  json += ",\"toolCalls\":[";
  bool first = true;
  for (const auto& c : std::span(core.calls()).first(calls)) {
    json += first ? "{\"id\":" : ",{\"id\":";
    first = false;
    append_quoted(json, c.id);
    member(json, "name", c.name);
    member(json, "server", c.server);
    json += ",\"arguments\":";
    json += c.arguments ? c.arguments.text() : std::string_view("null");
    member(json, "isError", c.is_error || (kept && kept->lost.contains(c.id)));
    member(json, "durationMs", c.duration_ms);
    if (c.pending) member(json, "pending", true);
    json += '}';
  }
  json += "],\"usage\":{";
  append_usage(json, core.usage());
  json += "},\"messages\":[";
  first = true;
  const auto inherited = core.started().inherited_count;
  for (std::size_t i = 0; i < messages; ++i) {
    if (i < core.before() && i + inherited >= core.before()) continue;  // the session has told them before
    if (!first) json += ',';
    first = false;
    append_message(json, *core.messages()[i]);
  }
  json += "]}";
  return raw_json::whole(json.take());
}

}  // namespace mcpbx::daemon::event_json
