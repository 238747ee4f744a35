// Finds those who watch a resource or a level of logs.
#include "mcp/client/supervise/server_watches.hpp"

#include <algorithm>
#include <array>

namespace mcpbx::mcp {
namespace {

constexpr std::array<std::string_view, 8> levels = {"debug", "info",     "notice", "warning",
                                                    "error", "critical", "alert",  "emergency"};
/// Size of an update that is worth waiting for; of larger ones only the URI is kept.
constexpr std::size_t most_waiting = 4096;

/// Returns true if `part` names something below `whole`, such as a file in a folder.
bool is_part_of(std::string_view part, std::string_view whole) {
  return part.size() > whole.size() && part.starts_with(whole) &&
         (whole.ends_with('/') || part[whole.size()] == '/' || part[whole.size()] == '#' || part[whole.size()] == '?');
}

}  // namespace

int log_rank(std::string_view level) {
  const auto found = std::ranges::find(levels, level);
  return found == levels.end() ? -1 : static_cast<int>(found - levels.begin());
}

std::vector<server_watches::watcher_ptr> server_watches::living(const std::vector<std::weak_ptr<watcher>>& watchers) {
  std::vector<watcher_ptr> out;
  for (const auto& weak : watchers)
    if (auto w = weak.lock()) out.push_back(std::move(w));
  return out;
}

server_watches::watcher_ptr server_watches::add_resource(std::string_view uri, handler updated,
                                                         std::function<void()> dropped) {
  if (!resources_.contains(uri) && resources_.size() >= most_resources && resources().size() >= most_resources)
    return nullptr;
  auto w = std::make_shared<watcher>(std::string(uri), std::move(updated), std::move(dropped));
  auto& watchers = resources_[w->what].watchers;
  std::erase_if(watchers, [](const auto& weak) { return weak.expired(); });
  watchers.push_back(w);
  return w;
}

server_watches::watcher_ptr server_watches::add_log(std::string_view level, handler logged,
                                                    std::function<void()> dropped) {
  auto w = std::make_shared<watcher>(std::string(level), std::move(logged), std::move(dropped));
  std::erase_if(logs_, [](const auto& weak) { return weak.expired(); });
  logs_.push_back(w);
  return w;
}

std::set<std::string, std::less<>> server_watches::resources() {
  std::set<std::string, std::less<>> out;
  for (auto entry = resources_.begin(); entry != resources_.end();) {
    auto& watchers = entry->second.watchers;
    std::erase_if(watchers, [](const auto& weak) { return weak.expired(); });
    if (watchers.empty()) {
      entry = resources_.erase(entry);
    } else {
      out.insert(out.end(), entry->first);
      ++entry;
    }
  }
  return out;
}

std::string server_watches::lowest_level() {
  std::erase_if(logs_, [](const auto& weak) { return weak.expired(); });
  std::string lowest;
  for (const auto& w : living(logs_))
    if (log_rank(w->what) >= 0 && (lowest.empty() || log_rank(w->what) < log_rank(lowest))) lowest = w->what;
  return lowest;
}

std::vector<server_watches::watcher_ptr> server_watches::updated(const raw_json& params, time_point now) {
  const std::string uri = member_text(params, "uri");
  std::vector<watcher_ptr> to;
  for (auto& [watched, r] : resources_) {
    if (watched != uri && !is_part_of(uri, watched)) continue;
    if (now < r.quiet_until) {
      // Updates of several parts become one of the whole.
      const bool same = !r.waits || member_text(r.waits, "uri") == uri;
      r.waits = same && params.text().size() <= most_waiting
                    ? params.detached()
                    : raw_json::own("{\"uri\":" + json_quoted(same ? uri : watched) + "}");
      next_ = std::min(next_, r.quiet_until);
      continue;
    }
    r.quiet_until = now + least_gap;
    for (auto& w : living(r.watchers)) to.push_back(std::move(w));
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
    out.push_back({std::exchange(r.waits, {}), living(r.watchers)});
  }
  return out;
}

std::vector<server_watches::watcher_ptr> server_watches::logged(const raw_json& params) const {
  const int rank = log_rank(member_text(params, "level"));
  auto to = living(logs_);
  std::erase_if(to, [&](const watcher_ptr& w) { return log_rank(w->what) > rank; });
  return to;
}

}  // namespace mcpbx::mcp
