// The start values of a request, given the model and the profile that it names.
#pragma once
#include "conf/model/model.hpp"
#include "daemon/app/references/start_values.hpp"
#include "daemon/front/chat/chat_params.hpp"

#include <string_view>

namespace mcpbx::daemon::models {

/// Returns configuration, model and profile merged for a request that names these ("": none). Without both the default
/// applies, which may be a profile. An unknown model is no error here; an unknown profile is one that names the
/// nearest. A system prompt that cannot be read makes only that member an error.
result<chat::chat_base> base_for(const conf::model::configuration& all, const references::start_values& values,
                                 std::string_view model, std::string_view profile);

}  // namespace mcpbx::daemon::models
