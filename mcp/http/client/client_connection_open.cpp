// Opens a connection: looks the host up, tries one address after another, makes the tunnel through a proxy, starts TLS.
#include "mcp/http/client/client_connection.hpp"
#include "mcp/support/read_size.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/write.hpp>
#include <openssl/ssl.h>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace mcpbx::http::clients {

namespace asio = boost::asio;

namespace {

// Longest answer of a proxy to CONNECT in bytes.
constexpr std::size_t longest_tunnel_answer = 16 * 1024;

// Returns the status in the first line of an HTTP answer, or 0.
int status_of(std::string_view head) {
  if (!head.starts_with("HTTP/1.") || head.size() < 12 || head[8] != ' ') return 0;
  int status = 0;
  for (const char c : head.substr(9, 3)) {
    if (c < '0' || c > '9') return 0;
    status = status * 10 + (c - '0');
  }
  return status;
}

}  // namespace

void client_connection::open(std::shared_ptr<task> t) {
  task_ = std::move(t);
  task_->line = weak_from_this();
  task_->connecting_since = time_.now();
  stage_ = stage::resolve;
  arm(deadline());
  const auto owner = owner_.lock();
  if (!owner) return fail(stage::resolve, errc::cancelled, "was not asked: the client is shutting down");
  if (!route_->to.socket.empty()) {
    endpoints_.emplace_back(asio::local::stream_protocol::endpoint(route_->to.socket));
    stage_ = stage::connect;
    return connect_next();
  }
  const auto& host = route_->via ? route_->via->host : route_->to.host;
  const auto port = route_->via ? route_->via->port : route_->to.port;
  owner->resolve(this, host, port, [self = shared_from_this()](result<connection_owner::endpoints> found) {
    if (self->closed_) return;
    if (!found) return self->fail(stage::resolve, errc::unavailable, "is not known: " + found.error().message);
    self->endpoints_ = *std::move(found);
    if (!self->keep_allowed()) return;
    self->stage_ = stage::connect;
    self->connect_next();
  });
}

// Drops the addresses that the request must not use. Ends the exchange and returns false if none is left.
bool client_connection::keep_allowed() {
  if (!route_->addresses || route_->via) return true;
  std::string why;
  std::erase_if(endpoints_, [&](const stream_socket::endpoint_type& to) {
    asio::ip::tcp::endpoint host;
    host.resize(to.size());
    std::memcpy(host.data(), to.data(), to.size());
    auto allowed = route_->addresses->check(host.address().to_string());
    if (!allowed) why = std::move(allowed.error().message);
    return !allowed;
  });
  if (!endpoints_.empty() || why.empty()) return true;
  fail(stage::resolve, errc::protocol, "was not asked: " + why);
  return false;
}

void client_connection::connect_next() {
  if (next_endpoint_ == endpoints_.size())
    return fail(stage::connect, errc::unavailable, "could not be reached: " + last_connect_error_);
  const auto left = endpoints_.size() - next_endpoint_;
  const auto& to = endpoints_[next_endpoint_++];
  const auto now = time_.now();
  // An address that drops packets must not use up the time of the others.
  attempt_until_ =
      left == 1 ? never : now + std::max<duration>((deadline() - now) / static_cast<int>(left), milliseconds(1));
  arm(deadline());
  boost::system::error_code ec;
  socket_.close(ec);
  const int fd = ::socket(to.protocol().family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0)
    ec.assign(errno, boost::system::system_category());
  else
    socket_.assign(to.protocol(), fd, ec);
  if (ec) {
    last_connect_error_ = ec.message();
    return connect_next();
  }
  socket_.async_connect(to, [self = shared_from_this()](const boost::system::error_code& failed) {
    if (self->closed_) return;
    if (failed) {
      self->last_connect_error_ =
          failed == asio::error::operation_aborted ? "it did not answer in time" : failed.message();
      return self->connect_next();
    }
    self->connected();
  });
}

void client_connection::connected() {
  attempt_until_ = never;
  if (route_->to.socket.empty()) {
    boost::system::error_code ignored;
    socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
    if (task_->request.long_lived) probe_when_silent();
  }
  if (!route_->to.tls) return send();
  if (route_->via) return open_tunnel();
  start_tls();
}

// Lets the system probe the peer of a silent connection, which may stay silent for hours and live.
void client_connection::probe_when_silent() {
  boost::system::error_code ignored;
  socket_.set_option(asio::socket_base::keep_alive(true), ignored);
  for (const auto& [name, value] : {std::pair{TCP_KEEPIDLE, 60}, {TCP_KEEPINTVL, 20}, {TCP_KEEPCNT, 3}})
    ::setsockopt(socket_.native_handle(), IPPROTO_TCP, name, &value, sizeof value);
}

