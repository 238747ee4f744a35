// Which members each record has: the writing half. A member that has its type's usual empty value is left out.
#include "daemon/store/record_format.hpp"

#include "daemon/store/record_words.hpp"
#include "mcp/support/text.hpp"

#include <charconv>
#include <iterator>

namespace mcpbx::daemon {
namespace {

class object_writer {
 public:
  explicit object_writer(std::string& out) : out_(out) { out_ += '{'; }
  void end() { out_ += '}'; }

  void key(std::string_view name) {
    if (!first_) out_ += ',';
    first_ = false;
    out_ += '"';
    out_ += name;
    out_ += "\":";
  }
  void text(std::string_view name, std::string_view value) {
    key(name);
    append_quoted(out_, value);
  }
  void filled(std::string_view name, std::string_view value) {
    if (!value.empty()) text(name, value);
  }
  void json(std::string_view name, const raw_json& value) {
    if (!value) return;
    key(name);
    out_ += value.text();
  }
  void number(std::string_view name, std::int64_t value) {
    key(name);
    char digits[24];
    out_.append(digits, std::to_chars(std::begin(digits), std::end(digits), value).ptr);
  }
  void set(std::string_view name, bool value) {
    if (!value) return;
    key(name);
    out_ += "true";
  }
  void numbers(std::string_view name, const std::vector<int>& values) {
    key(name);
    char before = '[';
    for (const auto v : values) {
      out_ += before;
      out_ += std::to_string(v);
      before = ',';
    }
    out_ += values.empty() ? "[]" : "]";
  }
  void texts(std::string_view name, const std::vector<std::string>& values) {
    key(name);
    char before = '[';
    for (const auto& v : values) {
      out_ += before;
      append_quoted(out_, v);
      before = ',';
    }
    out_ += values.empty() ? "[]" : "]";
  }
  void jsons(std::string_view name, const std::vector<raw_json>& values) {
    key(name);
    char before = '[';
    for (const auto& v : values) {
      out_ += before;
      out_ += v.text();
      before = ',';
    }
    out_ += values.empty() ? "[]" : "]";
  }
  template <class E>
  void word(std::string_view name, E value) {
    text(name, words_of<E>::word(value));
  }

