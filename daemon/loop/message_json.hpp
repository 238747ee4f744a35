// Messages as callers see them in a run's result (L16): roles and content blocks, without anything that only a provider
// understands. The shape is in this folder's README.
#pragma once
#include "mcp/support/raw_json.hpp"
#include "providers/model/message.hpp"

#include <string>

namespace mcpbx::daemon {

/// Appends the message as one JSON object.
void append_message(std::string& json, const providers::message& m);

/// Reads such an object back, as callers send it in `messages`. `content` may also be a string. Errors
/// (errc::invalid_argument) say which member is wrong and what it should be.
result<providers::message_ptr> read_message(const raw_json& json);

}  // namespace mcpbx::daemon
