// Keeps the complete results of which the model was shown only a part (L14), for its tool mcpbx__read_result.
#pragma once
#include "mcp/json/raw_json.hpp"

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::daemon::results {

/// A bounded list that drops its oldest results first. Copies share the bytes of the results.
class kept_results {
 public:
  static constexpr std::size_t max_kept = 64;
  static constexpr std::size_t max_bytes = 32U << 20;  ///< bytes of all results; the latest is kept even if larger

  void keep(std::string_view call_id, const json::raw_json& result);
  /// Returns the latest result of the call with this id, or null. Valid until the next keep().
  const json::raw_json* find(std::string_view call_id) const;
  bool empty() const noexcept { return kept_.empty(); }
  /// Returns the ids of the calls, oldest first. The views are valid until the next keep().
  std::vector<std::string_view> ids() const;

 private:
  struct one {
    std::string call_id;
    json::raw_json result;
  };
  std::deque<one> kept_;
  std::size_t bytes_ = 0;
};

}  // namespace mcpbx::daemon::results
