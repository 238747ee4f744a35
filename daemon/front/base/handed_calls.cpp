// Storage of waiting runs, searched from the oldest.
#include "daemon/front/base/handed_calls.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::daemon::front {
namespace {

bool answers(const std::vector<stored::record::caller_result>& results, const std::vector<std::string>& calls) {
  return results.size() == calls.size() && std::ranges::all_of(calls, [&](const std::string& id) {
           return std::ranges::find(results, id, &stored::record::caller_result::call_id) != results.end();
         });
}

}  // namespace

std::optional<std::string> handed_calls::keep(waiting w) {
  runs_.push_back(std::move(w));
  if (runs_.size() <= most) return std::nullopt;
  auto oldest = std::move(runs_.front().run);
  runs_.pop_front();
  return oldest;
}

std::optional<handed_calls::waiting> handed_calls::take(std::uint64_t conversation,
                                                        const std::vector<stored::record::caller_result>& results,
                                                        std::string_view principal) {
  if (results.empty()) return std::nullopt;
  return extract(std::ranges::find_if(runs_, [&](const waiting& w) {
    return w.conversation == conversation && w.principal == principal && answers(results, w.calls);
  }));
}

std::optional<handed_calls::waiting> handed_calls::take_run(std::string_view run,
                                                            const std::vector<stored::record::caller_result>& results,
                                                            std::string_view principal) {
  return extract(std::ranges::find_if(
      runs_, [&](const waiting& w) { return w.run == run && w.principal == principal && answers(results, w.calls); }));
}

std::optional<handed_calls::waiting> handed_calls::extract(std::deque<waiting>::iterator found) {
  if (found == runs_.end()) return std::nullopt;
  auto taken = std::move(*found);
  runs_.erase(found);
  return taken;
}

}  // namespace mcpbx::daemon::front
