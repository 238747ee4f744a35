// The model endpoint of the benchmark: OpenAI Chat Completions on loopback, always streamed, without thinking.
//   bench_model          prints its port and serves until it is ended
// The model's name is its script: bench-R-T-G makes R rounds that each call the tool echo, then an answer of T tokens
// with G microseconds between them.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

namespace {

using steady = std::chrono::steady_clock;

void append_chunk(std::string& out, std::string_view data) {
  char size[24];
  out.append(size, static_cast<std::size_t>(std::snprintf(size, sizeof size, "%zx\r\n", data.size())));
  out += data;
  out += "\r\n";
}

// One event of the stream as a chunk of its own.
void append_event(std::string& out, std::string_view delta, std::string_view finish) {
  std::string data =
      R"(data: {"id":"chatcmpl-bench","object":"chat.completion.chunk","created":1764000000,"model":"bench",)"
      R"("choices":[{"index":0,"delta":)";
  data += delta;
  data += R"(,"finish_reason":)";
  data += finish;
  data += "}]}\n\n";
  append_chunk(out, data);
}

void append_end(std::string& out, bool calls) {
  append_event(out, "{}", calls ? R"("tool_calls")" : R"("stop")");
  append_chunk(out,
               R"(data: {"id":"chatcmpl-bench","object":"chat.completion.chunk","created":1764000000,"model":"bench",)"
               R"("choices":[],"usage":{"prompt_tokens":10,"completion_tokens":10,"total_tokens":20}})"
               "\n\n");
  append_chunk(out, "data: [DONE]\n\n");
  out += "0\r\n\r\n";
}

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t n = 0;
  for (auto at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size())) ++n;
  return n;
}

struct script {
  long rounds = 0, tokens = 20, gap_us = 0;
};

script read_script(std::string_view body) {
  script s;
  constexpr std::string_view key = R"("model":"bench-)";
  const auto at = body.find(key);
  if (at != std::string_view::npos)
    std::sscanf(std::string(body.substr(at + key.size(), 40)).c_str(), "%ld-%ld-%ld", &s.rounds, &s.tokens, &s.gap_us);
  return s;
}

// The first tool on offer whose name ends in "echo", however it is prefixed.
std::string echo_tool(std::string_view body) {
  const auto tools = body.find(R"("tools":[)");
  constexpr std::string_view end = R"(echo")";
  const auto at = tools == std::string_view::npos ? tools : body.find(end, tools);
  if (at == std::string_view::npos) return "echo";
  const auto begin = body.rfind('"', at) + 1;
  return std::string(body.substr(begin, at + end.size() - 1 - begin));
}

struct connection {
  int fd = -1;
  std::string in = {}, out = {};
  long tokens_left = 0, gap_us = 0;
  steady::time_point due{};
  bool waits = false;  // for the peer to read
};

void answer(connection& c, std::string_view body) {
  const script s = read_script(body);
  // Quotes inside of strings are escaped, so this counts the tool messages only.
  const auto done = count(body, R"("role":"tool")");
  c.out +=
      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\n"
      "Transfer-Encoding: chunked\r\n\r\n";
  append_event(c.out, R"({"role":"assistant","content":""})", "null");
  if (done < static_cast<std::size_t>(s.rounds)) {
    const auto round = std::to_string(done);
    append_event(c.out,
                 R"({"tool_calls":[{"index":0,"id":"call_)" + round + R"(","type":"function","function":{"name":")" +
                     echo_tool(body) + R"(","arguments":""}}]})",
                 "null");
    append_event(c.out,
                 R"({"tool_calls":[{"index":0,"function":{"arguments":"{\"message\":\"round )" + round + R"(\"}"}}]})",
                 "null");
    append_end(c.out, true);
    return;
  }
  const long now = s.gap_us > 0 ? 1 : s.tokens;
  for (long i = 0; i < now; ++i) append_event(c.out, R"({"content":" word"})", "null");
  c.tokens_left = s.tokens - now;
  c.gap_us = s.gap_us;
  c.due = steady::now() + std::chrono::microseconds(s.gap_us);
  if (c.tokens_left <= 0) append_end(c.out, false);
}

