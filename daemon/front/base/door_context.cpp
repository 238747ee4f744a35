// Sums over all callers, and the catalog of a profile.
#include "daemon/front/base/door_context.hpp"

#include "daemon/loop/tools/chosen_tools.hpp"
#include "daemon/policy/policy.hpp"
#include "mcp/client/views/narrowed.hpp"
#include "mcp/support/shared_bytes.hpp"

#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace mcpbx::daemon::front {

mcp::catalogs::catalog_ptr door_context::tools_for(const std::string& profile) {
  auto whole = daemon.tools();
  if (profile.empty()) return whole;
  auto configured = settings.chat();
  auto& view = views[profile];
  if (view.whole == whole && view.configured == configured) return view.seen;
  std::vector<mcp::catalogs::entry_ptr> entries;
  mcp::catalogs::withheld_tools withheld;
  mcp::catalogs::catalog_rest rest{.offers = mcp::views::narrowed(whole->rest(), {}, {}).offers};
  if (const auto base = configured->base("", profile)) {
    rest = mcp::views::narrowed(whole->rest(), base->prompts, base->resources);
    const stored::tool_choice offered{{}, base->allow, base->deny, base->rename};
    entries = tools::chosen_tools(*whole, offered,
                                  view.seen ? view.seen->entries() : std::span<const mcp::catalogs::entry_ptr>());
    for (const auto& [name, why] : whole->withheld()) {
      const auto shown = base->rename.find(name);
      if (policy::decide_offer(offered, policy::facts_of(name, why)).allows())
        withheld.emplace(shown != base->rename.end() ? shown->second : name, why);
    }
  }
  view = {std::move(configured), whole,
          std::make_shared<mcp::catalogs::catalog>(std::move(entries), whole->revision(), std::move(withheld),
                                                   whole->dropped(), std::move(rest))};
  return view.seen;
}

void door_context::watch_bytes() const {
  if (byte_account::total() > byte_account::limit() && relieve) relieve();
}

}  // namespace mcpbx::daemon::front
