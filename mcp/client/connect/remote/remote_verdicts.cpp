// Keeps and forgets verdicts.
#include "mcp/client/connect/remote/remote_verdicts.hpp"

#include <algorithm>

namespace mcpbx::mcp::remote {

remote_way remote_verdicts::find(const table& in, std::string_view key, time_point now) {
  const auto known = in.find(key);
  return known == in.end() || now - known->second.since >= good_for ? remote_way::unknown : known->second.way;
}

void remote_verdicts::put(table& in, std::string_view key, verdict v) {
  if (in.size() >= most && !in.contains(key))
    in.erase(std::ranges::min_element(in, {}, [](const auto& one) { return one.second.since; }));
  in.insert_or_assign(std::string(key), v);
}

void remote_verdicts::note(std::string_view origin, std::string_view address, remote_way way, time_point now) {
  put(addresses_, address, {way, now});
  put(origins_, origin, {way, now});
}

void remote_verdicts::forget(std::string_view origin, std::string_view address) {
  const auto known = addresses_.find(address);
  if (known == addresses_.end()) return;
  const auto way = known->second.way;
  addresses_.erase(known);
  if (const auto at = origins_.find(origin); at != origins_.end() && at->second.way == way) origins_.erase(at);
}

void remote_verdicts::forget_origin(std::string_view origin) {
  if (const auto at = origins_.find(origin); at != origins_.end()) origins_.erase(at);
}

}  // namespace mcpbx::mcp::remote
