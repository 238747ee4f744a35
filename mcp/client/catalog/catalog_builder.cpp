// Turns the lists of all servers into catalog snapshots.
#include "mcp/client/catalog/catalog_builder.hpp"

#include "mcp/client/catalog/tool_names.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::mcp::catalogs {
namespace {

constexpr std::size_t remembered_notices = 1024;

std::vector<std::string> prefixes_of(std::span<const catalog_server> servers) {
  std::vector<std::string> names;
  for (const catalog_server& s : servers) names.push_back(s.name);
  return settle_prefixes(names);
}

feature_entries_ptr no_entries(const protocol::feature_kind& kind) {
  return std::make_shared<const feature_entries>(kind, std::vector<feature_entry_ptr>());
}

bool is_same_owner(const std::weak_ptr<clients::client>& a, const std::weak_ptr<clients::client>& b) {
  return !a.owner_before(b) && !b.owner_before(a);
}

bool are_same_routes(const extension_routes_ptr& a, const extension_routes_ptr& b) {
  if (!a || !b) return a == b;
  return std::ranges::equal(*a, *b, [](const extension_route& x, const extension_route& y) {
    return x.server == y.server && is_same_owner(x.owner, y.owner) && x.methods == y.methods && x.open == y.open;
  });
}

}  // namespace

catalog_builder::catalog_builder(std::vector<server> servers, protocol::feature_table kinds)
    : kinds_(kinds),
      no_resources_(no_entries(protocol::resource_kind())),
      no_templates_(no_entries(protocol::template_kind())) {
  for (const protocol::feature_kind& kind : kinds_.subspan(1)) items_.emplace_back(kind);
  auto others = build_items();
  auto routes = build_routes(others);
  last_ = std::make_shared<const catalog>(
      std::vector<entry_ptr>{}, 0, withheld_tools{}, std::vector<dropped_item>{},
      catalog_rest{.others = std::move(others), .offers = {}, .routes = std::move(routes), .hints = hints_});
  set_servers(std::move(servers));
}

void catalog_builder::set_servers(std::vector<server> servers) {
  auto prefixes = prefixes_of(servers);
  const auto names = std::exchange(names_, {});
  const auto owners = std::exchange(owners_, {});
  auto dropped = std::exchange(dropped_, {});
  auto offers = std::exchange(offers_, {});
  const auto readable = std::exchange(readable_, {});
  std::vector<std::size_t> before;
  std::vector<listed_items::server> named;
  for (std::size_t i = 0; i < servers.size(); ++i) {
    const server& s = servers[i];
    std::size_t old = 0;
    while (old < names.size() && !(names[old] == s.name && is_same_owner(owners[old], s.owner))) ++old;
    const bool known = old < names.size();
    before.push_back(known ? old : no_server);
    dropped_.push_back(known ? std::move(dropped[old]) : std::vector<std::vector<std::string>>(kinds_.size()));
    offers_.push_back(known ? std::move(offers[old]) : told_offers());
    offers_.back().extensions = s.extensions;
    offers_.back().open = protocol::open_extensions(s.extensions, offers_.back().offers);
    names_.push_back(s.name);
    owners_.push_back(s.owner);
    const auto uris = std::make_shared<const uri_filter>(s.resources);
    readable_.push_back({s.name, prefixes[i], s.owner, uris});
    named.push_back({s.name, prefixes[i], s.owner, s.prompts, uris, s.plain_names});
  }
  const auto is_same_server = [](const resource_server& a, const resource_server& b) {
    return a.name == b.name && a.prefix == b.prefix && is_same_owner(a.owner, b.owner) && *a.filter == *b.filter;
  };
  if (!std::ranges::equal(readable, readable_, is_same_server)) routes_ = nullptr;
  seen_->keep_only(names_);
  hints_->keep_only(names_);
  for (listed_items& items : items_) items.set_servers(named, before);
  tools_.set_servers(std::move(servers), std::move(prefixes), before);
}

protocol::feature_list catalog_builder::tools_of(std::string_view server) const {
  const auto found = std::ranges::find(names_, server);
  return found == names_.end() ? nullptr : tools_.list_of(static_cast<std::size_t>(found - names_.begin()));
}

void catalog_builder::set_offers(std::size_t index, const protocol::server_offers& offers) {
  told_offers& told = offers_.at(index);
  told.offers = offers;
  told.open = protocol::open_extensions(told.extensions, offers);
}

void catalog_builder::set_silent(std::size_t index, bool silent) {
  offers_.at(index).silent = silent;
}

