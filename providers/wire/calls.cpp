// Arguments are read or refused, never guessed.
#include "providers/wire/calls.hpp"

#include "mcp/support/text.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::providers {

std::string sent_arguments(const tool_call_block& call) {
  if (call.arguments) return std::string(call.arguments.text());
  return R"({"unreadable_arguments":)" + json_quoted(call.arguments_text) + "}";
}

bool is_fitting_id(std::string_view id) {
  return !id.empty() && id.size() <= 64 && std::all_of(id.begin(), id.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

std::string fitting_id(std::string_view id) {
  return is_fitting_id(id) ? std::string(id) : "id_" + hex(stable_hash(id), 16);
}

bool call_ids::take(const std::string& id) {
  if (!std::exchange(read_, true) && request_ != nullptr)
    for (const auto& m : request_->messages)
      for (const auto& b : m->blocks)
        if (const auto* c = std::get_if<tool_call_block>(&b)) used_.insert(c->id);
  return used_.insert(id).second;
}

std::vector<std::string> call_ids::settle(std::vector<std::string> sent) {
  for (auto& id : sent)
    if (!id.empty() && !take(id)) id.clear();
  for (auto& id : sent)
    while (id.empty()) {
      const auto digits = std::to_string(++counter_);
      auto made = "call" + std::string(digits.size() < 5 ? 5 - digits.size() : 0, '0') + digits;
      if (take(made)) id = std::move(made);
    }
  return sent;
}

}  // namespace mcpbx::providers
