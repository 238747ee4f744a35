// The methods that go to one tool server each: finds the server, and passes the request on. It changes nothing in the
// params but the name of the thing that is asked for.
#include "mcp/json/json_writer.hpp"
#include "mcp/protocol/revisions.hpp"
#include "mcp/server/base/task_routes.hpp"
#include "mcp/server/call_shapes.hpp"
#include "mcp/server/caller_session.hpp"
#include "mcp/server/incoming_call.hpp"
#include "mcp/support/recycled.hpp"
#include "mcp/support/text.hpp"

#include <expected>
#include <utility>

namespace mcpbx::mcp::callers {
namespace {

/// Reason why a request goes to no server.
struct no_route {
  rpc::rpc_error error;
  server::call_decision why = server::call_decision::refused;
  bool may_come = false;  // a server that is starting may have it
};
using found_route = std::expected<call_route, no_route>;

/// Returns the error for an unknown tool. Similar names also stand in data.similar, for callers that compose their own
/// text.
rpc::rpc_error unknown_tool(const catalogs::catalog& tools, std::string_view name) {
  rpc::rpc_error e = server::invalid_params("unknown tool " + json::json_quoted(cut_utf8(name, 128)));
  const auto& near = tools.similar(name);
  std::string json;
  json::json_writer data(json);
  data.begin_object().key("similar").begin_array();
  for (const auto& one : near) data.value(one);
  data.end_array().end_object();
  e.data = data.json();
  if (near.empty()) {
    e.message +=
        tools.entries().empty() ? "; no tool server offers any tool now" : "; tools/list tells which there are";
    return e;
  }
  e.message += near.size() == 1 ? "; a similar one is " : "; similar ones are ";
  for (std::size_t i = 0; i < near.size(); ++i) e.message.append(i == 0 ? "" : ", ").append(json::json_quoted(near[i]));
  return e;
}

found_route route_to(const std::weak_ptr<clients::client>& owner, const std::string& server, const std::string& own,
                     std::optional<rpc::call_limits> limits) {
  auto there = owner.lock();
  if (!there)
    return std::unexpected(no_route{server::to_rpc_error(
        {errc::unavailable, "the tool server " + json::json_quoted(server) + " is no longer there"}, server)});
  return call_route{std::move(there), server, own, limits};
}

found_route tool_route(const server::caller_host& host, const catalogs::catalog& tools, const std::string& name) {
  const catalogs::entry_ptr tool = tools.find(name);
  if (!tool)
    if (const catalogs::withheld_tool* withheld = tools.find_withheld(name))
      return std::unexpected(
          no_route{server::to_rpc_error({errc::config, catalogs::withheld_text(name, *withheld)}, withheld->server)});
  if (!tool) return std::unexpected(no_route{unknown_tool(tools, name), server::call_decision::unknown, true});
  if (auto wrong = host.check_call(*tool)) return std::unexpected(no_route{std::move(*wrong)});
  if (auto admitted = host.admit_call(*tool); !admitted)
    return std::unexpected(no_route{server::to_rpc_error(admitted.error())});
  return route_to(tool->owner, tool->server, tool->tool, tool->manner.limits);
}

// Returns the route to a prompt or a resource, if the caller may read it.
found_route read_route(const server::caller_host& host, const protocol::feature_kind& kind,
                       const std::weak_ptr<clients::client>& owner, const std::string& server, const std::string& own) {
  if (auto admitted = host.admit_read(kind, server, own); !admitted)
    return std::unexpected(no_route{server::to_rpc_error(admitted.error())});
  return route_to(owner, server, own, {});
}

found_route prompt_route(const server::caller_host& host, const catalogs::catalog& all, const std::string& name) {
  const auto prompt = all.find(protocol::prompt_kind(), name);
  if (prompt) return read_route(host, protocol::prompt_kind(), prompt->owner, prompt->server, prompt->own_key);
  return std::unexpected(no_route{server::invalid_params("unknown prompt " + json::json_quoted(cut_utf8(name, 128)) +
                                                         "; prompts/list tells which there are"),
                                  server::call_decision::unknown, true});
}

found_route resource_route_of(const server::caller_host& host, const catalogs::catalog& all, const std::string& uri) {
  if (const auto route = all.route_resource(uri))
    return read_route(host, protocol::resource_kind(), route->owner, route->server, route->uri);
  return std::unexpected(
      no_route{{rpc::code::not_found, "no tool server has the resource " + json::json_quoted(cut_utf8(uri, 256)),
                json::raw_json::own(json::json_object("uri", uri))},
               server::call_decision::unknown,
               true});
}

found_route template_route(const server::caller_host& host, const catalogs::catalog& all, const std::string& uri) {
  const auto found = all.find(protocol::template_kind(), uri);
  if (found) return route_to(found->owner, found->server, found->own_key, {});
  return resource_route_of(host, all, uri);
}

found_route task_route(server::caller_host& host, const std::string& id, bool modern) {
  const server::task_routes* const tasks = host.tasks();
  if (const auto* route = tasks ? tasks->find(host.principal(), id, modern) : nullptr)
    return route_to(route->owner, route->server, id, {});
  return std::unexpected(no_route{server::invalid_params("unknown task " + json::json_quoted(cut_utf8(id, 128)))});
}

found_route find_route(server::caller_host& host, const call_shape& shape, const incoming_call& in, bool modern) {
  const auto all = host.tools();
  switch (shape.to) {
    case call_shape::target::tool:
      return tool_route(host, *all, in.name);
    case call_shape::target::prompt:
      return prompt_route(host, *all, in.name);
    case call_shape::target::resource:
      return resource_route_of(host, *all, in.name);
    case call_shape::target::task:
      return task_route(host, in.name, modern);
    case call_shape::target::completion:
    case call_shape::target::extension:  // found by its method
      break;
  }
  return in.by_prompt ? prompt_route(host, *all, in.name) : template_route(host, *all, in.name);
}

}  // namespace

void caller_session::add_call_methods(methods& m, bool modern) {
  for (const call_shape& shape : call_shapes) {
    if (modern ? !shape.in_modern : !shape.in_legacy) continue;
    m.add(shape.method, [&shape](caller_session& s, const json::raw_json& params, const server::reply_once& reply) {
      const bool recorded = shape.to == call_shape::target::tool || shape.to == call_shape::target::prompt ||
                            shape.to == call_shape::target::resource;
      s.call(shape, params, {reply, recorded ? s.host_.recorder() : nullptr, shape.method}, false);
    });
  }
}

void caller_session::call(const call_shape& shape, const json::raw_json& params, const tool_call_reply& reply,
                          bool settled) {
  incoming_call in;
  const auto read = read_call(shape, params, reply.request().modern(), in);
  // A URI is all that a resource is asked for by, and stands for its arguments.
  reply.about(in.name, shape.to == call_shape::target::resource ? json::raw_json::own(in.key) : in.arguments);
  if (!read) return reply.refused(server::invalid_params(read.error().message));
  if (shape.to == call_shape::target::task && reply.request().modern() && !server::has_tasks(*reply.request().modern()))
    return reply.refused(server::tasks_undeclared());
  if (in.state && take_back(shape, in, reply)) return;
  if (auto admitted = host_.admit_call(); !admitted) return reply.refused(server::to_rpc_error(admitted.error()));
  auto route = find_route(host_, shape, in, reply.request().modern() != nullptr);
  if (!route && route.error().may_come && !settled)  // its server may be ready soon
    return host_.when_settled(options_.settle, [this, &shape, params, reply] {
      if (reply.open()) call(shape, params, reply, true);
    });
  if (!route) return reply.refused(route.error().error, route.error().why);
  const bool modern_server = route->server->era() == clients::era::modern;
  if (in.state && reply.request().modern() && !modern_server)
    return reply.refused(server::invalid_params(std::string(held_calls::foreign)));

  clients::server_call c;
  c.method = shape.method;
  auto own = params_for(params, in, route->own, modern_server);
  c.params = std::move(own.params);
  c.meta = std::move(own.meta);
  c.name = in.name;
  c.own_name = route->own;
  c.limits = route->limits;
  const auto passed = make_recycled<passed_call>(*this, shape, reply, *route);
  passed->start(std::move(c), std::move(in));
}

// Goes on with a held call if the request has a requestState of ours, which must reach no server. A call that is open
// is no new call, so that its answers are taken while mcpbx stops.
bool caller_session::take_back(const call_shape& shape, const incoming_call& in, const tool_call_reply& reply) {
  held_calls* const held = host_.held();
  const std::string state = in.state.as_string().value_or("");
  if (!held || !held->is_own(state)) return false;
  if (!reply.request().modern()) {
    reply.refused(server::invalid_params(std::string(held_calls::foreign)));
    return true;
  }
  auto call = held->take(state, {host_.principal(), shape.method, in.name, in.arguments});
  if (call)
    (*call)->resume({this, reply, in.arguments, in.token, in.responses});
  else
    reply.refused(server::invalid_params(call.error().message));
  return true;
}

}  // namespace mcpbx::mcp::callers
