// Subscriptions and logs of legacy callers.
#include "mcp/server/caller_watches.hpp"

#include "mcp/json/json_writer.hpp"
#include "mcp/protocol/log_levels.hpp"
#include "mcp/rpc/rpc_message.hpp"
#include "mcp/server/param_reader.hpp"
#include "mcp/server/rpc_errors.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <optional>

namespace mcpbx::mcp {
namespace {

/// Returns params.uri, or answers with what is wrong.
std::optional<std::string> uri_of(const raw_json& params, const reply_once& reply) {
  const auto members = read_members(params ? params : raw_json::literal("{}"), {"uri"});
  if (!members) {
    reply.error(invalid_params("params: " + members.error().message));
    return std::nullopt;
  }
  auto uri = members->front().as_string();
  if (!uri) reply.error(invalid_params("params.uri: expected a string, got " + describe(members->front())));
  return uri;
}

std::vector<std::shared_ptr<client>> find_servers(const catalog& all) {
  std::vector<std::shared_ptr<client>> out;
  const client* last = nullptr;  // entries of one server stand together
  const auto add = [&](const std::weak_ptr<client>& owner) {
    auto server = owner.lock();
    if (!server || std::exchange(last, server.get()) == server.get()) return;
    if (std::ranges::find(out, server) == out.end()) out.push_back(std::move(server));
  };
  for (const entry_ptr& tool : all.entries()) add(tool->owner);
  for (const feature_entries_ptr& others : all.rest().others)
    if (others)
      for (const feature_entry_ptr& one : others->entries()) add(one->owner);
  return out;
}

}  // namespace

std::vector<std::shared_ptr<client>> servers_in(const catalog_ptr& all) {
  static std::weak_ptr<const catalog> latest;
  static std::vector<std::weak_ptr<client>> found;
  std::vector<std::shared_ptr<client>> out;
  if (latest.lock() != all) {
    out = find_servers(*all);
    latest = all;
    found.assign(out.begin(), out.end());
    return out;
  }
  for (const auto& one : found)
    if (auto server = one.lock()) out.push_back(std::move(server));
  return out;
}

void caller_watches::subscribe(const raw_json& params, const reply_once& reply) {
  const auto uri = uri_of(params, reply);
  if (!uri) return;
  if (subscriptions_.contains(*uri)) return reply.result(raw_json::literal("{}"));
  if (subscriptions_.size() >= most_subscriptions)
    return reply.error(
        to_rpc_error({errc::limit, "this connection has subscribed to " + std::to_string(subscriptions_.size()) +
                                       " resources already; unsubscribe from some"}));
  const auto route = host_.tools()->route_resource(*uri);
  if (!route)
    return reply.error(rpc_error{code::not_found, "no tool server has the resource " + json_quoted(cut_utf8(*uri, 256)),
                                 raw_json::own(json_object("uri", *uri))});
  subscription made = subscribed(*uri, *route);
  if (!made.held)
    return reply.error(to_rpc_error(
        {errc::unavailable, "the tool server " + json_quoted(route->server) + " takes no subscriptions to resources"},
        route->server));
  subscriptions_.emplace(*uri, std::move(made));
  reply.result(raw_json::literal("{}"));
}

caller_watches::subscription caller_watches::subscribed(const std::string& uri, const resource_route& route) {
  const auto server = route.owner.lock();
  if (!server) return {route, nullptr};
  return {route, server->watch_resource_of(host_.scope(), route.uri,
                                           [this, uri](const raw_json& params) { updated(uri, params); })};
}

void caller_watches::unsubscribe(const raw_json& params, const reply_once& reply) {
  const auto uri = uri_of(params, reply);
  if (!uri) return;
  subscriptions_.erase(*uri);
  reply.result(raw_json::literal("{}"));
}

void caller_watches::updated(const std::string& uri, const raw_json& params) {
  // The configuration may keep the resource from this caller by now. The subscription stays: it may come back.
  const auto found = subscriptions_.find(uri);
  if (found == subscriptions_.end() || !host_.tools()->allows_resource(found->second.route, uri)) return;
  auto o = raw_object::open(params ? params : raw_json::literal("{}"));
  if (!o) return;
  if (o->find("uri").as_string() != uri) o->set("uri", raw_json::string(uri));
  host_.send_note({.same = uri}, make_notification("notifications/resources/updated", o->build()));
}

void caller_watches::set_level(std::size_t level) {
  level_ = level;
  watches_logs_ = true;
  const auto before = std::exchange(logs_, {});  // kept until the new ones are there, so that no server is set twice
  refresh();
}

void caller_watches::refresh() {
  if (!watches_logs_ && subscriptions_.empty()) return;
  const catalog_ptr all = host_.tools();
  for (auto& [uri, s] : subscriptions_)
    if (const auto route = all->route_resource(uri); route && route->owner.lock() != s.route.owner.lock())
      if (auto made = subscribed(uri, *route); made.held) s = std::move(made);
  if (!watches_logs_) return;
  const auto servers = servers_in(all);
  std::erase_if(logs_,
                [&](const log_watch& w) { return std::ranges::find(servers, w.server.lock()) == servers.end(); });
  for (const auto& server : servers)
    if (std::ranges::none_of(logs_, [&](const log_watch& w) { return w.server.lock() == server; }))
      watch_logs_of(server);
}

void caller_watches::watch_logs_of(const std::shared_ptr<client>& server) {
  watch w = server->watch_logs_of(host_.scope(), log_levels[level_], [this](const raw_json& params) {
    const auto level = log_level_of(member_text(params, "level"));
    if (level && *level < level_) return;
    host_.send_note({.droppable = true}, make_notification("notifications/message", params));
  });
  logs_.push_back({server, std::move(w)});
}

}  // namespace mcpbx::mcp