// Writes the paced tokens that are due.
void pace(connection& c, steady::time_point now) {
  while (c.tokens_left > 0 && c.due <= now) {
    append_event(c.out, R"({"content":" word"})", "null");
    c.due += std::chrono::microseconds(c.gap_us);
    if (--c.tokens_left == 0) append_end(c.out, false);
  }
}

// The length of the body that the head announces.
std::size_t body_size(std::string_view head) {
  for (auto at = head.find("\r\n"); at != std::string_view::npos; at = head.find("\r\n", at + 2)) {
    constexpr std::string_view name = "content-length:";
    const auto line = head.substr(at + 2);
    if (line.size() > name.size() && ::strncasecmp(line.data(), name.data(), name.size()) == 0)
      return static_cast<std::size_t>(std::strtoul(line.data() + name.size(), nullptr, 10));
  }
  return 0;
}

void take_requests(connection& c) {
  for (;;) {
    const auto head = c.in.find("\r\n\r\n");
    if (head == std::string::npos) return;
    const auto size = body_size(std::string_view(c.in).substr(0, head));
    if (c.in.size() < head + 4 + size) return;
    answer(c, std::string_view(c.in).substr(head + 4, size));
    c.in.erase(0, head + 4 + size);
  }
}

class server {
 public:
  server() {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(listener_, 512) != 0 ||
        ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
      ::_exit(1);
    std::printf("%d\n", ntohs(address.sin_port));
    std::fflush(stdout);
    watch(listener_, EPOLLIN, EPOLL_CTL_ADD);
  }

  [[noreturn]] void run() {
    std::array<epoll_event, 256> ready{};
    for (;;) {
      const int n = ::epoll_wait(poll_, ready.data(), ready.size(), wait_ms());
      for (int i = 0; i < n; ++i) serve(ready[static_cast<std::size_t>(i)].data.fd);
      const auto now = steady::now();
      for (auto& [fd, c] : open_)
        if (c->tokens_left > 0) {
          pace(*c, now);
          write(*c);
        }
    }
  }

 private:
  int wait_ms() const {
    int wait = -1;
    for (const auto& [fd, c] : open_)
      if (c->tokens_left > 0) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(c->due - steady::now()).count();
        const int ms = left < 0 ? 0 : static_cast<int>(left);
        if (wait < 0 || ms < wait) wait = ms;
      }
    return wait;
  }

  void serve(int fd) {
    if (fd == listener_) {
      while ((fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
        const int on = 1;
        ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        open_[fd] = std::make_unique<connection>(connection{.fd = fd});
        watch(fd, EPOLLIN, EPOLL_CTL_ADD);
      }
      return;
    }
    auto& c = *open_.at(fd);
    static std::array<char, 1 << 18> buffer;
    const ssize_t n = ::read(fd, buffer.data(), buffer.size());
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
      ::close(fd);
      open_.erase(fd);
      return;
    }
    if (n > 0) c.in.append(buffer.data(), static_cast<std::size_t>(n));
    take_requests(c);
    write(c);
  }

  void write(connection& c) {
    const ssize_t n = c.out.empty() ? 0 : ::send(c.fd, c.out.data(), c.out.size(), MSG_NOSIGNAL);
    if (n > 0) c.out.erase(0, static_cast<std::size_t>(n));
    if (c.out.empty() == !c.waits) return;
    c.waits = !c.out.empty();
    watch(c.fd, c.waits ? EPOLLIN | EPOLLOUT : EPOLLIN, EPOLL_CTL_MOD);
  }

  void watch(int fd, unsigned events, int how) const {
    epoll_event e{};
    e.events = events;
    e.data.fd = fd;
    ::epoll_ctl(poll_, how, fd, &e);
  }

  int poll_ = ::epoll_create1(EPOLL_CLOEXEC);
  int listener_ = -1;
  std::unordered_map<int, std::unique_ptr<connection>> open_;
};

}  // namespace

int main() {
  server().run();
}
