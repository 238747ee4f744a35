// What a run comes to of which only the journal is left: the fold of its records says so. For journals, which know no
// fold.
#pragma once
#include "daemon/store/records/record.hpp"
#include "daemon/store/records/sessions.hpp"

#include <vector>

namespace mcpbx::daemon {

/// run_core::recovery() after these records, which must be a run's from its start: one that an earlier process left, or
/// (`same_process`) one whose journal failed in this one. Nothing for a run that has ended and for records
/// that do not begin with run_started. Pure; may be called on any thread.
std::vector<run_record> recovery_of(const std::vector<run_record>& of_a_run, bool same_process = false);

/// Whether a run that its daemon left goes on in the next one instead of being closed: it was detached (if
/// `detached_too`), or it waits for its caller's own tools. Pure, as above.
bool goes_on(const std::vector<run_record>& of_a_run, bool detached_too = true);

/// What the names in the calls of the run's replies mean, each once. Pure, as above.
std::vector<record::meant_tool> meant_tools(const std::vector<run_record>& of_a_run);

/// What the run adds to its session, as far as its records go; nothing of what it inherited. Pure, as above.
folded_run folded(const std::vector<run_record>& of_a_run);

}  // namespace mcpbx::daemon
