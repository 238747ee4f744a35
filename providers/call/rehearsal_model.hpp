// The rehearsal as a configured model: its answers come as events on the speaking thread, word by word, like anybody's.
#pragma once
#include "mcp/support/time.hpp"
#include "providers/model/message.hpp"
#include "providers/rehearsal/script.hpp"

#include <memory>
#include <string>

namespace mcpbx::providers {

/// `with` may be null: words are matched then. `time` must outlive the model.
std::unique_ptr<model> make_rehearsal_model(std::string name, std::shared_ptr<const rehearsal::script> with,
                                            time_source& time);

}  // namespace mcpbx::providers
