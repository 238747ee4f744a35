// Interface between the supervisor, which decides when a tool server is connected and for how long, and the kinds of
// connections: a child process, or anything else that carries messages.
#pragma once
#include "mcp/client/client.hpp"
#include "mcp/support/time.hpp"
#include "mcp/transport/transport.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::mcp::connect {

/// The steps that end a connection. Each later step is for a server that ignored the one before.
enum class ending : std::uint8_t {
  ask,     ///< it may finish its work first; finish_sending() of its transport has been called
  insist,  ///< it gets the request to end now
  force    ///< its end is forced, whatever it does
};

/// A failed attempt to open a connection.
struct link_failure {
  std::string why;        ///< predicate of a sentence about the server: "cannot be started: …"
  bool try_again = true;  ///< false: only a restart by hand tries again
  milliseconds wait{0};   ///< the server's own wish: the next attempt comes not before this time has passed
};

/// The end of a session by a server that is well and wants a new one.
struct link_expiry {
  std::string how;                      ///< predicate of a sentence about the server
  std::vector<rpc::lost_request> lost;  ///< requests that this session had open, as far as more is known of them
};

/// Events of one connection. They come on the speaking thread, never from inside open() or end(). The link may be
/// destroyed inside each of them.
class link_events {
 public:
  virtual ~link_events() = default;
  /// Reports that the connection is open. The receiver calls start() of `connection`.
  virtual void on_open(std::unique_ptr<transports::transport> connection) = 0;
  /// Reports that the connection could not be opened. No event comes afterwards. It may follow on_open() as long as no
  /// answer of the server has come: a connection that is made of single exchanges proves itself by the first one.
  virtual void on_not_opened(const link_failure& failure) = 0;
  /// Reports the end, after the server's last messages. `how` is the predicate of a sentence about the server ("exited
  /// with status 3"). A server whose transport has closed counts as lost if this takes more than 250 ms.
  virtual void on_ended(const std::string& how) = 0;
  /// Reports an end after which a new connection is to be opened at once. No event comes afterwards.
  virtual void on_expired(link_expiry&& expiry) { on_ended(expiry.how); }
};

/// One connection, from connector::open() to its end. The destructor ends it as ending::force does and drops all
/// events.
class server_link {
 public:
  virtual ~server_link() = default;
  /// Takes a step to end the connection; on_ended() follows. Returns false if it was not open yet: then it is over at
  /// once and no event follows.
  virtual bool end(ending step) = 0;
};

/// Opens the connections to one tool server, one after another. A link that is no longer used may outlive the connector
/// by a turn.
class connector {
 public:
  virtual ~connector() = default;
  /// Begins to open a connection. `events` must outlive the returned link. The link of an ended connection may still
  /// exist.
  virtual std::unique_ptr<server_link> open(link_events& events) = 0;
  /// Returns a name of the open connection for the log ("pid 12"), or "".
  virtual std::string label() const { return {}; }
  /// Returns the server's last output beside its messages, or the last that looks like an error, as a clause ("last
  /// stderr: …", "stderr: …"), or "".
  virtual std::string last_words() const { return {}; }
  /// Returns the name of ending::force for people ("SIGKILL").
  virtual std::string_view force_name() const = 0;
  /// Returns the present or last process; nullopt if connections of this kind have none.
  virtual std::optional<clients::process_status> process() const { return std::nullopt; }
  /// Returns the address of the server and how it is reached; nullopt if it has none.
  virtual std::optional<clients::remote_status> remote() const { return std::nullopt; }
};

using connector_factory = std::function<std::unique_ptr<connector>()>;

}  // namespace mcpbx::mcp::connect
