// Blocking JSON-RPC over the socket with poll(), one request at a time.
#include "daemon/cli/link/daemon_connection.hpp"

#include "mcp/json/json_writer.hpp"
#include "mcp/support/read_size.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

namespace mcpbx::cli::link {
namespace {

volatile sig_atomic_t interrupts = 0;
volatile sig_atomic_t last_signal = 0;
int acted_on = 0;  // interrupts that have ended a call, or told its caller
int wake_pipe[2] = {-1, -1};

extern "C" void on_interrupt(int signal) {
  if (last_signal == 0 || last_signal == SIGINT) last_signal = signal;  // a Ctrl-C takes back no other signal
  interrupts = interrupts + 1;
  const char byte = 1;
  const int kept = errno;
  (void)!::write(wake_pipe[1], &byte, 1);
  errno = kept;
}

void drain_wake_pipe() {
  char drained[64];
  while (wake_pipe[0] >= 0 && ::read(wake_pipe[0], drained, sizeof drained) > 0) {
  }
}

bool has_new_interrupt() {
  return acted_on < interrupts;
}

// Returns true once for each interrupt, also for one that came between two calls.
bool take_new_interrupt() {
  const int all = interrupts;
  return std::exchange(acted_on, all) < all;
}

constexpr std::chrono::seconds grace_after_interrupt{3};

class collector final : public mcp::rpc::message_sink {
 public:
  explicit collector(std::deque<mcp::rpc::message>& out) : out_(out) {}
  void on_message(mcp::rpc::message&& m) override { out_.push_back(std::move(m)); }
  // The daemon writes messages only; ignore anything else.
  void on_fault(mcp::rpc::message_fault) override {}

