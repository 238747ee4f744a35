// The common case, all ids new, costs one hash set of the message's own few ids and a look at the earlier ones.
#include "daemon/loop/call_ids.hpp"

#include "mcp/support/text.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace mcpbx::daemon {
namespace {

using ids = std::unordered_set<std::string_view>;

bool all_new(const std::vector<const providers::tool_call_block*>& calls, const std::unordered_set<std::string>& before,
             const std::vector<call_report>& earlier) {
  ids seen;
  for (const auto* c : calls)
    if (c->id.empty() || before.contains(c->id) || !seen.insert(c->id).second) return false;
  return std::ranges::none_of(earlier, [&](const auto& e) { return seen.contains(e.id); });
}

}  // namespace

std::unordered_set<std::string> ids_of(const std::vector<providers::message_ptr>& messages) {
  std::unordered_set<std::string> all;
  for (const auto& m : messages)
    for (const auto& b : m->blocks)
      if (const auto* call = std::get_if<providers::tool_call_block>(&b)) all.insert(call->id);
  return all;
}

providers::message_ptr with_unique_ids(providers::message_ptr m, const std::unordered_set<std::string>& before,
                                       const std::vector<call_report>& earlier, random_source& random) {
  const auto calls = m->calls();
  if (calls.empty() || all_new(calls, before, earlier)) return m;
  auto copy = std::make_shared<providers::message>();
  copy->role = m->role;
  copy->blocks = m->blocks;
  copy->origin = m->origin;
  // Not its raw form: the old ids are in it, and results would answer calls that it does not hold.
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

}  // namespace mcpbx::daemon
