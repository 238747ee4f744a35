// `mcpbx mcp`: the stdio shim for hosts that only spawn. Lines pass through as bytes; the daemon at the other end of
// the socket is the MCP server.
#include "daemon/cli/verbs.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>

namespace mcpbx::cli {
namespace {

using steady = std::chrono::steady_clock;
constexpr std::string_view hello_id = "\"mcpbx-shim-hello\"";
constexpr std::string_view drain_id = "\"mcpbx-shim-drain\"";
// After the host closed our stdin its open requests may still be answered; it will end us if it does not want to wait.
constexpr std::chrono::seconds drain_limit{5};

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) {
      if (errno == EAGAIN) {
        pollfd ready{fd, POLLOUT, 0};
        ::poll(&ready, 1, -1);
      }
      continue;
    }
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

std::string own_request(std::string_view id, std::string_view method, const std::string& params) {
  return "{\"jsonrpc\":\"2.0\",\"id\":" + std::string(id) + ",\"method\":\"" + std::string(method) +
         "\",\"params\":" + params + "}\n";
}

// Keeps the answers to our own two requests from the host: they are whole lines that begin with our id.
class answer_filter {
 public:
  // What of `bytes` is for the host.
  std::string pass(std::string_view bytes) {
    std::string out;
    while (!bytes.empty()) {
      const auto end = bytes.find('\n');
      const auto part = bytes.substr(0, end == std::string_view::npos ? bytes.size() : end + 1);
      bytes.remove_prefix(part.size());
      line_ += part;
      if (!line_.ends_with('\n')) {
        // Our answers are short: a line that has grown beyond them is the host's, and is not held back.
        if (line_.size() > longest || !could_be_ours(line_)) {
          out += line_;
          line_.clear();
          through_ = true;
        }
        continue;
      }
      if (!through_ && is_answer(line_, hello_id)) {
        hello_ = true;
      } else if (!through_ && is_answer(line_, drain_id)) {
        drained_ = true;
      } else {
        out += line_;
      }
      line_.clear();
      through_ = false;
    }
    return out;
  }
  bool settled() const { return hello_ && !draining_; }
  void drain() { draining_ = true; }
  bool drained() const { return drained_; }
  // Whether bytes are in the middle of a line.
  bool mid_line() const { return through_ || !line_.empty(); }

 private:
  static constexpr std::size_t longest = 4096;
  static constexpr std::string_view front = "{\"jsonrpc\":\"2.0\",\"id\":";
  static bool is_answer(std::string_view line, std::string_view id) {
    return line.starts_with(front) && line.substr(front.size()).starts_with(id);
  }
  static bool could_be_ours(std::string_view line) {
    const std::string mine = std::string(front) + "\"mcpbx-shim-";
    return std::string_view(mine).starts_with(line.substr(0, mine.size()));
  }
  std::string line_;
  bool through_ = false;  // the present line began to pass
  bool hello_ = false, draining_ = false, drained_ = false;
};

}  // namespace

int shim(context& c) {
  int code = 0;
  auto made = connect_or_explain(c, true, code);
  if (!made) return code;
  const int daemon = made->link.fd();
  std::error_code ignored;
  const std::string folder = std::filesystem::current_path(ignored).string();
  if (!write_all(daemon, own_request(hello_id, "mcpbx/hello",
                                     "{\"name\":\"mcpbx mcp\",\"cwd\":" + mcpbx::quoted(folder) + "}")))
    return no_daemon;

  answer_filter filter;
  static std::array<char, 65536> buffer;
  std::string to_daemon;  // what the socket did not take yet; standard input is not read meanwhile
  bool open = true;
  auto give_up = steady::time_point::max();
  for (;;) {
    const bool reading = open && to_daemon.empty();
    const auto wanted = static_cast<short>(to_daemon.empty() ? POLLIN : POLLIN | POLLOUT);
    std::array<pollfd, 2> ready{pollfd{daemon, wanted, 0}, pollfd{reading ? 0 : -1, POLLIN, 0}};
    int wait_ms = -1;
    if (!open) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(give_up - steady::now());
      if (left.count() <= 0) return done;
      wait_ms = static_cast<int>(left.count());
    }
    if (::poll(ready.data(), 2, wait_ms) < 0) {
      if (errno == EINTR) continue;
      return no_answer;
    }
    if ((ready[0].revents & ~POLLOUT) != 0) {
      const ssize_t n = ::read(daemon, buffer.data(), buffer.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) {
        if (!open) return done;
        c.screen->error("the daemon closed the connection");
        return no_daemon;
      }
      const std::string_view bytes(buffer.data(), static_cast<std::size_t>(n));
      const bool plain = filter.settled() && !filter.mid_line();
      if (!write_all(1, plain ? bytes : std::string_view(filter.pass(bytes)))) return done;
      if (filter.drained()) return done;
    }
    if (reading && ready[1].revents != 0) {
      const ssize_t n = ::read(0, buffer.data(), buffer.size());
      if (n < 0 && errno == EINTR) continue;
      if (n > 0) {
        to_daemon.assign(buffer.data(), static_cast<std::size_t>(n));
      } else {
        open = false;
        give_up = steady::now() + drain_limit;
        filter.drain();
        to_daemon = own_request(drain_id, "mcpbx/drain", "{}");
      }
    }
    if (!to_daemon.empty()) {
      const ssize_t n = ::send(daemon, to_daemon.data(), to_daemon.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (n < 0 && errno != EAGAIN && errno != EINTR) {
        if (!open) return done;
        c.screen->error("the daemon closed the connection");
        return no_daemon;
      }
      if (n > 0) to_daemon.erase(0, static_cast<std::size_t>(n));
    }
  }
}

}  // namespace mcpbx::cli
