// Searches the lists, then the templates and the URIs that were seen in results.
#include "mcp/client/catalog/resource_routes.hpp"

#include "mcp/protocol/resources.hpp"
#include "mcp/protocol/uri_template.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace mcpbx::mcp::catalogs {

/// The templates of all servers, parsed.
class resource_routes::template_index {
 public:
  struct one {
    protocol::uri_template parsed;
    const std::string* server;
  };
  explicit template_index(const feature_entries_ptr& entries) : keeps_(entries) {
    for (const feature_entry_ptr& e : keeps_->entries())
      if (auto parsed = protocol::uri_template::parse(e->own_key)) {
        if (all_.empty() || *all_.back().server != e->server) ++servers_;
        all_.push_back({std::move(*parsed), &e->server});
      }
  }
  /// Returns the work that the templates of one server may cost.
  std::size_t share() const noexcept { return template_budget / std::max<std::size_t>(servers_, 1); }
  std::span<const one> all() const noexcept { return all_; }

 private:
  feature_entries_ptr keeps_;
  std::vector<one> all_;  // in the order of the servers
  std::size_t servers_ = 0;
};

std::string uri_at(std::string_view prefix, std::string_view uri) {
  return std::string(own_scheme).append(prefix).append("/").append(uri);
}

resource_routes::resource_routes(std::vector<resource_server> servers, feature_entries_ptr resources,
                                 feature_entries_ptr templates, std::shared_ptr<seen_uris> seen)
    : servers_(std::move(servers)),
      resources_(std::move(resources)),
      templates_(std::move(templates)),
      seen_(std::move(seen)) {}

resource_routes::~resource_routes() = default;

void resource_routes::take_over(const resource_routes& before) const {
  if (before.templates_ == templates_) index_ = before.index_;
}

std::shared_ptr<const resource_routes> resource_routes::narrowed(uri_filter_ptr view) const {
  const auto seen_by = [&](const feature_entries_ptr& all) {
    std::vector<feature_entry_ptr> kept;
    for (const feature_entry_ptr& e : all->entries())
      if (const resource_server* s = server_of(e->server); s != nullptr) {
        const std::string full = uri_at(s->prefix, e->own_key);
        const bool denied = view->denies(e->key) || view->denies(e->own_key) || view->denies(full);
        if (!denied && (view->allows(e->key) || view->allows(full))) kept.push_back(e);
      }
    return std::make_shared<const feature_entries>(all->kind(), std::move(kept));
  };
  auto out = std::make_shared<resource_routes>(servers_, seen_by(resources_), seen_by(templates_), seen_);
  out->view_ = std::move(view);
  return out;
}

bool resource_routes::may_read(const resource_server& s, std::string_view own, std::string_view asked) const {
  if (s.filter && !s.filter->passes(own)) return false;
  if (!view_) return true;
  const std::string full = uri_at(s.prefix, own);
  if (view_->denies(own) || (asked != own && view_->denies(asked)) || view_->denies(full)) return false;
  return view_->allows(asked) || view_->allows(full);
}

bool resource_routes::allows(const resource_route& route, std::string_view asked) const {
  const resource_server* s = server_of(route.server);
  const auto owner = s == nullptr ? nullptr : s->owner.lock();
  return owner && owner == route.owner.lock() && may_read(*s, route.uri, asked);
}

const resource_server* resource_routes::server_of(std::string_view name) const {
  const auto found = std::ranges::find(servers_, name, &resource_server::name);
  return found == servers_.end() ? nullptr : &*found;
}

const resource_server* resource_routes::named_by(std::string_view uri) const {
  if (!uri.starts_with(own_scheme)) return nullptr;
  uri.remove_prefix(own_scheme.size());
  const auto found = std::ranges::find_if(servers_, [&](const resource_server& s) {
    return uri.size() > s.prefix.size() + 1 && uri.starts_with(s.prefix) && uri[s.prefix.size()] == '/';
  });
  return found == servers_.end() ? nullptr : &*found;
}

const resource_routes::template_index& resource_routes::index() const {
  if (!index_) index_ = std::make_shared<const template_index>(templates_);
  return *index_;
}

const resource_server* resource_routes::by_template(std::string_view own, std::string_view asked, bool open,
                                                    const resource_server* only) const {
  const resource_server* s = nullptr;
  bool readable = false;
  std::size_t budget = 0;
  for (const auto& [parsed, name] : index().all()) {
    if (s == nullptr || s->name != *name) {
      s = server_of(*name);
      readable = s != nullptr && (only == nullptr || only == s) && may_read(*s, own, asked);
      budget = index().share();
    }
    if (readable && parsed.is_open() == open && parsed.matches(own, budget)) return s;
  }
  return nullptr;
}

const resource_server* resource_routes::by_seen(std::string_view own, std::string_view asked,
                                                const resource_server* only) const {
  const std::string* first = seen_->first_to_say(own, [&](const std::string& name) {
    const resource_server* s = server_of(name);
    return s != nullptr && (only == nullptr || only == s) && may_read(*s, own, asked);
  });
  return first == nullptr ? nullptr : server_of(*first);
}

std::optional<resource_route> resource_routes::find(std::string_view uri) const {
  const auto listed = [&](const feature_entry& e) { return resource_route{e.server, e.own_key, e.owner}; };
  if (const auto e = resources_->find(uri)) return listed(*e);
  const resource_server* named = named_by(uri);
  const std::string_view inner = named == nullptr ? uri : uri.substr(own_scheme.size() + named->prefix.size() + 1);
  if (inner.empty() || inner.size() > protocol::longest_uri) return std::nullopt;
  const auto search = [&](std::string_view own, const resource_server* only) -> const resource_server* {
    if (const auto* s = by_template(own, uri, false, only)) return s;
    if (const auto* s = by_seen(own, uri, only)) return s;
    return by_template(own, uri, true, only);
  };
  if (named != nullptr) {
    if (const auto e = resources_->find(inner); e && e->server == named->name) return listed(*e);
  }
  const resource_server* s = search(inner, named);
  return s == nullptr ? std::nullopt : std::optional(resource_route{s->name, std::string(inner), s->owner});
}

}  // namespace mcpbx::mcp::catalogs
