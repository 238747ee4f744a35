// Makes the form of a tool's result that the model is shown (L14): cut if it is too large, with a text if it is empty.
// The journal and the caller get the complete result, and the model can read the rest in pages.
#pragma once
#include "mcp/json/raw_json.hpp"

#include <cstdint>
#include <string_view>

namespace mcpbx::daemon::results {

/// The result of model_view().
struct result_view {
  json::raw_json shown;
  bool text_missing = false;  ///< text was cut, so the model can read on
};

/// Returns `result` without invisible characters (hidden_text.hpp); an empty one becomes `empty_text`. Above
/// `max_bytes` keeps head and tail of the text around a notice with `call_id`, and those other parts that fit. Pure.
result_view model_view(const json::raw_json& result, bool is_error, std::int64_t max_bytes, std::string_view empty_text,
                       std::string_view call_id);

}  // namespace mcpbx::daemon::results
