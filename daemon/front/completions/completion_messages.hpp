// Conversion of Chat Completions messages to the daemon's own. Pure.
#pragma once
#include "daemon/front/completions/completion_request.hpp"
#include "providers/model/message.hpp"

#include <expected>
#include <vector>

namespace mcpbx::daemon {

/// Converts each message; consecutive `tool` messages become one. Every call must be followed by its result, and every
/// result must have a call.
std::expected<std::vector<providers::message_ptr>, completion_fault> read_completion_messages(const raw_json& list);

/// Returns a fault "expected …, got …" about a member.
completion_fault wrong_member(std::string param, std::string_view expected, const raw_json& got);
/// Returns the last member of this name, or an absent value if it is null.
raw_json given_member(const raw_json& object, std::string_view key);

}  // namespace mcpbx::daemon
