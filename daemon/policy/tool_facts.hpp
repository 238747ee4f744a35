// A tool as the rules see it.
#pragma once
#include "daemon/policy/past_names.hpp"
#include "mcp/client/catalog/catalog.hpp"

#include <string_view>

namespace mcpbx::daemon::policy {

/// The names that the whole catalog has for a tool: the one it is listed under, and those of mcp::catalogs::rule_names.
struct catalog_names {
  std::string_view name, prefixed = {}, plain = {}, other = {};
};

/// Views of the entry, the withheld tool and the past names that it was made from, which must outlive it.
struct tool_facts {
  std::string_view server;  ///< configured name
  std::string_view own;     ///< the server's own name of the tool
  catalog_names names;
  const past_names::names* then = nullptr;  ///< when the run began, of a resumed run; null: those of now, or not known
  bool may_destroy = true;                  ///< tool_annotations::may_destroy
  bool of_a_server = true;                  ///< false: of the caller's own, or carried out by the run itself
  const mcp::catalogs::withheld_tool* withheld =
      nullptr;           ///< reason why the catalog does not offer it now; null: it does
  bool changed = false;  ///< the catalog does not have it now, or not with the definition and origin that were offered
};

tool_facts facts_of(const mcp::catalogs::catalog_entry& tool);
/// `name`: under which it would be listed.
tool_facts facts_of(std::string_view name, const mcp::catalogs::withheld_tool& tool);

}  // namespace mcpbx::daemon::policy
