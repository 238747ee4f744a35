// A non-blocking socket, a buffer, lines.
#include "test/e2e/harness/line_caller.hpp"

#include "test/e2e/harness/processes.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <utility>

namespace mcpbx::e2e {
namespace {

using steady = std::chrono::steady_clock;
constexpr std::string_view list_changed = R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})";

json::parse_options deep() {
  json::parse_options o;
  o.max_depth = 10'000;
  o.allow_invalid_utf8 = true;
  return o;
}

}  // namespace

json::value parse(std::string_view text) {
  std::error_code wrong;
  json::value v = json::parse(text, wrong, {}, deep());
  if (wrong) FAIL("not JSON (", wrong.message(), "): ", std::string(text.substr(0, 400)));
  return v;
}

json::value at(const json::value& v, std::string_view path) {
  const json::value* here = &v;
  while (!path.empty()) {
    const auto dot = path.find('.');
    const std::string_view key = path.substr(0, dot);
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
    if (const auto* object = here->if_object()) {
      here = object->if_contains(key);
    } else if (const auto* array = here->if_array()) {
      std::size_t index = 0;
      std::from_chars(key.data(), key.data() + key.size(), index);
      here = array->if_contains(index);
    } else {
      here = nullptr;
    }
    if (here == nullptr) return nullptr;
  }
  return *here;
}

std::string text_at(const json::value& v, std::string_view path) {
  const json::value found = at(v, path);
  if (const auto* s = found.if_string()) return std::string(*s);
  return found.is_null() ? std::string() : json::serialize(found);
}

std::string json_string(std::string_view text) {
  return json::serialize(json::string(text));
}

int reply::code() const {
  const json::value v = at(value, "error.code");
  return v.is_int64() ? static_cast<int>(v.as_int64()) : 0;
}

caller::caller(const std::string& socket) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  REQUIRE(socket.size() < sizeof address.sun_path);
  std::memcpy(address.sun_path, socket.data(), socket.size());
  fd_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  REQUIRE(fd_ >= 0);
  // Blocking, since a full backlog refuses those that do not wait.
  if (::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    FAIL("cannot connect to ", socket, ": ", std::strerror(errno));
  ::fcntl(fd_, F_SETFL, O_NONBLOCK);
}

caller::caller(caller&& other) noexcept
    : notifications(std::move(other.notifications)),
      fd_(std::exchange(other.fd_, -1)),
      next_(other.next_),
      in_(std::move(other.in_)),
      scanned_(other.scanned_),
      lines_(std::move(other.lines_)),
      replies_(std::move(other.replies_)),
      ended_(other.ended_) {}

void caller::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

// Reads once, when something comes within `wait_ms`. False: there will be nothing more.
bool caller::take_line(int wait_ms) {
  if (ended_) return false;
  pollfd ready{fd_, POLLIN, 0};
  if (::poll(&ready, 1, wait_ms) <= 0) return true;
  static std::array<char, 1 << 18> buffer;
  const ssize_t n = ::read(fd_, buffer.data(), buffer.size());
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (n <= 0) {
    ended_ = true;
    return false;
  }
  in_.append(buffer.data(), static_cast<std::size_t>(n));
  std::size_t begin = 0;
  for (std::size_t end; (end = in_.find('\n', std::max(begin, scanned_))) != std::string::npos; begin = end + 1)
    lines_.push_back(in_.substr(begin, end - begin));
  in_.erase(0, begin);
  scanned_ = in_.size();
  return true;
}

void caller::end_input() const {
  REQUIRE(::shutdown(fd_, SHUT_WR) == 0);
}

void caller::send_bytes(std::string_view bytes) {
  const auto deadline = steady::now() + watchdog;
  while (!bytes.empty()) {
    const ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(n));
      continue;
    }
    if (n < 0 && errno != EAGAIN && errno != EINTR) {
      ended_ = ended_ || errno != EPIPE;
      return;  // the daemon has closed; whoever waits for an answer sees it
    }
    if (steady::now() >= deadline) FAIL("the daemon does not read");
    std::array<pollfd, 1> ready{pollfd{fd_, POLLOUT | POLLIN, 0}};
    ::poll(ready.data(), 1, 100);
    if ((ready[0].revents & POLLIN) != 0) take_line(0);
  }
}

