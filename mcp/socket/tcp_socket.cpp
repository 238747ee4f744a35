// Opens and accepts on a loopback port, and names its callers.
#include "mcp/socket/tcp_socket.hpp"

#include <boost/asio/ip/tcp.hpp>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

namespace mcpbx::mcp::socket {
namespace {

namespace asio = boost::asio;
using endpoint = asio::ip::tcp::endpoint;

std::optional<endpoint> endpoint_of(std::string_view address) {
  const auto colon = address.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  auto host = address.substr(0, colon);
  const auto digits = address.substr(colon + 1);
  std::uint16_t port = 0;
  const auto [end, wrong] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (wrong != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  if (host == "localhost") host = "127.0.0.1";
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  boost::system::error_code failed;
  const auto ip = asio::ip::make_address(std::string(host), failed);
  if (failed || !ip.is_loopback()) return std::nullopt;
  return endpoint(ip, port);
}

std::string text_of(const endpoint& e) {
  const auto host = e.address().to_string();
  return (e.address().is_v6() ? "[" + host + "]" : host) + ":" + std::to_string(e.port());
}

// Returns the address of the socket or of its peer; `ask` is getsockname or getpeername.
template <class Ask>
std::string name_of(int fd, Ask ask) {
  endpoint e;
  auto size = static_cast<socklen_t>(e.capacity());
  if (ask(fd, e.data(), &size) != 0) return "unknown";
  e.resize(size);
  return text_of(e);
}

}  // namespace

result<std::unique_ptr<loopback_listener>> loopback_listener::open(const asio::any_io_executor& executor,
                                                                   time_source& time, const std::string& address) {
  const auto where = endpoint_of(address);
  if (!where)
    return fail(errc::invalid_argument, "HTTP cannot be served at " + address +
                                            ": expected HOST:PORT on this machine (127.0.0.1, [::1] or localhost)");
  const auto failed = [&] {
    const int number = errno;
    return fail(
        errc::io,
        "HTTP cannot be served at " + address + ": " + std::strerror(number) +
            (number == EADDRINUSE ? "; choose another port with --http, or as http.address with `mcpbx edit`" : ""));
  };
  process::unique_fd socket(
      ::socket(where->protocol().family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, where->protocol().protocol()));
  const int on = 1;
  if (socket.get() < 0 || ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      ::bind(socket.get(), where->data(), static_cast<socklen_t>(where->size())) != 0 ||
      ::listen(socket.get(), SOMAXCONN) != 0)
    return failed();
  auto name = name_of(socket.get(), ::getsockname);
  return std::make_unique<loopback_listener>(executor, time, std::move(socket), std::move(name));
}

void loopback_listener::start(std::function<void(int fd, const std::string& from)> on_connection) {
  acceptor_.start([told = std::move(on_connection)](process::unique_fd fd) {
    const int on = 1;
    ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    const auto from = name_of(fd.get(), ::getpeername);
    told(fd.release(), from);
  });
}

}  // namespace mcpbx::mcp::socket
