// Applies records to the same run_core that live runs use, so calls are closed here as a live run would close them.
#include "daemon/loop/core/recovery.hpp"

#include "daemon/loop/core/run_core.hpp"
#include "mcp/support/keyed_hash.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

namespace mcpbx::daemon::core {

namespace {

bool begins(const std::vector<stored::run_record>& of_a_run) {
  return !of_a_run.empty() && std::holds_alternative<stored::record::run_started>(of_a_run.front());
}

}  // namespace

std::vector<stored::run_record> recovery_of(const std::vector<stored::run_record>& of_a_run, bool same_process) {
  if (!begins(of_a_run)) return {};
  const auto core = run_core::of(of_a_run);
  if (!same_process) return core.recovery();
  return core.recovery({stored::stop_reason::store_error, "the run's journal could not be written"});
}

bool goes_on(const std::vector<stored::run_record>& of_a_run, bool detached_too) {
  if (!begins(of_a_run)) return false;
  const auto core = run_core::of(of_a_run);
  const auto& run = core.facts();
  return !run.ended && ((detached_too && run.started.detached) || run.parked);
}

std::vector<stored::record::meant_tool> meant_tools(const std::vector<stored::run_record>& of_a_run) {
  std::vector<stored::record::meant_tool> all;
  text_view_set names;
  const auto add = [&](const std::vector<stored::record::meant_tool>& tools) {
    for (const auto& tool : tools)
      if (names.insert(tool.name).second) all.push_back(tool);
  };
  for (const auto& r : of_a_run) {
    if (const auto* started = std::get_if<stored::record::run_started>(&r)) add(started->meant);
    if (const auto* reply = std::get_if<stored::record::assistant>(&r)) add(reply->tools);
  }
  return all;
}

stored::folded_run folded(const std::vector<stored::run_record>& of_a_run) {
  if (!begins(of_a_run)) return {};
  const auto core = run_core::of(of_a_run);
  const auto& run = core.facts();
  stored::folded_run r;
  r.messages.assign(run.messages.begin() + static_cast<std::ptrdiff_t>(run.before), run.messages.end());
  r.usage = run.usage;
  r.rounds = run.rounds;
  r.partial_text = run.answer.partial_text;
  const auto& asked = run.started.asked_limits;
  r.terms = {run.started.profile, run.started.tools.only, asked ? asked.detached() : asked};
  for (const auto id : run.kept.ids()) r.results.push_back({std::string(id), *run.kept.find(id)});
  r.tools = meant_tools(of_a_run);
  r.trace_id = run.started.trace.id();
  return r;
}

}  // namespace mcpbx::daemon::core
