// One connection to one origin and the exchange that runs on it: look-up, TCP or Unix socket, proxy, TLS
// (client_connection_open.cpp), request and answer (client_connection.cpp), all four limits with one timer
// (client_connection_limits.cpp). Afterwards it waits in the pool with a read pending, so that a peer's close is seen
// at once.
#pragma once
#include "mcp/http/client/answer_buffer.hpp"
#include "mcp/http/client/gzip.hpp"
#include "mcp/http/client/http_client.hpp"
#include "mcp/http/client/read_gate.hpp"
#include "mcp/http/client/response_parser.hpp"
#include "mcp/http/client/tls.hpp"
#include "mcp/http/stream_socket.hpp"
#include "mcp/http/url.hpp"
#include "mcp/support/time.hpp"

#include <boost/asio/buffer.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mcpbx::http::clients {

class client_connection;

/// Way to an address.
struct route {
  url_parts to;
  std::optional<proxy> via;
  trust trust;
  std::string key;  ///< key of the pool: the origin, its trust settings and its rule of addresses
  std::shared_ptr<const address_rule> addresses = nullptr;
};

/// An exchange while it runs; shared by the user's handle and its connection.
struct task {
  explicit task(clients::request&& r) : request(std::move(r)) {}
  ~task() { wipe(head); }
  task(const task&) = delete;
  task& operator=(const task&) = delete;

  request request;
  std::shared_ptr<const route> route;
  response_events* events = nullptr;  ///< null once the user has left or the last event was delivered
  std::string head;                   ///< request line and headers, which may be secrets
  time_point started;
  time_point connecting_since;  ///< start of the present connection; later than `started` if it replaced a stale one
  bool retried = false;         ///< a stale connection was replaced already
  bool trusted_all = false;     ///< a connection was replaced because its peer's root was not found by name
  bool sent = false;            ///< the whole request was sent on the present connection
  std::weak_ptr<client_connection> line;  ///< the present connection
  std::optional<read_gate::place> place{};
};

/// Interface of the client that owns a connection. The owner may be gone.
class connection_owner {
 public:
  using endpoints = std::vector<stream_socket::endpoint_type>;
  virtual ~connection_owner() = default;
  /// Looks a host up. `done` is not called after forget(asker).
  virtual void resolve(const client_connection* asker, const std::string& host, std::uint16_t port,
                       std::function<void(result<endpoints>)> done) = 0;
  /// A certificate was refused under these settings, by us or by the peer: files that they name are read again for the
  /// next handshake, since they may be others by then. With `not_found_by_name`, every one of the system's certificates
  /// is read for further handshakes.
  virtual void tls_failed(const trust& t, bool not_found_by_name) = 0;
  virtual void with_tls(const trust& t, std::function<void(result<tls_context>)> done) = 0;
  /// Takes a connection back into the pool after an exchange, and calls its start_read() soon. It may run another
  /// exchange at once. Returns false if it is not wanted.
  virtual bool take_back(const std::shared_ptr<client_connection>& c) = 0;
  /// Takes the memory of a head that is not needed any more, for a later one.
  virtual void keep_text(std::string&& head) = 0;
  virtual void forget(const client_connection* c) = 0;
  /// Runs an exchange on a fresh connection, because the pooled one was stale or trusted too few certificates.
  virtual void run_fresh(std::shared_ptr<task> t) = 0;
};

class client_connection final : public std::enable_shared_from_this<client_connection>, private parser_sink {
 public:
  client_connection(boost::asio::any_io_executor executor, time_source& time, std::weak_ptr<connection_owner> owner,
                    std::shared_ptr<const route> route);

  /// Connects, then runs `t`. To be called once, before anything else.
  void open(std::shared_ptr<task> t);
  /// Runs a further exchange on a connection that came back.
  void reuse(std::shared_ptr<task> t);
  /// Closes the connection without an event.
  void close();
  /// Drops the exchange `t`, whose user has left.
  void abandon(const task* t);
  bool is_open() const noexcept { return !closed_; }
  /// Returns true until it can be sent on.
  bool is_connecting() const noexcept { return stage_ <= stage::tls; }
  const std::string& key() const noexcept { return route_->key; }
  /// Sets the time at which the connection leaves the pool.
  void keep_until(time_point when);
  /// Begins to read unless a read is pending; in the pool it waits for the peer's close.
  void start_read();

 private:
  bool keep_allowed();
  void connect_next();
  void connected();
  void probe_when_silent();
  void open_tunnel();
  void read_tunnel();
  void on_tunnel_answer();
  void start_tls();
  void handshake_failed(const boost::system::error_code& ec);
  void send();
  auto when_sent();
  void send_record();
  void send_pieces();
  void send_rest(std::size_t taken);
  std::vector<boost::asio::const_buffer> all_pieces() const;
  bool may_read();
  void read_some();
  void on_read(const boost::system::error_code& ec, std::size_t n);
  void parse();
  void ended(const boost::system::error_code& ec);
  void note_keep_alive(std::string_view value);
  void complete();
  std::string subject() const;
  void fail(stage at, errc code, std::string what);
  time_point deadline() const;
  void arm(time_point when);
  void on_timer();
  void on_time_limit();
  void deliver();

  bool on_parsed_head(int status, std::vector<header> headers) override;
  void on_parsed_body(std::string_view bytes) override;

  boost::asio::any_io_executor executor_;
  time_source& time_;
  std::weak_ptr<connection_owner> owner_;
  std::shared_ptr<const route> route_;
  stream_socket socket_;
  tls_context context_;
  std::unique_ptr<tls_stream> tls_;
  std::unique_ptr<timer> timer_;
  time_point armed_ = never;

  std::shared_ptr<task> task_;
  std::optional<response_parser> parser_;
  std::unique_ptr<gunzip> packed_;  // decompressor of a gzip body
  std::string tunnel_;              // request to the proxy, then its answer
  stage stage_ = stage::resolve;
  milliseconds kept_by_peer_{std::chrono::hours(24)};  // time for which the peer keeps an idle connection
  time_point stage_began_, keep_until_ = never, attempt_until_ = never;
  connection_owner::endpoints endpoints_;
  std::size_t next_endpoint_ = 0;
  std::string last_connect_error_;

  std::string record_;  // head and body in one piece, while they are sent over TLS
  answer_buffer buffer_;
  std::size_t room_ = 0;  // space for the pending read
  bool sending_ = false, reading_ = false, reused_ = false, any_byte_ = false, closed_ = false;
  bool held_back_ = false;  // waits for permission of the gate to read on
};

}  // namespace mcpbx::http::clients
