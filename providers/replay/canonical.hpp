// Brings conversations into a form that can be compared: texts, calls and results, without secrets and without parts
// that differ from run to run (ids, timings, origin).
#pragma once
#include "mcp/json/raw_json.hpp"
#include "providers/model/message.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace mcpbx::providers::replay {

/// Replaces values that the redactor knows; if `text` is JSON, inside its strings too.
std::string without_secrets(const std::string& text);
/// Returns `json` on one line without the values that the redactor knows, however its strings escape them. A number, or
/// a value below 512 levels, that contains one becomes "***" as a whole.
json::raw_json without_secrets(const json::raw_json& json);
/// Returns a copy of an assistant message for a file: without secrets, and with an id for each call.
message_ptr without_secrets(const message& m);

/// Returns a message as one JSON object without secrets: role, text, images by hash, calls by name and sorted
/// arguments, results without `_meta`, a refusal. The message caches it.
json::raw_json canonical(const message& m);

/// Returns the key of the conversation that ends with `message` (canonical). The empty conversation has the key 0.
std::uint64_t next_key(std::uint64_t key, std::string_view message);
/// Returns a hash of a tool's name, description and schema.
std::uint64_t definition_hash(const tool_definition& tool);

}  // namespace mcpbx::providers::replay
