// The last caller that was no process of ours. A program that opens many connections is looked up once, since a look
// reads the ancestors of its process twice from /proc.
#pragma once
#include "mcp/socket/peer_process.hpp"

namespace mcpbx::daemon::callers {

class last_stranger {
 public:
  /// Notes a peer that is neither below the keeper nor below this process. It cannot come below one later: a process
  /// whose parent ends becomes a child of one of its ancestors.
  void note(const mcp::socket::peer_credentials& peer) { known_ = peer; }
  /// Returns true if `peer` is the process that was noted last. As long as that one has not ended, its number cannot
  /// belong to another process. Always false where the kernel gives no pidfd.
  bool is(const mcp::socket::peer_credentials& peer) const {
    return known_.process && peer.process && known_.pid == peer.pid && mcp::socket::still_there(known_) &&
           mcp::socket::still_there(peer);
  }

 private:
  mcp::socket::peer_credentials known_;
};

}  // namespace mcpbx::daemon::callers