void catalog_builder::set_hints(std::size_t index, const protocol::feature_kind& kind,
                                const std::optional<told_hints>& hints) {
  if (hints)
    hints_->set(names_.at(index), kind, *hints);
  else
    hints_->erase(names_.at(index), kind);
}

void catalog_builder::set_list(std::size_t index, const protocol::feature_kind& kind, protocol::feature_list list,
                               withheld_ptr withheld, tool_names_ptr prefixed) {
  if (kind.id == protocol::kind_id::tools)
    tools_.set(index, std::move(list), std::move(withheld), std::move(prefixed));
  else
    items_.at(kind.index() - 1).set(index, std::move(list), std::move(withheld));
}

void catalog_builder::set_dropped(std::size_t index, const protocol::feature_kind& kind, std::vector<std::string> why) {
  dropped_.at(index).at(kind.index()) = std::move(why);
}

void catalog_builder::notice(const std::string& server, const std::vector<std::string>& sentences) {
  for (const std::string& s : sentences) {
    std::string text = "tool server \"" + server + "\": " + s;
    if (noticed_.size() < remembered_notices && noticed_.insert(text).second) notices_.push_back(std::move(text));
  }
}

std::vector<feature_entries_ptr> catalog_builder::build_items() {
  std::vector<feature_entries_ptr> all;
  for (listed_items& items : items_) all.push_back(items.build());
  return all;
}

const resource_routes_ptr& catalog_builder::build_routes(const std::vector<feature_entries_ptr>& others) {
  const auto of = [&](const protocol::feature_kind& kind, const feature_entries_ptr& none) {
    return kind.index() <= others.size() ? others[kind.index() - 1] : none;
  };
  auto resources = of(protocol::resource_kind(), no_resources_),
       templates = of(protocol::template_kind(), no_templates_);
  if (routes_ && routes_->resources() == resources && routes_->templates() == templates) return routes_;
  auto routes = std::make_shared<const resource_routes>(readable_, std::move(resources), std::move(templates), seen_);
  if (routes_) routes->take_over(*routes_);
  return routes_ = std::move(routes);
}

const extension_routes_ptr& catalog_builder::build_extensions() {
  std::vector<extension_route> all;
  for (std::size_t i = 0; i < names_.size(); ++i)
    if (const told_offers& told = offers_[i]; !told.extensions.named.empty() || !told.open.empty())
      all.push_back({names_[i], owners_[i], told.extensions.named, told.open});
  auto routes = all.empty() ? nullptr : std::make_shared<const std::vector<extension_route>>(std::move(all));
  if (!are_same_routes(routes, extensions_)) extensions_ = std::move(routes);
  return extensions_;
}

std::vector<dropped_item> catalog_builder::all_dropped() const {
  std::vector<dropped_item> all;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const auto drop = [&](const std::vector<std::string>& clauses) {
      for (const std::string& why : clauses) all.push_back({names_[i], "tool server \"" + names_[i] + "\": " + why});
    };
    drop(dropped_[i][0]);
    drop(tools_.left_out(i));
    for (std::size_t k = 1; k < kinds_.size(); ++k) {
      drop(dropped_[i][k]);
      drop(items_[k - 1].left_out(i));
    }
  }
  return all;
}

catalog_ptr catalog_builder::build() {
  tools_.build();
  for (std::size_t i = 0; i < names_.size(); ++i) notice(names_[i], tools_.take_notices(i));
  auto entries = tools_.entries();
  auto withheld = tools_.withheld();
  auto others = build_items();
  auto routes = build_routes(others);
  auto offers = joined_offers(offers_);
  const auto& extensions = build_extensions();
  auto dropped = all_dropped();
  const catalog_rest& rest = last_->rest();
  if (!std::ranges::equal(entries, last_->entries()) || withheld != last_->withheld() || others != rest.others ||
      routes != rest.routes || offers != rest.offers || extensions != rest.extensions || dropped != last_->dropped())
    last_ = std::make_shared<const catalog>(std::move(entries), last_->revision() + 1, std::move(withheld),
                                            std::move(dropped),
                                            catalog_rest{.others = std::move(others),
                                                         .offers = std::move(offers),
                                                         .routes = std::move(routes),
                                                         .hints = hints_,
                                                         .extensions = extensions});
  return last_;
}

std::vector<std::string> catalog_builder::take_notices() {
  return std::exchange(notices_, {});
}

}  // namespace mcpbx::mcp::catalogs
