// A model that passes everything through to another one and records each exchange.
#pragma once
#include "mcp/support/time.hpp"
#include "providers/call/replay_file.hpp"
#include "providers/model/message.hpp"

#include <memory>
#include <optional>
#include <string>

namespace mcpbx::providers {

struct recording_options {
  std::string name;                   ///< configured name
  std::string path;                   ///< is added to; made when it is missing
  std::optional<std::string> system;  ///< system prompt of runs that bring none, instead of that of `recorded`
};

/// A reply or an error is passed on when it is in the file; before `recorded` is asked the file is known to take it. A
/// reply that cannot be recorded is an error (kind configuration), an error stays what it is and says so. Errors of our
/// own configuration and calls that were left are not recorded.
/// `random` (ids for new files) must outlive the model.
std::unique_ptr<model> make_recording_model(recording_options options, std::shared_ptr<model> recorded,
                                            random_source& random, offload blocking);

}  // namespace mcpbx::providers
