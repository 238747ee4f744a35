// Bounds of the whole process: its descriptors, and the time of its end.
#pragma once

namespace mcpbx::daemon {

/// Raises the soft limit to the hard one: every tool server takes several descriptors, and the usual soft limit of
/// 1,024 would be the first bound to be hit.
void raise_descriptor_limit();

/// Ends the process in so many seconds, unless an earlier call says sooner: nothing that hangs (a database, a disk, a
/// name server, a process) holds up the end, and all that was acknowledged is kept.
void end_at_the_latest(unsigned seconds);

}  // namespace mcpbx::daemon
