// Everybody who watches resources and logs of one tool server. Updates of one resource that come one upon another are
// brought together. A core: the owner delivers what these functions return.
#pragma once
#include "mcp/client/client.hpp"
#include "mcp/support/time.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::mcp::supervise {

/// Returns the rank of a log level (RFC 5424), 0 for the lowest; -1: no such level.
int log_rank(std::string_view level);

class server_watches {
 public:
  /// Largest number of watched resources of one server.
  static constexpr std::size_t most_resources = 4096;
  /// Most bytes of their URIs, and most watches of resources.
  static constexpr std::size_t most_bytes = std::size_t{4} << 20, most_watches = 65'536;
  /// Least time between two updates of one resource that are delivered; further ones are delivered as one.
  static constexpr milliseconds least_gap{100};
  using handler = std::function<void(const json::raw_json&)>;

  /// A watch while it lives. `dropped` is called at its end.
  struct watcher {
    watcher(std::string w, handler h, std::function<void()> d)
        : what(std::move(w)), told(std::move(h)), dropped(std::move(d)) {}
    ~watcher() {
      if (dropped) dropped();
    }
    watcher(const watcher&) = delete;
    watcher& operator=(const watcher&) = delete;
    std::string what;  // level; "": a resource
    handler told;
    std::function<void(const rpc::call_outcome&)> decided;  // waits for the server's answer; or null
    std::function<void()> dropped;
  };
  using watcher_ptr = std::shared_ptr<watcher>;
  /// Watchers to notify. A notified one may end the watches of others, so no watcher is kept alive here.
  using audience = std::vector<std::weak_ptr<watcher>>;

  /// Tells those whose watches have not ended by their turn.
  static void tell(const audience& to, const json::raw_json& params);

  /// Returns null at the bound. `dropped` is called when the last watch of the resource has ended.
  watcher_ptr add_resource(std::string_view uri, handler updated, std::function<void()> dropped);
  watcher_ptr add_log(std::string_view level, handler logged, std::function<void()> dropped);

  /// Keeps the server's answer to the subscription, unless there is one already. Returns the watchers that may wait for
  /// it.
  audience decide(std::string_view uri, const rpc::call_outcome& answer);
  /// Gives this answer to every resource that has none. Returns the watchers that may wait for it.
  audience decide_all(const rpc::call_outcome& answer);
  /// Returns the server's answer, or null: it has not answered.
  const rpc::call_outcome* decision(std::string_view uri) const;
  /// Returns the watchers of exactly this resource.
  audience watchers(std::string_view uri) const;
  /// Returns true if one watch alone has this resource, so that the server may not know of it yet.
  bool watched_once(std::string_view uri) const;
  /// Forgets ended watches. Returns the resources that are watched.
  std::set<std::string, std::less<>> resources();
  /// Returns the lowest level that anybody wants, or "".
  std::string lowest_level();

  /// Returns those to tell of an update now. An update may be about a part of the watched resource (2025-11-25,
  /// resources/updated).
  audience updated(const json::raw_json& params, time_point now);
  /// An update that had to wait, and those to tell of it.
  struct late_update {
    json::raw_json params;
    audience to;
  };
  std::vector<late_update> due(time_point now);
  /// Returns the time for the next due(), or `never`.
  time_point next_time() const noexcept { return next_; }
  /// Returns those to tell of a log.
  audience logged(const json::raw_json& params) const;

 private:
  struct waiting_update {
    std::string uri;
    json::raw_json params;
  };
  struct resource {
    audience watchers;
    std::size_t tidy = 0;  // number of watchers when ended ones were last looked for
    std::shared_ptr<std::size_t> living = std::make_shared<std::size_t>(0);
    std::optional<rpc::call_outcome> answer;  // of the server
    time_point quiet_until{};
    std::shared_ptr<const waiting_update> waits;  // to deliver then; null: none
  };

  void forget_ended();

  std::map<std::string, resource, std::less<>> resources_;
  std::size_t bytes_ = 0;  // of their URIs
  std::shared_ptr<std::size_t> watching_ = std::make_shared<std::size_t>(0);
  audience logs_;
  time_point next_ = never;
};

}  // namespace mcpbx::mcp::supervise
