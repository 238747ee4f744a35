// Writes records as JSON. A member with its type's empty value is left out.
#include "daemon/store/records/record_format.hpp"

#include "daemon/store/records/record_words.hpp"
#include "mcp/json/quoted_size.hpp"
#include "mcp/support/text.hpp"
#include "providers/model/message_format.hpp"

namespace mcpbx::daemon::stored {
namespace {

void append_setting(json::json_writer& w, std::string_view key, const auto& value) {
  w.member(key, value);
}
template <conf::loop::worded E>
void append_setting(json::json_writer& w, std::string_view key, const E& word) {
  w.word(key, word);
}
void append_setting(json::json_writer& w, std::string_view key, const conf::loop::switch_or_text& value) {
  w.member(key, value.on);
  w.filled(std::string(key) + "Text", value.text);
}
void append_setting(json::json_writer& w, std::string_view, const conf::loop::round_prompt_texts& texts) {
  if (texts.first) w.member("firstRoundText", *texts.first);
  if (texts.middle) w.member("middleRoundText", *texts.middle);
  if (texts.last) w.member("lastRoundText", *texts.last);
}

// Writes all numbers; of the others those that say something or replace a default that does.
void append_limits(json::json_writer& w, const run_limits& l) {
  static const conf::loop::settled_choices usual;
  w.begin_object();
  for (const auto& n : conf::loop::loop_numbers()) w.member(n.key, l.*n.settled);
  conf::loop::each_choice_in_journal([&](const auto& m) {
    const auto& value = l.*m.settled;
    if (conf::loop::says_something(value) || conf::loop::says_something(usual.*m.settled))
      append_setting(w, m.key, value);
  });
  w.end_object();
}

std::size_t text_bytes(const providers::message& m) {
  std::size_t bytes = 0;
  for (const auto& b : m.blocks)
    if (const auto* text = std::get_if<providers::text_block>(&b)) bytes += json::quoted_size(text->text);
  return bytes;
}

// Writes pairs as a flat list: each name is followed by its replacement. Writes nothing if there are none.
void write_pairs(json::json_writer& w, std::string_view key, const auto& renamed) {
  if (renamed.empty()) return;
  std::vector<std::string> pairs;
  for (const auto& [from, to] : renamed) pairs.insert(pairs.end(), {from, to});
  w.list(key, pairs);
}

struct record_writer {
  json::json_writer& w;
  void spent(const providers::usage& u) const {
    if (u.input == 0 && u.output == 0) return;
    providers::append_usage(w.key("usage"), u);
  }
  void append_servers(const std::vector<server_terms>& all) const {
    w.key("servers").begin_array();
    for (const auto& s : all) {
      w.begin_object();
      w.member("name", s.server);
      if (!s.allow.empty()) w.list("allow", s.allow);
      if (!s.deny.empty()) w.list("deny", s.deny);
      if (!s.approve.empty()) w.list("approve", s.approve);
      w.filled("prefix", s.naming.prefix);
      w.set("plain", s.naming.plain);
      write_pairs(w, "rename", s.naming.rename);
      write_pairs(w, "named", s.naming.named);
      w.end_object();
    }
    w.end_array();
  }
  void append_meant(std::string_view key, const std::vector<record::meant_tool>& tools) const {
    if (tools.empty()) return;
    w.key(key).begin_array();
    for (const auto& t : tools) {
      w.begin_object().member("name", t.name);
      w.filled("server", t.server);
      w.member("tool", t.tool).end_object();
    }
    w.end_array();
  }
  void operator()(const record::run_started& r) const {
    w.member("run", r.run);
    w.filled("session", r.session);
    w.filled("principal", r.principal);
    w.member("model", r.model);
    w.key("messages").begin_array();
    for (const auto& m : r.messages) providers::append_message(w, *m);
    w.end_array();
    append_meant("meant", r.meant);
    if (r.inherited_count > 0) w.member("inherited", static_cast<std::int64_t>(r.inherited_count));
    w.filled("profile", r.profile);
    w.list("tools", r.tools.only);
    if (!r.tools.allow.empty()) w.list("allow", r.tools.allow);
    if (!r.tools.deny.empty()) w.list("deny", r.tools.deny);
    write_pairs(w, "rename", r.tools.rename);
    if (!r.approve.empty()) w.list("approve", r.approve);
    if (r.links != record::link_rules()) {
      w.key("links").begin_object();
      if (!r.links.allow.empty()) w.list("allow", r.links.allow);
      if (!r.links.deny.empty()) w.list("deny", r.links.deny);
      w.end_object();
    }
    if (r.servers) append_servers(*r.servers);
    if (!r.client_tools.empty()) w.list("clientTools", r.client_tools);
    w.given("answerSchema", r.answer_schema);
    w.set("detached", r.detached);
    w.filled("nonce", r.nonce);
    if (r.likeness != 0) w.member("likeness", hex(r.likeness, 16));
    if (!r.settings.empty()) providers::append_settings(w.key("settings"), r.settings);
    w.given("askedLimits", r.asked_limits);
    w.filled("traceparent", r.trace.parent);
    w.filled("tracestate", r.trace.state);
    // The last member, so that record_reader recognises equal limits at the end of the next record.
    append_limits(w.key("limits"), r.limits);
  }
  void operator()(const record::round_started& r) const {
    w.member("depth", r.depth);
    w.member("model", r.model);
    w.member("withTools", r.with_tools);
    w.member("elapsedMs", r.elapsed_ms);
    if (r.shortened != 0) w.member("shortened", r.shortened);
  }
  void operator()(const record::assistant& r) const {
    providers::append_message(w.key("message"), *r.message);
    w.word("reason", r.reason);
    w.filled("rawReason", r.raw_reason);
    providers::append_usage(w.key("usage"), r.usage);
    w.member("ms", r.ms);
    if (!r.serial_groups.empty()) w.list("lanes", r.serial_groups);
    append_meant("tools", r.tools);
  }
  void operator()(const record::model_failed& r) const {
    w.word("kind", r.error.type);
    w.member("httpStatus", r.error.http_status);
    w.member("retryAfterMs", r.error.retry_after_ms);
    w.member("message", r.error.message);
    w.filled("partialText", r.error.partial_text);
    w.set("retryable", r.error.retryable);
    spent(r.error.usage);
    w.member("ms", r.ms);
  }
  void operator()(const record::question& r) const {
    w.member("id", r.id);
    w.member("kind", r.kind);
    w.filled("call", r.call_id);
    w.given("body", r.body);
    w.filled("toolSha256", r.tool_sha256);
    w.filled("argumentsSha256", r.arguments_sha256);
    w.member("expiresMs", r.expires_ms);
    w.set("duringCall", r.during_call);
  }
  void operator()(const record::answer& r) const {
    w.member("id", r.id);
    w.given("body", r.body);
    w.set("expired", r.expired);
    w.set("unattended", r.unattended);
    w.set("mute", r.mute);
    w.set("withdrawn", r.withdrawn);
  }
  void operator()(const record::call_intent& r) const {
    w.member("call", r.call_id);
    w.member("name", r.name);
    w.member("server", r.server);
    w.member("attempt", r.attempt);
    // Written as text, because not every JSON reader keeps 64 bits of a number.
    w.member("definitionHash", hex(r.definition_hash, 16));
    w.member("argumentsHash", hex(r.arguments_hash, 16));
    w.set("repeatable", r.repeatable);
    w.set("toCaller", r.to_caller);
  }
  void operator()(const record::call_result& r) const {
    w.member("call", r.call_id);
    w.given("result", r.result);
    w.set("isError", r.is_error);
    w.word("cause", r.cause);
    w.member("ms", r.ms);
  }
  void operator()(const record::status_line& r) const {
    w.member("call", r.call_id);
    w.filled("text", r.text);
    providers::append_usage(w.key("usage"), r.usage);
    w.member("ms", r.ms);
  }
  void operator()(const record::parked& r) const {
    w.list("calls", r.call_ids);
    w.member("expiresMs", r.expires_ms);
    if (r.elapsed_ms != 0) w.member("elapsedMs", r.elapsed_ms);
  }
  void operator()(const record::time_used& r) const { w.member("elapsedMs", r.elapsed_ms); }
  void operator()(const record::limits_lowered& r) const { append_limits(w.key("limits"), r.limits); }
  void operator()(const record::taken_over& r) const {
    w.filled("by", r.by);
    w.set("powerLost", r.power_lost);
  }
  void operator()(const record::caller_result& r) const {
    w.member("call", r.call_id);
    w.given("result", r.result);
  }
  void operator()(const record::cancel& r) const {
    w.word("why", r.why);
    w.filled("text", r.text);
    w.filled("partialText", r.partial_text);
    spent(r.usage);
  }
  void operator()(const record::run_ended& r) const {
    w.word("reason", r.reason);
    w.filled("text", r.text);
  }
};

}  // namespace

std::string to_text(const run_record& r) {
  std::string out;
  const auto* said = std::get_if<record::assistant>(&r);
  out.reserve(said ? 2048 + said->message->raw.text().size() + text_bytes(*said->message) : 256);
  json::json_writer w(out);
  w.begin_object();
  w.member("v", record_format_version);
  w.member("type", name_of(r));
  std::visit(record_writer{w}, r);
  w.end_object();
  return out;
}

}  // namespace mcpbx::daemon::stored
