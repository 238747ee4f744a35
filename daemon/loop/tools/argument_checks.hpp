// Whether a call's arguments fit the tool's own inputSchema (L10), asked before the call is intended. A schema is
// compiled at the first call of its tool and kept for the next ones.
#pragma once
#include "mcp/client/catalog/catalog.hpp"
#include "mcp/json/raw_json.hpp"
#include "providers/schema/validator/json_schema.hpp"

#include <cstddef>
#include <list>
#include <optional>
#include <string>
#include <string_view>

namespace mcpbx::daemon {

class argument_checks {
 public:
  static constexpr std::size_t max_kept = 64;              ///< compiled schemas, those used last
  static constexpr std::size_t max_kept_bytes = 4U << 20;  ///< of their definitions

  /// What is wrong with `arguments` (absent: `{}`), in words for the model; "" when they fit, and when the schema is
  /// absent, cannot be compiled, or takes more than the bounds of a check, which is logged once: that never keeps a
  /// call from its server, which has to check its arguments itself. `shown` is the tool's name as the model knows it.
  std::string problem(const mcp::catalog_entry& tool, std::string_view shown, const raw_json& arguments);
  std::size_t kept() const noexcept { return kept_.size(); }

 private:
  struct compiled {
    std::uint64_t hash = 0;
    raw_json definition;
    std::optional<providers::json_schema> schema;  // none: nothing to check against
    bool told_incomplete = false;                  // that a bound ended a check
  };
  compiled& find(const mcp::catalog_entry& tool);

  std::list<compiled> kept_;  // the last used first
  std::size_t bytes_ = 0;
};

}  // namespace mcpbx::daemon
