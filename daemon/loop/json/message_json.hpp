// Messages as callers see them in a run's result (L16): roles and content blocks, without anything that only a provider
// understands. docs/protocol.md has the shape.
#pragma once
#include "mcp/json/json_writer.hpp"
#include "mcp/json/raw_json.hpp"
#include "providers/model/message.hpp"

#include <expected>
#include <string>
#include <string_view>

namespace mcpbx::daemon {

/// Appends the message as one JSON object.
void append_message(json_writer& json, const providers::message& m);
void append_message(basic_json_writer<byte_buffer>& json, const providers::message& m);

/// What is wrong with a message that a caller sends.
struct message_fault {
  std::string place;     ///< of the member: "" (the message itself) or such as ".content[2].type"
  std::string expected;  ///< the form it should have
  raw_json found;        ///< what is there; absent: nothing
};

/// Reads such an object back, as callers send it in `messages`. `content` may also be a string. Each role takes only
/// the blocks that every API has a place for there, and a user's message says something.
std::expected<providers::message_ptr, message_fault> read_message(const raw_json& json);

/// The role's word in that shape.
std::string_view role_word(providers::role r);

/// Whether `text` is base64 as every API takes it: padded, without line breaks. What is empty is not.
bool is_base64(std::string_view text);
/// That form in words, as what is expected.
inline constexpr std::string_view base64_form = "base64 (A-Z, a-z, 0-9, + and /, = at its end, no line breaks)";

}  // namespace mcpbx::daemon