std::size_t caller::send_unread(std::string_view bytes) const {
  const ssize_t n = bytes.empty() ? 0 : ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  return n > 0 ? static_cast<std::size_t>(n) : 0;
}

void caller::send(std::string_view line) {
  send_bytes(std::string(line) + "\n");
}

std::optional<std::string> caller::any_line() {
  const auto deadline = steady::now() + watchdog;
  while (lines_.empty()) {
    if (!take_line(100)) return {};
    if (steady::now() >= deadline) FAIL("no line from the daemon before the watchdog");
  }
  std::string line = std::move(lines_.front());
  lines_.pop_front();
  return line;
}

// When a server becomes ready is nobody's order, so what tells of it may stand between any two lines.
std::optional<std::string> caller::read_line() {
  for (;;) {
    auto l = any_line();
    if (!l || *l != list_changed) return l;
    notifications.push_back(parse(*l));
  }
}

std::string caller::line() {
  auto l = read_line();
  if (!l) FAIL("the daemon closed the connection");
  return *l;
}

bool caller::closed_by_peer() {
  const auto deadline = steady::now() + watchdog;
  while (take_line(100))
    if (steady::now() >= deadline) return false;
  return true;
}

std::int64_t caller::start(std::string_view method, std::string_view params) {
  const std::int64_t id = next_++;
  send(R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + ",\"method\":" + json_string(method) +
       ",\"params\":" + std::string(params) + "}");
  return id;
}

std::int64_t caller::start_call(std::string_view tool, std::string_view arguments) {
  return start("tools/call", "{\"name\":" + json_string(tool) + ",\"arguments\":" + std::string(arguments) + "}");
}

reply caller::wait(std::int64_t id) {
  for (;;) {
    if (auto found = replies_.extract(id); !found.empty()) return std::move(found.mapped());
    auto next = read_line();
    if (!next) FAIL("the daemon closed the connection before it answered request ", id);
    reply r{std::move(*next), {}};
    r.value = parse(r.line);
    if (at(r.value, "method").is_string()) {
      notifications.push_back(std::move(r.value));
    } else if (const auto got = at(r.value, "id"); got.is_int64()) {
      replies_[got.as_int64()] = std::move(r);
    } else {
      FAIL("an answer without a usable id: ", r.line.substr(0, 400));
    }
  }
}

json::value caller::wait_notification(std::string_view method) {
  for (;;) {
    for (auto n = notifications.begin(); n != notifications.end(); ++n)
      if (text_at(*n, "method") == method) {
        json::value found = std::move(*n);
        notifications.erase(n);
        return found;
      }
    auto next = any_line();
    if (!next) FAIL("the daemon closed the connection before it sent ", std::string(method));
    reply r{std::move(*next), {}};
    r.value = parse(r.line);
    if (at(r.value, "method").is_string())
      notifications.push_back(std::move(r.value));
    else if (const auto got = at(r.value, "id"); got.is_int64())
      replies_[got.as_int64()] = std::move(r);
  }
}

json::value caller::wait_event(std::string_view type) {
  for (;;) {
    auto n = wait_notification("mcpbx/event");
    if (text_at(n, "params.type") == type) return n;
  }
}

void caller::notify(std::string_view method, std::string_view params) {
  send(R"({"jsonrpc":"2.0","method":)" + json_string(method) + ",\"params\":" + std::string(params) + "}");
}

void caller::cancel(std::int64_t id) {
  notify("notifications/cancelled", "{\"requestId\":" + std::to_string(id) + "}");
}

reply caller::initialize(std::string_view revision) {
  auto r = request("initialize", "{\"protocolVersion\":" + json_string(revision) +
                                     R"(,"capabilities":{},"clientInfo":{"name":"e2e","version":"1"}})");
  notify("notifications/initialized");
  return r;
}

json::value caller::server(std::string_view name) {
  const auto list = request("mcpbx/servers").get("result");
  REQUIRE(list.is_array());
  for (const auto& s : list.as_array())
    if (text_at(s, "name") == name) return s;
  FAIL("mcpbx/servers does not name ", std::string(name));
  return nullptr;
}

std::vector<std::string> caller::tool_names() {
  std::vector<std::string> names;
  const auto list = request("tools/list").get("result.tools");
  REQUIRE(list.is_array());
  for (const auto& t : list.as_array()) names.push_back(text_at(t, "name"));
  return names;
}

}  // namespace mcpbx::e2e
