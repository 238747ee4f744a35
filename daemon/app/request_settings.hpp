// The part of the configuration that requests need: made once for each snapshot and kept by requests and runs that
// began under it.
#pragma once
#include "daemon/answers/answer_settings.hpp"
#include "daemon/app/models/models.hpp"
#include "daemon/app/references/current_configuration.hpp"
#include "daemon/front/chat/chat_params.hpp"
#include "daemon/loop/run/runner.hpp"
#include "daemon/policy/policy.hpp"

#include <memory>

namespace mcpbx::daemon::app {

/// Settings of one snapshot. Requests may keep the members beyond the life of the struct.
struct request_settings {
  request_settings(references::configuration_ptr from, models::model_surroundings around);

  references::configuration_ptr from;
  std::shared_ptr<models::model_set> models;
  std::shared_ptr<run::run_configuration> runs;
  std::shared_ptr<const chat::chat_defaults> chat;
  std::shared_ptr<const answers::answer_settings> answers;
  /// Rules for calls that callers make themselves. Destructive tools need an approval if the default settings cannot be
  /// made.
  policy::approval_rules direct_calls;
};

/// The settings of the present snapshot.
class present_settings {
 public:
  /// `current` and all references in `around` must outlive this object.
  present_settings(const references::current_configuration& current, models::model_surroundings around);

  /// Returns the same object until the configuration is replaced; never null.
  std::shared_ptr<const request_settings> get();

 private:
  const references::current_configuration& current_;
  models::model_surroundings around_;
  std::shared_ptr<const request_settings> made_;
};

}  // namespace mcpbx::daemon::app
