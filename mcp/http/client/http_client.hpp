// The one HTTP client: HTTP/1.1 over TCP, TLS or a Unix socket, through a proxy where the environment names one;
// connections kept and pooled per origin, four time limits, bodies as they arrive. Everything happens on the speaking
// thread; names are looked up and certificates are loaded on others.
#pragma once
#include "mcp/async/lane.hpp"
#include "mcp/http/client/header_block.hpp"
#include "mcp/http/client/name_lookups.hpp"
#include "mcp/http/client/proxy.hpp"
#include "mcp/http/header.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/support/error.hpp"
#include "mcp/support/time.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::http::clients {

/// Limits of one exchange (docs/guarantees.md, G30). Any byte resets `idle`; nothing resets `total`.
struct limits {
  milliseconds connect{10'000};      ///< name look-up, TCP and TLS together
  milliseconds first_byte{300'000};  ///< from the last byte sent to the first byte of the answer
  milliseconds idle{120'000};        ///< between two bytes of the answer
  milliseconds total{600'000};
  std::size_t max_body = 32u << 20;  ///< bytes of the answer's body, as sent and when unpacked
};

/// Trust settings for TLS. Certificates and host names are always verified.
struct trust {
  std::string ca_file;         ///< PEM bundle; empty: the system's, or the one of SSL_CERT_FILE and SSL_CERT_DIR
  std::string cert_file = {};  ///< PEM chain that proves who we are; empty: none
  std::string key_file = {};   ///< PEM key of it; empty: in cert_file
  bool system_too = false;     ///< the system's certificates are trusted beside those of ca_file
  friend auto operator<=>(const trust&, const trust&) = default;
};

/// Judge of the addresses that a host's name turns out to have, for requests whose address comes from a stranger.
/// Through a proxy it is not asked, since the proxy looks names up.
struct address_rule {
  std::string name;  ///< requests with the same name share connections, so it must say all that `check` depends on
  /// Fails with a clause ("it has the address 10.0.0.1 of a private network"); such an address is not connected to.
  std::function<result<void>(const std::string& address)> check;
};

struct request {
  std::string method = "POST";
  std::string url;  ///< http://, https:// or unix: with path and query (parse_url); a fragment is ignored
  /// Host and User-Agent are added unless they are here. Headers that frame a message (Content-Length,
  /// Transfer-Encoding, Connection, …) are refused; only the client sets them.
  std::vector<header> headers;
  std::shared_ptr<const header_block> common = nullptr;  ///< further headers, under the same rules; null: none
  json::segments body;
  limits limits;
  trust trust;
  std::shared_ptr<const address_rule> addresses = nullptr;  ///< null: any address
  bool accept_gzip = false;  ///< ask for a gzip body; one that comes unasked is decompressed as well
  /// Refuse a packed body: unpacking one is work that the peer can make a thousand times larger than its bytes.
  bool refuse_packed = false;
  /// Send the request again, on a fresh connection, when a pooled one turns out to be closed. False for a request that
  /// must not arrive twice: the peer may have read it before it closed.
  bool repeat_stale = true;
  bool may_move = true;     ///< to a connection that becomes free while its own is being made
  bool long_lived = false;  ///< probe a silent TCP connection, so that a peer that is gone is noticed
};

/// The progress of an exchange when it failed, which decides if repeating it is safe (L13, G31).
enum class stage : std::uint8_t { resolve, connect, tls, send, first_byte, body };

struct failure {
  stage stage = stage::connect;
  error why;  ///< names the host, what happened and the limit that was hit
};

/// Receiver of an exchange's events, none of which comes from inside start(). on_end or on_failure comes exactly once,
/// as the last one.
class response_events {
 public:
  virtual ~response_events() = default;
  /// Status and headers (names as sent; compare without case).
  virtual void on_head(int status, const std::vector<header>& headers) = 0;
  virtual void on_body(std::string_view bytes) = 0;
  /// All bytes read so far were delivered, and the answer is not complete. A user that knows that the rest is worthless
  /// need not wait for on_end.
  virtual void on_pause() {}
  virtual void on_end() = 0;
  virtual void on_failure(failure f) = 0;
};

/// A running exchange. Destroying it closes its connection unless the answer was complete; no event comes afterwards.
class exchange {
 public:
  virtual ~exchange() = default;
  /// Returns true if the whole request was given to the network.
  virtual bool sent() const noexcept = 0;
};

class client {
 public:
  struct options {
    std::size_t max_idle_per_origin = 64;  ///< equals the largest number of runs of one caller
    milliseconds keep_idle{60'000};
    proxy_rules proxies;
    name_lookups::look_up look_up = {};  ///< empty: the system's
  };
  struct counters {
    std::uint64_t connections = 0, reused = 0, exchanges = 0;
  };
  /// `compute` is a lane for long work, such as inflating, and must outlive the client. Names are looked up on threads
  /// of its own.
  client(boost::asio::any_io_executor executor, time_source& time, async::lane& compute, options o);
  ~client();
  client(const client&) = delete;
  client& operator=(const client&) = delete;

  /// Begins an exchange, on a connection of the pool or a fresh one; while that is made, moves it to one that becomes
  /// free, if request::may_move allows it. Replaces a pooled connection that ended before any byte of the answer once,
  /// if request::repeat_stale allows it. Follows no redirects. `events` must outlive the returned object.
  std::unique_ptr<exchange> start(request r, response_events& events);
  const counters& counts() const noexcept;

 private:
  class impl;
  std::shared_ptr<impl> impl_;
};

}  // namespace mcpbx::http::clients
