// The built-in tool with which the model reads the parts that were cut from a result (L14), or resources that a result
// links to. It is offered once there is something to read, and executed by the run itself.
#pragma once
#include "daemon/loop/results/kept_results.hpp"
#include "mcp/client/catalog/catalog.hpp"
#include "mcp/json/raw_json.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace mcpbx::daemon::results::read_result {

inline constexpr std::string_view name = "mcpbx__read_result";

/// Returns the tool as a catalog entry, which is the same object at each call.
const mcp::catalogs::entry_ptr& entry();
inline bool is(const mcp::catalogs::catalog_entry& e) {
  return &e == entry().get();
}

/// Returns the URI of a call that reads a linked resource, or "": it reads on in a result.
inline std::string linked_uri(const json::raw_json& arguments) {
  return json::find_member(arguments, "uri").as_string().value_or("");
}

/// Returns a sentence that tells the model how to read on from `offset`: "Call … with {…} to read on."
std::string hint(std::string_view call_id, std::size_t offset);

/// Returns the requested page as a tool result of about `max_bytes` at most. Returns an error result if the call has no
/// kept result (with a list of call ids that have one), or if the offset is not below the end.
json::raw_json page(const kept_results& kept, const json::raw_json& arguments, std::int64_t max_bytes);

}  // namespace mcpbx::daemon::results::read_result