// Asks the proxy for a tunnel (RFC 9110, section 9.3.6).
void client_connection::open_tunnel() {
  const auto target = route_->to.origin.substr(std::string_view("https://").size());
  tunnel_ = "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n";
  if (!route_->via->authorization.empty()) tunnel_ += "Proxy-Authorization: " + route_->via->authorization + "\r\n";
  tunnel_ += "\r\n";
  asio::async_write(socket_, asio::buffer(tunnel_),
                    [self = shared_from_this()](const boost::system::error_code& ec, std::size_t) {
                      if (self->closed_) return;
                      if (ec)
                        return self->fail(stage::connect, errc::unavailable, "could not be reached: " + ec.message());
                      wipe(self->tunnel_);
                      self->read_tunnel();
                    });
}

void client_connection::read_tunnel() {
  const auto had = tunnel_.size();
  const auto room = read_size(1024);
  tunnel_.resize(had + room);
  socket_.async_read_some(
      asio::buffer(tunnel_.data() + had, room),
      [self = shared_from_this(), had](const boost::system::error_code& ec, std::size_t n) {
        if (self->closed_) return;
        auto& answer = self->tunnel_;
        answer.resize(had + n);
        if (ec)
          return self->fail(stage::connect, errc::unavailable,
                            "could not be reached: the proxy closed the connection without an answer");
        if (answer.find("\r\n\r\n") != std::string::npos) return self->on_tunnel_answer();
        if (answer.size() < longest_tunnel_answer) return self->read_tunnel();
        self->fail(stage::connect, errc::protocol, "could not be reached: the proxy's answer is not HTTP");
      });
}

void client_connection::on_tunnel_answer() {
  const auto answer = std::exchange(tunnel_, {});
  const int status = status_of(answer);
  if (status == 0) return fail(stage::connect, errc::protocol, "could not be reached: the proxy's answer is not HTTP");
  const auto refused = "could not be reached: the proxy answered with status " + std::to_string(status);
  if (status == 407)
    return fail(stage::connect, errc::config, refused + ": check the user name and the password in HTTPS_PROXY");
  // A refusal of the proxy is final, a failure may be temporary.
  if (status / 100 == 4 && status != 408 && status != 429)
    return fail(stage::connect, errc::config, refused + ": it does not allow this address");
  if (status / 100 != 2) return fail(stage::connect, errc::unavailable, refused);
  // The client speaks first in TLS, so bytes behind the proxy's answer are a fault.
  if (!answer.ends_with("\r\n\r\n") || answer.find("\r\n\r\n") + 4 != answer.size())
    return fail(stage::connect, errc::protocol, "could not be reached: the proxy sent more than its answer");
  start_tls();
}

void client_connection::start_tls() {
  stage_ = stage::tls;
  const auto owner = owner_.lock();
  if (!owner) return fail(stage::tls, errc::cancelled, "was not asked: the client is shutting down");
  owner->with_tls(route_->trust, [self = shared_from_this()](result<tls_context> context) {
    if (self->closed_) return;
    if (!context) return self->fail(stage::tls, context.error().code, "cannot be asked: " + context.error().message);
    self->context_ = *context;
    auto stream = make_tls_stream(self->socket_, self->context_, self->route_->to.host);
    if (!stream) return self->fail(stage::tls, stream.error().code, "cannot be asked: " + stream.error().message);
    self->tls_ = *std::move(stream);
    self->tls_->async_handshake(asio::ssl::stream_base::client, [self](const boost::system::error_code& ec) {
      if (self->closed_) return;
      if (ec) return self->handshake_failed(ec);
      self->send();
    });
  });
}

void client_connection::handshake_failed(const boost::system::error_code& ec) {
  const auto why = client_certificate_failure(ec);
  const bool refused = !why.empty() || SSL_get_verify_result(tls_->native_handle()) != X509_V_OK;
  const bool not_found = context_.by_name && chain_failed(*tls_);
  const auto owner = owner_.lock();
  if (owner && refused) owner->tls_failed(route_->trust, not_found);
  if (owner && not_found && !task_->trusted_all) {
    auto t = std::move(task_);
    t->trusted_all = true;
    close();
    return owner->run_fresh(std::move(t));
  }
  if (!why.empty()) return fail(stage::tls, errc::peer, "was not asked: " + why);
  fail(stage::tls, errc::unavailable, "was refused: " + tls_failure(*tls_, ec));
}

}  // namespace mcpbx::http::clients
