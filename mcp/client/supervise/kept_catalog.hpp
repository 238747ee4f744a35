// The catalog that is kept of all tool servers: takes their lists, asks the gate which definitions are offered, and
// tells what has changed.
#pragma once
#include "mcp/client/catalog/catalog.hpp"
#include "mcp/client/catalog/catalog_builder.hpp"
#include "mcp/client/catalog/definition_gate.hpp"
#include "mcp/client/client.hpp"
#include "mcp/client/supervise/managed_client.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::mcp::supervise {

/// Servers are known by the client that keeps their lists. Reports of others, which are leaving, do nothing.
class kept_catalog : public std::enable_shared_from_this<kept_catalog> {
 public:
  /// Calls `decided` after each decision of the gate. `gate`, if there is one, and all of `kinds` must outlive this
  /// object and its snapshots.
  kept_catalog(std::shared_ptr<clients::deferred> soon, protocol::feature_table kinds, catalogs::definition_gate* gate,
               std::function<void()> decided);

  /// A server with the client that reports its lists.
  struct served {
    std::shared_ptr<const managed_client> client;
    catalogs::catalog_builder::server entry;
  };
  /// Sets the servers, in file order. One whose client was there before keeps its lists and what was decided of them.
  void set_servers(std::vector<served> servers);

  // Reports of servers.
  void take_list(const managed_client& s, const protocol::feature_kind& kind, protocol::feature_list list);
  void take_dropped(const managed_client& s, const protocol::feature_kind& kind, std::vector<std::string> why);
  void take_offers(const managed_client& s);
  void take_hints(const managed_client& s, const protocol::feature_kind& kind,
                  const std::optional<catalogs::told_hints>& hints);
  /// Takes a server's word that this list has changed.
  void take_change(const managed_client& s, const protocol::feature_kind& kind);
  /// Notes whether the server's capabilities will never be known, so that nobody waits for its lists.
  void set_silent(const managed_client& s, bool silent);

  /// Returns the present catalog; never null.
  catalogs::catalog_ptr snapshot();
  /// Returns the tools that a server lists, before any filter; null: unknown.
  protocol::feature_list listed_tools(std::string_view server) const { return builder_.tools_of(server); }
  /// Returns true if a list waits for the gate's decision.
  bool waits() const;
  /// Adds to a server's status what the gate has said of its lists.
  void add_to(const managed_client& s, clients::server_status& told) const;

  /// Calls `changed` for each kind whose entries in the catalog changed, at most once per turn.
  std::shared_ptr<void> on_change(std::function<void(const protocol::feature_kind&)> changed);

 private:
  // The gate's decision about a server's list of one kind.
  struct judgement {
    std::uint64_t generation = 0;  // number of the list: decisions about an older one do not count
    bool waits = false;            // no decision yet
    bool told = false;             // the server said that this list has changed
    std::uint64_t decisions = 0;   // made so far, about any list of the kind
    std::string notice;
    std::size_t withheld = 0;

    bool undecided() const noexcept { return waits && decisions == 0; }
  };
  struct known_server {
    std::shared_ptr<const managed_client> client;
    std::vector<judgement> judged;  // by kind
    bool silent = false;
  };

  known_server* find(const managed_client* client);
  const known_server* find(const managed_client* client) const;
  std::size_t number_of(const known_server& s) const { return static_cast<std::size_t>(&s - servers_.data()); }
  void decide(known_server& s, const protocol::feature_kind& kind, protocol::feature_list list,
              catalogs::definition_decision d);
  void set_list(const known_server& s, const protocol::feature_kind& kind, protocol::feature_list list,
                catalogs::definition_decision d);
  void change_soon();
  void tell_change();

  std::shared_ptr<clients::deferred> soon_;
  protocol::feature_table kinds_;
  catalogs::definition_gate* gate_;
  std::function<void()> decided_;
  std::vector<known_server> servers_;  // in file order, as the builder has them
  catalogs::catalog_builder builder_{{}, kinds_};
  catalogs::catalog_ptr catalog_ = builder_.build();
  std::vector<bool> changed_ = std::vector<bool>(kinds_.size());  // by kind
  bool stale_ = false, change_posted_ = false;
  std::vector<std::weak_ptr<std::function<void(const protocol::feature_kind&)>>> subscribers_;
};

}  // namespace mcpbx::mcp::supervise
