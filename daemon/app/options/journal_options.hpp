// The options of the journal that come from the configuration.
#pragma once
#include "conf/model/model.hpp"
#include "daemon/store/lane_journal.hpp"
#include "daemon/store/store_worker.hpp"

namespace mcpbx::daemon::options {

/// Returns the rules of a journal that keeps runs: which continue after a crash, how long they are kept, and which
/// appends are synced. `closed` is record_rules::closed.
store::lane_journal::options journal_options(const conf::model::configuration& config,
                                             decltype(store::record_rules::closed) closed = {});

}  // namespace mcpbx::daemon::options
