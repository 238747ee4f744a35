// The rules themselves are the loop's (recovery, goes_on).
#include "daemon/app/options/journal_options.hpp"

#include "daemon/app/options/process_settings.hpp"
#include "daemon/loop/core/recovery.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace mcpbx::daemon::options {

store::lane_journal::options journal_options(const conf::model::configuration& config,
                                             decltype(store::record_rules::closed) closed) {
  constexpr std::int64_t day_ms = 86'400'000;
  store::lane_journal::options o;
  o.rules.recovery = core::recovery_of;
  o.rules.fold = core::folded;
  o.rules.goes_on = [detached_too = config.loop.resume_detached](const std::vector<stored::run_record>& left) {
    return core::goes_on(left, detached_too);
  };
  o.rules.closed = std::move(closed);
  o.keep = {config.store.max_age_days * day_ms, config.store.max_bytes};
  o.awake_runs = awake_runs_here();
  o.sync_calls = config.store.sync == conf::model::store_sync::call;
  return o;
}

}  // namespace mcpbx::daemon::options
