// Subscriptions of one legacy caller: updates of resources (2025-11-25, resources, "Subscriptions") and logs that
// belong to no call (logging). Knows no I/O.
#pragma once
#include "mcp/client/client.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/server/base/caller_host.hpp"
#include "mcp/server/base/reply_once.hpp"
#include "mcp/server/watches/watched_uris.hpp"
#include "mcp/support/keyed_hash.hpp"
#include "mcp/support/shared_bytes.hpp"
#include "mcp/support/small_queue.hpp"
#include "mcp/support/time.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::mcp::watches {

/// Returns each tool server that has something in the catalog, once. Remembers those of the latest catalog, since every
/// caller asks after a change.
std::vector<std::shared_ptr<clients::client>> servers_in(const catalogs::catalog_ptr& all);

class caller_watches {
 public:
  /// Most resources that one caller subscribes to.
  static constexpr std::size_t most_subscriptions = 1024;

  /// The host must outlive this object. `settle` is the time that a subscription waits for servers that are starting.
  caller_watches(server::caller_host& host, milliseconds settle)
      : host_(host), settle_(settle), searches_(host, [this] { return search(); }) {}

  // These functions answer the request; subscribe() when the tool server has answered.
  void subscribe(const json::raw_json& params, const server::reply_once& reply) { subscribe(params, reply, false); }
  void unsubscribe(const json::raw_json& params, const server::reply_once& reply);

  /// Asks all servers for logs of this level and above, instead of an earlier one.
  void set_level(std::size_t level);
  /// Takes a changed catalog: asks servers that are new in it, and leaves those alone that are not in it any more.
  /// Many resources are looked for in later turns.
  void refresh();
  /// Ends all watches without further notifications.
  void close();
  std::size_t subscriptions() const noexcept { return subscriptions_.size(); }

 private:
  struct log_watch {
    std::weak_ptr<clients::client> server;
    clients::watch held;
  };
  struct subscription {
    shared_bytes uri;
    catalogs::resource_route route;
    clients::watch held = nullptr;
    bool stale = false;                            // the catalog has changed
    std::vector<server::reply_once> waiting = {};  // requests that the server's answer is for
  };
  subscription* find(const shared_bytes& uri);
  subscription forget(std::string_view uri);
  void decided(const shared_bytes& uri, const rpc::call_outcome& answer);
  void subscribe(const json::raw_json& params, const server::reply_once& reply, bool settled);
  clients::watch watched_at(const shared_bytes& uri, const catalogs::resource_route& route);
  std::size_t search();
  void updated(const shared_bytes& uri, const json::raw_json& params);
  void watch_logs_of(const std::shared_ptr<clients::client>& server);

  server::caller_host& host_;
  milliseconds settle_;
  text_view_map<subscription> subscriptions_;  // by their URIs
  uri_count uris_;
  small_queue<shared_bytes> changed_;  // stale ones
  std::vector<log_watch> logs_;
  std::size_t level_ = 0;
  bool watches_logs_ = false;
  paced_searches searches_;
};

}  // namespace mcpbx::mcp::watches
