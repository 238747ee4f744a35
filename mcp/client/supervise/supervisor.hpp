// The supervisor of all tool servers: starts them at once, restarts by rule, keeps the catalog, stops in order
// (docs/guarantees.md, G2, G5, G7, G8, G15, G20). Shells only; the decisions are in supervisor_core and session_core.
#pragma once
#include "mcp/client/catalog/catalog.hpp"
#include "mcp/client/catalog/catalog_builder.hpp"
#include "mcp/client/catalog/definition_gate.hpp"
#include "mcp/client/client.hpp"
#include "mcp/client/connect/connector.hpp"
#include "mcp/support/time.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::mcp::supervise {

/// The callers that a process of a server works for.
enum class server_sharing : std::uint8_t { shared, per_caller, per_run };

/// Options of one server; daemon/app makes them from the configuration.
struct server_options {
  std::string name;
  /// Text that tells servers apart (program, arguments, environment, …); compared, never parsed. Another identity is
  /// another server: the running one is ended before this one starts.
  std::string identity;
  std::string command;  ///< program and arguments for people, without secrets; "": it has none
  bool disabled = false, lazy = false;
  std::string unusable;                ///< reason why it can never be started; it is listed as failed
  connect::connector_factory connect;  ///< makes its connector, once; may be empty for a server that is never started
  catalogs::item_filter tools;
  bool plain_names = false;
  std::string protocol = "auto";  ///< "auto" or one revision to insist on
  milliseconds start_timeout{30'000};
  rpc::call_limits limits;
  milliseconds idle_stop{0};  ///< 0: never
  int max_concurrency = 0;    ///< 0: unlimited
  /// Unless `shared`, each caller or run that calls the server gets a process of its own
  /// (mcp/client/supervise/README.md).
  server_sharing sharing = server_sharing::shared;
  std::size_t max_instances = 16;  ///< most of those at the same time
  /// Returns the factory of an instance's connector that runs in this directory, instead of `connect`; unset: all run
  /// as `connect` says.
  std::function<connect::connector_factory(const std::string& cwd)> connect_in = {};
  /// Returns the factory of an instance's connector for callers of this principal (call_scope::principal()), instead of
  /// `connect`; unset: all connect as `connect` says.
  std::function<connect::connector_factory(const std::string& principal)> connect_for = {};
  /// Returns true if an instance for this principal is the server's for all callers, so that its lists are the
  /// server's; false: it has an account of its own there. Unset: all are.
  std::function<bool(const std::string& principal)> same_lists = {};
  catalogs::call_rules calls;  ///< rules of single tools; limits and serial are taken from the members above
  std::shared_ptr<const std::string> origin = {};  ///< see catalog_server
  /// Result of roots/list that answers the server while no call is open that could; absent: no roots.
  json::raw_json roots = {};
  /// Longest time for the answer to a question of the server.
  milliseconds question_timeout{600'000};
  catalogs::item_filter prompts = {}, resources = {};  ///< see catalog_server
  protocol::extension_rules extensions = {};           ///< methods of extensions that pass to the server and from it
};

class supervisor {
 public:
  struct options {
    std::string version;                    ///< version of mcpbx, for clientInfo
    milliseconds stop_grace{3'000};         ///< time in which running calls may end
    std::size_t max_queue_requests = 1024;  ///< per server, not yet written
    std::size_t max_queue_bytes = 16u << 20;
    /// The kinds of lists that are kept; must outlive the supervisor and all its snapshots.
    protocol::feature_table kinds = protocol::feature_kinds();
    /// Decides which definitions are offered; null: all are. Must outlive the supervisor.
    catalogs::definition_gate* gate = nullptr;
  };
  supervisor(time_source& time, random_source& random, options o);
  /// Ends running servers at once and drops open calls and waiting callbacks unreported, so call stop() first. Must not
  /// run inside one of the supervisor's own handlers, which is asserted.
  ~supervisor();
  supervisor(const supervisor&) = delete;
  supervisor& operator=(const supervisor&) = delete;

  /// Sets the wanted servers, in file order: starts new ones, stops unwanted ones as stop() does, adjusts or restarts
  /// the rest (see README.md). May be called inside callbacks; does nothing after stop().
  void apply(std::vector<server_options> servers);
  /// Returns the present catalog; never null.
  catalogs::catalog_ptr snapshot() const;
  /// Returns the tools that a server lists, before any filter and with those that are withheld; null: unknown.
  protocol::feature_list listed_tools(std::string_view server) const;
  /// Wakes lazy servers, then calls `then` once no server is starting for the first time, or after `at_most`. Never
  /// calls it from inside.
  void when_settled(milliseconds at_most, std::function<void()> then);
  /// Returns true unless when_settled() would have to wait for servers.
  bool settled() const;
  /// Returns true once each server that starts by itself has had its first try, successful or not. It stays true:
  /// servers that a later apply() brings do not count.
  bool tried() const;
  std::vector<clients::server_status> status() const;
  /// Restarts a server, also in a crash loop, and resets its back-off. Fails with errc::not_found and the nearest name
  /// for an unknown server, with errc::invalid_argument for a disabled one.
  result<void> restart(std::string_view name);
  /// Restarts, of a server that is not shared, the process that keeps the lists if `of` is true for "", and the
  /// instances for whose principal it is. `ready_too`: also those that are ready; else they keep what they have.
  void renew(std::string_view name, const std::function<bool(const std::string& principal)>& of, bool ready_too);
  /// Starts servers again whose process is gone because the keeper was replaced.
  void keeper_replaced();

  using subscription = std::shared_ptr<void>;  ///< dropping it unsubscribes
  /// Calls `changed` for each kind whose entries in the catalog changed, at most once per turn.
  [[nodiscard]] subscription on_catalog_change(std::function<void(const protocol::feature_kind&)> changed);

  /// Stops in the order of G20: refuses new calls, gives running ones stop_grace (or `grace`, for a caller that has
  /// waited already), asks servers to end, insists 1 s later, kills 3 s later. Calls `done` once all are gone.
  void stop(std::function<void()> done, std::optional<milliseconds> grace = {});
  /// Returns the number of open calls over all servers.
  std::size_t open_calls() const;

 private:
  class impl;
  std::shared_ptr<impl> impl_;
};

}  // namespace mcpbx::mcp::supervise
