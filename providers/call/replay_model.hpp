// Makes a recording a configured model, which answers a conversation with the reply recorded for it.
#pragma once
#include "providers/call/replay_file.hpp"
#include "providers/model/message.hpp"

#include <memory>
#include <optional>
#include <string>

namespace mcpbx::providers::call {

struct replay_options {
  std::string name;  ///< configured name
  std::string path;
  replay::header header;              ///< header of the file at present
  std::optional<std::string> system;  ///< system prompt for runs that bring none, instead of the recorded one
};

/// Makes a model that reads the file at its first call, and again after a change. Answers to a conversation that was
/// recorded several times take turns; recorded errors are replayed too, with the text before them. A conversation that
/// is not in the recording gives an error that names the difference.
std::unique_ptr<model> make_replay_model(replay_options options, offload blocking);

}  // namespace mcpbx::providers::call
