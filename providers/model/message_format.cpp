// The members of a message in files. A member with its type's empty value is left out.
#include "providers/model/message_format.hpp"

#include <algorithm>
#include <memory>
#include <unordered_set>
#include <utility>

namespace mcpbx::providers {
namespace {

struct block_writer {
  object_writer& w;
  void operator()(const text_block& b) const {
    w.text("type", "text");
    w.text("text", b.text);
  }
  void operator()(const image_block& b) const {
    w.text("type", "image");
    w.filled("mime", b.mime);
    w.filled("data", b.data);
    w.filled("url", b.url);
    w.filled("detail", b.detail);
  }
  void operator()(const file_block& b) const {
    w.text("type", "file");
    w.filled("mime", b.mime);
    w.filled("name", b.name);
    w.filled("data", b.data);
    w.filled("url", b.url);
  }
  void operator()(const reasoning_block& b) const {
    w.text("type", "reasoning");
    w.filled("text", b.text);
    w.json("opaque", b.opaque);
  }
  void operator()(const tool_call_block& b) const {
    w.text("type", "toolCall");
    w.text("id", b.id);
    w.filled("providerId", b.provider_id);
    w.text("name", b.name);
    w.json("arguments", b.arguments);
    w.filled("argumentsText", b.arguments_text);
    w.filled("problem", b.problem);
    w.set("repaired", b.repaired);
  }
  void operator()(const tool_result_block& b) const {
    w.text("type", "toolResult");
    w.text("call", b.call_id);
    w.filled("name", b.name);
    w.json("result", b.result);
    w.set("isError", b.is_error);
  }
  void operator()(const refusal_block& b) const {
    w.text("type", "refusal");
    w.text("text", b.text);
  }
  void operator()(const opaque_block& b) const {
    w.text("type", "opaque");
    w.json("json", b.json);
  }
};

block read_block(const object_reader& o) {
  const auto type = o.text("type");
  if (type == "text") return text_block{o.text("text")};
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

void append_number_text(std::string& out, object_writer& w, std::string_view name, std::string_view number) {
  if (number.empty()) return;
  w.key(name);
  out += number;
}

std::string number_text(const object_reader& o, std::string_view name) {
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

void append_message(std::string& out, const message& m) {
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
  if (m.origin != origin{}) {
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

message_ptr read_message(raw_json json, const object_reader& within, std::string_view name) {
  const object_reader o(std::move(json), within, name);
  auto m = std::make_shared<message>();
  o.word("role", m->role);
  o.each("blocks", [&](raw_json element) {
    const object_reader one(std::move(element), o, "blocks");
    m->blocks.push_back(read_block(one));
  });
  if (has_two_calls_of_one_id(*m)) o.complain("has two calls of one id");
  if (auto from = o.json("origin")) {
    const object_reader origin(std::move(from), o, "origin");
    m->origin = {origin.text("api"), origin.text("endpoint"), origin.text("model")};
  }
  m->raw = o.json("raw");
  return m;
}

void append_usage(std::string& out, const usage& u) {
  object_writer w(out);
  w.number("input", u.input);
  w.number("output", u.output);
  w.number("cached", u.cached);
  w.number("cacheWrite", u.cache_write);
  w.number("reasoning", u.reasoning);
  w.set("estimated", u.estimated);
  w.end();
}

usage read_usage(raw_json json, const object_reader& within, std::string_view name) {
  usage u;
  const object_reader o(std::move(json), within, name);
  o.number("input", u.input);
  o.number("output", u.output);
  o.number("cached", u.cached);
  o.number("cacheWrite", u.cache_write);
  o.number("reasoning", u.reasoning);
  o.set("estimated", u.estimated);
  return u;
}

void append_settings(std::string& out, const call_settings& s) {
  object_writer w(out);
  append_number_text(out, w, "temperature", s.temperature);
  append_number_text(out, w, "topP", s.top_p);
  if (s.max_output_tokens != 0) w.number("maxOutputTokens", s.max_output_tokens);
  if (!s.stop.empty()) w.texts("stop", s.stop);
  if (s.parallel_tool_calls) {
    w.key("parallelToolCalls");
    out += *s.parallel_tool_calls ? "true" : "false";
  }
  w.filled("reasoningEffort", s.reasoning_effort);
  w.end();
}

call_settings read_settings(raw_json json, const object_reader& within, std::string_view name) {
  call_settings s;
  const object_reader o(std::move(json), within, name);
  s.temperature = number_text(o, "temperature");
  s.top_p = number_text(o, "topP");
  o.number("maxOutputTokens", s.max_output_tokens);
  s.stop = o.texts("stop");
  if (o.json("parallelToolCalls")) o.set("parallelToolCalls", s.parallel_tool_calls.emplace());
  s.reasoning_effort = o.text("reasoningEffort");
  return s;
}

}  // namespace mcpbx::providers
