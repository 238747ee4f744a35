// Callers of mcpbx/chat: one thread, epoll, one run at a time on each connection.
#include "test/bench/line_stream.hpp"
#include "test/bench/loop_case.hpp"
#include "test/bench/process.hpp"
#include "test/bench/session.hpp"

#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <deque>
#include <string>
#include <string_view>

namespace mcpbx::bench {
namespace {

class callers {
 public:
  callers(const loop_case& what, const std::string& socket) : what_(what), left_(what.runs) {
    for (int i = 0; i < what.concurrency; ++i) {
      const int fd = connect_unix(socket);
      open_.emplace_back(fd);
      epoll_event e{};
      e.events = EPOLLIN;
      e.data.u32 = static_cast<std::uint32_t>(i);
      ::epoll_ctl(poll_, EPOLL_CTL_ADD, fd, &e);
    }
  }
  ~callers() { ::close(poll_); }
  callers(const callers&) = delete;
  callers& operator=(const callers&) = delete;

  loop_figures run() {
    const double since = now_us();
    for (auto& c : open_) begin(c);
    std::array<epoll_event, 128> ready{};
    while (active_ > 0) {
      const int n = ::epoll_wait(poll_, ready.data(), ready.size(), 60'000);
      if (n <= 0) give_up("mcpbxd said nothing for 60 s");
      for (int i = 0; i < n; ++i) {
        auto& c = open_[ready[static_cast<std::size_t>(i)].data.u32];
        if (!c.lines.fill([&](std::string_view line) { take(c, line); })) give_up("mcpbxd closed a connection");
      }
    }
    figures_.wall_us = now_us() - since;
    return std::move(figures_);
  }

 private:
  struct caller {
    explicit caller(int fd) : lines(fd, fd) {}
    line_stream lines;
    double since = 0, first = 0;
  };

  void begin(caller& c) {
    if (left_ == 0) return;
    --left_;
    ++active_;
    c.lines.queue() += R"({"jsonrpc":"2.0","id":1,"method":"mcpbx/chat","params":{"input":"go","model":"bench/)" +
                       what_.script() + R"(","status":"off","stream":)" + (what_.stream ? "true" : "false") + "}}\n";
    c.since = now_us();
    c.first = 0;
    if (!c.lines.flush()) give_up("mcpbxd closed a connection");
  }

  void take(caller& c, std::string_view line) {
    if (id_of(line).empty()) {
      constexpr std::string_view key = R"("type":"text","text":")";
      const auto at = line.find(key);
      if (at == std::string_view::npos) return;
      if (c.first == 0) c.first = now_us();
      const auto begin = at + key.size();
      figures_.tokens += static_cast<double>(line.find('"', begin) - begin) / token_bytes;
      return;
    }
    const double now = now_us();
    // `rounds` counts the model calls: those with tools and the one that answers.
    if (line.find("\"rounds\":" + std::to_string(what_.rounds + 1)) == std::string_view::npos)
      give_up("a run did not make its rounds: " + std::string(line.substr(0, 400)));
    figures_.run_us.push_back(now - c.since);
    if (c.first > 0) figures_.first_token_us.push_back(c.first - c.since);
    --active_;
    begin(c);
  }

  const loop_case what_;
  int poll_ = ::epoll_create1(EPOLL_CLOEXEC);
  std::deque<caller> open_;
  loop_figures figures_;
  int left_ = 0, active_ = 0;
};

}  // namespace

loop_figures run_chats(const loop_case& what, const std::string& socket) {
  return callers(what, socket).run();
}

}  // namespace mcpbx::bench
