// Blocking reads and writes on a Unix socket, with a time limit for reads.
#include "test/transcripts/wire.hpp"

#include "test/e2e/harness/processes.hpp"

#include <doctest/doctest.h>

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

namespace mcpbx::transcripts {

wire::wire(const std::string& socket) : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  REQUIRE(socket.size() < sizeof to.sun_path);
  std::memcpy(to.sun_path, socket.data(), socket.size());
  const timeval patience{e2e::watchdog.count(), 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  if (::connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0)
    FAIL("cannot connect to ", socket, ": ", std::strerror(errno));
}

wire::~wire() {
  ::close(fd_);
}

void wire::send(std::string_view bytes) const {
  while (!bytes.empty()) {
    const auto n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) FAIL("the daemon does not read: ", std::strerror(errno));
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

bool wire::read_more() {
  std::array<char, 1 << 16> buffer;
  const auto n = ::recv(fd_, buffer.data(), buffer.size(), 0);
  if (n < 0 && errno != ECONNRESET) FAIL("nothing came before the watchdog; so far: ", in_);
  if (n <= 0) return false;
  in_.append(buffer.data(), static_cast<std::size_t>(n));
  return true;
}

std::optional<std::string> wire::line() {
  for (;;) {
    if (const auto end = in_.find('\n'); end != std::string::npos) {
      auto line = in_.substr(0, end);
      in_.erase(0, end + 1);
      return line;
    }
    if (!read_more()) return std::nullopt;
  }
}

std::string wire::rest() {
  while (read_more()) {
  }
  return std::exchange(in_, {});
}

void wire::end_input() const {
  ::shutdown(fd_, SHUT_WR);
}

std::string without_chunks(std::string_view answer) {
  const auto head_end = answer.find("\r\n\r\n");
  if (head_end == std::string_view::npos) return std::string(answer);
  std::string out(answer.substr(0, head_end + 4));
  auto body = answer.substr(head_end + 4);
  if (out.find("\r\nTransfer-Encoding: chunked\r\n") == std::string::npos) return out + std::string(body);
  for (;;) {
    std::size_t size = 0;
    const auto line = body.substr(0, body.find("\r\n"));
    const auto read = std::from_chars(line.data(), line.data() + line.size(), size, 16);
    if (read.ec != std::errc() || body.size() < line.size() + 2 + size + 2) FAIL("a broken chunk: ", std::string(body));
    out += body.substr(line.size() + 2, size);
    body.remove_prefix(line.size() + 2 + size + 2);
    if (size > 0) continue;
    if (!body.empty()) FAIL("something stands behind the last chunk: ", std::string(body));
    return out;
  }
}

}  // namespace mcpbx::transcripts
