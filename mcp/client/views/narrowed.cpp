// Judges prompts by name and resources by URI.
#include "mcp/client/views/narrowed.hpp"

#include "mcp/support/text.hpp"

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace mcpbx::mcp::views {
namespace {

bool is_named(std::span<const std::string> globs, std::string_view name) {
  return !name.empty() && std::ranges::any_of(globs, [&](const std::string& glob) { return glob_match(glob, name); });
}

bool lets_through(const catalogs::item_filter& filter, const catalogs::feature_entry& e) {
  const auto& [prefixed, plain, other] = e.rules;
  const auto denies = [&](std::string_view name) { return is_named(filter.deny, name); };
  if (denies(e.key) || denies(prefixed) || denies(plain) || denies(other)) return false;
  return filter.allow.empty() || is_named(filter.allow, e.key) || is_named(filter.allow, prefixed);
}

}  // namespace

catalogs::catalog_rest narrowed(const catalogs::catalog_rest& whole, const catalogs::item_filter& prompts,
                                const catalogs::item_filter& resources) {
  catalogs::catalog_rest rest = whole;
  rest.offers.extensions = rest.offers.bare_extensions;
  rest.offers.experimental = rest.offers.bare_experimental;
  rest.offers.unnamed = false;
  rest.extensions = nullptr;
  const auto replace = [&](const protocol::feature_kind& kind, const catalogs::feature_entries_ptr& entries) {
    if (kind.index() <= rest.others.size()) rest.others[kind.index() - 1] = entries;
  };
  if (!(prompts.allow.empty() && prompts.deny.empty()) && protocol::prompt_kind().index() <= rest.others.size()) {
    const catalogs::feature_entries_ptr& all = rest.others[protocol::prompt_kind().index() - 1];
    std::vector<catalogs::feature_entry_ptr> kept;
    for (const catalogs::feature_entry_ptr& e : all->entries())
      if (lets_through(prompts, *e)) kept.push_back(e);
    replace(protocol::prompt_kind(), std::make_shared<const catalogs::feature_entries>(all->kind(), std::move(kept)));
  }
  auto uris = std::make_shared<const catalogs::uri_filter>(resources);
  if (uris->empty() || !rest.routes) return rest;
  rest.routes = rest.routes->narrowed(std::move(uris));
  replace(protocol::resource_kind(), rest.routes->resources());
  replace(protocol::template_kind(), rest.routes->templates());
  return rest;
}

}  // namespace mcpbx::mcp::views
