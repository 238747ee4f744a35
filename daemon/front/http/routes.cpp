// Table of the routes. A new route is a row here and a function in its feature's folder. The answer 404 lists paths in
// the order of the rows.
#include "daemon/front/http/routes.hpp"

#include "daemon/front/api/api_handlers.hpp"
#include "daemon/front/api/metrics.hpp"
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
    {"POST", "/api/chat", handle_api_chat, body_kind::json},
    {"GET", "/api/status", handle_api_status},
    {"GET", "/api/servers", handle_api_servers},
    {"GET", "/api/tools", handle_api_tools},
    {"GET", "/api/sessions", handle_api_sessions},
    {"GET", "/api/sessions/{id}", handle_api_session},
    {"GET", "/api/openapi.json", handle_api_description},
    {"GET", "/livez", handle_alive, body_kind::any, fault_form::openai, true, true},
    {"GET", "/healthz", handle_alive, body_kind::any, fault_form::openai, true, true},
    {"GET", "/readyz", handle_ready, body_kind::any, fault_form::openai, true, true},
    {"GET", "/metrics", handle_metrics},
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
