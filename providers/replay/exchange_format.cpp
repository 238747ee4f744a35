// Writes and reads header and exchange lines. Request messages are kept in canonical form, replies in full.
#include "providers/replay/exchange_format.hpp"

#include "mcp/json/json_reader.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/support/text.hpp"
#include "providers/model/message_format.hpp"
#include "providers/replay/canonical.hpp"

#include <algorithm>

namespace mcpbx::providers::replay {
namespace {

constexpr std::size_t max_pieces = 4'096, max_keys = std::size_t{1} << 16;
constexpr int deepest_line = 10'000;

std::string joined(const std::vector<piece>& all, bool reasoning) {
  std::string text;
  for (const auto& p : all)
    if (p.reasoning == reasoning) text += p.text;
  return text;
}

void append_error(json::json_writer& w, const model_error& e) {
  w.begin_object();
  w.word("kind", e.type);
  w.member("httpStatus", e.http_status);
  w.member("retryAfterMs", e.retry_after_ms);
  w.member("message", e.message);
  w.filled("partialText", e.partial_text);
  w.filled("failedGeneration", e.failed_generation);
  w.set("retryable", e.retryable);
  if (e.usage.estimated) append_usage(w.key("usage"), e.usage);
  w.end_object();
}

model_error read_error(const json::raw_json& json, const json::json_reader& o) {
  model_error e;
  const json::json_reader r(json, o, "error");
  r.word("kind", e.type);
  r.number("httpStatus", e.http_status);
  r.number("retryAfterMs", e.retry_after_ms);
  e.message = r.text("message");
  e.partial_text = r.text("partialText");
  e.failed_generation = r.text("failedGeneration");
  r.set("retryable", e.retryable);
  if (auto used = r.json("usage")) e.usage = read_usage(std::move(used), r, "usage");
  return e;
}

void read_reply(const json::json_reader& o, model_reply& reply) {
  reply.message = read_message(o.json("reply"), o, "reply");
  o.word("reason", reply.reason);
  reply.raw_reason = o.text("rawReason");
  if (auto usage = o.json("usage")) reply.usage = read_usage(std::move(usage), o, "usage");
}

}  // namespace

std::string to_line(const header& h) {
  std::string out;
  json::json_writer w(out);
  w.begin_object();
  w.member("type", "recording");
  w.member("v", format_version);
  w.member("api", h.api);
  w.filled("system", without_secrets(h.system));
  w.filled("id", h.id);
  w.end_object();
  return out += '\n';
}

result<header> header_from(std::string_view text) {
  const std::string no_recording =
      "is no recording of mcpbx: its first line must be {\"type\":\"recording\",\"v\":1,…}; name another file, or "
      "remove it to record anew";
  const auto json = json::raw_json::parse(text.substr(0, text.find('\n')));
  if (!json || json::member_text(*json, "type") != "recording") return fail(errc::parse, no_recording);
  header h;
  std::string wrong;
  const json::json_reader o(*json, "the header", wrong);
  int version = 0;
  o.number("v", version);
  h.api = o.text("api");
  h.system = o.text("system");
  h.id = o.text("id");
  if (version > format_version)
    return fail(errc::config, "was recorded by a newer mcpbx (version " + std::to_string(version) +
                                  " of the format, and this one reads up to " + std::to_string(format_version) +
                                  "); use that one, or record anew");
  if (!wrong.empty() || version < 1 || h.api.empty()) return fail(errc::parse, no_recording);
  return h;
}

void pieces::add(bool reasoning, std::string_view delta) {
  if (all_.size() >= max_pieces) {
    const auto last = std::ranges::find(all_.rbegin(), all_.rend(), reasoning, &piece::reasoning);
    if (last != all_.rend()) {
      last->text += delta;
      return;
    }
  }
  all_.push_back({reasoning, std::string(delta)});
}

std::vector<piece> pieces::take() {
  for (const bool reasoning : {false, true}) {
    const auto whole = joined(all_, reasoning);
    auto clean = without_secrets(whole);
    if (clean == whole) continue;
    const auto first = std::ranges::find(all_, reasoning, &piece::reasoning);
    first->text = std::move(clean);
    const auto behind = std::remove_if(first + 1, all_.end(), [&](const piece& p) { return p.reasoning == reasoning; });
    all_.erase(behind, all_.end());
  }
  return std::exchange(all_, {});
}

std::string to_line(const exchange& e) {
  std::string out;
  json::json_writer w(out);
  w.begin_object();
  w.member("type", "exchange");
  if (e.after) w.member("after", hex(e.after, 16));
  w.list("messages", e.messages);
  if (!e.tools.empty()) {
    w.key("tools").begin_object();
    for (const auto& [name, hash] : e.tools) w.member(name, hex(hash, 16));
    w.end_object();
  }
  if (!e.stream.empty()) {
    w.key("stream").begin_array();
    for (const auto& p : e.stream) w.begin_object().member(p.reasoning ? "reasoning" : "text", p.text).end_object();
    w.end_array();
  }
  if (e.error) {
    append_error(w.key("error"), *e.error);
  } else {
    append_message(w.key("reply"), *e.reply.message);
    w.word("reason", e.reply.reason);
    w.filled("rawReason", e.reply.raw_reason);
    append_usage(w.key("usage"), e.reply.usage);
  }
  w.end_object();
  return out += '\n';
}

result<exchange> exchange_from(std::string_view line) {
  const auto json = json::raw_json::parse(line, deepest_line);
  if (!json) return fail(errc::parse, "is no JSON: " + json.error().message);
  exchange e;
  std::string wrong;
  const json::json_reader o(*json, "it", wrong);
  if (o.text("type") != "exchange") o.complain("is no exchange");
  o.hash("after", e.after);
  o.each("messages", [&](json::raw_json m) {
    if (!m.is_object()) return o.bad("messages", "a list of objects");
    e.messages.push_back(std::move(m));
  });
  if (const auto tools = o.json("tools")) {
    const json::json_reader t(tools, o, "tools");
    if (const auto members = json::raw_object::open(tools, {}, json::any_number_of_members))
      members->for_each(
          [&](std::string_view name, const json::raw_json&) { t.hash(name, e.tools.emplace_back(name, 0).second); });
  }
  o.each("stream", [&](json::raw_json one) {
    const json::json_reader p(std::move(one), o, "stream");
    const bool reasoning = p.json("reasoning").is_string();
    e.stream.push_back({reasoning, p.needed(reasoning ? "reasoning" : "text")});
  });
  if (const auto failed = o.json("error"))
    e.error = read_error(failed, o);
  else
    read_reply(o, e.reply);
  if (wrong.empty() && e.reply.message && e.reply.message->role != role::assistant)
    o.bad("reply", "a message of the role assistant");
  if (!wrong.empty()) return fail(errc::parse, "cannot be read: " + wrong);
  return e;
}

std::vector<std::pair<std::string, std::uint64_t>> tools_of(const model_request& request) {
  std::vector<std::pair<std::string, std::uint64_t>> all;
  const auto tools = request.offered();
  if (!tools) return all;
  all.reserve(tools->tools.size());
  for (const auto& t : tools->tools) all.emplace_back(t.name, definition_hash(t));
  return all;
}

exchange exchange_writer::begin(const model_request& request, std::vector<piece> stream,
                                std::vector<std::uint64_t>& keys) const {
  exchange e;
  std::vector<json::raw_json> all;
  std::size_t known = 0;
  std::uint64_t key = 0;
  for (const auto& m : request.messages) {
    all.push_back(canonical(*m));
    key = next_key(key, all.back().text());
    keys.push_back(key);
    if (!keys_.contains(key)) continue;
    known = all.size();
    e.after = key;
  }
  e.messages.assign(all.begin() + static_cast<std::ptrdiff_t>(known), all.end());
  e.tools = tools_of(request);
  e.stream = std::move(stream);
  return e;
}

exchange_writer::entry exchange_writer::make(const model_request& request, const model_reply& reply,
                                             std::vector<piece> stream) const {
  entry made;
  auto e = begin(request, std::move(stream), made.keys);
  e.reply = reply;
  e.reply.message = without_secrets(*reply.message);
  made.keys.push_back(next_key(made.keys.empty() ? 0 : made.keys.back(), canonical(*e.reply.message).text()));
  made.line = to_line(e);
  return made;
}

exchange_writer::entry exchange_writer::make(const model_request& request, model_error error,
                                             std::vector<piece> stream) const {
  entry made;
  auto e = begin(request, std::move(stream), made.keys);
  for (auto* text : {&error.message, &error.partial_text, &error.failed_generation}) *text = without_secrets(*text);
  e.error = std::move(error);
  made.line = to_line(e);
  return made;
}

void exchange_writer::written(const entry& e) {
  if (keys_.size() + e.keys.size() > max_keys) keys_.clear();
  keys_.insert(e.keys.begin(), e.keys.end());
}

}  // namespace mcpbx::providers::replay
