// The loop's settings of the configuration as the values a run takes.
#pragma once
#include "conf/model.hpp"
#include "daemon/front/chat_params.hpp"
#include "daemon/store/record.hpp"

namespace mcpbx::daemon {

/// The limits of a run that asks for nothing: the configuration's, with the model's laid over them, under loop.max.
run_limits limits_for(const conf::configuration& all, const conf::model_entry* model);
/// loop.max, which no request can exceed.
limit_ceiling ceiling_of(const conf::configuration& all);

}  // namespace mcpbx::daemon
