// A model that passes all calls to another one and records each exchange in a file.
#pragma once
#include "mcp/support/time.hpp"
#include "providers/call/replay_file.hpp"
#include "providers/model/message.hpp"

#include <memory>
#include <optional>
#include <string>

namespace mcpbx::providers::call {

struct recording_options {
  std::string name;                   ///< configured name
  std::string path;                   ///< file to append to; made if it is missing
  std::optional<std::string> system;  ///< system prompt for runs that bring none, instead of that of `recorded`
};

/// Makes sure that the file can be written before it asks `recorded`, and passes a reply or an error on after it is in
/// the file. A reply that cannot be recorded becomes an error (kind configuration); an error says so in addition. Does
/// not record configuration errors and cancelled calls. `random` (ids for new files) must outlive the model.
std::unique_ptr<model> make_recording_model(recording_options options, std::shared_ptr<model> recorded,
                                            random_source& random, offload blocking);

}  // namespace mcpbx::providers::call
