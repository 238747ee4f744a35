// Storage of responses, in the order in which they came.
#include "daemon/front/base/kept_responses.hpp"

#include <algorithm>
#include <iterator>

namespace mcpbx::daemon::front {

std::size_t kept_responses::size_of(const entry& e) {
  std::size_t size = 256 + e.id.size() + e.session.size() + e.principal.size();
  for (const auto& [id, json] : e.items) size += 128 + id.size() + json.text().size();
  return size;
}

void kept_responses::drop_oldest() {
  bytes_ -= size_of(entries_.front());
  by_id_.erase(entries_.front().id);
  entries_.pop_front();
}

void kept_responses::keep(entry e) {
  const auto size = size_of(e);
  if (size > most_bytes || by_id_.contains(e.id)) return;
  while (!entries_.empty() && (entries_.size() >= most || bytes_ + size > most_bytes)) drop_oldest();
  bytes_ += size;
  auto id = e.id;
  entries_.push_back(std::move(e));
  by_id_.emplace(std::move(id), std::prev(entries_.end()));
}

const kept_responses::entry* kept_responses::find(std::string_view id, std::string_view principal) const {
  const auto found = by_id_.find(std::string(id));
  return found != by_id_.end() && found->second->principal == principal ? &*found->second : nullptr;
}

json::raw_json kept_responses::item(std::string_view item_id, std::string_view principal) const {
  const auto begin = item_id.find('_'), end = item_id.rfind('_');
  if (begin == std::string_view::npos || end <= begin) return {};
  const auto* kept = find("resp_" + std::string(item_id.substr(begin + 1, end - begin - 1)), principal);
  if (kept == nullptr) return {};
  const auto found =
      std::ranges::find(kept->items, item_id, [](const auto& one) { return std::string_view(one.first); });
  return found != kept->items.end() ? found->second : json::raw_json();
}

}  // namespace mcpbx::daemon::front
