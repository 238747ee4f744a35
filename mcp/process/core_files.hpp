// Turns core files off for the daemon and the keeper, which hold resolved secrets (docs/guarantees.md, G35).
//
// A limit does this rather than prctl(PR_SET_DUMPABLE, 0), which would also hide
// /proc/PID/{mem,environ,fd,cwd,exe,smaps} from processes of the same user. mcpbx itself would not miss them (stat,
// statm and children stay readable), but tools that people point at their own daemon would: lsof, ss -p, gdb, strace.
// So would tests that run as a user or in a container without CAP_SYS_PTRACE; they read open descriptors, the working
// directory and peak memory. Nothing would be gained: programs of the same user can read the files and the shell
// environment that the secrets came from.
#pragma once

namespace mcpbx::mcp::process {

/// Stops the calling process and its children from leaving core files, whoever would take them (core(5)). Remembers the
/// limit from before the first call.
void forbid_core_files() noexcept;
/// Restores the remembered limit, for a program that is not ours. Async-signal-safe.
void allow_core_files_again() noexcept;

}  // namespace mcpbx::mcp::process
