// Requests out, answers in.
#include "test/bench/http_channel.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <utility>

namespace mcpbx::bench {
namespace {

std::string_view header(std::string_view head, std::string_view key) {
  for (auto line = head.find("\r\n"); line != std::string_view::npos; line = head.find("\r\n", line + 2)) {
    const auto text = head.substr(line + 2, head.find("\r\n", line + 2) - line - 2);
    if (text.size() > key.size() && ::strncasecmp(text.data(), key.data(), key.size()) == 0)
      return text.substr(std::min(text.find_first_not_of(' ', key.size()), text.size()));
  }
  return {};
}

// The quoted word behind `key`; finds it where channel writes it.
std::string_view word_behind(std::string_view key, std::string_view text) {
  const auto at = text.find(key);
  if (at == std::string_view::npos) return {};
  const auto begin = at + key.size();
  return text.substr(begin, text.find('"', begin) - begin);
}

void append_modern_headers(std::string_view message, std::string& out) {
  out += "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: ";
  const auto method = word_behind(R"("method":")", message);
  out += method;
  out += "\r\n";
  // Behind `_meta`, which names the program in a member of the same name.
  if (method == "tools/call") out.append("Mcp-Name: ").append(word_behind(R"(}},"name":")", message)).append("\r\n");
}

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

}  // namespace

int connect_port(int port) {
  auto address = loopback(port);
  for (const double limit = now_us() + 20e6; now_us() < limit; ::usleep(500)) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
      const int on = 1;
      ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      return fd;
    }
    ::close(fd);
  }
  give_up("nothing listens at port " + std::to_string(port));
}

int free_port() {
  auto address = loopback(0);
  socklen_t size = sizeof address;
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  auto* const raw = reinterpret_cast<sockaddr*>(&address);
  if (::bind(fd, raw, size) != 0 || ::getsockname(fd, raw, &size) != 0) give_up("there is no free port");
  ::close(fd);
  return ntohs(address.sin_port);
}

http_channel::http_channel(int port, bool modern, const process& weighed)
    : channel(modern), port_(port), weighed_(weighed) {
  shake_hands();
  settle();
  if (list_tools() == 0) give_up("no tools are listed over HTTP");
}

http_channel::~http_channel() {
  for (const auto* all : {&busy_, &free_})
    for (const auto& c : *all) ::close(c->fd);
}

void http_channel::settle() {
  while (!busy_.empty()) pump([](std::string_view) {});
}

void http_channel::send(std::string_view message) {
  std::unique_ptr<connection> c;
  if (free_.empty()) {
    c = std::make_unique<connection>();
    c->fd = connect_port(port_);
    ::fcntl(c->fd, F_SETFL, O_NONBLOCK);
  } else {
    c = std::move(free_.back());
    free_.pop_back();
  }
  c->out = "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port_) +
           "\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n";
  if (modern())
    append_modern_headers(message, c->out);
  else
    c->out += "MCP-Protocol-Version: 2025-11-25\r\n";
  if (!session_id_.empty()) c->out += "Mcp-Session-Id: " + session_id_ + "\r\n";
  c->out += "Content-Length: " + std::to_string(message.size()) + "\r\n\r\n";
  c->out += message;
  c->written = 0;
  write(*c);
  busy_.push_back(std::move(c));
}

void http_channel::write(connection& c) {
  while (c.written < c.out.size()) {
    const ssize_t n = ::send(c.fd, c.out.data() + c.written, c.out.size() - c.written, MSG_NOSIGNAL);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n < 0) give_up("the target closed an HTTP connection");
    c.written += static_cast<std::size_t>(n);
  }
}

void http_channel::pump(const line_handler& f) {
  ready_.clear();
  for (const auto& c : busy_)
    ready_.push_back({c->fd, static_cast<short>(c->written < c->out.size() ? POLLIN | POLLOUT : POLLIN), 0});
  if (::poll(ready_.data(), ready_.size(), 60'000) <= 0) give_up("the target said nothing over HTTP for 60 s");
  static std::array<char, 65536> buffer;
  // From the end, since answered connections leave the list. `f` is called when they are free, so that it may send.
  std::vector<std::string> bodies;
  for (std::size_t i = ready_.size(); i-- > 0;) {
    auto& c = *busy_[i];
    if ((ready_[i].revents & POLLOUT) != 0) write(c);
    if ((ready_[i].revents & (POLLIN | POLLHUP | POLLERR)) == 0) continue;
    const ssize_t n = ::read(c.fd, buffer.data(), buffer.size());
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (n <= 0) give_up("the target closed an HTTP connection");
    c.in.append(buffer.data(), static_cast<std::size_t>(n));
    if (!take(c, [&](std::string_view body) { bodies.emplace_back(body); })) continue;
    free_.push_back(std::move(busy_[i]));
    busy_.erase(busy_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  for (const auto& body : bodies) f(body);
}

// Takes a complete answer; false if it is not complete yet.
bool http_channel::take(connection& c, const line_handler& f) {
  const auto end = c.in.find("\r\n\r\n");
  if (end == std::string::npos) return false;
  const std::string_view head = std::string_view(c.in).substr(0, end + 2);
  const auto length = header(head, "content-length:");
  if (length.empty() || head.size() < 12 || head[9] != '2')
    give_up("an answer over HTTP is no JSON: " + std::string(head));
  const auto size = std::strtoul(std::string(length).c_str(), nullptr, 10);
  if (c.in.size() < end + 4 + size) return false;
  if (const auto id = header(head, "mcp-session-id:"); !id.empty()) session_id_ = id;
  if (size > 0) f(std::string_view(c.in).substr(end + 4, size));
  c.in.clear();
  return true;
}

}  // namespace mcpbx::bench
