// The daemon and the keeper hold resolved secrets, which must not end up in a core file (docs/guarantees.md, G35).
//
// By a limit and not by prctl(PR_SET_DUMPABLE, 0), which would also hide /proc/PID/{mem,environ,fd,cwd,exe,smaps} from
// processes of the same user. Nothing that mcpbx reads of others would be missing (stat, statm, children stay
// readable), but what people look into their own daemon with would: lsof, ss -p, gdb, strace. So would what the tests
// hold against it when they run as a user, or in a container without CAP_SYS_PTRACE: open descriptors, its directory,
// the peak of its memory. And it would keep secrets from nobody: programs of the same user can read the files and the
// environment of the shell that the secrets came from.
#pragma once

namespace mcpbx::mcp {

/// From now on the calling process leaves no core file, whatever takes them (core(5)). What it forks inherits this. The
/// limit that was there before the first call is remembered.
void forbid_core_files() noexcept;
/// Back to the limit that was remembered, for a program that is not ours. Async-signal-safe.
void allow_core_files_again() noexcept;

}  // namespace mcpbx::mcp
