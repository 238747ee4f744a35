// Takes the record of every tools/call, prompts/get and resources/read of a caller for the audit (docs/guarantees.md,
// G48).
#pragma once
#include "mcp/json/raw_json.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace mcpbx::mcp::server {

/// The decision about a call: it went to its tool server, it was refused, or there is no such tool.
enum class call_decision : std::uint8_t { called, refused, unknown };
std::string_view to_string(call_decision d);

/// The end of a call: a result, a result with isError, a JSON-RPC error, a failure on the way, or cancelled.
enum class call_end : std::uint8_t { result, tool_error, error, failed, cancelled };
std::string_view to_string(call_end e);

/// A call that is over.
struct finished_call {
  std::string name;          ///< the tool or prompt as the caller named it, or the URI; "" if it named none
  std::string server;        ///< configured name of its tool server, or ""
  json::raw_json arguments;  ///< as the caller sent them; may be absent
  call_decision decision = call_decision::refused;
  call_end end = call_end::error;
  std::size_t result_bytes = 0;  ///< size of the result object; 0 without one
  std::string method = "tools/call";
};

class call_recorder {
 public:
  virtual ~call_recorder() = default;
  /// Records a call. Then calls `then`, which sends the call's answer: later, on the speaking thread, in the order of
  /// recording, once the record is safe or cannot be saved.
  virtual void record(finished_call c, std::function<void()> then) = 0;
};

}  // namespace mcpbx::mcp::server
