// The text of a refusal.
#include "daemon/front/mcp/mcp_refusal.hpp"

#include "mcp/json/json_writer.hpp"

namespace mcpbx::daemon::mcp_door {

http::servers::server_answer refusal_answer(const mcp_refusal& r) {
  std::string json;
  json::json_writer w(json);
  w.begin_object().member("jsonrpc", "2.0");
  if (!r.id.empty()) w.key("id").token(r.id.token());
  w.member("error", r.error.json()).end_object();
  return {r.status, {{"Content-Type", "application/json"}}, std::move(json)};
}

}  // namespace mcpbx::daemon::mcp_door
