// Reads records from JSON. json_reader reports members that do not fit.
#include "daemon/store/records/record_format.hpp"
#include "daemon/store/records/record_words.hpp"
#include "providers/model/message_format.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

namespace mcpbx::daemon::stored {
namespace {

constexpr int deepest = 10'000;

template <conf::loop::worded E>
void read_setting(const json::json_reader& r, std::string_view key, E& to) {
  r.word(key, to);
}
void read_setting(const json::json_reader& r, std::string_view key, bool& to) {
  r.set(key, to);
}
void read_setting(const json::json_reader& r, std::string_view key, std::string& to) {
  if (r.json(key)) to = r.text(key);
}
void read_setting(const json::json_reader& r, std::string_view key, conf::loop::switch_or_text& to) {
  r.set(key, to.on);
  to.text = r.text(std::string(key) + "Text");
}
void read_setting(const json::json_reader& r, std::string_view, conf::loop::round_prompt_texts& to) {
  if (r.json("firstRoundText")) to.first = r.text("firstRoundText");
  if (r.json("middleRoundText")) to.middle = r.text("middleRoundText");
  if (r.json("lastRoundText")) to.last = r.text("lastRoundText");
}

run_limits read_limits(json::raw_json json, const json::json_reader& o) {
  run_limits l;
  const json::json_reader r(std::move(json), o, "limits");
  for (const auto& n : conf::loop::loop_numbers()) r.number(n.key, l.*n.settled);
  conf::loop::each_choice_in_journal([&](const auto& m) { read_setting(r, m.key, l.*m.settled); });
  return l;
}

// Reads a flat list of pairs: each name is followed by its replacement.
std::vector<std::pair<std::string, std::string>> read_pairs(const json::json_reader& o, std::string_view key) {
  const auto texts = o.texts(key);
  if (texts.size() % 2 != 0) o.bad(key, "an array of pairs");
  std::vector<std::pair<std::string, std::string>> pairs;
  for (std::size_t i = 0; i + 1 < texts.size(); i += 2) pairs.emplace_back(texts[i], texts[i + 1]);
  return pairs;
}

std::vector<record::meant_tool> read_meant(const json::json_reader& o, std::string_view key) {
  std::vector<record::meant_tool> all;
  o.each(key, [&](json::raw_json element) {
    const json::json_reader tool(std::move(element), o, key);
    all.push_back({tool.needed("name"), tool.text("server"), tool.needed("tool")});
  });
  return all;
}

// Reads all members but the limits.
void read(const json::json_reader& o, record::run_started& r) {
  r.run = o.needed("run");
  r.session = o.text("session");
  r.principal = o.text("principal");
  r.model = o.text("model");
  o.each("messages", [&](json::raw_json element) {
    r.messages.push_back(providers::read_message(std::move(element), o, "messages"));
  });
  r.meant = read_meant(o, "meant");
  std::int64_t inherited = 0;
  o.number("inherited", inherited);
  if (inherited < 0) o.bad("inherited", "a number of messages");
  r.inherited_count = static_cast<std::size_t>(std::max<std::int64_t>(inherited, 0));
  r.profile = o.text("profile");
  r.tools.only = o.texts("tools");
  r.tools.allow = o.texts("allow");
  r.tools.deny = o.texts("deny");
  for (auto& [from, to] : read_pairs(o, "rename")) r.tools.rename.emplace(from, to);
  r.approve = o.texts("approve");
  if (auto links = o.json("links")) {
    const json::json_reader l(std::move(links), o, "links");
    r.links = {l.texts("allow"), l.texts("deny")};
  }
  if (o.json("servers")) {
    std::vector<server_terms> servers;
    o.each("servers", [&](json::raw_json element) {
      const json::json_reader s(std::move(element), o, "servers");
      server_terms terms{s.needed("name"), s.texts("allow"), s.texts("deny"), s.texts("approve")};
      terms.naming.prefix = s.text("prefix");
      s.set("plain", terms.naming.plain);
      for (auto& [own, name] : read_pairs(s, "rename")) terms.naming.rename.emplace(own, name);
      for (auto& [own, name] : read_pairs(s, "named")) terms.naming.named.emplace(own, name);
      servers.push_back(std::move(terms));
    });
    r.servers = std::make_shared<const std::vector<server_terms>>(std::move(servers));
  }
  o.each("clientTools", [&](json::raw_json element) { r.client_tools.push_back(std::move(element)); });
  r.answer_schema = o.json("answerSchema");
  o.set("detached", r.detached);
  r.nonce = o.text("nonce");
  o.hash("likeness", r.likeness);
  if (auto json = o.json("settings")) r.settings = providers::read_settings(std::move(json), o, "settings");
  r.asked_limits = o.json("askedLimits");
  // Checked again: the journal is a file, and these become header lines.
  const auto state = o.text("tracestate");
  const std::string_view states[] = {state};
  r.trace = trace::read_trace(o.text("traceparent"), states);
}
void read(const json::json_reader& o, record::round_started& r) {
  o.number("depth", r.depth);
  r.model = o.text("model");
  o.set("withTools", r.with_tools);
  o.number("elapsedMs", r.elapsed_ms);
  o.number("shortened", r.shortened);
}
void read(const json::json_reader& o, record::assistant& r) {
  r.message = providers::read_message(o.json("message"), o, "message");
  o.word("reason", r.reason);
  r.raw_reason = o.text("rawReason");
  if (auto json = o.json("usage")) r.usage = providers::read_usage(std::move(json), o, "usage");
  o.number("ms", r.ms);
  o.each("lanes", [&](const json::raw_json& element) {
    const auto group = element.as_integer();
    if (!group || *group < 0 || *group > std::numeric_limits<int>::max())
      return o.bad("lanes", "an array of whole numbers");
    r.serial_groups.push_back(static_cast<int>(*group));
  });
  r.tools = read_meant(o, "tools");
}
void read(const json::json_reader& o, record::model_failed& r) {
  o.word("kind", r.error.type);
  o.number("httpStatus", r.error.http_status);
  o.number("retryAfterMs", r.error.retry_after_ms);
  r.error.message = o.text("message");
  r.error.partial_text = o.text("partialText");
  o.set("retryable", r.error.retryable);
  if (auto json = o.json("usage")) r.error.usage = providers::read_usage(std::move(json), o, "usage");
  o.number("ms", r.ms);
}
void read(const json::json_reader& o, record::question& r) {
  r.id = o.needed("id");
  r.kind = o.text("kind");
  r.call_id = o.text("call");
  r.body = o.json("body");
  r.tool_sha256 = o.text("toolSha256");
  r.arguments_sha256 = o.text("argumentsSha256");
  o.number("expiresMs", r.expires_ms);
  o.set("duringCall", r.during_call);
}
void read(const json::json_reader& o, record::answer& r) {
  r.id = o.needed("id");
  r.body = o.json("body");
  o.set("expired", r.expired);
  o.set("unattended", r.unattended);
  o.set("mute", r.mute);
  o.set("withdrawn", r.withdrawn);
}
void read(const json::json_reader& o, record::call_intent& r) {
  r.call_id = o.needed("call");
  r.name = o.text("name");
  r.server = o.text("server");
  o.number("attempt", r.attempt);
  o.hash("definitionHash", r.definition_hash);
  o.hash("argumentsHash", r.arguments_hash);
  o.set("repeatable", r.repeatable);
  o.set("toCaller", r.to_caller);
}
void read(const json::json_reader& o, record::call_result& r) {
  r.call_id = o.needed("call");
  r.result = o.json("result");
  o.set("isError", r.is_error);
  o.word("cause", r.cause);
  o.number("ms", r.ms);
}
void read(const json::json_reader& o, record::status_line& r) {
  r.call_id = o.needed("call");
  r.text = o.text("text");
  if (auto json = o.json("usage")) r.usage = providers::read_usage(std::move(json), o, "usage");
  o.number("ms", r.ms);
}
void read(const json::json_reader& o, record::parked& r) {
  r.call_ids = o.texts("calls");
  o.number("expiresMs", r.expires_ms);
  o.number("elapsedMs", r.elapsed_ms);
}
void read(const json::json_reader& o, record::time_used& r) {
  o.number("elapsedMs", r.elapsed_ms);
}
void read(const json::json_reader&, record::limits_lowered&) {}  // has nothing but the limits
void read(const json::json_reader& o, record::taken_over& r) {
  r.by = o.text("by");
  o.set("powerLost", r.power_lost);
}
void read(const json::json_reader& o, record::caller_result& r) {
  r.call_id = o.needed("call");
  r.result = o.json("result");
}
void read(const json::json_reader& o, record::cancel& r) {
  o.word("why", r.why);
  r.text = o.text("text");
  r.partial_text = o.text("partialText");
  if (auto json = o.json("usage")) r.usage = providers::read_usage(std::move(json), o, "usage");
}
void read(const json::json_reader& o, record::run_ended& r) {
  o.word("reason", r.reason);
  r.text = o.text("text");
}

run_limits* limits_of(run_record& r) {
  if (auto* started = std::get_if<record::run_started>(&r)) return &started->limits;
  auto* lowered = std::get_if<record::limits_lowered>(&r);
  return lowered != nullptr ? &lowered->limits : nullptr;
}

// Reader of one alternative of the variant, found by its name.
struct reader {
  std::string_view name;
  run_record (*read)(const json::json_reader&);
};
template <std::size_t... I>
std::array<reader, sizeof...(I)> all_readers(std::index_sequence<I...>) {
  return {reader{name_of(run_record(std::in_place_index<I>)), [](const json::json_reader& o) {
                   run_record r(std::in_place_index<I>);
                   read(o, std::get<I>(r));
                   return r;
                 }}...};
}
const reader* find_reader(std::string_view name) {
  static const auto all = all_readers(std::make_index_sequence<std::variant_size_v<run_record>>());
  const auto found = std::ranges::find(all, name, &reader::name);
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

result<run_record> record_from(std::string_view text) {
  return record_reader().read(text);
}

// Cuts the limits off the end of a run_started or limits_lowered if they have the same bytes as the last ones, which
// need no second check. The rest is an object exactly if the whole was one.
bool record_reader::cut_limits(std::string_view text) {
  if (limits_end_.empty() || !text.ends_with(limits_end_)) return false;
  without_limits_.assign(text, 0, text.size() - limits_end_.size());
  without_limits_ += '}';
  return true;
}

result<run_record> record_reader::read(std::string_view text) {
  const bool cut = cut_limits(text);
  auto json = json::raw_json::parse(cut ? std::string_view(without_limits_) : text, deepest);
  if (!json) return fail(errc::parse, "a record is no JSON: " + json.error().message);
  std::string wrong;
  const json::json_reader o(*std::move(json), "a record", wrong);
  int version = 0;
  o.number("v", version);
  if (wrong.empty() && version > record_format_version)
    return fail(errc::config, "a record has version " + std::to_string(version) + " and this mcpbx reads up to " +
                                  std::to_string(record_format_version) + "; use the newer mcpbx that wrote it");
  if (version < 1) o.complain("has no version");
  const auto type = o.text("type");
  if (!wrong.empty()) return fail(errc::parse, std::move(wrong));
  const auto* known = find_reader(type);
  if (known == nullptr) return fail(errc::parse, "a record has the unknown type \"" + type + "\"");
  result<run_record> r = known->read(o);
  if (auto* mine = limits_of(*r)) {
    if (auto limits = cut ? json::raw_json() : o.json("limits")) {
      limits_end_ = ",\"limits\":" + std::string(limits.text()) + "}";
      limits_ = read_limits(std::move(limits), o);
      if (!wrong.empty()) limits_end_.clear();
      *mine = limits_;
    } else if (cut) {
      *mine = limits_;
    }
  }
  if (!wrong.empty()) return fail(errc::parse, std::move(wrong) + " (" + type + ")");
  return r;
}

}  // namespace mcpbx::daemon::stored
