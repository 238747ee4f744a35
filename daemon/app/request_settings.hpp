// What requests get from the configuration: made once for each snapshot, and kept by the requests and runs that began
// under it.
#pragma once
#include "daemon/app/models/models.hpp"
#include "daemon/app/references/current_configuration.hpp"
#include "daemon/front/chat/chat_params.hpp"
#include "daemon/loop/run/runner.hpp"
#include "mcp/client/catalog/catalog.hpp"

#include <memory>

namespace mcpbx::daemon {

/// Made of one snapshot. Its members outlive it where requests keep them.
struct request_settings {
  request_settings(configuration_ptr from, model_surroundings around);

  /// Returns true if a call by tools/call, by a tool server, would need the approval of a person.
  bool needs_approval(const mcp::catalog_entry& tool) const;

  configuration_ptr from;
  std::shared_ptr<model_set> models;
  std::shared_ptr<run_configuration> runs;
  std::shared_ptr<const chat_defaults> chat;
  bool approve_destructive;  ///< of requests that say nothing; true if that cannot be told
};

/// Gives the settings of the present snapshot.
class present_settings {
 public:
  /// `current`, and everything in `around`, must outlive it.
  present_settings(const current_configuration& current, model_surroundings around);

  /// Returns the same object until the configuration is replaced; never null.
  std::shared_ptr<const request_settings> get();

 private:
  const current_configuration& current_;
  model_surroundings around_;
  std::shared_ptr<const request_settings> made_;
};

}  // namespace mcpbx::daemon
