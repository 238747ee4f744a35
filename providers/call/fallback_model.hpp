// A model that asks another one when it gives no answer (`fallbackModel`).
#pragma once
#include "mcp/support/time.hpp"
#include "providers/model/message.hpp"

#include <memory>

namespace mcpbx::providers {

struct fallback_options {
  /// After an error that the next call would meet as well (not reached, overloaded, no credit, wrong key) the first
  /// model is left alone for so long.
  milliseconds rest{60'000};
};

/// `first` under its own name; when a call of it ends in an error before any text or reasoning was told, the same
/// request goes to `second`, with tools in the form that its API takes (tool_set::forms_for). When that fails too, the
/// error is the first one's, with what the second said behind it. `time` must outlive the model.
std::unique_ptr<model> make_fallback_model(std::shared_ptr<model> first, std::shared_ptr<model> second,
                                           time_source& time, fallback_options o = {});

}  // namespace mcpbx::providers
