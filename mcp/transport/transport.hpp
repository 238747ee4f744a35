// A connection that carries JSON-RPC messages both ways. Its user sees whole, checked messages and never a byte count.
// Everything happens on the speaking thread.
#pragma once
#include "mcp/rpc/message_sink.hpp"
#include "mcp/rpc/outgoing.hpp"
#include "mcp/rpc/rpc_message.hpp"
#include "mcp/support/error.hpp"

#include <cstddef>

namespace mcpbx::mcp {

/// What a connection tells its user.
class transport_events : public message_sink {
 public:
  /// The outbox ran empty after it had not been: more may be sent.
  virtual void on_drained() {}
  /// The peer has ended its sending side only (a half-closed socket), so it may still wait for answers. Whether that
  /// is so: then on_closed follows when the peer is gone altogether, otherwise at once.
  virtual bool on_input_end() { return false; }
  /// The connection ended: end of stream (errc::unavailable), a read or write error (errc::io), or a bound
  /// (errc::limit). Comes at most once, never from inside send() or close(), and nothing comes after it.
  virtual void on_closed(const error& why) = 0;
};

class transport {
 public:
  /// Closing is immediate and silent; what was not written is dropped.
  virtual ~transport() = default;

  /// Begins reading. `events` must outlive the transport or its close().
  virtual void start(transport_events& events) = 0;
  /// Queues one message: its text, without a line break, and what it is. What one turn queues leaves together.
  /// After the end it is dropped silently; but after an end of stream the sending side stays open until close().
  virtual void send(const segments& text, outgoing what) = 0;
  /// Bytes queued and not yet taken by the system, or by the peer where no system lies between.
  virtual std::size_t unsent() const noexcept = 0;
  /// Stops or resumes reading; a peer that is not read is slowed down by the buffers between.
  virtual void pause_reading(bool paused) = 0;
  /// Ends the sending side after what is queued (a tool server sees its stdin closed); reading goes on.
  virtual void finish_sending() = 0;
  /// Ends both sides now. on_closed is not called afterwards.
  virtual void close() = 0;
};

}  // namespace mcpbx::mcp
