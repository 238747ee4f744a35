// Conversations in the form in which they are compared: what was said, called and answered, without what differs from
// run to run (ids, timings, who made it), and with the secrets taken out.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "providers/model/message.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace mcpbx::providers::replay {

/// `text` without the values that the redactor knows; where it is JSON, without those in its strings too.
std::string without_secrets(const std::string& text);
/// `json` on one line, without the values that the redactor knows, in whichever way its strings write them. A number or
/// what is nested deeper than 512 levels becomes "***" as a whole when it holds one.
raw_json without_secrets(const raw_json& json);
/// A copy of an assistant message for a file: without secrets, and each call with an id of its own.
message_ptr without_secrets(const message& m);

/// A message as one JSON object: role, text, images by their hash, calls by name and arguments (members sorted),
/// results without `_meta`, a refusal. Without secrets; remembered with the message, so that a round costs what is new.
raw_json canonical(const message& m);

/// The key of a conversation that `message` (canonical) follows: begin with 0, one step per message.
std::uint64_t next_key(std::uint64_t key, std::string_view message);
/// What a model was told of a tool, as one number: name, description, schema.
std::uint64_t definition_hash(const tool_definition& tool);

}  // namespace mcpbx::providers::replay
