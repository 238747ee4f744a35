// A recording as a configured model: what was recorded for a conversation is its answer to it.
#pragma once
#include "providers/call/replay_file.hpp"
#include "providers/model/message.hpp"

#include <memory>
#include <optional>
#include <string>

namespace mcpbx::providers {

struct replay_options {
  std::string name;  ///< configured name
  std::string path;
  replay::header header;              ///< of the file, as it is now
  std::optional<std::string> system;  ///< system prompt of runs that bring none, instead of the recorded one
};

/// Reads the file at the first call, and again when it has changed. Where a conversation was recorded several times its
/// answers take turns; an error of the model that was recorded is an answer, told with the text that came before it. A
/// conversation that is not in the recording is an error that says what differs.
std::unique_ptr<model> make_replay_model(replay_options options, offload blocking);

}  // namespace mcpbx::providers