 private:
  std::deque<mcp::rpc::message>& out_;
};

// Returns a request, or a notification if there is no id.
std::string message_of(std::optional<std::int64_t> id, std::string_view method, std::string_view params) {
  std::string out;
  json::json_writer w(out);
  w.begin_object().member("jsonrpc", "2.0");
  if (id) w.member("id", *id);
  w.member("method", method).key("params").token(params).end_object();
  return out;
}

}  // namespace

int answer::error_code() const {
  return static_cast<int>(json::find_member(error, "code").as_integer().value_or(0));
}

std::string answer::error_message() const {
  return json::find_member(error, "message").as_string().value_or("the daemon answered with an error");
}

bool forget_interrupt() {
  if (interrupts == 0 || last_signal != SIGINT) return false;
  interrupts = interrupts - 1;
  acted_on = std::min(acted_on, static_cast<int>(interrupts));
  drain_wake_pipe();
  return true;
}

bool interrupted() {
  return interrupts > 0;
}

bool wait_ready(int fd, short events) {
  std::array<pollfd, 1> one{pollfd{fd, events, 0}};
  return wait_ready(one);
}

bool wait_ready(std::span<pollfd> any) {
  std::vector<pollfd> wait(any.begin(), any.end());
  wait.push_back({wake_pipe[0], POLLIN, 0});
  while (!interrupted()) {
    if (::poll(wait.data(), wait.size(), -1) < 0) {
      if (errno != EINTR) return false;
      continue;
    }
    std::copy_n(wait.begin(), any.size(), any.begin());
    if (std::ranges::any_of(any, [](const pollfd& one) { return one.revents != 0; })) return true;
  }
  return false;
}

bool wait_ready_for(std::span<pollfd> any, std::chrono::milliseconds at_most, const sigset_t* mask) {
  std::vector<pollfd> wait(any.begin(), any.end());
  wait.push_back({wake_pipe[0], POLLIN, 0});
  for (auto& one : any) one.revents = 0;
  if (interrupted()) return false;
  const timespec limit{at_most.count() / 1000, at_most.count() % 1000 * 1'000'000};
  if (::ppoll(wait.data(), wait.size(), &limit, mask) > 0) std::copy_n(wait.begin(), any.size(), any.begin());
  return !interrupted();
}

void catch_interrupts() {
  if (wake_pipe[0] < 0 && ::pipe2(wake_pipe, O_CLOEXEC | O_NONBLOCK) != 0) return;
  struct sigaction action{};
  action.sa_handler = on_interrupt;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  // These end a program, too, and a terminal must be as before then. `nohup` ignores the first one.
  for (const int signal : {SIGHUP, SIGQUIT}) {
    struct sigaction before{};
    if (::sigaction(signal, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
      ::sigaction(signal, &action, nullptr);
  }
}

daemon_connection::daemon_connection(int fd)
    : fd_(fd), framer_({.max_message_bytes = 256u << 20, .max_depth = 10'000, .repair_utf8 = true}) {}

daemon_connection::daemon_connection(daemon_connection&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      next_(other.next_),
      framer_(std::move(other.framer_)),
      received_(std::move(other.received_)),
      received_bytes_(other.received_bytes_),
      opening_(std::move(other.opening_)),
      any_message_(other.any_message_),
      cut_(other.cut_),
      requested_(std::move(other.requested_)) {}

daemon_connection::~daemon_connection() {
  if (fd_ >= 0) ::close(fd_);
}

error daemon_connection::closed() {
  if (!any_message_ && opening_.empty()) {  // a refusal may lie unread where writing has failed already
    std::array<char, 4096> buffer{};
    const ssize_t n = ::recv(fd_, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (n > 0) opening_.assign(buffer.data(), static_cast<std::size_t>(n));
  }
  if (auto line = json::raw_json::parse(opening_.substr(0, opening_.find('\n'))); line && !any_message_)
    if (auto words = json::find_member(json::find_member(*line, "error"), "message").as_string())
      return {errc::unavailable, "the daemon refused the connection: " + *words};
  return {errc::unavailable, "the daemon closed the connection"};
}

result<void> daemon_connection::send_line(std::string text) {
  if (cut_) return fail(errc::unavailable, "the connection ended with a part of a message");
  text += '\n';
  std::string_view left = text;
  while (!left.empty()) {
    const ssize_t n = ::send(fd_, left.data(), left.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n >= 0) {
      left.remove_prefix(static_cast<std::size_t>(n));
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return std::unexpected(closed());
    // A daemon that reads nothing must not hold up Ctrl-C, which the call acts on.
    if (has_new_interrupt()) {
      cut_ = left.size() < text.size();
      return fail(errc::cancelled, "interrupted");
    }
    std::array<pollfd, 2> ready{pollfd{fd_, POLLOUT, 0}, pollfd{wake_pipe[0], POLLIN, 0}};
    if (::poll(ready.data(), ready.size(), -1) > 0 && (ready[1].revents & POLLIN) != 0) drain_wake_pipe();
  }
  return {};
}

result<void> daemon_connection::respond(const mcp::rpc::rpc_id& id, const json::raw_json& result) {
  std::string out;
  json::json_writer w(out);
  w.begin_object().member("jsonrpc", "2.0").key("id").token(id.token());
  w.member("result", result).end_object();
  return send_line(std::move(out));
}

result<void> daemon_connection::notify(std::string_view method, std::string_view params) {
  return send_line(message_of(std::nullopt, method, params));
}

result<std::int64_t> daemon_connection::send_request(std::string_view method, std::string_view params) {
  const std::int64_t id = next_++;
  if (auto sent = send_line(message_of(id, method, params)); !sent) return std::unexpected(sent.error());
  return id;
}

result<void> daemon_connection::request(std::string_view method, std::string_view params) {
  auto sent = send_request(method, params);
  return sent ? result<void>() : std::unexpected(sent.error());
}

bool daemon_connection::readable() const {
  pollfd one{fd_, POLLIN, 0};
  return ::poll(&one, 1, 0) > 0;
}

bool daemon_connection::receive() {
  static std::array<char, 65536> buffer;
  ssize_t got = -1;
  do got = ::recv(fd_, buffer.data(), read_size(buffer.size()), MSG_DONTWAIT);
  while (got < 0 && errno == EINTR);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return true;
  if (got <= 0) return false;
  if (!any_message_ && opening_.size() < buffer.size()) opening_.append(buffer.data(), static_cast<std::size_t>(got));
  received_bytes_ += static_cast<std::size_t>(got);
  collector sink(received_);
  framer_.feed({buffer.data(), static_cast<std::size_t>(got)}, sink);
  if (!received_.empty()) {
    any_message_ = true;
    opening_ = {};
  }
  return true;
}

result<answer> daemon_connection::call(std::string_view method, std::string_view params,
                                       const notification_handler& notified, const interrupt_handler& on_interrupted,
                                       const idle_handler& idle) {
  const auto sent = send_request(method, params);
  if (!sent) {
    take_new_interrupt();
    return std::unexpected(sent.error());
  }
  const mcp::rpc::rpc_id mine = mcp::rpc::rpc_id::number(*sent);
  bool told = false;
  auto give_up = std::chrono::steady_clock::time_point::max();
  for (;;) {
    while (!received_.empty()) {
      mcp::rpc::message m = std::move(received_.front());
      received_.pop_front();
      if (m.type == mcp::rpc::message::kind::request && requested_) requested_(m);
      if (m.type == mcp::rpc::message::kind::notification && notified) notified(m.method(), m.params);
      if (m.type == mcp::rpc::message::kind::response && m.id == mine) return answer{m.result, m.error};
    }
    received_bytes_ = 0;
    if (idle && !told && !readable()) {
      idle();
      if (!received_.empty()) continue;
    }
    if (take_new_interrupt()) {
      if (told || !on_interrupted) return fail(errc::cancelled, "interrupted");
      told = true;
      give_up = std::chrono::steady_clock::now() + grace_after_interrupt;
      on_interrupted(*sent);
    }
    int wait_ms = -1;
    if (told) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(give_up - std::chrono::steady_clock::now());
      if (left.count() <= 0) return fail(errc::cancelled, "interrupted");
      wait_ms = static_cast<int>(left.count());
    }
    std::array<pollfd, 2> ready{pollfd{fd_, POLLIN, 0}, pollfd{wake_pipe[0], POLLIN, 0}};
    const int n = ::poll(ready.data(), wake_pipe[0] >= 0 ? 2 : 1, wait_ms);
    if (n > 0 && (ready[1].revents & POLLIN) != 0) drain_wake_pipe();
    if (n <= 0 || (ready[0].revents & (POLLIN | POLLHUP | POLLERR)) == 0) continue;
    if (!receive()) return std::unexpected(closed());
  }
}

result<void> initialize(daemon_connection& c, std::string_view version, std::string_view capabilities) {
  std::string params;
  json::json_writer w(params);
  w.begin_object().member("protocolVersion", "2025-11-25").key("capabilities").token(capabilities);
  w.key("clientInfo").token(json::json_object("name", "mcpbx", "version", version)).end_object();
  auto a = c.call("initialize", params);
  if (!a) return std::unexpected(a.error());
  if (a->error) return fail(errc::peer, a->error_message());
  return c.notify("notifications/initialized", "{}");
}

}  // namespace mcpbx::cli::link
