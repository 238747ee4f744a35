// The built-in tool with which the model reads what was cut from a result (L14). It is offered once there is something
// to read, and carried out by the run itself.
#pragma once
#include "daemon/loop/results/kept_results.hpp"
#include "mcp/client/catalog/catalog.hpp"
#include "mcp/json/raw_json.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace mcpbx::daemon::read_result {

inline constexpr std::string_view name = "mcpbx__read_result";

/// The tool as an entry beside those of the catalog; always the same one.
const mcp::entry_ptr& entry();
inline bool is(const mcp::catalog_entry& e) {
  return &e == entry().get();
}

/// How to read on, for the model: "Call … with {…} to read on."
std::string hint(std::string_view call_id, std::size_t offset);

/// The page that `arguments` ask for, as a tool result of at most about `max_bytes`, or an error result that says what
/// can be read.
raw_json page(const kept_results& kept, const raw_json& arguments, std::int64_t max_bytes);

}  // namespace mcpbx::daemon::read_result
