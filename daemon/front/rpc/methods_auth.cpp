// Methods mcpbx/auth/*: logins of people to tool servers that want one.
#include "daemon/front/rpc/methods.hpp"
#include "daemon/logins/login_desk.hpp"
#include "mcp/json/json_writer.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace mcpbx::daemon::rpc_door {
namespace {

constexpr std::size_t longest_server_name = 1024, longest_principal = 1100, longest_pasted = 16u << 10;

struct auth_params {
  logins::login_target whose;
  std::string address;
};

/// A connection that waits for a login, until it ends.
class waiting_caller {
 public:
  waiting_caller(front::door_context& door, logins::login_target whose) : door_(door), whose_(std::move(whose)) {}
  ~waiting_caller() {
    held_.reset();
    if (auto* const desk = door_.daemon.logins()) desk->left(whose_);
  }
  waiting_caller(const waiting_caller&) = delete;
  waiting_caller& operator=(const waiting_caller&) = delete;
  const logins::login_presence& held() const noexcept { return held_; }

 private:
  front::door_context& door_;
  logins::login_target whose_;
  logins::login_presence held_ = std::make_shared<int>();
};

auth_params read_server(mcp::server::param_reader& in) {
  auth_params p;
  p.whose.server = in.text("server", longest_server_name).value_or("");
  p.whose.principal = in.text("principal", longest_principal).value_or("");
  if (p.whose.server.empty()) in.wrong("server", "expected the name of a tool server, got nothing");
  return p;
}

/// Returns the desk; without one the request is answered with the reason.
logins::login_desk* desk_of(rpc_caller& c, const mcp::server::reply_once& reply) {
  auto* const desk = c.door().daemon.logins();
  if (!desk) reply.error(mcp::server::to_rpc_error({errc::unavailable, "this daemon has no logins"}));
  return desk;
}

void answer_with(const mcp::server::reply_once& reply, const result<void>& outcome) {
  if (!outcome) return reply.error(mcp::server::to_rpc_error(outcome.error()));
  reply.result(json::raw_json::literal("{}"));
}

// Makes a connection one of those that wait for a login: it ends when the last of them has ended.
logins::login_presence wait_at(rpc_caller& c, const logins::login_target& whose) {
  const auto kept = c.kept_until_closed("login " + whose.server + "\n" + whose.principal,
                                        [&] { return std::make_shared<waiting_caller>(c.door(), whose); });
  return std::static_pointer_cast<waiting_caller>(kept)->held();
}

void begin_login(rpc_caller& c, const auth_params& p, const mcp::server::reply_once& reply) {
  auto* const desk = desk_of(c, reply);
  if (!desk) return;
  desk->begin(p.whose, wait_at(c, p.whose), [reply](const result<logins::login_invitation>& invitation) {
    if (!invitation) return reply.error(mcp::server::to_rpc_error(invitation.error()));
    std::string json;
    json::json_writer out(json);
    out.begin_object().filled("address", invitation->address).filled("redirectUri", invitation->redirect_uri);
    out.filled("openAddress", invitation->opened);
    out.filled("issuer", invitation->issuer).filled("resource", invitation->resource);
    out.list("scopes", invitation->scopes).end_object();
    reply.result(out.json());
  });
}

json::raw_json report_of(const logins::login_report& report) {
  std::string json;
  json::json_writer out(json);
  out.begin_object().filled("file", report.file).member("protection", report.protection);
  out.key("servers").begin_array();
  for (const auto& s : report.servers) {
    out.begin_object().members("server", s.server, "url", s.url);
    out.filled("principal", s.principal).member("state", s.state);
    out.filled("issuer", s.issuer).filled("resource", s.resource).list("scopes", s.scopes);
    if (s.expires_at_ms >= 0) out.member("expiresAtMs", s.expires_at_ms);
    out.set("renews", s.renews).filled("problem", s.problem).filled("address", s.address).end_object();
  }
  out.end_array().end_object();
  return out.json();
}

}  // namespace

void add_auth_methods(front::own_methods& table) {
  table.bind("mcpbx/auth/login", read_server, begin_login);
  table.bind("mcpbx/auth/wait", read_server,
             [](rpc_caller& c, const auth_params& p, const mcp::server::reply_once& reply) {
               if (auto* const desk = desk_of(c, reply))
                 desk->when_over(p.whose, wait_at(c, p.whose),
                                 [reply](const result<void>& outcome) { answer_with(reply, outcome); });
             });
  table.bind("mcpbx/auth/cancel", read_server,
             [](rpc_caller& c, const auth_params& p, const mcp::server::reply_once& reply) {
               if (auto* const desk = desk_of(c, reply)) answer_with(reply, desk->cancel(p.whose));
             });
  table.bind(
      "mcpbx/auth/complete",
      [](mcp::server::param_reader& in) {
        auth_params p = read_server(in);
        p.address = in.text("address", longest_pasted).value_or("");
        if (p.address.empty()) in.wrong("address", "expected the address that the browser ended at, got nothing");
        return p;
      },
      [](rpc_caller& c, const auth_params& p, const mcp::server::reply_once& reply) {
        if (auto* const desk = desk_of(c, reply)) answer_with(reply, desk->complete(p.whose, p.address));
      });
  table.bind("mcpbx/auth/logout", read_server,
             [](rpc_caller& c, const auth_params& p, const mcp::server::reply_once& reply) {
               if (auto* const desk = desk_of(c, reply))
                 desk->log_out(p.whose, [reply](const result<void>& outcome) { answer_with(reply, outcome); });
             });
  table.bind(
      "mcpbx/auth/status", [](mcp::server::param_reader&) { return auth_params(); },
      [](rpc_caller& c, const auth_params&, const mcp::server::reply_once& reply) {
        if (auto* const desk = desk_of(c, reply))
          desk->status([reply](const logins::login_report& report) { reply.result(report_of(report)); });
      });
}

}  // namespace mcpbx::daemon::rpc_door
