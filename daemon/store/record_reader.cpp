// The reading half of the format. The first member that cannot be taken is kept as the reason; reading goes on with
// defaults, and the record is refused as a whole in the end.
#include "daemon/store/record_format.hpp"
#include "daemon/store/record_words.hpp"

#include <charconv>
#include <limits>
#include <memory>
#include <unordered_set>
#include <utility>

namespace mcpbx::daemon {
namespace {

constexpr int deepest = 10'000;

class object_reader {
 public:
  object_reader(const raw_json& json, std::string place, std::string& wrong) : place_(std::move(place)), wrong_(wrong) {
    if (auto opened = raw_object::open(json))
      object_ = std::move(*opened);
    else
      complain("is no object");
  }
  void complain(const std::string& what) {
    if (wrong_.empty()) wrong_ = place_ + " " + what;
  }
  std::string place_of(std::string_view name) const { return place_ + "." + std::string(name); }
  std::string& wrong() { return wrong_; }

  raw_json json(std::string_view name) const { return object_ ? object_->find(name) : raw_json(); }
  std::string text(std::string_view name) {
    const auto value = json(name);
    if (!value) return {};
    auto read = value.as_string();
    if (!read) bad(name, "a string");
    return read ? std::move(*read) : std::string();
  }
  std::string needed(std::string_view name) {
    if (!json(name)) bad(name, "there");
    return text(name);
  }
  template <class I>
  void number(std::string_view name, I& to) {
    const auto value = json(name);
    if (!value) return;
    const auto read = value.as_integer();
    if (!read || *read < std::numeric_limits<I>::min() || *read > std::numeric_limits<I>::max())
      return bad(name, "a whole number in range");
    to = static_cast<I>(*read);
  }
  void set(std::string_view name, bool& to) {
    const auto value = json(name);
    if (!value) return;
    if (value.type() != raw_json::kind::boolean) return bad(name, "true or false");
    to = value.is_true();
  }
  void hash(std::string_view name, std::uint64_t& to) {
    if (!json(name)) return;
    const auto digits = text(name);
    const auto* end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, to, 16);
    if (digits.empty() || read.ec != std::errc() || read.ptr != end) bad(name, "a hash of hexadecimal digits");
  }
  template <class E>
  void word(std::string_view name, E& to) {
    if (!json(name)) return;
    const auto read = words_of<E>::value(text(name));
    if (!read) return bad(name, "a word that this version knows");
    to = *read;
  }
  template <class F>
  void each(std::string_view name, F&& f) {
    const auto value = json(name);
    if (!value) return;
    if (!value.is_array()) return bad(name, "an array");
    for_each_element(value, [&](raw_json element) {
      f(std::move(element));
      return wrong_.empty();
    });
  }
  std::vector<std::string> texts(std::string_view name) {
    std::vector<std::string> all;
    each(name, [&](const raw_json& element) {
      auto one = element.as_string();
      if (!one) return bad(name, "an array of strings");
      all.push_back(std::move(*one));
    });
    return all;
  }
  void bad(std::string_view name, std::string_view must_be) {
    if (wrong_.empty()) wrong_ = place_of(name) + " is not " + std::string(must_be);
  }

