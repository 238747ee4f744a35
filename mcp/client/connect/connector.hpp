// The seam between the supervisor of a tool server, which decides when it is connected and for how long, and the kind
// of server that it is: a child process, or whatever else carries messages.
#pragma once
#include "mcp/client/client.hpp"
#include "mcp/transport/transport.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace mcpbx::mcp {

/// The steps that end a connection; each is for a server that did not heed the one before.
enum class ending : std::uint8_t {
  ask,     ///< it ends when it is ready to; its transport's finish_sending() has been called
  insist,  ///< it is to end now
  force    ///< it is ended, willing or not
};

/// A failed attempt to open a connection.
struct link_failure {
  std::string why;        ///< a clause about the server: "cannot be started: …"
  bool try_again = true;  ///< false: nothing but a restart by hand is worth another try
};

/// Events of one connection. They come on the speaking thread, never from inside open() or end(). The link may be
/// destroyed inside each of them.
class link_events {
 public:
  virtual ~link_events() = default;
  /// It is open; `connection` has not been started.
  virtual void on_open(std::unique_ptr<transport> connection) = 0;
  /// It could not be opened. Nothing comes afterwards.
  virtual void on_not_opened(const link_failure& failure) = 0;
  /// It has ended, and the server's last messages have been delivered. `how` is a clause about the server ("exited with
  /// status 3"). Comes within 250 ms of the transport's on_closed(), or the server counts as lost.
  virtual void on_ended(const std::string& how) = 0;
};

/// One connection, from connector::open() to its end. Destroying it ends it as ending::force does and drops all events.
class server_link {
 public:
  virtual ~server_link() = default;
  /// Takes a step towards its end, which on_ended() tells. False if there is nothing to end yet: then it is over, and
  /// no event comes any more.
  virtual bool end(ending step) = 0;
};

/// The way to one tool server, over all its lives. A link that is no longer used may outlive it by a turn.
class connector {
 public:
  virtual ~connector() = default;
  /// Begins to open a connection; `events` must outlive the returned link. An ended one may still be there.
  virtual std::unique_ptr<server_link> open(link_events& events) = 0;
  /// The open connection for the log ("pid 12"), or "".
  virtual std::string label() const { return {}; }
  /// The last that the server said beside its messages, or the last that looks like an error, as a clause ("last
  /// stderr: …", "stderr: …"), or "".
  virtual std::string last_words() const { return {}; }
  /// The name of ending::force for people ("SIGKILL").
  virtual std::string_view force_name() const = 0;
  /// Its process, also one that has ended; nullopt where there is none in its kind.
  virtual std::optional<process_status> process() const { return std::nullopt; }
};

using connector_factory = std::function<std::unique_ptr<connector>()>;

}  // namespace mcpbx::mcp
