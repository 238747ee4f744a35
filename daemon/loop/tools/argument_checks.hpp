// Checks the arguments of a call against the inputSchema of its tool (L10), before the call is recorded and sent.
// Compiles a schema at the first call of its tool and keeps it for later calls.
#pragma once
#include "mcp/client/catalog/catalog.hpp"
#include "mcp/json/raw_json.hpp"
#include "providers/schema/validator/json_schema.hpp"

#include <cstddef>
#include <list>
#include <optional>
#include <string>
#include <string_view>

namespace mcpbx::daemon::tools {

/// Cache of compiled schemas, shared by all runs of the daemon.
class argument_checks {
 public:
  static constexpr std::size_t max_kept = 64;              ///< number of compiled schemas, the last used
  static constexpr std::size_t max_kept_bytes = 4U << 20;  ///< size of their tools' definitions

  /// Returns the faults of `arguments` (absent: `{}`) for the model, or "". `shown`: the tool's name for the model.
  /// Without a usable schema, or beyond the bounds of a check, returns "" and logs: servers check arguments themselves.
  std::string problem(const mcp::catalogs::catalog_entry& tool, std::string_view shown,
                      const json::raw_json& arguments);
  std::size_t kept() const noexcept { return kept_.size(); }

 private:
  struct compiled {
    std::uint64_t hash = 0;
    json::raw_json definition;
    std::optional<providers::schema::json_schema> schema;  // nullopt: nothing to check against
    bool told_incomplete = false;                          // true: an incomplete check was logged
  };
  compiled& find(const mcp::catalogs::catalog_entry& tool);

  std::list<compiled> kept_;  // last used first
  std::size_t bytes_ = 0;
};

}  // namespace mcpbx::daemon::tools
