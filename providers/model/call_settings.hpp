// What a request may ask of a model beside its answer: how it samples, how much it may write, whether it calls tools.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mcpbx::providers {

/// What is not set is as the model's configuration says; what an API does not have is left out.
struct call_settings {
  std::string temperature, top_p;           ///< JSON number text; "": not set
  std::int64_t max_output_tokens = 0;       ///< 0: not set
  std::vector<std::string> stop;            ///< the answer ends before any of these; some APIs take only the first few
  std::optional<bool> parallel_tool_calls;  ///< whether one reply may hold several calls; said only with tools
  /// none, minimal, low, medium, high, xhigh or max; "": not set. OpenAI's APIs are told as it is, others only of those
  /// that they know.
  std::string reasoning_effort;

  bool empty() const { return *this == call_settings(); }
  friend bool operator==(const call_settings&, const call_settings&) = default;
};

/// Whether the model may call tools, or has to.
enum class tool_mode : std::uint8_t { automatic, none, required };

}  // namespace mcpbx::providers
