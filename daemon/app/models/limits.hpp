// The loop's settings of the configuration as the values a run takes.
#pragma once
#include "conf/model/model.hpp"
#include "daemon/front/chat/chat_params.hpp"
#include "daemon/store/records/record.hpp"

#include <string_view>

namespace mcpbx::daemon {

/// The limits of a run that asks for nothing: the configuration's, with the model's and then the profile's laid over
/// them, under loop.max. Either may be null.
run_limits limits_for(const conf::configuration& all, const conf::model_entry* model,
                      const conf::profile_entry* profile = nullptr);
/// What a request may say for a number of `loop`: the range of the file, below loop.max.
limit_bound bound_of(const conf::configuration& all, std::string_view key);

}  // namespace mcpbx::daemon
