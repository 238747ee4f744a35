// A model that asks a second one if the first gives no answer (`fallbackModel`).
#pragma once
#include "mcp/support/time.hpp"
#include "providers/model/message.hpp"

#include <memory>

namespace mcpbx::providers::call {

struct fallback_options {
  /// Time for which the first model is skipped after an error that the next call would meet as well: not reached,
  /// overloaded, no credit, wrong key.
  milliseconds rest{60'000};
};

/// Makes a model with the name of `first`. If a call of `first` fails before any text or reasoning, the same request
/// goes to `second`, with the tools converted for its API (tool_set::forms_for). If both fail, the error is the first
/// one's with the second's behind it. `time` must outlive the model.
std::unique_ptr<model> make_fallback_model(std::shared_ptr<model> first, std::shared_ptr<model> second,
                                           time_source& time, fallback_options o = {});

}  // namespace mcpbx::providers::call
