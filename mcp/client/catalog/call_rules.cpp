// Matches tools against the globs of the call rules. The globs are few, and each tool is matched once, when its list
// comes.
#include "mcp/client/catalog/call_rules.hpp"

#include "mcp/support/text.hpp"

#include <algorithm>

namespace mcpbx::mcp::catalogs {
namespace {

bool names(const std::vector<std::string>& globs, const std::string& tool) {
  return std::ranges::any_of(globs, [&](const auto& glob) { return glob_match(glob, tool); });
}

std::optional<milliseconds> first_for(const std::vector<std::pair<std::string, milliseconds>>& limits,
                                      const std::string& tool) {
  for (const auto& [glob, limit] : limits)
    if (glob_match(glob, tool)) return limit;
  return std::nullopt;
}

}  // namespace

call_manner call_rules::of(const protocol::feature_item& tool) const {
  call_manner m;
  m.serial = serial || names(serial_tools, tool.key);
  if (names(retry, tool.key) || (trust_annotations && (tool.read_only || tool.idempotent))) m.max_retries = max_retries;
  const auto own_idle = first_for(idle, tool.key), own_hard = first_for(hard, tool.key);
  if (own_idle || own_hard) {
    m.limits = limits;
    if (own_idle) m.limits->idle = *own_idle;
    m.limits->hard = std::max(own_hard.value_or(limits.hard), m.limits->idle);
  }
  return m;
}

}  // namespace mcpbx::mcp::catalogs
