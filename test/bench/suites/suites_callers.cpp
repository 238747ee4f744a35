// Many callers at once that do nothing: the memory of each, and the cost of telling all that a list has changed. Beside
// it stands the floor: the same bytes written to as many sockets by a program that does nothing else.
#include "test/bench/calls.hpp"
#include "test/bench/http_channel.hpp"
#include "test/bench/session.hpp"
#include "test/bench/suites/suites.hpp"

#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::bench {
namespace {

constexpr std::size_t callers = 1'000;
constexpr std::string_view changed = "notifications/tools/list_changed";

enum class way : std::uint8_t { socket, socket_listens, get_stream, http_listens };

constexpr std::string_view listen_params =
    R"("params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
    R"("io.modelcontextprotocol/clientInfo":{"name":"b","version":"1"},)"
    R"("io.modelcontextprotocol/clientCapabilities":{}},"notifications":{"toolsListChanged":true}}})";

/// A blocking connection.
class plain_caller {
 public:
  explicit plain_caller(int fd) : fd_(fd) {}
  ~plain_caller() {
    if (fd_ >= 0) ::close(fd_);
  }
  plain_caller(plain_caller&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  plain_caller& operator=(plain_caller&&) = delete;

  void say(std::string_view text) const {
    if (::send(fd_, text.data(), text.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(text.size()))
      give_up("an idle caller was closed");
  }
  /// Reads until `word` has come, and returns all that was read.
  std::string hear(std::string_view word) const {
    std::string heard;
    std::array<char, 4096> buffer;
    while (heard.find(word) == std::string::npos) {
      const ssize_t n = ::read(fd_, buffer.data(), buffer.size());
      if (n <= 0) give_up("an idle caller was closed; it waited for " + std::string(word) + " and got " + heard);
      heard.append(buffer.data(), static_cast<std::size_t>(n));
    }
    return heard;
  }

 private:
  int fd_;
};

std::string post(std::string_view headers, std::string_view body) {
  return "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
         "Accept: application/json, text/event-stream\r\n" +
         std::string(headers) + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

constexpr std::string_view hello =
    R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
    R"("capabilities":{},"clientInfo":{"name":"b","version":"1"}}})";
constexpr std::string_view ready = R"({"jsonrpc":"2.0","method":"notifications/initialized"})";

plain_caller enter(way how, const std::string& socket) {
  plain_caller c(connect_unix(socket));
  const std::string listen = R"({"jsonrpc":"2.0","id":7,"method":"subscriptions/listen",)" + std::string(listen_params);
  switch (how) {
    case way::socket:
      c.say(std::string(hello) + "\n" + std::string(ready) + "\n");
      c.hear("serverInfo");
      break;
    case way::socket_listens:
      c.say(listen + "\n");
      c.hear("acknowledged");
      break;
    case way::get_stream: {
      c.say(post({}, hello));
      const auto head = c.hear("serverInfo");
      constexpr std::string_view key = "Mcp-Session-Id: ";
      const auto at = head.find(key) + key.size();
      const std::string session = "Mcp-Session-Id: " + head.substr(at, head.find("\r\n", at) - at) + "\r\n";
      c.say(post(session, ready));
      c.hear("202");
      c.say("GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n" + session + "\r\n");
      c.hear("data:");
      break;
    }
    case way::http_listens:
      c.say(post("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\n", listen));
      c.hear("acknowledged");
      break;
  }
  return c;
}

double cpu_ms() {
  timespec t{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) / 1e6;
}

// CPU milliseconds of writing `bytes` to each of as many sockets.
double floor_ms(std::size_t bytes) {
  std::vector<plain_caller> ends;
  std::vector<int> ours;
  for (std::size_t i = 0; i < callers; ++i) {
    std::array<int, 2> pair{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) != 0) give_up("no more sockets can be made");
    ends.emplace_back(pair[0]);
    ours.push_back(pair[1]);
  }
  const std::string text(bytes, 'x');
  const double before = cpu_ms();
  for (const int fd : ours) (void)!::send(fd, text.data(), text.size(), MSG_NOSIGNAL);
  const double took = cpu_ms() - before;
  for (const int fd : ours) ::close(fd);
  return took;
}

void measure_callers(way how, const bench_options& o, const std::string& size_row, const std::string& cost_row,
                     report& out) {
  session s(target::mcpbx, {.bin = o.bin, .more = R"("limits":{"callers":8192},)"});
  ::usleep(200'000);  // lets the work of the start settle
  const double before = s.own().weigh().resident_mib;
  std::vector<plain_caller> all;
  for (std::size_t i = 0; i < callers; ++i) all.push_back(enter(how, s.socket()));
  ::usleep(200'000);
  out.add(size_row, "mcpbx", (s.own().weigh().resident_mib - before) * 1024 / callers);
  std::vector<double> took, least;
  std::size_t bytes = 0;
  for (int i = 0; i < (o.quick ? 2 : 5); ++i) {
    const auto idle = s.own().weigh().cpu_ns;
    s.request("tools/call", R"({"name":")" + s.tool() + R"(","arguments":{"message":"","changed":true}})");
    for (const auto& c : all) bytes = c.hear(changed).size();
    ::usleep(20'000);
    took.push_back(static_cast<double>(s.own().weigh().cpu_ns - idle) / 1e6);
    least.push_back(floor_ms(bytes));
  }
  out.add(cost_row, "mcpbx", quantile(took, 0.5));
  out.add(cost_row, "floor", quantile(least, 0.5));
}

}  // namespace

void suite_callers(const bench_options& o, report& out) {
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  constexpr rlim_t needed = 4 * callers;
  if (files.rlim_max < needed) {
    std::fprintf(stderr, "callers: left out, since no program may open %zu files here (ulimit -Hn)\n",
                 static_cast<std::size_t>(needed));
    return;
  }
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
  measure_callers(way::socket, o, "idle caller on the socket", "list_changed to 1,000 callers, CPU", out);
  measure_callers(way::socket_listens, o, "idle listening caller on the socket",
                  "list_changed to 1,000 that listen, CPU", out);
  measure_callers(way::get_stream, o, "idle caller of /mcp with a GET stream", "list_changed to 1,000 GET streams, CPU",
                  out);
  measure_callers(way::http_listens, o, "idle caller of /mcp that listens",
                  "list_changed to 1,000 listens of /mcp, CPU", out);
}

}  // namespace mcpbx::bench
