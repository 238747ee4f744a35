// The rehearsal: a stand-in for a model that needs no network. It plays a script, or matches words of the question to
// tools and fills in their arguments. It is no language model and says so in every answer.
#pragma once
#include "providers/model/message.hpp"
#include "providers/rehearsal/script.hpp"

namespace mcpbx::providers::rehearsal {

inline constexpr std::string_view api = "rehearsal";

/// Returns the reply to a conversation, which depends on nothing else. A scripted answer that ends a run gets a line
/// that names the rehearsal, unless the answer must fit a schema. Without a script (`with` null) it matches words with
/// tools.
model_reply plan_reply(const model_request& request, const script* with);

}  // namespace mcpbx::providers::rehearsal
