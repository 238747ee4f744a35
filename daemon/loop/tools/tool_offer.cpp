// Takes the catalog's snapshot at each round, and adds tools and serial groups to replies.
#include "daemon/loop/tools/tool_offer.hpp"

#include "daemon/loop/results/read_result.hpp"

#include <algorithm>
#include <cstddef>

namespace mcpbx::daemon::tools {

void tool_offer::take(const providers::model& model, std::span<const providers::message_ptr> asked, bool reads) {
  auto catalog = from_.snapshot();
  // If the caller's own tools already reach the model's maxTools, there is no place for mcpbx__read_result.
  reads = reads && (model.max_tools() == 0 || own_.size() < model.max_tools());
  if (now_ && catalog == catalog_ && reads == reads_) return;
  catalog_ = std::move(catalog);
  if (!question_) {
    const auto last =
        std::ranges::find(asked.rbegin(), asked.rend(), providers::role::user, [](const auto& m) { return m->role; });
    question_.emplace(last == asked.rend() ? std::string() : (*last)->text());
  }
  const auto room = catalog_room(model.max_tools(), own_.size());
  const auto before = std::exchange(base_, shared_.offer(catalog_, choice_, model.api(), room, *question_));
  auto own = own_;
  if (reads) own.push_back(results::read_result::entry());
  if (own.empty())
    now_ = base_;
  else if (!now_ || reads != reads_ || before->set != base_->set)
    now_ = shared_.with_own(*base_, own, model.api(), *question_);
  reads_ = reads;
  now_ = names_.settle(std::move(now_));
}

const policy::past_names::names* tool_offer::known_then(const mcp::catalogs::catalog_entry& tool) {
  const auto* kept = choice_.beside.get();
  if (kept == nullptr) return nullptr;
  if (past_of_ != catalog_) past_ = policy::past_names(*catalog_, *kept);
  past_of_ = catalog_;
  return past_.find(tool.server, tool.tool);
}

stored::record::assistant tool_offer::with_tools(stored::record::assistant r) const {
  std::vector<std::string_view> servers, names;
  const auto calls = r.message->calls();
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const auto* entry = now_->find(calls[i]->name);
    if (!entry) continue;
    names.push_back(calls[i]->name);
    if (!entry->manner.serial) continue;
    auto group = std::ranges::find(servers, std::string_view(entry->server));
    if (group == servers.end()) group = servers.insert(servers.end(), entry->server);
    r.serial_groups.resize(calls.size());
    r.serial_groups[i] = static_cast<int>(group - servers.begin()) + 1;
  }
  std::ranges::sort(names);
  const auto twice = std::ranges::unique(names);
  names.erase(twice.begin(), twice.end());
  for (const auto name : names) {
    const auto& entry = *now_->find(name);
    r.tools.push_back({std::string(name), entry.server, entry.tool});
  }
  return r;
}

}  // namespace mcpbx::daemon::tools
