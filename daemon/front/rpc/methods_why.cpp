// Method why: the reasons for a tool's being offered or hidden.
#include "daemon/front/rpc/methods.hpp"
#include "daemon/front/rpc/tool_reasons.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mcpbx::daemon::rpc_door {
namespace {

struct why_params {
  std::string tool, profile;
};

why_params read_why(mcp::server::param_reader& in) {
  why_params p;
  if (auto tool = in.text("tool", 1024); tool && !tool->empty())
    p.tool = std::move(*tool);
  else if (!tool)
    in.wrong("tool", "expected the name of a tool, got nothing");
  else
    in.wrong("tool", "expected the name of a tool, got an empty text");
  if (auto profile = in.text("profile", 1024)) p.profile = std::move(*profile);
  return p;
}

void answer_why(rpc_caller& c, const why_params& p, const mcp::server::reply_once& reply) {
  auto& door = c.door();
  const auto configured = door.settings.chat();
  const std::string profile = p.profile.empty() ? c.profile() : p.profile;
  std::optional<chat::chat_base> base;
  if (!profile.empty()) {
    auto made = configured->base("", profile);
    if (!made) return reply.error(mcp::server::to_rpc_error(made.error()));
    base = std::move(*made);
  }
  std::string usual;
  if (profile.empty())
    if (const auto made = configured->base("", "")) usual = made->profile;
  const auto whole = door.daemon.tools();
  const auto servers = door.daemon.servers();
  auto rules = door.settings.approvals();
  if (base) rules.profile = base->approve;
  const tool_question q{.name = p.tool,
                        .profile = profile,
                        .whole = *whole,
                        .base = base ? &*base : nullptr,
                        .usual_profile = usual,
                        .servers = servers,
                        .rules = rules,
                        .listed = [&door](std::string_view server) { return door.daemon.listed_tools(server); }};
  reply.result(to_json(q, explain(q)));
}

}  // namespace

void add_why_method(front::own_methods& table) {
  table.bind("mcpbx/why", read_why, [](rpc_caller& c, why_params p, const mcp::server::reply_once& reply) {
    c.when_settled(c.door().settings.session.settle, [&c, p = std::move(p), reply] {
      if (reply.open()) answer_why(c, p, reply);
    });
  });
}

}  // namespace mcpbx::daemon::rpc_door
