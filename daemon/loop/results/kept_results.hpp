// The whole results of which the model was shown a part (L14), for as long as their run goes on.
#pragma once
#include "mcp/json/raw_json.hpp"

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::daemon {

/// Bounded: the oldest go first. Copies share the results.
class kept_results {
 public:
  static constexpr std::size_t max_kept = 64;
  static constexpr std::size_t max_bytes = 32U << 20;  ///< of all but the latest

  void keep(std::string_view call_id, const raw_json& result);
  /// The latest result of the call with this id, or null.
  const raw_json* find(std::string_view call_id) const;
  bool empty() const noexcept { return kept_.empty(); }
  /// The ids of the calls, oldest first.
  std::vector<std::string_view> ids() const;

 private:
  struct one {
    std::string call_id;
    raw_json result;
  };
  std::deque<one> kept_;
  std::size_t bytes_ = 0;
};

}  // namespace mcpbx::daemon
