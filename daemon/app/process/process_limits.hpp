// Limits of the whole process: its descriptors, and the time of its end.
#pragma once

namespace mcpbx::daemon::process {

/// Raises the soft limit of descriptors to the hard one. Every tool server takes several, so the usual 1,024 would be
/// the first limit to be hit.
void raise_descriptor_limit();

/// Ends the process after `seconds`, unless an earlier call set a shorter time. Nothing that hangs (a database, a disk,
/// a name server, a process) can delay the end; acknowledged data is already kept.
void end_at_the_latest(unsigned seconds);

}  // namespace mcpbx::daemon::process
