// Decides about tools by their names. Denying wins over allowing, at each level and between levels.
#include "daemon/store/records/tool_choice.hpp"

#include "mcp/support/text.hpp"

#include <algorithm>

namespace mcpbx::daemon {
namespace {

bool any_of(const std::vector<std::string>& globs, std::string_view name) {
  return std::ranges::any_of(globs, [&](const auto& g) { return glob_match(g, name); });
}

bool is_any(const std::vector<std::string>& globs, const catalog_names& n) {
  const auto is = [&](std::string_view name) { return !name.empty() && any_of(globs, name); };
  return is(n.name) || is(n.prefixed) || is(n.plain) || is(n.other);
}

bool are_allowed(const std::vector<std::string>& allow, const catalog_names& n) {
  return allow.empty() || any_of(allow, n.name) || (!n.prefixed.empty() && any_of(allow, n.prefixed));
}

bool lets_through(const std::vector<std::string>& allow, const std::vector<std::string>& deny, const catalog_names& n) {
  return !is_any(deny, n) && are_allowed(allow, n);
}

const server_terms* terms_of(const kept_terms& all, std::string_view server) {
  const auto found = std::ranges::find(*all.servers, server, &server_terms::server);
  return found == all.servers->end() ? nullptr : &*found;
}

}  // namespace

bool kept_terms::offers(std::string_view server, std::string_view own, const catalog_names& names) const {
  if (!lets_through(allow, deny, names)) return false;
  if (!servers) return true;
  const auto* terms = terms_of(*this, server);
  return terms != nullptr && lets_through(terms->allow, terms->deny, {own});
}

bool kept_terms::wants_yes(std::string_view server, std::string_view own) const {
  const auto* terms = servers ? terms_of(*this, server) : nullptr;
  return terms != nullptr && any_of(terms->approve, own);
}

bool tool_choice::allows(const catalog_names& names) const {
  return are_allowed(allow, names);
}

bool tool_choice::denies(const catalog_names& names) const {
  return is_any(deny, names);
}

bool tool_choice::asks_for(std::string_view shown) const {
  return only.empty() || any_of(only, shown);
}

}  // namespace mcpbx::daemon
