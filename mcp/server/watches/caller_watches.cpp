// Subscriptions and logs of legacy callers.
#include "mcp/server/watches/caller_watches.hpp"

#include "mcp/json/json_writer.hpp"
#include "mcp/protocol/eras.hpp"
#include "mcp/protocol/log_levels.hpp"
#include "mcp/rpc/rpc_message.hpp"
#include "mcp/server/base/param_reader.hpp"
#include "mcp/server/base/rpc_errors.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <optional>

namespace mcpbx::mcp::watches {
namespace {

/// Returns params.uri, or answers with an error.
std::optional<std::string> uri_of(const json::raw_json& params, const server::reply_once& reply) {
  const auto members = json::read_members(params ? params : json::raw_json::literal("{}"), {"uri"});
  if (!members) {
    reply.error(server::invalid_params("params: " + members.error().message));
    return std::nullopt;
  }
  auto uri = members->front().as_string();
  if (!uri)
    reply.error(server::invalid_params("params.uri: expected a string, got " + server::describe(members->front())));
  return uri;
}

std::vector<std::shared_ptr<clients::client>> find_servers(const catalogs::catalog& all) {
  std::vector<std::shared_ptr<clients::client>> out;
  const clients::client* last = nullptr;  // entries of one server stand together
  const auto add = [&](const std::weak_ptr<clients::client>& owner) {
    auto server = owner.lock();
    if (!server || std::exchange(last, server.get()) == server.get()) return;
    if (std::ranges::find(out, server) == out.end()) out.push_back(std::move(server));
  };
  for (const catalogs::entry_ptr& tool : all.entries()) add(tool->owner);
  for (const catalogs::feature_entries_ptr& others : all.rest().others)
    if (others)
      for (const catalogs::feature_entry_ptr& one : others->entries()) add(one->owner);
  return out;
}

}  // namespace

std::vector<std::shared_ptr<clients::client>> servers_in(const catalogs::catalog_ptr& all) {
  static std::weak_ptr<const catalogs::catalog> latest;
  static std::vector<std::weak_ptr<clients::client>> found;
  std::vector<std::shared_ptr<clients::client>> out;
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

void caller_watches::subscribe(const json::raw_json& params, const server::reply_once& reply, bool settled) {
  const auto uri = uri_of(params, reply);
  if (!uri) return;
  if (const auto known = subscriptions_.find(*uri); known != subscriptions_.end()) {
    if (known->second.waiting.empty()) return reply.result(json::raw_json::literal("{}"));
    return known->second.waiting.push_back(reply);
  }
  if (subscriptions_.size() >= most_subscriptions)
    return reply.error(server::to_rpc_error({errc::limit, "this connection has subscribed to " +
                                                              std::to_string(subscriptions_.size()) +
                                                              " resources already; unsubscribe from some"}));
  if (auto admitted = uris_.admit(uri->size()); !admitted) return reply.error(server::to_rpc_error(admitted.error()));
  const auto route = host_.tools()->route_resource(*uri);
  if (!route && !settled && !host_.settled())  // its server may be ready soon
    return host_.when_settled(settle_, [this, params, reply] {
      if (reply.open()) subscribe(params, reply, true);
    });
  if (!route)
    return reply.error(rpc::rpc_error{rpc::code::not_found,
                                      "no tool server has the resource " + json::json_quoted(cut_utf8(*uri, 256)),
                                      json::raw_json::own(json::json_object("uri", *uri))});
  const shared_bytes key = shared_bytes::copy(*uri);
  uris_.add(uri->size());
  subscriptions_.emplace(key.view(), subscription{.uri = key, .route = *route, .waiting = {reply}});
  auto held = watched_at(key, *route);
  const auto found = find(key);
  if (found == nullptr) return;  // refused already
  if (held) return std::swap(found->held, held);
  forget(*uri);
  reply.error(server::to_rpc_error(
      {errc::unavailable, "the tool server " + json::json_quoted(route->server) +
                              " takes no subscriptions to resources, or has as many as mcpbx keeps for one server"},
      route->server));
}

clients::watch caller_watches::watched_at(const shared_bytes& uri, const catalogs::resource_route& route) {
  const auto server = route.owner.lock();
  if (!server) return nullptr;
  return server->watch_resource_of(
      host_.scope(), route.uri, [this, uri](const json::raw_json& params) { updated(uri, params); },
      [this, uri](const rpc::call_outcome& answer) { decided(uri, answer); });
}

// Answers the requests that wait for the server. A refused subscription is none.
void caller_watches::decided(const shared_bytes& uri, const rpc::call_outcome& answer) {
  subscription* const s = find(uri);
  if (s == nullptr || s->waiting.empty()) return;
  const auto waiting = std::exchange(s->waiting, {});
  const auto server = s->route.owner.lock();
  const std::string name = s->route.server;
  const auto ended = answer.type == rpc::call_outcome::kind::result ? subscription{} : forget(uri.view());
  for (const server::reply_once& reply : waiting) {
    if (answer.type == rpc::call_outcome::kind::result)
      reply.result(json::raw_json::literal("{}"));
    else if (answer.type == rpc::call_outcome::kind::failed)
      reply.error(server::to_rpc_error(
          {answer.failure.code, "the tool server " + json::json_quoted(name) + " " + answer.failure.message + ": " +
                                    json::json_quoted(cut_utf8(uri.view(), 256))},
          name));
    else
      reply.error(server && server->era() == clients::era::modern ? protocol::legacy_error(answer.value, true)
                                                                  : answer.value);
  }
}

caller_watches::subscription* caller_watches::find(const shared_bytes& uri) {
  const auto found = subscriptions_.find(uri.view());
  return found == subscriptions_.end() || found->second.uri.data() != uri.data() ? nullptr : &found->second;
}

caller_watches::subscription caller_watches::forget(std::string_view uri) {
  auto node = subscriptions_.extract(uri);
  if (!node) return {};
  uris_.remove(uri.size());
  return std::move(node.mapped());
}

void caller_watches::unsubscribe(const json::raw_json& params, const server::reply_once& reply) {
  const auto uri = uri_of(params, reply);
  if (!uri) return;
  const subscription ended = forget(*uri);
  for (const server::reply_once& waits : ended.waiting) waits.result(json::raw_json::literal("{}"));
  reply.result(json::raw_json::literal("{}"));
}

void caller_watches::updated(const shared_bytes& uri, const json::raw_json& params) {
  // The configuration may keep the resource from this caller by now. The subscription stays: it may come back.
  const auto found = subscriptions_.find(uri.view());
  if (found == subscriptions_.end() || !host_.tools()->allows_resource(found->second.route, uri.view())) return;
  auto o = json::raw_object::open(params ? params : json::raw_json::literal("{}"));
  if (!o) return;
  const std::string changed = o->find("uri").as_string().value_or("");
  const std::string told = told_uri(*host_.tools(), found->second.route, uri.view(), changed);
  if (told != changed) o->set("uri", json::raw_json::string(told));
  host_.send_note({.same = told}, rpc::make_notification("notifications/resources/updated", o->build()));
}

void caller_watches::set_level(std::size_t level) {
  level_ = level;
  watches_logs_ = true;
  const auto before = std::exchange(logs_, {});  // kept until the new ones are there, so that no server is set twice
  refresh();
}

void caller_watches::refresh() {
  if (!watches_logs_ && subscriptions_.empty()) return;
  const catalogs::catalog_ptr all = host_.tools();
  for (auto& [uri, s] : subscriptions_)
    if (!std::exchange(s.stale, true)) changed_.push_back(s.uri);
  searches_.begin();
  if (!watches_logs_) return;
  const auto servers = servers_in(all);
  std::erase_if(logs_,
                [&](const log_watch& w) { return std::ranges::find(servers, w.server.lock()) == servers.end(); });
  for (const auto& server : servers)
    if (std::ranges::none_of(logs_, [&](const log_watch& w) { return w.server.lock() == server; }))
      watch_logs_of(server);
}

// Watches the next resource of a changed catalog at the server that has it now.
std::size_t caller_watches::search() {
  if (changed_.empty()) return 0;
  const shared_bytes uri = std::move(changed_.front());
  changed_.pop_front();
  const auto found = subscriptions_.find(uri.view());
  if (found != subscriptions_.end() && found->second.uri.data() == uri.data()) {
    found->second.stale = false;
    auto route = host_.tools()->route_resource(uri.view());
    if (route && route->owner.lock() != found->second.route.owner.lock()) {
      auto held = watched_at(uri, *route);
      subscription* const now = held ? find(uri) : nullptr;
      if (now != nullptr) {
        now->route = std::move(*route);
        std::swap(now->held, held);
      }
    }
  }
  return std::max<std::size_t>(uri.size(), 1);
}

void caller_watches::close() {
  searches_.stop();
  watches_logs_ = false;
  uris_ = {};
  changed_.clear();
  const auto ended = std::exchange(subscriptions_, {});
  const auto logs = std::exchange(logs_, {});
}

void caller_watches::watch_logs_of(const std::shared_ptr<clients::client>& server) {
  const auto told = [this, from = std::weak_ptr(server)](const json::raw_json& params) {
    const auto level = protocol::log_level_of(json::member_text(params, "level"));
    if (level && *level < level_) return;
    if (!host_.hears_of_others()) {
      const auto speaker = from.lock();
      if (!speaker || speaker->log_subject().empty() || speaker->log_subject() != host_.principal()) return;
    }
    host_.send_note({.droppable = true}, rpc::make_notification("notifications/message", params));
  };
  clients::watch w = server->watch_logs_of(host_.scope(), protocol::log_levels[level_], told);
  logs_.push_back({server, std::move(w)});
}

}  // namespace mcpbx::mcp::watches
