// Callers that ask for an answer over HTTP: one thread, epoll, one request at a time on each connection.
#include "test/bench/loop_case.hpp"
#include "test/bench/process.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <deque>
#include <functional>
#include <string>
#include <string_view>

namespace mcpbx::bench {
namespace {

// Returns the request's body; every door names the model by its script.
std::string body_for(std::string_view door, const loop_case& what) {
  const std::string model = R"({"model":"bench/)" + what.script() + R"(","stream":)" + (what.stream ? "true" : "false");
  if (door == "/api/chat") return model + R"(,"input":"go","status":"off"})";
  if (door == "/v1/responses") return model + R"(,"input":"go"})";
  return model + R"(,"max_tokens":4096,"messages":[{"role":"user","content":"go"}]})";
}

class http_callers {
 public:
  http_callers(const loop_case& what, const std::function<int()>& connect, const std::string& door) : left_(what.runs) {
    const auto body = body_for(door, what);
    request_ = "POST " + door + " HTTP/1.1\r\nHost: localhost" + "\r\nContent-Type: application/json\r\nAccept: " +
               (what.stream ? "text/event-stream" : "application/json") + "\r\nanthropic-version: 2023-06-01\r\n" +
               "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
    for (int i = 0; i < what.concurrency; ++i) {
      open_.emplace_back().fd = connect();
      epoll_event e{};
      e.events = EPOLLIN;
      e.data.u32 = static_cast<std::uint32_t>(i);
      ::epoll_ctl(poll_, EPOLL_CTL_ADD, open_.back().fd, &e);
    }
  }
  ~http_callers() {
    for (const auto& c : open_) ::close(c.fd);
    ::close(poll_);
  }
  http_callers(const http_callers&) = delete;
  http_callers& operator=(const http_callers&) = delete;

  loop_figures run() {
    const double since = now_us();
    for (auto& c : open_) begin(c);
    std::array<epoll_event, 128> ready{};
    while (active_ > 0) {
      const int n = ::epoll_wait(poll_, ready.data(), ready.size(), 60'000);
      if (n <= 0) give_up("mcpbxd said nothing over HTTP for 60 s");
      for (int i = 0; i < n; ++i) take(open_[ready[static_cast<std::size_t>(i)].data.u32]);
    }
    figures_.wall_us = now_us() - since;
    return std::move(figures_);
  }

 private:
  struct caller {
    int fd = -1;
    std::string in = {};
    double since = 0;
  };

  void begin(caller& c) {
    if (left_ == 0) return;
    --left_;
    ++active_;
    c.in.clear();
    c.since = now_us();
    if (::send(c.fd, request_.data(), request_.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request_.size()))
      give_up("mcpbxd closed an HTTP connection");
  }

  // Returns true if the answer has come whole: as long as its head says, or up to the last chunk.
  static bool is_whole(std::string_view in) {
    const auto head = in.find("\r\n\r\n");
    if (head == std::string_view::npos) return false;
    constexpr std::string_view key = "Content-Length: ";
    const auto at = in.substr(0, head).find(key);
    if (at == std::string_view::npos) return in.ends_with("\r\n0\r\n\r\n");
    return in.size() >= head + 4 + std::strtoul(in.data() + at + key.size(), nullptr, 10);
  }

  void take(caller& c) {
    static std::array<char, 65536> buffer;
    const auto n = ::read(c.fd, buffer.data(), buffer.size());
    if (n <= 0) give_up("mcpbxd closed an HTTP connection");
    c.in.append(buffer.data(), static_cast<std::size_t>(n));
    if (!is_whole(c.in)) return;
    if (!c.in.starts_with("HTTP/1.1 200") || c.in.find("word") == std::string::npos)
      give_up("an answer over HTTP is none: " + c.in.substr(0, 600));
    figures_.run_us.push_back(now_us() - c.since);
    --active_;
    begin(c);
  }

  std::string request_;
  int poll_ = ::epoll_create1(EPOLL_CLOEXEC);
  std::deque<caller> open_;
  loop_figures figures_;
  int left_ = 0, active_ = 0;
};

}  // namespace

loop_figures run_http_chats(const loop_case& what, const std::function<int()>& connect, const std::string& door) {
  return http_callers(what, connect, door).run();
}

}  // namespace mcpbx::bench
