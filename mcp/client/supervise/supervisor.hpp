// The supervisor of many tool servers: starts all at once, restarts by rule, keeps the catalog, stops in order
// (docs/guarantees.md, G2, G5, G7, G8, G15, G20). Shells only; the decisions are in supervisor_core and session_core.
#pragma once
#include "mcp/client/catalog/catalog.hpp"
#include "mcp/client/catalog/catalog_builder.hpp"
#include "mcp/client/catalog/definition_gate.hpp"
#include "mcp/client/client.hpp"
#include "mcp/client/connect/connector.hpp"
#include "mcp/support/time.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mcpbx::mcp {

/// How one server is run; daemon/app makes it from the configuration.
struct server_options {
  std::string name;
  /// Everything that decides which server it is (program, arguments, environment, …), in words that are compared and
  /// never read. Another identity is another server: the one that runs is ended before this one starts.
  std::string identity;
  bool disabled = false, lazy = false;
  std::string unusable;       ///< why it cannot be started at all; it is listed as failed and never tried
  connector_factory connect;  ///< makes the way to it, once; may be empty for one that is never started
  tool_filter tools;
  bool plain_names = false;
  std::string protocol = "auto";  ///< or one revision to insist on
  milliseconds start_timeout{30'000};
  call_limits limits;
  milliseconds idle_stop{0};  ///< 0: never
  int max_concurrency = 0;    ///< 0: unlimited
  call_rules calls;           ///< of single tools; limits and serial are taken from the members above
  std::shared_ptr<const std::string> origin = {};  ///< see catalog_builder::server
};

class supervisor {
 public:
  struct options {
    std::string version;                    ///< of mcpbx, for clientInfo
    milliseconds stop_grace{3'000};         ///< running calls may end
    std::size_t max_queue_requests = 1024;  ///< per server, not yet written
    std::size_t max_queue_bytes = 16u << 20;
    /// The kinds of lists that are kept; must outlive the supervisor and all its snapshots.
    feature_table kinds = feature_kinds();
    /// Decides which definitions are offered; null: all are. Must outlive the supervisor.
    definition_gate* gate = nullptr;
  };
  supervisor(time_source& time, random_source& random, options o);
  /// Ends what still runs at once; open calls and waiting callbacks are dropped untold, so stop() first. Not to be
  /// destroyed from inside one of its own handlers, which is asserted.
  ~supervisor();
  supervisor(const supervisor&) = delete;
  supervisor& operator=(const supervisor&) = delete;

  /// Sets the wanted servers, in file order. Starts new ones, the eager ones all at once. Stops those that are not
  /// wanted any more as stop() does. Keeps those with the same name, identity, `disabled`, `lazy`, `unusable`,
  /// `protocol`, `start_timeout` and `idle_stop`; their other settings hold from now on. One that differs in these is
  /// stopped, and starts again when its process has gone. May be called inside of callbacks; does nothing after stop().
  void apply(std::vector<server_options> servers);
  /// The present catalog; never null.
  catalog_ptr snapshot() const;
  /// Wakes lazy servers, then calls `then` once no server is starting for the first time, or after `at_most`.
  /// Never from inside this call.
  void when_settled(milliseconds at_most, std::function<void()> then);
  std::vector<server_status> status() const;
  /// errc::not_found with the nearest name for an unknown server, errc::invalid_argument for a disabled one. Works in a
  /// crash loop and resets its back-off.
  result<void> restart(std::string_view name);
  /// The keeper was replaced: servers whose process is gone start again.
  void keeper_replaced();

  using subscription = std::shared_ptr<void>;  ///< dropping it unsubscribes
  /// `changed` is called for each kind whose entries in the catalog changed, at most once per turn.
  [[nodiscard]] subscription on_catalog_change(std::function<void(const feature_kind&)> changed);

  /// Stops in the order of G20: new calls are refused, running ones have stop_grace to end, then servers are asked to
  /// end, 1 s later told to, 3 s later made to. `done` is called once all are gone. `grace` takes the place of
  /// stop_grace, for whoever has waited already.
  void stop(std::function<void()> done, std::optional<milliseconds> grace = {});
  /// Calls that are open now, over all servers.
  std::size_t open_calls() const;

 private:
  class impl;
  std::shared_ptr<impl> impl_;
};

}  // namespace mcpbx::mcp
