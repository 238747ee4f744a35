// Checks conversations against the demands of all APIs: each codec encodes them, and a judge looks for faults.
#pragma once
#include "daemon/loop/core/run_core.hpp"
#include "providers/model/message.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::daemon::test {

/// Returns what the API would refuse in a request's body, or "". An API without a judge is a fault of its own.
std::string fault_of_body(std::string_view api, std::string_view body);

/// Returns what some API would refuse in a request that continues this conversation, or "".
std::string wire_fault_of(std::vector<providers::message_ptr> history);

/// Returns a fault in the messages of a run's result when its caller sends them back before another question, or "".
std::string resent_fault_of(const core::run_core& core);

}  // namespace mcpbx::daemon::test
