// Judges facts: each finding is right or wrong, and has its fix. No I/O.
#pragma once
#include "daemon/cli/doctor/facts.hpp"
#include "daemon/cli/doctor/finding.hpp"

namespace mcpbx::cli::doctor {

/// Returns the findings in the order of the walk: the configuration, programs, the socket and the daemon, tool servers,
/// models, state. With `facts::only` just those about that server or model.
findings findings_of(const facts& all);

// The parts of the walk.
void judge_config(const facts& all, findings& out);
void judge_programs(const facts& all, findings& out);
void judge_daemon(const facts& all, findings& out);
void judge_servers(const facts& all, findings& out);
void judge_models(const facts& all, findings& out);
void judge_hosts(const facts& all, findings& out);
void judge_state(const facts& all, findings& out);

}  // namespace mcpbx::cli::doctor