 private:
  std::optional<raw_object> object_;
  std::string place_;
  std::string& wrong_;
};

providers::block read_block(object_reader& o) {
  const auto type = o.text("type");
  if (type == "text") return providers::text_block{o.text("text")};
  if (type == "image") return providers::image_block{o.text("mime"), o.text("data"), o.text("url")};
  if (type == "reasoning") return providers::reasoning_block{o.text("text"), o.json("opaque")};
  if (type == "refusal") return providers::refusal_block{o.text("text")};
  if (type == "opaque") return providers::opaque_block{o.json("json")};
  if (type == "toolCall") {
    providers::tool_call_block b;
    b.id = o.needed("id");
    b.provider_id = o.text("providerId");
    b.name = o.text("name");
    b.arguments = o.json("arguments");
    b.arguments_text = o.text("argumentsText");
    b.problem = o.text("problem");
    return b;
  }
  if (type == "toolResult") {
    providers::tool_result_block b;
    b.call_id = o.needed("call");
    b.name = o.text("name");
    b.result = o.json("result");
    o.set("isError", b.is_error);
    return b;
  }
  o.complain("is a block of an unknown type");
  return providers::text_block{};
}

providers::message_ptr read_message(const raw_json& json, const std::string& place, std::string& wrong) {
  object_reader o(json, place, wrong);
  auto m = std::make_shared<providers::message>();
  o.word("role", m->role);
  std::unordered_set<std::string> ids;
  o.each("blocks", [&](const raw_json& element) {
    object_reader one(element, o.place_of("blocks"), wrong);
    m->blocks.push_back(read_block(one));
    const auto* call = std::get_if<providers::tool_call_block>(&m->blocks.back());
    if (call && !ids.insert(call->id).second) o.complain("has two calls of one id");
  });
  if (const auto from = o.json("origin")) {
    object_reader origin(from, o.place_of("origin"), wrong);
    m->origin = {origin.text("api"), origin.text("endpoint"), origin.text("model")};
  }
  m->raw = o.json("raw");
  return m;
}

run_limits read_limits(object_reader& o) {
  run_limits l;
  const auto json = o.json("limits");
  if (!json) return l;
  object_reader r(json, o.place_of("limits"), o.wrong());
  r.number("maxRounds", l.max_rounds);
  r.number("maxCallsPerRound", l.max_calls_per_round);
  r.number("maxCalls", l.max_calls);
  r.number("maxConsecutiveErrors", l.max_consecutive_errors);
  r.number("maxRepeatedCalls", l.max_repeated_calls);
  r.number("toolConcurrency", l.tool_concurrency);
  r.number("timeoutMs", l.timeout_ms);
  r.number("questionTimeoutMs", l.question_timeout_ms);
  r.number("tokenBudget", l.token_budget);
  r.number("maxResultBytes", l.max_result_bytes);
  r.word("onLimit", l.on_limit);
  r.word("onToolError", l.on_tool_error);
  r.word("status", l.status);
  r.word("approve", l.approve);
  r.set("approveDestructive", l.approve_destructive);
  if (r.json("emptyResultText")) l.empty_result_text = r.text("emptyResultText");
  return l;
}

void read(object_reader& o, record::run_started& r) {
  r.run = o.needed("run");
  r.session = o.text("session");
  r.principal = o.text("principal");
  r.model = o.text("model");
  o.each("messages", [&](const raw_json& element) {
    r.messages.push_back(read_message(element, o.place_of("messages"), o.wrong()));
  });
  r.tools = o.texts("tools");
  r.approve = o.texts("approve");
  o.each("clientTools", [&](const raw_json& element) { r.client_tools.push_back(element); });
  o.set("detached", r.detached);
  r.limits = read_limits(o);
}
void read(object_reader& o, record::round_started& r) {
  o.number("depth", r.depth);
  r.model = o.text("model");
  o.set("withTools", r.with_tools);
  o.number("elapsedMs", r.elapsed_ms);
  o.number("shortened", r.shortened);
}
void read(object_reader& o, record::assistant& r) {
  r.message = read_message(o.json("message"), o.place_of("message"), o.wrong());
  o.word("reason", r.reason);
  r.raw_reason = o.text("rawReason");
  if (const auto json = o.json("usage")) {
    object_reader u(json, o.place_of("usage"), o.wrong());
    u.number("input", r.usage.input);
    u.number("output", r.usage.output);
    u.number("cached", r.usage.cached);
    u.number("cacheWrite", r.usage.cache_write);
    u.number("reasoning", r.usage.reasoning);
    u.set("estimated", r.usage.estimated);
  }
  o.number("ms", r.ms);
  o.each("lanes", [&](const raw_json& element) {
    const auto lane = element.as_integer();
    if (!lane || *lane < 0 || *lane > std::numeric_limits<int>::max())
      return o.bad("lanes", "an array of whole numbers");
    r.lanes.push_back(static_cast<int>(*lane));
  });
}
void read(object_reader& o, record::model_failed& r) {
  o.word("kind", r.error.type);
  o.number("httpStatus", r.error.http_status);
  o.number("retryAfterMs", r.error.retry_after_ms);
  r.error.message = o.text("message");
  r.error.partial_text = o.text("partialText");
  o.set("retryable", r.error.retryable);
  o.number("ms", r.ms);
}
void read(object_reader& o, record::question& r) {
  r.id = o.needed("id");
  r.kind = o.text("kind");
  r.call_id = o.text("call");
  r.body = o.json("body");
  o.hash("definitionHash", r.definition_hash);
  o.hash("argumentsHash", r.arguments_hash);
  o.number("expiresMs", r.expires_ms);
}
void read(object_reader& o, record::answer& r) {
  r.id = o.needed("id");
  r.body = o.json("body");
  o.set("expired", r.expired);
}
void read(object_reader& o, record::call_intent& r) {
  r.call_id = o.needed("call");
  r.name = o.text("name");
  r.server = o.text("server");
  o.number("attempt", r.attempt);
  o.hash("definitionHash", r.definition_hash);
  o.hash("argumentsHash", r.arguments_hash);
  o.set("repeatable", r.repeatable);
  o.set("toCaller", r.to_caller);
}
void read(object_reader& o, record::call_result& r) {
  r.call_id = o.needed("call");
  r.result = o.json("result");
  o.set("isError", r.is_error);
  o.word("cause", r.cause);
  o.number("ms", r.ms);
}
void read(object_reader& o, record::parked& r) {
  r.call_ids = o.texts("calls");
}
void read(object_reader& o, record::caller_result& r) {
  r.call_id = o.needed("call");
  r.result = o.json("result");
}
void read(object_reader& o, record::cancel& r) {
  o.word("why", r.why);
  r.text = o.text("text");
}
void read(object_reader& o, record::run_ended& r) {
  o.word("reason", r.reason);
  r.text = o.text("text");
}

// Tries each alternative of the variant by its name.
template <std::size_t I = 0>
std::optional<run_record> read_as(std::string_view type, object_reader& o) {
  if constexpr (I == std::variant_size_v<run_record>) {
    return std::nullopt;
  } else {
    run_record r{std::in_place_index<I>};
    if (name_of(r) != type) return read_as<I + 1>(type, o);
    read(o, std::get<I>(r));
    return r;
  }
}

}  // namespace

result<run_record> record_from(std::string_view text) {
  auto json = raw_json::parse(text, deepest);
  if (!json) return fail(errc::parse, "a record is no JSON: " + json.error().message);
  std::string wrong;
  object_reader o(*json, "a record", wrong);
  int version = 0;
  o.number("v", version);
  if (wrong.empty() && version > record_format_version)
    return fail(errc::config, "a record has version " + std::to_string(version) + " and this mcpbx reads up to " +
                                  std::to_string(record_format_version) + "; use the newer mcpbx that wrote it");
  if (version < 1) o.complain("has no version");
  const auto type = o.text("type");
  if (!wrong.empty()) return fail(errc::parse, std::move(wrong));
  auto r = read_as(type, o);
  if (!r) return fail(errc::parse, "a record has the unknown type \"" + type + "\"");
  if (!wrong.empty()) return fail(errc::parse, std::move(wrong) + " (" + type + ")");
  return std::move(*r);
}

}  // namespace mcpbx::daemon
