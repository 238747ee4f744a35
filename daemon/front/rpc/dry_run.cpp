// The answer to `dryRun` of mcpbx/chat: model, endpoint, tools, and the size of the prompt.
#include "daemon/front/rpc/methods.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/server/base/rpc_errors.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::daemon::rpc_door {
namespace {

constexpr std::size_t bytes_per_token = 4;  // as in estimates of usage (providers/call)

// Returns the host of an address such as "https://[::1]:8080/v1", without brackets and port; "" if it has none.
std::string_view host_of(std::string_view address) {
  const auto scheme = address.find("://");
  if (scheme == std::string_view::npos) return {};
  auto host = address.substr(scheme + 3);
  host = host.substr(0, host.find_first_of("/?#"));
  if (const auto user = host.rfind('@'); user != std::string_view::npos) host.remove_prefix(user + 1);
  if (host.starts_with('[')) return host.substr(1, host.find(']') - 1);
  return host.substr(0, host.find(':'));
}

// Returns the class of what a run may cost: nothing, the time of this machine, or what a provider asks for.
std::string_view cost_of(std::string_view endpoint) {
  if (endpoint.empty()) return "none";
  const auto host = host_of(endpoint);
  const bool local = host == "localhost" || host.ends_with(".localhost") || host == "::1" ||
                     (host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string_view::npos);
  return local ? "local" : "provider";
}

json::raw_json told(const run::run_preview& p, const front::model_row* row, const std::string& session,
                    const chat::chat_opening& opening) {
  std::string json;
  json::json_writer w(json);
  const std::string endpoint = row == nullptr ? std::string() : row->endpoint;
  w.begin_object().member("dryRun", true).member("model", p.model).filled("id", p.id).member("api", p.api);
  w.filled("endpoint", endpoint).filled("host", host_of(endpoint));
  // Without a row nothing is known of the endpoint, and no cost is promised away.
  w.member("cost", row == nullptr ? "provider" : cost_of(endpoint));
  w.filled("profile", p.profile).filled("session", session).list("tools", p.tools);
  if (!p.left_out.empty()) w.list("leftOut", p.left_out);
  w.member("messages", p.messages).member("promptBytes", p.message_bytes).member("toolBytes", p.tool_bytes);
  w.member("estimatedTokens", (p.message_bytes + p.tool_bytes) / bytes_per_token + 1);
  if (!opening.empty()) {
    w.key("notFetched").begin_array();
    if (!opening.prompt.empty()) w.value(opening.prompt);
    for (const auto& uri : opening.resources) w.value(uri);
    w.end_array();
  }
  w.end_object();
  return w.json();
}

}  // namespace

void tell_beginning(rpc_caller& c, run::run_request r, const chat::chat_opening& opening,
                    const mcp::server::reply_once& reply) {
  r.principal = c.principal();
  const std::string session = r.session;
  c.door().daemon.preview_run(std::move(r), [&daemon = c.door().daemon, session, opening,
                                             reply](const result<run::run_preview>& seen) {
    if (!reply.open()) return;
    if (!seen) return reply.error(mcp::server::to_rpc_error(seen.error()));
    auto* const models = daemon.models();
    if (models == nullptr) return reply.result(told(*seen, nullptr, session, opening));
    const auto entry = seen->model.substr(0, seen->model.find('/'));
    models->list(entry, false, [p = *seen, session, opening, reply](const result<std::vector<front::model_row>>& rows) {
      if (!reply.open()) return;
      reply.result(told(p, rows && !rows->empty() ? &rows->front() : nullptr, session, opening));
    });
  });
}

}  // namespace mcpbx::daemon::rpc_door
