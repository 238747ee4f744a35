// Sockets and chunks.
#include "test/bench/model_connection.hpp"

#include "test/bench/process.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

namespace mcpbx::bench {

model_connection::model_connection(int port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
    give_up("bench_model does not listen");
  const int on = 1;
  ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

model_connection::~model_connection() {
  ::close(fd_);
}

void model_connection::post(std::string_view body) {
  std::string text =
      "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: " +
      std::to_string(body.size()) + "\r\n\r\n";
  text += body;
  for (std::string_view left = text; !left.empty();) {
    const ssize_t n = ::send(fd_, left.data(), left.size(), MSG_NOSIGNAL);
    if (n <= 0) give_up("bench_model closed the connection");
    left.remove_prefix(static_cast<std::size_t>(n));
  }
}

void model_connection::fill() {
  if (at_ == in_.size()) {
    in_.clear();
    at_ = 0;
  }
  static std::array<char, 1 << 17> buffer;
  const ssize_t n = ::read(fd_, buffer.data(), buffer.size());
  if (n <= 0) give_up("bench_model closed the connection");
  in_.append(buffer.data(), static_cast<std::size_t>(n));
}

bool model_connection::next(std::string_view& chunk) {
  const std::string_view all = in_;
  if (!in_body_) {
    const auto head = all.find("\r\n\r\n", at_);
    if (head == std::string_view::npos) return false;
    at_ = head + 4;
    in_body_ = true;
  }
  const auto line = all.find("\r\n", at_);
  if (line == std::string_view::npos) return false;
  const auto size = static_cast<std::size_t>(std::strtoul(in_.c_str() + at_, nullptr, 16));
  if (all.size() < line + 2 + size + 2) return false;
  chunk = all.substr(line + 2, size);
  at_ = line + 2 + size + 2;
  if (size == 0) in_body_ = false;
  return true;
}

}  // namespace mcpbx::bench
