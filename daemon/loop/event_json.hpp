// The bodies of events and the result of a run, exactly as design section 4 lists their members. What servers and
// models sent is passed on as its own bytes.
#pragma once
#include "daemon/loop/run_core.hpp"
#include "mcp/support/raw_json.hpp"
#include "providers/model/message.hpp"

#include <cstdint>
#include <string_view>

namespace mcpbx::daemon::event_json {

segments status(std::string_view text, std::string_view tool);
segments round(int number, std::string_view model);
segments tool_call(std::string_view call, std::string_view name, std::string_view server, const raw_json& arguments);
/// From the parameters of notifications/progress; members of other kinds are left out.
segments tool_progress(std::string_view call, const raw_json& params);
segments tool_result(std::string_view call, bool is_error, const raw_json& result, std::int64_t duration_ms);
segments usage(const providers::usage& so_far);
/// Tokens as the object that results and sessions have.
raw_json usage_members(const providers::usage& u);
segments error(std::string_view message, bool retryable);

/// The result of a run that has ended (L16); of its messages those that its session held before are left out.
raw_json run_result(const run_core& core);

}  // namespace mcpbx::daemon::event_json
