// One epoll loop over all connections; delayed answers leave in the order of their requests.
#include "test/bench/echo/echo_http.hpp"

#include "test/bench/process.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace mcpbx::bench {
namespace {

struct connection {
  std::string in, out;
  std::size_t written = 0;
  bool waits = false;  // for the peer to read
};

struct late_answer {
  double due_us = 0;
  int fd = -1;
  std::string text;
};

class http_echo {
 public:
  http_echo(echo_answers& answers, int delay_ms) : answers_(answers), delay_us_(delay_ms * 1e3) {}
  int run();

 private:
  void accept_all();
  void read(int fd);
  void parse(int fd, connection& c);
  void reply(int fd, connection& c, std::string_view method, std::string_view body);
  void write(int fd, connection& c);
  void watch(int fd, std::uint32_t events) const {
    epoll_event e{.events = events, .data = {.fd = fd}};
    ::epoll_ctl(poll_, EPOLL_CTL_MOD, fd, &e);
  }
  void drop(int fd) {
    known_.erase(fd);
    ::close(fd);
  }
  int send_late();

  echo_answers& answers_;
  double delay_us_;
  int listener_ = -1, poll_ = -1;
  std::unordered_map<int, connection> known_;
  std::deque<late_answer> late_;
  std::string message_;
};

int http_echo::run() {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const raw = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener_, raw, size) != 0 || ::listen(listener_, 1024) != 0 || ::getsockname(listener_, raw, &size) != 0)
    return 1;
  std::printf("%d\n", ntohs(address.sin_port));
  std::fflush(stdout);
  poll_ = ::epoll_create1(EPOLL_CLOEXEC);
  epoll_event e{.events = EPOLLIN, .data = {.fd = listener_}};
  ::epoll_ctl(poll_, EPOLL_CTL_ADD, listener_, &e);
  std::array<epoll_event, 256> ready;
  for (;;) {
    const int n = ::epoll_wait(poll_, ready.data(), static_cast<int>(ready.size()), send_late());
    for (int i = 0; i < n; ++i) {
      const int fd = ready[static_cast<std::size_t>(i)].data.fd;
      if (fd == listener_) {
        accept_all();
        continue;
      }
      const auto events = ready[static_cast<std::size_t>(i)].events;
      if ((events & EPOLLOUT) != 0) write(fd, known_[fd]);
      if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0 && known_.contains(fd)) read(fd);
    }
  }
}

// Sends what is due. Returns the time to the next answer for epoll_wait.
int http_echo::send_late() {
  const double now = now_us();
  for (; !late_.empty() && late_.front().due_us <= now; late_.pop_front())
    if (const auto found = known_.find(late_.front().fd); found != known_.end()) {
      found->second.out += late_.front().text;
      write(found->first, found->second);
    }
  return late_.empty() ? -1 : static_cast<int>((late_.front().due_us - now) / 1e3) + 1;
}

void http_echo::accept_all() {
  for (;;) {
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) return;
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    known_[fd] = {};
    epoll_event e{.events = EPOLLIN, .data = {.fd = fd}};
    ::epoll_ctl(poll_, EPOLL_CTL_ADD, fd, &e);
  }
}

void http_echo::read(int fd) {
  static std::array<char, 65536> buffer;
  const ssize_t n = ::read(fd, buffer.data(), buffer.size());
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n <= 0) return drop(fd);
  auto& c = known_[fd];
  c.in.append(buffer.data(), static_cast<std::size_t>(n));
  parse(fd, c);
}

void http_echo::parse(int fd, connection& c) {
  std::size_t at = 0;
  for (;;) {
    const std::string_view rest = std::string_view(c.in).substr(at);
    const auto end = rest.find("\r\n\r\n");
    if (end == std::string_view::npos) break;
    std::size_t length = 0;
    constexpr std::string_view key = "content-length:";
    for (auto line = rest.find("\r\n"); line < end; line = rest.find("\r\n", line + 2))
      if (::strncasecmp(rest.data() + line + 2, key.data(), key.size()) == 0)
        length = std::strtoul(rest.data() + line + 2 + key.size(), nullptr, 10);
    if (rest.size() < end + 4 + length) break;
    reply(fd, c, rest.substr(0, rest.find(' ')), rest.substr(end + 4, length));
    at += end + 4 + length;
  }
  c.in.erase(0, at);
  write(fd, c);
}

void http_echo::reply(int fd, connection& c, std::string_view method, std::string_view body) {
  message_.clear();
  if (method == "POST") answers_.answer(body, message_);
  std::string head;
  if (method != "POST")
    head = "HTTP/1.1 405 Method Not Allowed\r\n";
  else if (message_.empty())
    head = "HTTP/1.1 202 Accepted\r\n";
  else
    head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
  head += "Content-Length: " + std::to_string(message_.size()) + "\r\n\r\n";
  if (delay_us_ > 0) {
    late_.push_back({now_us() + delay_us_, fd, head + message_});
    return;
  }
  c.out += head;
  c.out += message_;
}

void http_echo::write(int fd, connection& c) {
  while (c.written < c.out.size()) {
    const ssize_t n = ::send(fd, c.out.data() + c.written, c.out.size() - c.written, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) {
      if (!c.waits) watch(fd, EPOLLIN | EPOLLOUT);
      c.waits = true;
      return;
    }
    if (n < 0) return drop(fd);
    c.written += static_cast<std::size_t>(n);
  }
  if (c.waits) watch(fd, EPOLLIN);
  c.waits = false;
  c.out.clear();
  c.written = 0;
}

}  // namespace

int serve_http(echo_answers& answers, int delay_ms) {
  return http_echo(answers, delay_ms).run();
}

}  // namespace mcpbx::bench
