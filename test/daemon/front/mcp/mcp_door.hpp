// A door over real sockets whose callers speak to /mcp, with one tool server that answers when the test says so.
#pragma once
#include "daemon/front/front_door.hpp"
#include "test/daemon/front/fake_backend.hpp"
#include "test/mcp/server/fake_host.hpp"
#include "test/support/contains.hpp"
#include "test/support/manual_time.hpp"

#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::test {

/// One answer over HTTP, taken apart.
struct http_got {
  int status = 0;
  std::string head, body;  ///< the body without its chunks
  bool ended = false;      ///< the body is complete
  std::string header(std::string_view name) const {
    const auto at = head.find("\r\n" + std::string(name) + ": ");
    if (at == std::string::npos) return "";
    const auto begin = at + 4 + name.size();
    return head.substr(begin, head.find("\r\n", begin) - begin);
  }
  int code() const { return code_of(body); }
};

class mcp_door {
 public:
  explicit mcp_door(daemon::door::front_door::options o = {},
                    daemon::front::http_rules rules = {.on_port = true, .token = {}}) {
    tools = std::make_shared<fake_client>("files");
    backend.catalog = std::make_shared<mcp::catalogs::catalog>(std::vector{make_tool(tools, "read", "read")}, 1);
    if (o.version.empty()) o.version = "1";
    door.emplace(io.get_executor(), time, backend, std::move(o));
    door->serves_port("127.0.0.1:1", std::move(rules), "");
  }
  ~mcp_door() {
    door.reset();
    turn();
    for (const int fd : fds) ::close(fd);
  }

  int enter(bool on_port = true) {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
    fds.push_back(ends[0]);
    if (on_port)
      door->accept_on_port(ends[1], "127.0.0.1:2");
    else
      door->accept(ends[1], {1000, 100});
    turn();
    return ends[0];
  }
  void turn() {
    for (int i = 0; i < 4; ++i) {
      io.restart();
      io.poll();
    }
  }
  void leave(int fd) {
    std::erase(fds, fd);
    ::close(fd);
    turn();
  }
  void write(int fd, std::string_view text) {
    while (!text.empty()) {
      const auto n = ::send(fd, text.data(), text.size(), MSG_NOSIGNAL);
      if (n > 0) text.remove_prefix(static_cast<std::size_t>(n));
      turn();
      if (n < 0 && errno != EAGAIN) return;
    }
  }
  std::string raw(int fd) {
    turn();
    std::string all;
    char buffer[65536];
    for (;;) {
      const auto n = ::recv(fd, buffer, sizeof buffer, 0);
      if (n == 0) return all + "<end>";
      if (n < 0) return all;
      all.append(buffer, static_cast<std::size_t>(n));
      turn();
    }
  }
  http_got got(int fd) {
    http_got g;
    auto text = raw(fd);
    const auto end = text.find("\r\n\r\n");
    if (end == std::string::npos) {
      g.body = std::move(text);
      return g;
    }
    g.head = text.substr(0, end + 2);
    g.status = std::stoi(text.substr(9, 3));
    text.erase(0, end + 4);
    if (g.header("Transfer-Encoding") != "chunked") {
      if (text.ends_with("<end>")) text.resize(text.size() - 5);
      g.body = std::move(text);
      g.ended = true;
      return g;
    }
    g.body = events(text, &g.ended);
    return g;
  }
  /// Returns the text in the chunks of a body.
  static std::string events(std::string_view chunks, bool* ended = nullptr) {
    std::string all;
    while (!chunks.empty() && chunks != "<end>") {
      const auto size = std::stoul(std::string(chunks), nullptr, 16);
      chunks.remove_prefix(chunks.find("\r\n") + 2);
      all += chunks.substr(0, size);
      chunks.remove_prefix(size + 2);
      if (size == 0 && ended != nullptr) *ended = true;
    }
    return all;
  }

  static std::string head(std::string_view method, std::string_view more, std::string_view target = "/mcp") {
    return std::string(method) + " " + std::string(target) + " HTTP/1.1\r\nHost: localhost\r\n" + std::string(more);
  }
  static std::string posting(std::string_view body, std::string_view more = "", std::string_view target = "/mcp") {
    return head("POST",
                "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n" +
                    std::string(more) + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
                    std::string(body),
                target);
  }
  http_got post(int fd, std::string_view body, std::string_view more = "") {
    write(fd, posting(body, more));
    return got(fd);
  }
  static std::string initialize(std::string_view revision = "2025-11-25", std::string_view capabilities = "{}") {
    return R"({"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":")" + std::string(revision) +
           R"(","capabilities":)" + std::string(capabilities) + R"(,"clientInfo":{"name":"t","version":"1"}}})";
  }
  /// Begins a session on a connection of its own and returns the header that names it.
  std::string begin(std::string_view revision = "2025-11-25", std::string_view capabilities = "{}",
                    bool on_port = true) {
    const int fd = enter(on_port);
    const auto answer = post(fd, initialize(revision, capabilities));
    REQUIRE(answer.status == 200);
    const auto id = answer.header("Mcp-Session-Id");
    REQUIRE(!id.empty());
    const auto header = "Mcp-Session-Id: " + id + "\r\n";
    CHECK(post(fd, R"({"jsonrpc":"2.0","method":"notifications/initialized"})", header).status == 202);
    leave(fd);
    return header;
  }
  static std::string call(int id = 1) {
    return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) +
           R"(,"method":"tools/call","params":{"name":"read","arguments":{},"_meta":{"progressToken":)" +
           std::to_string(id) + "}}}";
  }
  /// Posts a request of revision 2026-07-28 with the headers that it needs, and returns without reading.
  void post_modern(int fd, std::string_view method, std::string_view params = "", std::string_view name = "") {
    auto headers = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: " + std::string(method) + "\r\n";
    if (!name.empty()) headers += "Mcp-Name: " + std::string(name) + "\r\n";
    const auto comma = params.empty() ? "" : ",";
    write(fd, posting(R"({"jsonrpc":"2.0","id":7,"method":")" + std::string(method) + R"(","params":{)" +
                          std::string(params) + comma +
                          R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                          R"("io.modelcontextprotocol/clientCapabilities":{},"progressToken":3}}})",
                      headers));
  }
  void progress(std::size_t index, int n) {
    tools->calls.at(index).progress(json::raw_json::own(R"({"progressToken":9,"progress":)" + std::to_string(n) + "}"));
    turn();
  }
  void answer(std::size_t index, std::string_view result = R"({"content":[]})") {
    tools->answer(index, result);
    turn();
  }

  boost::asio::io_context io;
  manual_time time;
  fake_backend backend;
  std::shared_ptr<fake_client> tools;
  std::optional<daemon::door::front_door> door;
  std::vector<int> fds;
};

}  // namespace mcpbx::test
