// Small parts of the neutral chat model: words for its enums, joined text, the fragment cache.
#include "providers/model/message.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::providers {
namespace {

message_ptr message_of(role r, std::string text) {
  auto m = std::make_shared<message>();
  m->role = r;
  m->blocks.emplace_back(text_block{std::move(text)});
  return m;
}

}  // namespace

std::string_view to_string(role r) {
  switch (r) {
    case role::system:
      return "system";
    case role::user:
      return "user";
    case role::assistant:
      return "assistant";
    case role::tool_results:
      return "tool_results";
  }
  return "user";
}

std::string_view to_string(end_reason r) {
  switch (r) {
    case end_reason::stop:
      return "stop";
    case end_reason::tool_calls:
      return "tool_calls";
    case end_reason::length:
      return "length";
    case end_reason::filter:
      return "filter";
    case end_reason::refusal:
      return "refusal";
    case end_reason::pause:
      return "pause";
    case end_reason::context_full:
      return "context_full";
    case end_reason::malformed_call:
      return "malformed_call";
    case end_reason::unknown:
      return "unknown";
  }
  return "stop";
}

std::string message::text() const {
  std::string all;
  for (const auto& b : blocks)
    if (const auto* t = std::get_if<text_block>(&b)) all += t->text;
  return all;
}

std::vector<const tool_call_block*> message::calls() const {
  std::vector<const tool_call_block*> all;
  for (const auto& b : blocks)
    if (const auto* c = std::get_if<tool_call_block>(&b)) all.push_back(c);
  return all;
}

bool message::has_foreign_text() const {
  return std::ranges::any_of(blocks, [](const block& b) {
    const auto* text = std::get_if<text_block>(&b);
    return text != nullptr && text->foreign;
  });
}

json::raw_json fragment_cache::remembered(std::string_view key) const {
  for (const auto& [name, fragment] : fragments_)
    if (name == key) return fragment;
  return {};
}

void fragment_cache::remember(std::string_view key, json::raw_json fragment) const {
  for (auto& [name, old] : fragments_)
    if (name == key) {
      old = std::move(fragment);
      return;
    }
  fragments_.emplace_back(std::string(key), std::move(fragment));
}

std::shared_ptr<const message> fragment_cache::form(std::string_view key) const {
  for (const auto& [name, kept] : forms_)
    if (name == key) return kept;
  return nullptr;
}

void fragment_cache::keep_form(std::string_view key, std::shared_ptr<const message> form) const {
  constexpr std::size_t most = 4;
  if (forms_.size() == most) forms_.erase(forms_.begin());
  forms_.emplace_back(std::string(key), std::move(form));
}

message_ptr user_message(std::string text) {
  return message_of(role::user, std::move(text));
}
message_ptr system_message(std::string text) {
  return message_of(role::system, std::move(text));
}

std::shared_ptr<const tool_set> model_request::offered() const {
  return tools && !tools->tools.empty() && tool_mode != tool_mode::none ? tools : nullptr;
}

bool model_request::has_calls() const {
  return std::ranges::any_of(messages, [](const message_ptr& m) {
    return std::ranges::any_of(m->blocks, [](const block& b) { return std::holds_alternative<tool_call_block>(b); });
  });
}

usage& usage::operator+=(const usage& other) {
  input += other.input;
  output += other.output;
  cached += other.cached;
  cache_write += other.cache_write;
  reasoning += other.reasoning;
  estimated = estimated || other.estimated;
  return *this;
}

usage& usage::operator-=(const usage& part) {
  input -= part.input;
  output -= part.output;
  cached -= part.cached;
  cache_write -= part.cache_write;
  reasoning -= part.reasoning;
  return *this;
}

}  // namespace mcpbx::providers
