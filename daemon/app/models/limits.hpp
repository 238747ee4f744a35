// The `loop` settings of the configuration as limits of a run.
#pragma once
#include "conf/model/model.hpp"
#include "daemon/front/chat/chat_params.hpp"
#include "daemon/store/records/record.hpp"

#include <string_view>

namespace mcpbx::daemon::models {

/// Returns the limits of a run that asks for none: the configuration's, overridden by the model's and then the
/// profile's, and capped by loop.max. `model` and `profile` may be null.
stored::run_limits limits_for(const conf::model::configuration& all, const conf::model::model_entry* model,
                              const conf::model::profile_entry* profile = nullptr);
/// Returns the values that a request may give for the `loop` number `key`: the range of the file, capped by loop.max.
chat::limit_bound bound_of(const conf::model::configuration& all, std::string_view key);

}  // namespace mcpbx::daemon::models
