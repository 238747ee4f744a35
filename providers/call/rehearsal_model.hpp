// Makes the rehearsal a configured model. Its answers come word by word, as events on the speaking thread.
#pragma once
#include "mcp/support/time.hpp"
#include "providers/model/message.hpp"
#include "providers/rehearsal/script.hpp"

#include <memory>
#include <string>

namespace mcpbx::providers::call {

/// Makes the model. Without a script (`with` null) it matches words with tools. `time` must outlive the model.
std::unique_ptr<model> make_rehearsal_model(std::string name, std::shared_ptr<const rehearsal::script> with,
                                            time_source& time);

}  // namespace mcpbx::providers::call
