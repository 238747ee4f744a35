// The interface of a connection that carries JSON-RPC messages both ways. Its user gets whole, checked messages and
// never counts bytes. Everything happens on the speaking thread.
#pragma once
#include "mcp/rpc/lost_request.hpp"
#include "mcp/rpc/message_sink.hpp"
#include "mcp/rpc/outgoing.hpp"
#include "mcp/rpc/rpc_message.hpp"
#include "mcp/support/error.hpp"

#include <cstddef>
#include <optional>

namespace mcpbx::mcp::transports {

/// Events that a connection reports to its user.
class transport_events : public rpc::message_sink {
 public:
  /// Reports that no answer to this request will come. Only connections that carry each request by itself know this.
  virtual void on_lost(rpc::lost_request&&) {}
  /// Reports that the outbox has become empty, so that more may be sent.
  virtual void on_drained() {}
  /// Reports that the peer has ended its sending side only (a half-closed socket). Return true to keep the connection
  /// for answers: on_closed then follows when the peer is gone altogether, otherwise at once.
  virtual bool on_input_end() { return false; }
  /// Reports the end of the connection: end of stream (errc::unavailable), a read or write error (errc::io), or a bound
  /// (errc::limit). Comes at most once, as the last event, and never from inside send() or close().
  virtual void on_closed(const error& why) = 0;
};

class transport {
 public:
  /// Closes at once and without an event. Bytes not yet written are dropped.
  virtual ~transport() = default;

  /// Returns true if the connection repeats facts about messages beside them, so that it wants outgoing::facts.
  virtual bool mirrors() const noexcept { return false; }
  /// Returns true if the peer is known to speak a revision with a handshake; nullopt if the connection keeps no record
  /// of earlier ones.
  virtual std::optional<bool> legacy_known() const noexcept { return std::nullopt; }
  /// Begins reading. `events` must outlive the transport or its close().
  virtual void start(transport_events& events) = 0;
  /// Queues one message: its text without a line break, and its kind. Messages of one turn leave together. Messages
  /// after the end are dropped silently; after an end of stream alone, the sending side stays open until close().
  virtual void send(const json::segments& text, rpc::outgoing what) = 0;
  /// Keeps what is sent from now on until release_writes().
  virtual void hold_writes() {}
  /// Writes what is queued now instead of at the end of the turn; on_drained may come from inside. For messages to many
  /// peers at once: their writes need no handler and no memory of their own.
  virtual void release_writes() {}
  /// Returns the number of bytes queued and not yet taken by the system, or by the peer of a memory pair.
  virtual std::size_t unsent() const noexcept = 0;
  /// Stops or resumes reading. While reading is stopped, full buffers slow the peer down.
  virtual void pause_reading(bool paused) = 0;
  /// Ends the sending side after the queued messages (a tool server sees its stdin closed). Reading goes on.
  virtual void finish_sending() = 0;
  /// Ends both sides now. on_closed is not called afterwards.
  virtual void close() = 0;
};

}  // namespace mcpbx::mcp::transports
