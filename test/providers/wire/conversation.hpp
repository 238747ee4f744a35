// Conversations for the tests of encoders.
#pragma once
#include "providers/model/message.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::test {

/// With thoughts that only their origin may see.
inline providers::message_ptr assistant(std::string text, std::vector<providers::tool_call_block> calls,
                                        providers::origin from = {}, std::string_view raw = {}) {
  auto m = std::make_shared<providers::message>();
  m->role = providers::role::assistant;
  m->blocks.emplace_back(providers::reasoning_block{"secret thoughts", raw_json::literal("{\"x\":1}")});
  if (!text.empty()) m->blocks.emplace_back(providers::text_block{std::move(text)});
  for (auto& c : calls) m->blocks.emplace_back(std::move(c));
  m->origin = std::move(from);
  if (!raw.empty()) m->raw = raw_json::literal(raw);
  return m;
}

inline providers::message_ptr results(std::vector<providers::tool_result_block> list) {
  auto m = std::make_shared<providers::message>();
  m->role = providers::role::tool_results;
  for (auto& r : list) m->blocks.emplace_back(std::move(r));
  return m;
}

inline providers::tool_call_block call(std::string id, std::string name, std::string_view arguments) {
  return {std::move(id), "", std::move(name), raw_json::literal(arguments), std::string(arguments), ""};
}

}  // namespace mcpbx::test
