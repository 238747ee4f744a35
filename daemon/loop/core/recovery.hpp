// Evaluates the records of runs that are only in the journal, by applying them to a run_core. The application gives
// these functions to the journal, which does not depend on run_core itself.
#pragma once
#include "daemon/store/records/record.hpp"
#include "daemon/store/records/sessions.hpp"

#include <vector>

namespace mcpbx::daemon::core {

/// Returns the records that close a run left by an earlier process or, with `same_process`, by a journal failure here.
/// Empty if the run has ended or its first record is not run_started. Pure; may be called on any thread.
std::vector<stored::run_record> recovery_of(const std::vector<stored::run_record>& of_a_run, bool same_process = false);

/// Returns true if a run that an earlier process left is to be resumed instead of closed: it was detached (if
/// `detached_too`), or it waits for results of its caller's own tools. Pure, as above.
bool goes_on(const std::vector<stored::run_record>& of_a_run, bool detached_too = true);

/// Returns the tools behind the names in the calls of the run's replies, each name once. Pure, as above.
std::vector<stored::record::meant_tool> meant_tools(const std::vector<stored::run_record>& of_a_run);

/// Returns the run's contribution to its session: the messages that it added, and all results that are still kept,
/// inherited ones included. Pure, as above.
stored::folded_run folded(const std::vector<stored::run_record>& of_a_run);

}  // namespace mcpbx::daemon::core
