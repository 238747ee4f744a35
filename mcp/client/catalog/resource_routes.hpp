// The way of a URI to the server that has the resource (docs/passing-on.md, "Resources of several servers").
#pragma once
#include "mcp/client/catalog/feature_entries.hpp"
#include "mcp/client/catalog/item_filter.hpp"
#include "mcp/client/catalog/seen_uris.hpp"
#include "mcp/client/client.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::mcp::catalogs {

/// The server that a resource is read from.
struct resource_route {
  std::string server;  ///< configured name
  std::string uri;     ///< as the server knows it, which is sent to it
  std::weak_ptr<clients::client> owner;
};

/// The beginning of mcpbx's own URIs: `mcpbx://SERVER/URI` is the URI of that server, even if other servers have the
/// same.
inline constexpr std::string_view own_scheme = "mcpbx://";
/// Returns that URI; `prefix` is the server's prefix (tool_names.hpp).
std::string uri_at(std::string_view prefix, std::string_view uri);

/// A server that resources can be read from.
struct resource_server {
  std::string name;    ///< configured name
  std::string prefix;  ///< its part of exposed names (tool_names.hpp)
  std::weak_ptr<clients::client> owner;
  uri_filter_ptr filter;  ///< its URIs that may be read; null: all
};

/// Immutable, apart from the table of seen URIs, which all snapshots share.
class resource_routes {
 public:
  /// Work for the templates of all servers in one search, see uri_template::matches(). Each server has an equal share
  /// of it, beyond which its templates match nothing.
  static constexpr std::size_t template_budget = 250'000;

  resource_routes(std::vector<resource_server> servers, feature_entries_ptr resources, feature_entries_ptr templates,
                  std::shared_ptr<seen_uris> seen);
  ~resource_routes();
  resource_routes(const resource_routes&) = delete;
  resource_routes& operator=(const resource_routes&) = delete;

  /// Returns the routes for callers of a profile: those to URIs that `view` lets through under each of their names, and
  /// only such resources and templates.
  std::shared_ptr<const resource_routes> narrowed(uri_filter_ptr view) const;
  /// Takes over what `before` has made for its searches, if its templates are the same.
  void take_over(const resource_routes& before) const;

  /// Finds the server of a URI: the one that lists it, else the one that the URI names (own_scheme), else the first one
  /// with a matching template, else the first one that said it in a result, else the first one whose template matches
  /// any scheme. Skips servers whose filter denies the URI.
  std::optional<resource_route> find(std::string_view uri) const;
  /// Tells whether a caller that asked for this URI may still read it where the route led.
  bool allows(const resource_route& route, std::string_view asked) const;
  const feature_entries_ptr& resources() const noexcept { return resources_; }
  const feature_entries_ptr& templates() const noexcept { return templates_; }
  seen_uris& seen() const noexcept { return *seen_; }

 private:
  class template_index;
  /// Tells whether a caller may read the server's own URI, asked for as `asked`.
  bool may_read(const resource_server& s, std::string_view own, std::string_view asked) const;
  const resource_server* server_of(std::string_view name) const;
  const resource_server* named_by(std::string_view uri) const;
  const resource_server* by_template(std::string_view own, std::string_view asked, bool open,
                                     const resource_server* only) const;
  const resource_server* by_seen(std::string_view own, std::string_view asked, const resource_server* only) const;
  const template_index& index() const;

  std::vector<resource_server> servers_;  // in file order
  feature_entries_ptr resources_, templates_;
  std::shared_ptr<seen_uris> seen_;
  uri_filter_ptr view_;                                  // of a profile; null: none
  mutable std::shared_ptr<const template_index> index_;  // made for the first search
};
using resource_routes_ptr = std::shared_ptr<const resource_routes>;

}  // namespace mcpbx::mcp::catalogs
