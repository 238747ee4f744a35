// The messages of OpenAI's Chat Completions as ours. Pure.
#pragma once
#include "daemon/front/completions/completion_request.hpp"
#include "providers/model/message.hpp"

#include <expected>
#include <vector>

namespace mcpbx::daemon {

/// Each of its messages becomes one of ours; `tool` messages that follow each other become one together. Every call
/// has its result behind it, and every result its call.
std::expected<std::vector<providers::message_ptr>, completion_fault> read_completion_messages(const raw_json& list);

/// "expected …, got …" at a member.
completion_fault wrong_member(std::string param, std::string_view expected, const raw_json& got);
/// The last member of this name, absent where it is null.
raw_json given_member(const raw_json& object, std::string_view key);

}  // namespace mcpbx::daemon
