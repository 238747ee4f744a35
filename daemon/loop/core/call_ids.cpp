// Copies a message only if one of its ids must change. If all ids are new, the check needs one small hash set.
#include "daemon/loop/core/call_ids.hpp"

#include "mcp/support/keyed_hash.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace mcpbx::daemon::core {
namespace {

using ids = text_view_set;

bool all_new(const std::vector<const providers::tool_call_block*>& calls, const text_set& before,
             const std::vector<call_report>& earlier) {
  ids seen;
  for (const auto* c : calls)
    if (c->id.empty() || before.contains(c->id) || !seen.insert(c->id).second) return false;
  return std::ranges::none_of(earlier, [&](const auto& e) { return seen.contains(e.id); });
}

}  // namespace

text_set ids_of(const std::vector<providers::message_ptr>& messages) {
  text_set all;
  for (const auto& m : messages)
    for (const auto& b : m->blocks)
      if (const auto* call = std::get_if<providers::tool_call_block>(&b)) all.insert(call->id);
  return all;
}

providers::message_ptr with_unique_ids(providers::message_ptr m, const text_set& before,
                                       const std::vector<call_report>& earlier, random_source& random) {
  const auto calls = m->calls();
  if (calls.empty() || all_new(calls, before, earlier)) return m;
  auto copy = std::make_shared<providers::message>();
  copy->role = m->role;
  copy->blocks = m->blocks;
  copy->origin = m->origin;
  // Does not copy the raw form: it has the old ids, so the results would refer to calls that it does not contain.
  ids seen;
  for (const auto& e : earlier) seen.insert(e.id);
  for (auto& b : copy->blocks)
    if (auto* call = std::get_if<providers::tool_call_block>(&b)) {
      while (call->id.empty() || seen.contains(call->id) || before.contains(call->id))
        call->id = "call_" + hex(random.next(), 16);
      seen.insert(call->id);
    }
  return copy;
}

void separate_ids(std::vector<providers::message_ptr>& messages, text_set& taken) {
  text_map<std::size_t> uses;     // number of renamings of each repeated id
  text_map<std::string> renamed;  // old id to new id, for the latest assistant message
  for (auto& m : messages) {
    if (m->role == providers::role::assistant) renamed.clear();
    std::shared_ptr<providers::message> copy;
    const auto rename = [&](std::size_t i, auto member, const std::string& to) {
      if (!copy) {  // without the raw form and the codecs' cached encodings, which have the old id
        copy = std::make_shared<providers::message>();
        copy->role = m->role;
        copy->blocks = m->blocks;
        copy->origin = m->origin;
      }
      member(copy->blocks[i]) = to;
    };
    const auto call_id = [](auto& b) -> std::string& { return std::get<providers::tool_call_block>(b).id; };
    const auto result_id = [](auto& b) -> std::string& { return std::get<providers::tool_result_block>(b).call_id; };
    for (std::size_t i = 0; i < m->blocks.size(); ++i) {
      if (const auto* call = std::get_if<providers::tool_call_block>(&m->blocks[i])) {
        if (taken.insert(call->id).second) continue;
        std::string made;
        do made = "call_" + hex(stable_hash(call->id + ' ' + std::to_string(++uses[call->id])), 16);
        while (!taken.insert(made).second);
        renamed[call->id] = made;
        rename(i, call_id, made);
      } else if (const auto* result = std::get_if<providers::tool_result_block>(&m->blocks[i])) {
        if (const auto to = renamed.find(result->call_id); to != renamed.end()) rename(i, result_id, to->second);
      }
    }
    if (copy) m = std::move(copy);
  }
}

}  // namespace mcpbx::daemon::core
