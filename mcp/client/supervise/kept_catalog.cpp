// Keeps the catalog. A list of a server reaches it once the gate has decided about its definitions.
#include "mcp/client/supervise/kept_catalog.hpp"

#include "mcp/support/log.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::mcp::supervise {

kept_catalog::kept_catalog(std::shared_ptr<clients::deferred> soon, protocol::feature_table kinds,
                           catalogs::definition_gate* gate, std::function<void()> decided)
    : soon_(std::move(soon)), kinds_(std::move(kinds)), gate_(gate), decided_(std::move(decided)) {}

void kept_catalog::set_servers(std::vector<served> servers) {
  std::vector<known_server> now;
  std::vector<catalogs::catalog_builder::server> entries;
  for (served& s : servers) {
    known_server* before = find(s.client.get());
    if (before != nullptr)
      now.push_back(std::move(*before));
    else
      now.push_back({std::move(s.client), std::vector<judgement>(kinds_.size())});
    entries.push_back(std::move(s.entry));
  }
  servers_ = std::move(now);
  builder_.set_servers(std::move(entries));
  change_soon();
}

void kept_catalog::take_list(const managed_client& s, const protocol::feature_kind& kind, protocol::feature_list list) {
  known_server* known = find(&s);
  if (known == nullptr) return;
  if (!gate_) return set_list(*known, kind, std::move(list), {});
  judgement& j = known->judged[kind.index()];
  j.waits = true;
  const auto generation = ++j.generation;
  gate_->judge(s.name(), kind, list,
               [weak = weak_from_this(), client = std::weak_ptr<const managed_client>(known->client), &kind, generation,
                list](catalogs::definition_decision d) {
                 const auto self = weak.lock();
                 known_server* judged = self ? self->find(client.lock().get()) : nullptr;
                 if (judged != nullptr && judged->judged[kind.index()].generation == generation)
                   self->decide(*judged, kind, list, std::move(d));
               });
}

void kept_catalog::take_dropped(const managed_client& s, const protocol::feature_kind& kind,
                                std::vector<std::string> why) {
  const known_server* known = find(&s);
  if (known == nullptr) return;
  builder_.set_dropped(number_of(*known), kind, std::move(why));
  change_soon();
}

void kept_catalog::take_offers(const managed_client& s) {
  const known_server* known = find(&s);
  if (known == nullptr) return;
  builder_.set_offers(number_of(*known), s.offers());
  change_soon();
}

void kept_catalog::take_hints(const managed_client& s, const protocol::feature_kind& kind,
                              const std::optional<catalogs::told_hints>& hints) {
  if (const known_server* known = find(&s); known != nullptr) builder_.set_hints(number_of(*known), kind, hints);
}

void kept_catalog::take_change(const managed_client& s, const protocol::feature_kind& kind) {
  known_server* known = find(&s);
  if (known == nullptr) return;
  judgement& j = known->judged[kind.index()];
  // A list that waits for the gate is not in the catalog yet.
  if (j.waits) {
    j.told = true;
    return;
  }
  changed_[kind.index()] = true;
  change_soon();
}

void kept_catalog::set_silent(const managed_client& s, bool silent) {
  known_server* known = find(&s);
  if (known != nullptr && std::exchange(known->silent, silent) != silent) change_soon();
}

catalogs::catalog_ptr kept_catalog::snapshot() {
  if (std::exchange(stale_, false)) {
    for (const known_server& s : servers_) builder_.set_silent(number_of(s), s.silent);
    auto next = builder_.build();
    for (const std::string& n : builder_.take_notices()) log::warn(n);
    // Dropped items are in no list that callers read, so they change nothing for callers.
    for (const protocol::feature_kind& kind : kinds_)
      if (next->differs(kind, *catalog_)) changed_[kind.index()] = true;
    catalog_ = std::move(next);
  }
  return catalog_;
}

bool kept_catalog::waits() const {
  return std::ranges::any_of(servers_,
                             [](const known_server& s) { return std::ranges::any_of(s.judged, &judgement::waits); });
}

void kept_catalog::add_to(const managed_client& s, clients::server_status& told) const {
  const known_server* known = find(&s);
  if (known == nullptr) return;
  // A server counts as ready once it can be called: its tools are in the catalog.
  if (std::ranges::any_of(known->judged, &judgement::undecided) && told.state == clients::server_state::ready)
    told.state = clients::server_state::starting;
  for (const judgement& j : known->judged) {
    if (told.pin_notice.empty()) told.pin_notice = j.notice;
    told.withheld += j.withheld;
  }
}

std::shared_ptr<void> kept_catalog::on_change(std::function<void(const protocol::feature_kind&)> changed) {
  auto s = std::make_shared<std::function<void(const protocol::feature_kind&)>>(std::move(changed));
  std::erase_if(subscribers_, [](const auto& w) { return w.expired(); });
  subscribers_.push_back(s);
  return s;
}

kept_catalog::known_server* kept_catalog::find(const managed_client* client) {
  return const_cast<known_server*>(std::as_const(*this).find(client));
}
const kept_catalog::known_server* kept_catalog::find(const managed_client* client) const {
  const auto found = std::ranges::find(servers_, client, [](const known_server& s) { return s.client.get(); });
  return client == nullptr || found == servers_.end() ? nullptr : &*found;
}

void kept_catalog::decide(known_server& s, const protocol::feature_kind& kind, protocol::feature_list list,
                          catalogs::definition_decision d) {
  judgement& j = s.judged[kind.index()];
  j.waits = false;
  ++j.decisions;
  j.notice = std::move(d.notice);
  j.withheld = d.withheld ? d.withheld->size() : 0;
  set_list(s, kind, std::move(list), std::move(d));
  if (std::exchange(j.told, false)) changed_[kind.index()] = true;
  decided_();
}

void kept_catalog::set_list(const known_server& s, const protocol::feature_kind& kind, protocol::feature_list list,
                            catalogs::definition_decision d) {
  builder_.set_list(number_of(s), kind, std::move(list), std::move(d.withheld), std::move(d.prefixed));
  change_soon();
}

void kept_catalog::change_soon() {
  stale_ = true;
  if (std::exchange(change_posted_, true)) return;
  soon_->post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->tell_change();
  });
}

void kept_catalog::tell_change() {
  change_posted_ = false;
  snapshot();
  const auto changed_kinds = std::exchange(changed_, std::vector<bool>(kinds_.size()));
  for (const protocol::feature_kind& kind : kinds_)
    if (changed_kinds[kind.index()])
      // A handler may subscribe or unsubscribe others, so this walks over a copy.
      for (const auto& weak : std::vector(subscribers_))
        if (const auto changed = weak.lock()) (*changed)(kind);
}

}  // namespace mcpbx::mcp::supervise
