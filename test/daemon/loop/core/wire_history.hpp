// Whether a provider would take a conversation: encoded by each codec there is and held against what its API demands.
#pragma once
#include "daemon/loop/core/run_core.hpp"
#include "providers/model/message.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::daemon::test {

/// What an API would refuse in a request's body, or "". For an API without a judge the fault is that there is none.
std::string fault_of_body(std::string_view api, std::string_view body);

/// What some API would refuse in a request that goes on with this conversation, or "".
std::string wire_fault_of(std::vector<providers::message_ptr> history);

/// What is wrong with the messages in a run's result when its caller sends them back before another question, or "".
std::string resent_fault_of(const run_core& core);

}  // namespace mcpbx::daemon::test
