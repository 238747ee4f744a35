// The rehearsal: a stand-in for a model that needs no network. It plays a script, or matches words of the question to
// tools and fills in their arguments. It is no language model and says so in every answer.
#pragma once
#include "providers/model/message.hpp"
#include "providers/rehearsal/script.hpp"

namespace mcpbx::providers::rehearsal {

inline constexpr std::string_view api = "rehearsal";

/// The reply to a conversation: a pure function of it. Scripted text that ends a run gets a line that says what spoke,
/// unless the answer must fit a schema. `with` may be null: words are matched then.
model_reply plan_reply(const model_request& request, const script* with);

}  // namespace mcpbx::providers::rehearsal
