// The members of a message in files. A member with its type's empty value is left out.
#include "providers/model/message_format.hpp"

#include <algorithm>
#include <memory>
#include <unordered_set>
#include <utility>

namespace mcpbx::providers {
namespace {

struct block_writer {
  json::json_writer& w;
  void operator()(const text_block& b) const {
    w.member("type", "text");
    w.member("text", b.text);
    w.set("foreign", b.foreign);
  }
  void operator()(const image_block& b) const {
    w.member("type", "image");
    w.filled("mime", b.mime);
    w.filled("data", b.data);
    w.filled("url", b.url);
    w.filled("detail", b.detail);
  }
  void operator()(const file_block& b) const {
    w.member("type", "file");
    w.filled("mime", b.mime);
    w.filled("name", b.name);
    w.filled("data", b.data);
    w.filled("url", b.url);
  }
  void operator()(const reasoning_block& b) const {
    w.member("type", "reasoning");
    w.filled("text", b.text);
    w.given("opaque", b.opaque);
  }
  void operator()(const tool_call_block& b) const {
    w.member("type", "toolCall");
    w.member("id", b.id);
    w.filled("providerId", b.provider_id);
    w.member("name", b.name);
    w.given("arguments", b.arguments);
    w.filled("argumentsText", b.arguments_text);
    w.filled("problem", b.problem);
    w.set("repaired", b.repaired);
  }
  void operator()(const tool_result_block& b) const {
    w.member("type", "toolResult");
    w.member("call", b.call_id);
    w.filled("name", b.name);
    w.given("result", b.result);
    w.set("isError", b.is_error);
  }
  void operator()(const refusal_block& b) const {
    w.member("type", "refusal");
    w.member("text", b.text);
  }
  void operator()(const opaque_block& b) const {
    w.member("type", "opaque");
    w.given("json", b.json);
  }
};

block read_block(const json::json_reader& o) {
  const auto type = o.text("type");
  if (type == "text") {
    text_block b{o.text("text")};
    o.set("foreign", b.foreign);
    return b;
  }
  if (type == "image") return image_block{o.text("mime"), o.text("data"), o.text("url"), o.text("detail")};
  if (type == "file") return file_block{o.text("mime"), o.text("name"), o.text("data"), o.text("url")};
  if (type == "reasoning") return reasoning_block{o.text("text"), o.json("opaque")};
  if (type == "refusal") return refusal_block{o.text("text")};
  if (type == "opaque") return opaque_block{o.json("json")};
  if (type == "toolCall") {
    tool_call_block b;
    b.id = o.needed("id");
    b.provider_id = o.text("providerId");
    b.name = o.text("name");
    b.arguments = o.json("arguments");
    b.arguments_text = o.text("argumentsText");
    b.problem = o.text("problem");
    o.set("repaired", b.repaired);
    return b;
  }
  if (type == "toolResult") {
    tool_result_block b;
    b.call_id = o.needed("call");
    b.name = o.text("name");
    b.result = o.json("result");
    o.set("isError", b.is_error);
    return b;
  }
  o.complain("is a block of an unknown type");
  return text_block{};
}

void append_number_text(json::json_writer& w, std::string_view name, std::string_view number) {
  if (!number.empty()) w.key(name).token(number);
}

std::string number_text(const json::json_reader& o, std::string_view name) {
  const auto value = o.json(name);
  const auto text = value.text();
  if (text.empty()) return {};
  if (text.front() != '-' && (text.front() < '0' || text.front() > '9')) o.bad(name, "a number");
  return std::string(text);
}

bool has_two_calls_of_one_id(const message& m) {
  const auto calls = m.calls();
  if (calls.size() < 2) return false;
  std::unordered_set<std::string_view> ids;
  return !std::ranges::all_of(calls, [&](const auto* call) { return ids.insert(call->id).second; });
}

}  // namespace

void append_message(json::json_writer& w, const message& m) {
  w.begin_object();
  w.word("role", m.role);
  w.key("blocks").begin_array();
  for (const auto& b : m.blocks) {
    w.begin_object();
    std::visit(block_writer{w}, b);
    w.end_object();
  }
  w.end_array();
  if (m.origin != origin{}) {
    w.key("origin").begin_object().member("api", m.origin.api);
    w.member("endpoint", m.origin.endpoint);
    w.member("model", m.origin.model).end_object();
  }
  w.given("raw", m.raw);
  w.end_object();
}

message_ptr read_message(json::raw_json json, const json::json_reader& within, std::string_view name) {
  const json::json_reader o(std::move(json), within, name);
  auto m = std::make_shared<message>();
  o.word("role", m->role);
  o.each("blocks", [&](json::raw_json element) {
    const json::json_reader one(std::move(element), o, "blocks");
    m->blocks.push_back(read_block(one));
  });
  if (has_two_calls_of_one_id(*m)) o.complain("has two calls of one id");
  if (auto from = o.json("origin")) {
    const json::json_reader origin(std::move(from), o, "origin");
    m->origin = {origin.text("api"), origin.text("endpoint"), origin.text("model")};
  }
  m->raw = o.json("raw");
  return m;
}

void append_usage(json::json_writer& w, const usage& u) {
  w.begin_object();
  w.member("input", u.input);
  w.member("output", u.output);
  w.member("cached", u.cached);
  w.member("cacheWrite", u.cache_write);
  w.member("reasoning", u.reasoning);
  w.set("estimated", u.estimated);
  w.end_object();
}

usage read_usage(json::raw_json json, const json::json_reader& within, std::string_view name) {
  usage u;
  const json::json_reader o(std::move(json), within, name);
  o.number("input", u.input);
  o.number("output", u.output);
  o.number("cached", u.cached);
  o.number("cacheWrite", u.cache_write);
  o.number("reasoning", u.reasoning);
  o.set("estimated", u.estimated);
  return u;
}

void append_settings(json::json_writer& w, const call_settings& s) {
  w.begin_object();
  append_number_text(w, "temperature", s.temperature);
  append_number_text(w, "topP", s.top_p);
  if (s.max_output_tokens != 0) w.member("maxOutputTokens", s.max_output_tokens);
  if (!s.stop.empty()) w.list("stop", s.stop);
  if (s.parallel_tool_calls) w.member("parallelToolCalls", *s.parallel_tool_calls);
  w.filled("reasoningEffort", s.reasoning_effort);
  w.end_object();
}

call_settings read_settings(json::raw_json json, const json::json_reader& within, std::string_view name) {
  call_settings s;
  const json::json_reader o(std::move(json), within, name);
  s.temperature = number_text(o, "temperature");
  s.top_p = number_text(o, "topP");
  o.number("maxOutputTokens", s.max_output_tokens);
  s.stop = o.texts("stop");
  if (o.json("parallelToolCalls")) o.set("parallelToolCalls", s.parallel_tool_calls.emplace());
  s.reasoning_effort = o.text("reasoningEffort");
  return s;
}

}  // namespace mcpbx::providers