 private:
  std::string& out_;
  bool first_ = true;
};

struct block_writer {
  object_writer& w;
  void operator()(const providers::text_block& b) const {
    w.text("type", "text");
    w.text("text", b.text);
  }
  void operator()(const providers::image_block& b) const {
    w.text("type", "image");
    w.filled("mime", b.mime);
    w.filled("data", b.data);
    w.filled("url", b.url);
  }
  void operator()(const providers::reasoning_block& b) const {
    w.text("type", "reasoning");
    w.filled("text", b.text);
    w.json("opaque", b.opaque);
  }
  void operator()(const providers::tool_call_block& b) const {
    w.text("type", "toolCall");
    w.text("id", b.id);
    w.filled("providerId", b.provider_id);
    w.text("name", b.name);
    w.json("arguments", b.arguments);
    w.filled("argumentsText", b.arguments_text);
    w.filled("problem", b.problem);
  }
  void operator()(const providers::tool_result_block& b) const {
    w.text("type", "toolResult");
    w.text("call", b.call_id);
    w.filled("name", b.name);
    w.json("result", b.result);
    w.set("isError", b.is_error);
  }
  void operator()(const providers::refusal_block& b) const {
    w.text("type", "refusal");
    w.text("text", b.text);
  }
  void operator()(const providers::opaque_block& b) const {
    w.text("type", "opaque");
    w.json("json", b.json);
  }
};

void append_message(std::string& out, const providers::message& m) {
  object_writer w(out);
  w.word("role", m.role);
  w.key("blocks");
  char before = '[';
  for (const auto& b : m.blocks) {
    out += before;
    object_writer inner(out);
    std::visit(block_writer{inner}, b);
    inner.end();
    before = ',';
  }
  out += m.blocks.empty() ? "[]" : "]";
  if (m.origin != providers::origin{}) {
    w.key("origin");
    object_writer from(out);
    from.text("api", m.origin.api);
    from.text("endpoint", m.origin.endpoint);
    from.text("model", m.origin.model);
    from.end();
  }
  w.json("raw", m.raw);
  w.end();
}

void append_limits(std::string& out, const run_limits& l) {
  object_writer w(out);
  w.number("maxRounds", l.max_rounds);
  w.number("maxCallsPerRound", l.max_calls_per_round);
  w.number("maxCalls", l.max_calls);
  w.number("maxConsecutiveErrors", l.max_consecutive_errors);
  w.number("maxRepeatedCalls", l.max_repeated_calls);
  w.number("toolConcurrency", l.tool_concurrency);
  w.number("timeoutMs", l.timeout_ms);
  w.number("questionTimeoutMs", l.question_timeout_ms);
  w.number("tokenBudget", l.token_budget);
  w.number("maxResultBytes", l.max_result_bytes);
  w.word("onLimit", l.on_limit);
  w.word("onToolError", l.on_tool_error);
  w.word("status", l.status);
  w.word("approve", l.approve);
  w.set("approveDestructive", l.approve_destructive);
  w.text("emptyResultText", l.empty_result_text);
  w.end();
}

void append_usage(std::string& out, const providers::usage& u) {
  object_writer w(out);
  w.number("input", u.input);
  w.number("output", u.output);
  w.number("cached", u.cached);
  w.number("cacheWrite", u.cache_write);
  w.number("reasoning", u.reasoning);
  w.set("estimated", u.estimated);
  w.end();
}

struct record_writer {
  std::string& out;
  object_writer& w;
  void operator()(const record::run_started& r) const {
    w.text("run", r.run);
    w.filled("session", r.session);
    w.filled("principal", r.principal);
    w.text("model", r.model);
    w.key("messages");
    char before = '[';
    for (const auto& m : r.messages) {
      out += before;
      append_message(out, *m);
      before = ',';
    }
    out += r.messages.empty() ? "[]" : "]";
    w.texts("tools", r.tools);
    if (!r.approve.empty()) w.texts("approve", r.approve);
    if (!r.client_tools.empty()) w.jsons("clientTools", r.client_tools);
    w.set("detached", r.detached);
    w.key("limits");
    append_limits(out, r.limits);
  }
  void operator()(const record::round_started& r) const {
    w.number("depth", r.depth);
    w.text("model", r.model);
    w.key("withTools");
    out += r.with_tools ? "true" : "false";
    w.number("elapsedMs", r.elapsed_ms);
    if (r.shortened != 0) w.number("shortened", r.shortened);
  }
  void operator()(const record::assistant& r) const {
    w.key("message");
    append_message(out, *r.message);
    w.word("reason", r.reason);
    w.filled("rawReason", r.raw_reason);
    w.key("usage");
    append_usage(out, r.usage);
    w.number("ms", r.ms);
    if (!r.lanes.empty()) w.numbers("lanes", r.lanes);
  }
  void operator()(const record::model_failed& r) const {
    w.word("kind", r.error.type);
    w.number("httpStatus", r.error.http_status);
    w.number("retryAfterMs", r.error.retry_after_ms);
    w.text("message", r.error.message);
    w.filled("partialText", r.error.partial_text);
    w.set("retryable", r.error.retryable);
    w.number("ms", r.ms);
  }
  void operator()(const record::question& r) const {
    w.text("id", r.id);
    w.text("kind", r.kind);
    w.filled("call", r.call_id);
    w.json("body", r.body);
    w.text("definitionHash", hex(r.definition_hash, 16));
    w.text("argumentsHash", hex(r.arguments_hash, 16));
    w.number("expiresMs", r.expires_ms);
  }
  void operator()(const record::answer& r) const {
    w.text("id", r.id);
    w.json("body", r.body);
    w.set("expired", r.expired);
  }
  void operator()(const record::call_intent& r) const {
    w.text("call", r.call_id);
    w.text("name", r.name);
    w.text("server", r.server);
    w.number("attempt", r.attempt);
    // As text: JSON's numbers do not keep 64 bits everywhere.
    w.text("definitionHash", hex(r.definition_hash, 16));
    w.text("argumentsHash", hex(r.arguments_hash, 16));
    w.set("repeatable", r.repeatable);
    w.set("toCaller", r.to_caller);
  }
  void operator()(const record::call_result& r) const {
    w.text("call", r.call_id);
    w.json("result", r.result);
    w.set("isError", r.is_error);
    w.word("cause", r.cause);
    w.number("ms", r.ms);
  }
  void operator()(const record::parked& r) const { w.texts("calls", r.call_ids); }
  void operator()(const record::caller_result& r) const {
    w.text("call", r.call_id);
    w.json("result", r.result);
  }
  void operator()(const record::cancel& r) const {
    w.word("why", r.why);
    w.filled("text", r.text);
  }
  void operator()(const record::run_ended& r) const {
    w.word("reason", r.reason);
    w.filled("text", r.text);
  }
};

}  // namespace

std::string to_text(const run_record& r) {
  std::string out;
  out.reserve(256);
  object_writer w(out);
  w.number("v", record_format_version);
  w.text("type", name_of(r));
  std::visit(record_writer{out, w}, r);
  w.end();
  return out;
}

}  // namespace mcpbx::daemon
