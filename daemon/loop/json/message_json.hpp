// Writes and reads messages as callers see them in a run's result (L16): roles and content blocks, without parts that
// only a provider understands. docs/protocol.md describes the form.
#pragma once
#include "mcp/json/json_writer.hpp"
#include "mcp/json/raw_json.hpp"
#include "providers/model/message.hpp"

#include <expected>
#include <string>
#include <string_view>

namespace mcpbx::daemon::event_json {

/// Appends the message as one JSON object.
void append_message(json::json_writer& json, const providers::message& m);
void append_message(json::basic_json_writer<byte_buffer>& json, const providers::message& m);

/// A fault in a message that a caller sends.
struct message_fault {
  std::string place;     ///< path of the member, such as ".content[2].type"; "": the message itself
  std::string expected;  ///< expected form, in words
  json::raw_json found;  ///< value at that place; absent: there is none
};

/// Reads such an object from a request's `messages`. `content` may also be a string. Refuses block types that some API
/// cannot send in this role, and blank messages of the user.
std::expected<providers::message_ptr, message_fault> read_message(const json::raw_json& json);

/// Returns the role's word in this form; "tool" for results.
std::string_view role_word(providers::role r);

/// Returns true if `text` is base64 that every API accepts: padded, without line breaks, not empty.
bool is_base64(std::string_view text);
/// Description of that form for message_fault::expected.
inline constexpr std::string_view base64_form = "base64 (A-Z, a-z, 0-9, + and /, = at its end, no line breaks)";

}  // namespace mcpbx::daemon::event_json
