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

namespace mcpbx::daemon::http_door {
namespace {

constexpr routes::route table[] = {
    {"POST", "/v1/chat/completions", completions::handle_completion, routes::body_kind::json},
    {"POST", "/v1/messages", messages::handle_message, routes::body_kind::json, routes::fault_form::anthropic},
    {"POST", "/v1/messages/count_tokens", messages::handle_count_tokens, routes::body_kind::any,
     routes::fault_form::anthropic},
    {"POST", "/v1/responses", responses::handle_response, routes::body_kind::json},
    {"GET", "/v1/models", model_routes::handle_model_list},
    {"GET", "/v1/models/{id}", model_routes::handle_model},
    {"POST", "/api/chat", api_door::handle_api_chat, routes::body_kind::json},
    {"GET", "/api/status", api_door::handle_api_status},
    {"GET", "/api/servers", api_door::handle_api_servers},
    {"GET", "/api/tools", api_door::handle_api_tools},
    {"GET", "/api/sessions", api_door::handle_api_sessions},
    {"GET", "/api/sessions/{id}", api_door::handle_api_session},
    {"GET", "/api/openapi.json", api_door::handle_api_description},
    {"GET", "/livez", api_door::handle_alive, routes::body_kind::any, routes::fault_form::openai, true, true},
    {"GET", "/healthz", api_door::handle_alive, routes::body_kind::any, routes::fault_form::openai, true, true},
    {"GET", "/readyz", api_door::handle_ready, routes::body_kind::any, routes::fault_form::openai, true, true},
    {"GET", "/metrics", api_door::handle_metrics},
    {"POST", "/mcp", mcp_door::handle_mcp_post, routes::body_kind::json, routes::fault_form::json_rpc, true},
    {"GET", "/mcp", mcp_door::handle_mcp_get, routes::body_kind::any, routes::fault_form::json_rpc},
    {"DELETE", "/mcp", mcp_door::handle_mcp_delete, routes::body_kind::any, routes::fault_form::json_rpc, true},
};
static_assert(routes::is_sound(table));

}  // namespace

std::span<const routes::route> http_routes() {
  return table;
}

}  // namespace mcpbx::daemon::http_door
