// Settings of one model call: sampling, length of the answer, use of tools.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mcpbx::providers {

/// Settings of one call. An unset member follows the model's configuration; codecs leave out what their API lacks.
struct call_settings {
  std::string temperature, top_p;           ///< JSON number text; "": not set
  std::int64_t max_output_tokens = 0;       ///< 0: not set
  std::vector<std::string> stop;            ///< the answer ends before any of these; some APIs take only the first few
  std::optional<bool> parallel_tool_calls;  ///< allows several calls in one reply; sent only with tools
  /// none, minimal, low, medium, high, xhigh or max; "": not set. OpenAI's APIs get the word as it is, other APIs only
  /// the words that they know.
  std::string reasoning_effort;

  bool empty() const { return *this == call_settings(); }
  friend bool operator==(const call_settings&, const call_settings&) = default;
};

/// Permission or duty of the model to call tools.
enum class tool_mode : std::uint8_t { automatic, none, required };

}  // namespace mcpbx::providers
