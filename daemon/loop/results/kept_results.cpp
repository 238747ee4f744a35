// A short list in order of time, which is searched from its end.
#include "daemon/loop/results/kept_results.hpp"

#include <algorithm>

namespace mcpbx::daemon::results {

void kept_results::keep(std::string_view call_id, const json::raw_json& result) {
  kept_.push_back({std::string(call_id), result});
  bytes_ += result.text().size();
  while (kept_.size() > max_kept || (bytes_ > max_bytes && kept_.size() > 1)) {
    bytes_ -= kept_.front().result.text().size();
    kept_.pop_front();
  }
}

const json::raw_json* kept_results::find(std::string_view call_id) const {
  const auto found = std::find_if(kept_.rbegin(), kept_.rend(), [&](const one& k) { return k.call_id == call_id; });
  return found == kept_.rend() ? nullptr : &found->result;
}

std::vector<std::string_view> kept_results::ids() const {
  std::vector<std::string_view> ids;
  for (const auto& k : kept_) ids.emplace_back(k.call_id);
  return ids;
}

}  // namespace mcpbx::daemon::results
