// Stands between the writer of files and the system: ends the process, or fails the call, at a chosen step. The steps
// are mkdir, fsync, rename and unlink, which the linker finds here instead of in the C library.
#pragma once

namespace mcpbx::test {

enum class write_fault { none, killed, fails };

/// Arms the fault for the `step`-th of these calls from now on, counted from 0.
void arm_write_fault(write_fault what, int step);
/// Returns the number of calls since the last arm_write_fault().
int write_steps();

}  // namespace mcpbx::test
