// Table of the routes. A new route is a row here and a function in its feature's folder. The answer 404 lists paths in
// the order of the rows.
#include "daemon/front/http/routes.hpp"

#include "daemon/front/completions/completions_handler.hpp"
#include "daemon/front/mcp/mcp_handler.hpp"
#include "daemon/front/messages/messages_handler.hpp"
#include "daemon/front/models/models_handler.hpp"
#include "daemon/front/responses/responses_handler.hpp"

namespace mcpbx::daemon {
namespace {

constexpr route table[] = {
    {"POST", "/v1/chat/completions", handle_completion, body_kind::json},
    {"POST", "/v1/messages", handle_message, body_kind::json, fault_form::anthropic},
    {"POST", "/v1/messages/count_tokens", handle_count_tokens, body_kind::any, fault_form::anthropic},
    {"POST", "/v1/responses", handle_response, body_kind::json},
    {"GET", "/v1/models", handle_model_list},
    {"GET", "/v1/models/{id}", handle_model},
    {"POST", "/mcp", handle_mcp_post, body_kind::json, fault_form::json_rpc, true},
    {"GET", "/mcp", handle_mcp_get, body_kind::any, fault_form::json_rpc},
    {"DELETE", "/mcp", handle_mcp_delete, body_kind::any, fault_form::json_rpc, true},
};
static_assert(is_sound(table));

}  // namespace

std::span<const route> http_routes() {
  return table;
}

}  // namespace mcpbx::daemon
