// Construction of the journal, the audit and the runner.
#include "daemon/app/run_parts.hpp"

#include "conf/places.hpp"
#include "daemon/app/journal/store.hpp"
#include "daemon/app/options/guard.hpp"
#include "daemon/app/options/runner_options.hpp"
#include "daemon/front/base/process_memory.hpp"
#include "daemon/guard/audit/audited_journal.hpp"
#include "mcp/support/heap.hpp"
#include "mcp/support/shared_bytes.hpp"

#include <unistd.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace mcpbx::daemon::app {
namespace {

std::unique_ptr<audit::audit_log> audit_of(base_parts& base, const conf::model::configuration& config) {
  auto o = options::audit_options(config, conf::environment_for_places());
  return o ? std::make_unique<audit::audit_log>(base.executor(), base.time, std::move(*o)) : nullptr;
}

std::unique_ptr<store::journal> journal_of(base_parts& base, const references::configuration_snapshot& now,
                                           audit::audit_log* audit, bool keeps_by_default) {
  auto closed =
      audit ? audit::audit_of_closed_runs(base.executor(), *audit, base.time) : decltype(store::record_rules::closed)();
  auto made = journals::make_journal(now.config, now.values, conf::environment_for_places(), base.executor(), base.time,
                                     keeps_by_default, std::move(closed));
  if (!audit) return made;
  return std::make_unique<audit::audited_journal>(std::move(made), *audit, base.time);
}

}  // namespace

run_parts::run_parts(base_parts& base, blocking_lanes& lanes, http::clients::client& client,
                     const references::current_configuration& current, tools::tool_source& tools, bool keeps_by_default)
    : settings_(current, {base.executor(), client, base.time, base.random, lanes.keys}),
      model_lists_([this] { return settings_.get()->models; }, base.executor(), client, base.time),
      audit_(audit_of(base, current.snapshot()->config)),
      journal_(journal_of(base, *current.snapshot(), audit_.get(), keeps_by_default)),
      answers_({base.executor(), base.time, audit_.get(), [this] { return settings_.get()->answers; }}),
      runs_(
          base.executor(), base.time, base.random, tools, [this] { return settings_.get()->runs; }, *journal_,
          [&] {
            auto o = options::runner_options(current.snapshot()->config);
            o.adapt = adapt_;
            o.answers = &answers_;
            o.keep_to_present_terms = [this](run::run_request& r) {
              return chat::keep_to_present_terms(r, *settings_.get()->chat);
            };
            o.run_ended = [this] {
              heap_.run_ended();
              if (run_ended_) run_ended_();
            };
            return o;
          }()),
      left_(*journal_, base.time, [this](store::unfinished_run run) { runs_.resume(std::move(run)); }),
      heap_(base.time,
            {[] { return front::resident_bytes(::getpid()) - static_cast<std::int64_t>(byte_account::total()); },
             [this] { return runs_.active() > 0; }, give_back_free_memory}) {}

}  // namespace mcpbx::daemon::app
