// What a request starts from, given the model and the profile that it names.
#pragma once
#include "conf/model/model.hpp"
#include "daemon/app/references/start_values.hpp"
#include "daemon/front/chat/chat_params.hpp"

#include <string_view>

namespace mcpbx::daemon {

/// Configuration, model and profile laid over each other, for a request that names these ("": none). Without both the
/// default holds, which may be a profile. An unknown model is left to whoever looks it up; an unknown profile is an
/// error that names the nearest. A system prompt that cannot be read is an error of that member alone.
result<chat_base> base_for(const conf::configuration& all, const start_values& values, std::string_view model,
                           std::string_view profile);

}  // namespace mcpbx::daemon
