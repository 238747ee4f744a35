// Compares the result of a walk with the list known before.
#include "mcp/client/session/kept_list.hpp"

#include "mcp/support/keyed_hash.hpp"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

namespace mcpbx::mcp::session {
namespace {

constexpr milliseconds longest_ttl{86'400'000};

bool same_definitions(const protocol::feature_list& a, const std::vector<protocol::feature_item>& b) {
  return a && std::ranges::equal(*a, b, [](const protocol::feature_item& x, const protocol::feature_item& y) {
           return x.definition.text() == y.definition.text();
         });
}

/// Keeps the pages of many walks from staying in memory for a few items each: unchanged items go on sharing the page
/// that they came in first, changed ones get bytes of their own.
void share_unchanged(const std::vector<protocol::feature_item>& before, std::vector<protocol::feature_item>& now) {
  text_view_map<const protocol::feature_item*> known;
  known.reserve(before.size());
  for (const protocol::feature_item& item : before) known.emplace(item.key, &item);
  for (protocol::feature_item& item : now) {
    const auto found = known.find(item.key);
    const bool same = found != known.end() && found->second->definition.text() == item.definition.text();
    item.definition = same ? found->second->definition : item.definition.detached();
  }
}

}  // namespace

void kept_list::declare(const json::raw_json& capabilities, bool modern) {
  const json::raw_json capability = json::find_member(capabilities, kind_->capability);
  offered_ = capability.is_object();
  modern_ = modern;
  tells_ = modern && json::find_member(capability, "listChanged").is_true();
}

void kept_list::clear() {
  list_ = std::make_shared<const std::vector<protocol::feature_item>>();
}

void kept_list::begin() {
  gate_.begin();
  walk_begins();
}

void kept_list::walk_begins() {
  lister_.emplace(*kind_, listing_);
  told_walk_ = std::exchange(told_, false) || told_walk_;
}

bool kept_list::begin_again(time_point now) {
  if (!offered_ || !gate_.start(now)) return false;
  walk_begins();
  return true;
}

void kept_list::wanted(time_point now) {
  if (tells_ || stale_at_ > now) return;
  stale_at_ = never;
  gate_.stale(now);
}

kept_list::news kept_list::end_walk(time_point now) {
  news out;
  walk_ends();
  auto notices = lister_->notices();
  if (notices != notices_ || !known()) out.dropped = notices;
  notices_ = std::move(notices);
  auto items = lister_->take_items();
  const milliseconds ttl = std::min(lister_->ttl(), longest_ttl);
  stale_at_ = now + ttl;
  if (modern_) hints_ = {ttl, lister_->is_private(), stale_at_};
  lister_.reset();
  out.mended = !std::exchange(problem_, {}).empty();
  out.differs = !same_definitions(list_, items);
  gate_.finished(now, out.differs);
  if (out.differs && list_) share_unchanged(*list_, items);
  if (out.differs) list_ = std::make_shared<const std::vector<protocol::feature_item>>(std::move(items));
  return out;
}

catalogs::told_hints kept_list::hints() const {
  catalogs::told_hints h = hints_;
  if (tells_) h.fresh_until = never;
  return h;
}

bool kept_list::fail_walk(time_point now, const std::string& problem) {
  walk_ends();
  lister_.reset();
  gate_.failed(now);
  return std::exchange(problem_, problem) != problem;
}

}  // namespace mcpbx::mcp::session
