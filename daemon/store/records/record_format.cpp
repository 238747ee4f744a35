// Writes records as JSON. A member with its type's empty value is left out.
#include "daemon/store/records/record_format.hpp"

#include "daemon/store/records/record_words.hpp"
#include "mcp/json/quoted_size.hpp"
#include "mcp/support/text.hpp"
#include "providers/model/message_format.hpp"

namespace mcpbx::daemon {
namespace {

void append_limits(std::string& out, const run_limits& l) {
  object_writer w(out);
  for (const auto& n : conf::loop_numbers()) w.number(n.key, l.*n.settled);
  w.word("onLimit", l.on_limit);
  w.word("onToolError", l.on_tool_error);
  w.word("status", l.status);
  w.word("approve", l.approve);
  w.set("approveDestructive", l.approve_destructive);
  w.text("emptyResultText", l.empty_result_text);
  w.key("guidance");
  out += l.guidance ? "true" : "false";
  w.filled("guidanceText", l.guidance_text);
  w.word("roundPrompts", l.round_prompts);
  if (l.round_texts.first) w.text("firstRoundText", *l.round_texts.first);
  if (l.round_texts.middle) w.text("middleRoundText", *l.round_texts.middle);
  if (l.round_texts.last) w.text("lastRoundText", *l.round_texts.last);
  w.filled("statusModel", l.status_model);
  w.set("markResults", l.mark_results);
  w.set("approveAfterOutput", l.approve_after_output);
  w.end();
}

std::size_t text_bytes(const providers::message& m) {
  std::size_t bytes = 0;
  for (const auto& b : m.blocks)
    if (const auto* text = std::get_if<providers::text_block>(&b)) bytes += quoted_size(text->text);
  return bytes;
}

// Writes pairs as a flat list: each name is followed by its replacement. Writes nothing if there are none.
void write_pairs(object_writer& w, std::string_view key, const auto& renamed) {
  if (renamed.empty()) return;
  std::vector<std::string> pairs;
  for (const auto& [from, to] : renamed) pairs.insert(pairs.end(), {from, to});
  w.texts(key, pairs);
}

struct record_writer {
  std::string& out;
  object_writer& w;
  void spent(const providers::usage& u) const {
    if (u.input == 0 && u.output == 0) return;
    w.key("usage");
    providers::append_usage(out, u);
  }
  void append_servers(const std::vector<server_terms>& all) const {
    w.key("servers");
    char before = '[';
    for (const auto& s : all) {
      out += before;
      object_writer server(out);
      server.text("name", s.server);
      if (!s.allow.empty()) server.texts("allow", s.allow);
      if (!s.deny.empty()) server.texts("deny", s.deny);
      if (!s.approve.empty()) server.texts("approve", s.approve);
      server.filled("prefix", s.naming.prefix);
      server.set("plain", s.naming.plain);
      write_pairs(server, "rename", s.naming.rename);
      write_pairs(server, "named", s.naming.named);
      server.end();
      before = ',';
    }
    out += all.empty() ? "[]" : "]";
  }
  void operator()(const record::run_started& r) const {
    w.text("run", r.run);
    w.filled("session", r.session);
    w.filled("principal", r.principal);
    w.text("model", r.model);
    w.key("messages");
    char before = '[';
    for (const auto& m : r.messages) {
      out += before;
      providers::append_message(out, *m);
      before = ',';
    }
    out += r.messages.empty() ? "[]" : "]";
    if (r.inherited_count > 0) w.number("inherited", static_cast<std::int64_t>(r.inherited_count));
    w.filled("profile", r.profile);
    w.texts("tools", r.tools.only);
    if (!r.tools.allow.empty()) w.texts("allow", r.tools.allow);
    if (!r.tools.deny.empty()) w.texts("deny", r.tools.deny);
    write_pairs(w, "rename", r.tools.rename);
    if (!r.approve.empty()) w.texts("approve", r.approve);
    if (r.servers) append_servers(*r.servers);
    if (!r.client_tools.empty()) w.jsons("clientTools", r.client_tools);
    w.json("answerSchema", r.answer_schema);
    w.set("detached", r.detached);
    w.filled("nonce", r.nonce);
    if (r.likeness != 0) w.text("likeness", hex(r.likeness, 16));
    if (!r.settings.empty()) {
      w.key("settings");
      providers::append_settings(out, r.settings);
    }
    w.json("askedLimits", r.asked_limits);
    w.key("limits");  // the last member, so that record_reader recognises equal limits at the end of the next record
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
    providers::append_message(out, *r.message);
    w.word("reason", r.reason);
    w.filled("rawReason", r.raw_reason);
    w.key("usage");
    providers::append_usage(out, r.usage);
    w.number("ms", r.ms);
    if (!r.lanes.empty()) w.numbers("lanes", r.lanes);
    if (r.tools.empty()) return;
    w.key("tools");
    char before = '[';
    for (const auto& t : r.tools) {
      out += before;
      object_writer tool(out);
      tool.text("name", t.name);
      tool.filled("server", t.server);
      tool.text("tool", t.tool);
      tool.end();
      before = ',';
    }
    out += ']';
  }
  void operator()(const record::model_failed& r) const {
    w.word("kind", r.error.type);
    w.number("httpStatus", r.error.http_status);
    w.number("retryAfterMs", r.error.retry_after_ms);
    w.text("message", r.error.message);
    w.filled("partialText", r.error.partial_text);
    w.set("retryable", r.error.retryable);
    spent(r.error.usage);
    w.number("ms", r.ms);
  }
  void operator()(const record::question& r) const {
    w.text("id", r.id);
    w.text("kind", r.kind);
    w.filled("call", r.call_id);
    w.json("body", r.body);
    w.filled("toolSha256", r.tool_sha256);
    w.filled("argumentsSha256", r.arguments_sha256);
    w.number("expiresMs", r.expires_ms);
  }
  void operator()(const record::answer& r) const {
    w.text("id", r.id);
    w.json("body", r.body);
    w.set("expired", r.expired);
    w.set("unattended", r.unattended);
    w.set("mute", r.mute);
  }
  void operator()(const record::call_intent& r) const {
    w.text("call", r.call_id);
    w.text("name", r.name);
    w.text("server", r.server);
    w.number("attempt", r.attempt);
    // Written as text, because not every JSON reader keeps 64 bits of a number.
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
  void operator()(const record::status_line& r) const {
    w.text("call", r.call_id);
    w.filled("text", r.text);
    w.key("usage");
    providers::append_usage(out, r.usage);
    w.number("ms", r.ms);
  }
  void operator()(const record::parked& r) const {
    w.texts("calls", r.call_ids);
    w.number("expiresMs", r.expires_ms);
    if (r.elapsed_ms != 0) w.number("elapsedMs", r.elapsed_ms);
  }
  void operator()(const record::time_used& r) const { w.number("elapsedMs", r.elapsed_ms); }
  void operator()(const record::limits_lowered& r) const {
    w.key("limits");
    append_limits(out, r.limits);
  }
  void operator()(const record::taken_over& r) const {
    w.filled("by", r.by);
    w.set("powerLost", r.power_lost);
  }
  void operator()(const record::caller_result& r) const {
    w.text("call", r.call_id);
    w.json("result", r.result);
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
  object_writer w(out);
  w.number("v", record_format_version);
  w.text("type", name_of(r));
  std::visit(record_writer{out, w}, r);
  w.end();
  return out;
}

}  // namespace mcpbx::daemon
