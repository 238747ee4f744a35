// Finds those who watch a resource or a level of logs.
#include "mcp/client/supervise/server_watches.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace mcpbx::mcp::supervise {
namespace {

constexpr std::array<std::string_view, 8> levels = {"debug", "info",     "notice", "warning",
                                                    "error", "critical", "alert",  "emergency"};
/// Size of an update or an error that is worth keeping; of larger updates only the URI is kept.
constexpr std::size_t most_waiting = 4096;

/// Returns true if `part` names something below `whole`, such as a file in a folder.
bool is_part_of(std::string_view part, std::string_view whole) {
  return part.size() > whole.size() && part.starts_with(whole) &&
         (whole.ends_with('/') || part[whole.size()] == '/' || part[whole.size()] == '#' || part[whole.size()] == '?');
}

json::raw_json update_of(const std::string& uri) {
  return json::raw_json::own("{\"uri\":" + json::json_quoted(uri) + "}");
}

}  // namespace

int log_rank(std::string_view level) {
  const auto found = std::ranges::find(levels, level);
  return found == levels.end() ? -1 : static_cast<int>(found - levels.begin());
}

void server_watches::tell(const audience& to, const json::raw_json& params) {
  for (const auto& weak : to)
    if (const auto w = weak.lock()) w->told(params);
}

server_watches::watcher_ptr server_watches::add_resource(std::string_view uri, handler updated,
                                                         std::function<void()> dropped) {
  if (*watching_ >= most_watches) return nullptr;
  auto found = resources_.find(uri);
  if (found == resources_.end()) {
    const auto full = [&] { return resources_.size() >= most_resources || uri.size() > most_bytes - bytes_; };
    if (full()) forget_ended();
    if (full()) return nullptr;
    found = resources_.emplace(uri, resource()).first;
    bytes_ += uri.size();
  }
  auto& r = found->second;
  ++*watching_;
  ++*r.living;
  auto w = std::make_shared<watcher>(std::string(), std::move(updated),
                                     [watching = watching_, living = r.living, then = std::move(dropped)] {
                                       --*watching;
                                       if (--*living == 0 && then) then();
                                     });
  // Looking for ended ones each time would cost the square of their number.
  if (r.watchers.size() >= 2 * r.tidy) {
    std::erase_if(r.watchers, [](const auto& weak) { return weak.expired(); });
    r.tidy = std::max<std::size_t>(r.watchers.size(), 4);
  }
  r.watchers.push_back(w);
  return w;
}

server_watches::watcher_ptr server_watches::add_log(std::string_view level, handler logged,
                                                    std::function<void()> dropped) {
  auto w = std::make_shared<watcher>(std::string(level), std::move(logged), std::move(dropped));
  std::erase_if(logs_, [](const auto& weak) { return weak.expired(); });
  logs_.push_back(w);
  return w;
}

server_watches::audience server_watches::decide(std::string_view uri, const rpc::call_outcome& answer) {
  const auto found = resources_.find(uri);
  if (found == resources_.end() || found->second.answer) return {};
  rpc::call_outcome& kept = found->second.answer.emplace(answer);
  kept.value = kept.value.detached();
  if (kept.value.text().size() > most_waiting)
    kept = rpc::call_outcome::failed(errc::unavailable, "accepts no subscription to the resource");
  return found->second.watchers;
}

server_watches::audience server_watches::decide_all(const rpc::call_outcome& answer) {
  audience to;
  for (auto& [uri, r] : resources_) {
    if (r.answer) continue;
    r.answer = answer;
    to.insert(to.end(), r.watchers.begin(), r.watchers.end());
  }
  return to;
}

const rpc::call_outcome* server_watches::decision(std::string_view uri) const {
  const auto found = resources_.find(uri);
  return found == resources_.end() || !found->second.answer ? nullptr : &*found->second.answer;
}

server_watches::audience server_watches::watchers(std::string_view uri) const {
  const auto found = resources_.find(uri);
  return found == resources_.end() ? audience() : found->second.watchers;
}

void server_watches::forget_ended() {
  for (auto entry = resources_.begin(); entry != resources_.end();) {
    const bool ended = *entry->second.living == 0;
    if (ended) bytes_ -= entry->first.size();
    entry = ended ? resources_.erase(entry) : std::next(entry);
  }
}

bool server_watches::watched_once(std::string_view uri) const {
  const auto found = resources_.find(uri);
  return found != resources_.end() && *found->second.living == 1;
}

std::set<std::string, std::less<>> server_watches::resources() {
  forget_ended();
  std::set<std::string, std::less<>> out;
  for (const auto& [uri, r] : resources_) out.insert(out.end(), uri);
  return out;
}

std::string server_watches::lowest_level() {
  std::erase_if(logs_, [](const auto& weak) { return weak.expired(); });
  std::string lowest;
  for (const auto& weak : logs_)
    if (const auto w = weak.lock())
      if (log_rank(w->what) >= 0 && (lowest.empty() || log_rank(w->what) < log_rank(lowest))) lowest = w->what;
  return lowest;
}

server_watches::audience server_watches::updated(const json::raw_json& params, time_point now) {
  const std::string uri = json::member_text(params, "uri");
  std::shared_ptr<const waiting_update> kept;  // one copy for all that wait for it
  audience to;
  for (auto& [watched, r] : resources_) {
    if (watched != uri && !is_part_of(uri, watched)) continue;
    if (now < r.quiet_until) {
      // Updates of several parts become one of the whole.
      if (!r.waits || r.waits->uri == uri) {
        if (!kept)
          kept = std::make_shared<waiting_update>(
              uri, params.text().size() <= most_waiting ? params.detached() : update_of(uri));
        r.waits = kept;
      } else if (r.waits->uri != watched) {
        r.waits = std::make_shared<waiting_update>(watched, update_of(watched));
      }
      next_ = std::min(next_, r.quiet_until);
      continue;
    }
    r.quiet_until = now + least_gap;
    to.insert(to.end(), r.watchers.begin(), r.watchers.end());
  }
  return to;
}

std::vector<server_watches::late_update> server_watches::due(time_point now) {
  std::vector<late_update> out;
  if (now < next_) return out;
  next_ = never;
  for (auto& [uri, r] : resources_) {
    if (!r.waits) continue;
    if (r.quiet_until > now) {
      next_ = std::min(next_, r.quiet_until);
      continue;
    }
    r.quiet_until = now + least_gap;
    out.push_back({std::exchange(r.waits, nullptr)->params, r.watchers});
  }
  return out;
}

server_watches::audience server_watches::logged(const json::raw_json& params) const {
  const int rank = log_rank(json::member_text(params, "level"));
  audience to;
  for (const auto& weak : logs_)
    if (const auto w = weak.lock(); w && log_rank(w->what) <= rank) to.push_back(weak);
  return to;
}

}  // namespace mcpbx::mcp::supervise
