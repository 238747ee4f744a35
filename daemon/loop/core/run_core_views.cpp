// Queries of the state, for the run's coroutine (live_run) and for tests.
#include "daemon/loop/core/run_core.hpp"

#include <algorithm>
#include <cassert>
#include <span>

namespace mcpbx::daemon::core {

std::size_t run_core::index_of(std::string_view id) const {
  for (std::size_t i = 0; i < open_.size(); ++i)
    if (open_[i].call->id == id) return i;
  return nowhere;
}

const providers::tool_call_block* run_core::find_call(std::string_view id) const {
  const auto i = index_of(id);
  return i == nowhere ? nullptr : open_[i].call;
}

bool run_core::stopped_before(std::string_view id) const {
  const auto i = index_of(id);
  if (i == nowhere || facts_.limits.on_tool_error != stored::tool_error_policy::stop) return false;
  return std::ranges::any_of(std::span(results_).first(i), [](const auto& r) { return r.is_error; });
}

bool run_core::is_open(std::string_view id) const {
  const auto i = index_of(id);
  return i != nowhere && open_[i].state != call_state::done;
}

bool run_core::approved(std::string_view call_id, std::string_view tool_sha256,
                        std::string_view arguments_sha256) const {
  const auto i = index_of(call_id);
  // A question recorded by an older mcpbx has no hashes, so its answer approves nothing.
  if (i == nowhere || tool_sha256.empty() || arguments_sha256.empty()) return false;
  const auto& c = open_[i];
  if (c.approved && c.question.tool_sha256 == tool_sha256 && c.question.arguments_sha256 == arguments_sha256)
    return true;
  return std::ranges::any_of(always_,
                             [&](const auto& one) { return one.tool == c.call->name && one.sha256 == tool_sha256; });
}

bool run_core::approved_always(std::string_view tool, std::string_view sha256) const {
  return !sha256.empty() &&
         std::ranges::any_of(always_, [&](const auto& one) { return one.tool == tool && one.sha256 == sha256; });
}

bool run_core::approved_otherwise(std::string_view call_id) const {
  const auto i = index_of(call_id);
  if (i == nowhere) return false;
  return open_[i].approved || std::ranges::any_of(always_, [&](const auto& one) {
           return one.tool == open_[i].call->name && !one.sha256.empty();
         });
}

const stored::record::question* run_core::find_question(std::string_view id) const {
  for (const auto& c : open_) {
    if (c.state == call_state::questioned && c.question.id == id) return &c.question;
    const auto during = std::ranges::find(c.asked_during, id, &stored::record::question::id);
    if (during != c.asked_during.end()) return &*during;
  }
  return nullptr;
}

std::vector<std::string> run_core::covered_by(const stored::record::question& always) const {
  std::vector<std::string> ids;
  const auto* call = find_call(always.call_id);
  if (!call || always.tool_sha256.empty()) return ids;
  if (always.during_call) {
    for (const auto& c : open_)
      for (const auto& q : c.asked_during)
        if (q.kind == always.kind && q.id != always.id && q.tool_sha256 == always.tool_sha256) ids.push_back(q.id);
    return ids;
  }
  for (const auto& c : open_)
    if (c.state == call_state::questioned && c.question.id != always.id && c.call->name == call->name &&
        c.question.tool_sha256 == always.tool_sha256)
      ids.push_back(c.question.id);
  return ids;
}

std::vector<const stored::record::question*> run_core::questions() const {
  std::vector<const stored::record::question*> all;
  for (const auto& c : open_) {
    if (c.state == call_state::questioned) all.push_back(&c.question);
    for (const auto& q : c.asked_during) all.push_back(&q);
  }
  return all;
}

std::vector<const providers::tool_call_block*> run_core::to_be_made() const {
  std::vector<const providers::tool_call_block*> all;
  for (const auto& c : open_)
    if (c.state == call_state::waiting || c.state == call_state::asked || c.state == call_state::questioned)
      all.push_back(c.call);
  return all;
}

std::vector<std::string_view> run_core::handed() const {
  std::vector<std::string_view> ids;
  for (const auto& c : open_)
    if (c.state == call_state::handed) ids.emplace_back(c.call->id);
  return ids;
}

// Calls in state waiting do not count: if no call runs, they wait for a call of their serial group that a person or
// the caller holds up.
bool run_core::waits_for_people() const {
  return undone_ > 0 && std::ranges::none_of(open_, [](const auto& c) {
           return c.state == call_state::asked || c.state == call_state::closing ||
                  (c.state == call_state::intended && c.asked_during.empty());
         });
}

int run_core::attempts(std::string_view id) const {
  const auto i = index_of(id);
  return i == nowhere ? 0 : open_[i].attempt;
}

}  // namespace mcpbx::daemon::core
