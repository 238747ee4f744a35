// Judges prompts by name and resources by URI.
#include "mcp/client/views/narrowed.hpp"

#include "mcp/support/text.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace mcpbx::mcp {
namespace {

bool is_named(std::span<const std::string> globs, std::string_view name) {
  return !name.empty() && std::ranges::any_of(globs, [&](const std::string& glob) { return glob_match(glob, name); });
}

bool lets_through(const item_filter& filter, const feature_entry& e) {
  const auto& [prefixed, plain, other] = e.rules;
  const auto denies = [&](std::string_view name) { return is_named(filter.deny, name); };
  if (denies(e.key) || denies(prefixed) || denies(plain) || denies(other)) return false;
  return filter.allow.empty() || is_named(filter.allow, e.key) || is_named(filter.allow, prefixed);
}

}  // namespace

catalog_rest narrowed(const catalog_rest& whole, const item_filter& prompts, const item_filter& resources) {
  catalog_rest rest = whole;
  rest.extensions = nullptr;
  const auto replace = [&](const feature_kind& kind, const feature_entries_ptr& entries) {
    if (kind.index() <= rest.others.size()) rest.others[kind.index() - 1] = entries;
  };
  if (!(prompts.allow.empty() && prompts.deny.empty()) && prompt_kind().index() <= rest.others.size()) {
    const feature_entries_ptr& all = rest.others[prompt_kind().index() - 1];
    std::vector<feature_entry_ptr> kept;
    for (const feature_entry_ptr& e : all->entries())
      if (lets_through(prompts, *e)) kept.push_back(e);
    replace(prompt_kind(), std::make_shared<const feature_entries>(all->kind(), std::move(kept)));
  }
  auto uris = std::make_shared<const uri_filter>(resources);
  if (uris->empty() || !rest.routes) return rest;
  rest.routes = rest.routes->narrowed(std::move(uris));
  replace(resource_kind(), rest.routes->resources());
  replace(template_kind(), rest.routes->templates());
  return rest;
}

}  // namespace mcpbx::mcp
