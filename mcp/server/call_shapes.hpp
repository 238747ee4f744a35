// The methods whose requests go to one tool server each.
#pragma once
#include "mcp/server/passed_call.hpp"

#include <array>

namespace mcpbx::mcp::callers {

inline constexpr std::array call_shapes = {
    call_shape{
        .method = "tools/call", .to = call_shape::target::tool, .key = "name", .has_arguments = true, .may_ask = true},
    call_shape{.method = "prompts/get",
               .to = call_shape::target::prompt,
               .key = "name",
               .has_arguments = true,
               .may_ask = true},
    call_shape{.method = "resources/read",
               .to = call_shape::target::resource,
               .key = "uri",
               .cacheable = true,
               .may_ask = true},
    call_shape{.method = "completion/complete", .to = call_shape::target::completion, .key = "ref"},
    call_shape{.method = "tasks/get", .to = call_shape::target::task, .key = "taskId"},
    call_shape{.method = "tasks/cancel", .to = call_shape::target::task, .key = "taskId"},
    call_shape{.method = "tasks/result", .to = call_shape::target::task, .key = "taskId", .in_modern = false},
    call_shape{.method = "tasks/update", .to = call_shape::target::task, .key = "taskId", .in_legacy = false},
};

}  // namespace mcpbx::mcp::callers
