// HTTP as programs find it: on the socket, and on a port of this machine where one is asked for (D1, D2, G43). The
// clients of others are in test/npm.
#include "test/e2e/harness/harness.hpp"

#include <doctest/doctest.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

using namespace mcpbx::e2e;
namespace fs = std::filesystem;

namespace {

// A connection that sends one request and reads to its end.
class http_client {
 public:
  explicit http_client(int port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port = htons(static_cast<std::uint16_t>(port));
    connect(reinterpret_cast<const sockaddr*>(&to), sizeof to);
  }
  explicit http_client(const std::string& path) : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    std::memcpy(to.sun_path, path.data(), path.size());
    connect(reinterpret_cast<const sockaddr*>(&to), sizeof to);
  }
  ~http_client() { leave(); }
  http_client(const http_client&) = delete;
  http_client& operator=(const http_client&) = delete;

  void send(std::string_view text) const {
    REQUIRE(::send(fd_, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size()));
  }
  std::string read() const {
    std::string all;
    char buffer[16384];
    for (;;) {
      const auto n = ::recv(fd_, buffer, sizeof buffer, 0);
      if (n <= 0) return all;
      all.append(buffer, static_cast<std::size_t>(n));
    }
  }
  // Reads until the words have come; the end of the connection or 30 s without a byte end it before.
  std::string read_to(std::string_view words) const {
    std::string all;
    char buffer[16384];
    while (!all.contains(words)) {
      const auto n = ::recv(fd_, buffer, sizeof buffer, 0);
      if (n <= 0) break;
      all.append(buffer, static_cast<std::size_t>(n));
    }
    return all;
  }
  std::string ask(std::string_view text) const {
    send(text);
    return read();
  }
  void leave() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  void connect(const sockaddr* to, socklen_t size) const {
    const timeval patience{30, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    REQUIRE(::connect(fd_, to, size) == 0);
  }
  int fd_;
};

std::string get(const std::string& target, const std::string& headers = "") {
  return "GET " + target + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + headers + "\r\n";
}

std::string chat(const std::string& model, const std::string& more = "", const std::string& headers = "") {
  const std::string body =
      R"({"model":")" + model + R"(","messages":[{"role":"user","content":"question"}])" + more + "}";
  return "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
         "Connection: close\r\n" +
         headers + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

config with_port() {
  return config().server("s").model("m", R"({"api":"rehearsal"})").top("http", R"({"address":"127.0.0.1:0"})");
}

// The port that the daemon tells.
int port_of(const daemon_under_test& d) {
  caller c = d.connect();
  const auto http = text_at(c.request("mcpbx/status").value, "result.http");
  REQUIRE(http.starts_with("http://127.0.0.1:"));
  return std::stoi(http.substr(http.rfind(':') + 1));
}

// The local addresses at which a process listens for TCP, as the system tells them.
std::set<std::string> listens_at(pid_t pid) {
  std::set<std::string> sockets, found;
  for (const auto& one : fs::directory_iterator("/proc/" + std::to_string(pid) + "/fd")) {
    std::error_code ignored;
    const auto to = fs::read_symlink(one.path(), ignored).string();
    if (to.starts_with("socket:[")) sockets.insert(to.substr(8, to.size() - 9));
  }
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream file(table);
    std::string line;
    std::getline(file, line);
    while (std::getline(file, line)) {
      std::istringstream words(line);
      std::string slot, local, remote, state, queues, times, retries, uid, timeout, inode;
      words >> slot >> local >> remote >> state >> queues >> times >> retries >> uid >> timeout >> inode;
      if (state == "0A" && sockets.contains(inode)) found.insert(local.substr(0, local.find(':')));
    }
  }
  return found;
}

std::string mcp_post(const std::string& body, const std::string& headers = "") {
  return "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n"
         "Accept: application/json, text/event-stream\r\n" +
         headers + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::string bearer(const std::string& token) {
  return "Authorization: Bearer " + token + "\r\n";
}

std::string token_in(const std::string& file) {
  auto text = read_file(file);
  REQUIRE(text.ends_with('\n'));
  text.pop_back();
  return text;
}

}  // namespace

TEST_CASE("G43: no port is open by default, and the one that is asked for is on 127.0.0.1 only") {
  daemon_under_test closed(config().server("s"));
  CHECK(listens_at(closed.pid()).empty());
  daemon_under_test open(with_port());
  CHECK(listens_at(open.pid()) == std::set<std::string>{"0100007F"});
  // --http has its own address, whatever the configuration says.
  daemon_under_test flag(config().server("s"), {.arguments = {"--http", "127.0.0.1:0"}});
  CHECK(listens_at(flag.pid()).size() == 1);
  CHECK(fs::exists(flag.file("token")));
}

TEST_CASE("G43: the token is made once, for nobody else to read, and asked for") {
  daemon_under_test d(with_port());
  const auto file = d.file("token");
  struct stat s{};
  REQUIRE(::stat(file.c_str(), &s) == 0);
  CHECK((s.st_mode & 0777) == 0600);
  const auto token = token_in(file);
  CHECK(token.size() == 64);
  CHECK(http_client(port_of(d)).ask(get("/v1/models")).starts_with("HTTP/1.1 401 "));
  CHECK(http_client(port_of(d)).ask(get("/v1/models", bearer(token))).starts_with("HTTP/1.1 200 "));
  CHECK(http_client(d.socket()).ask(get("/v1/models")).starts_with("HTTP/1.1 200 "));
  CHECK(d.logs(file));
  CHECK_FALSE(contains(d.log(), token));
  d.stop();
  d.start();
  CHECK(token_in(file) == token);
  d.stop();
  fs::permissions(file, fs::perms::owner_read | fs::perms::group_read);
  const auto refused = run_daemon(d, {"--config", d.file("config.json"), "--socket", d.socket()});
  CHECK(refused.status == 78);
  CHECK(refused.err == "mcpbxd: others may use the token file " + file + ": run `chmod 600 " + file + "`\n");
}

TEST_CASE("G43: with auth none the port asks for no token, and a warning says so") {
  daemon_under_test d(config().server("s").top("http", R"({"address":"127.0.0.1:0","auth":"none"})"));
  CHECK(http_client(port_of(d)).ask(get("/v1/models")).starts_with("HTTP/1.1 200 "));
  CHECK(d.logs("warn"));
  CHECK(d.logs("without a token"));
  CHECK_FALSE(fs::exists(d.file("token")));
  auto elsewhere = get("/v1/models");
  elsewhere.replace(elsewhere.find("localhost"), 9, "evil.test");
  CHECK(http_client(port_of(d)).ask(elsewhere).starts_with("HTTP/1.1 403 "));
}

TEST_CASE("E1: a port that is taken, and an address of another machine, end the start with a sentence") {
  daemon_under_test d(with_port());
  const auto taken = "127.0.0.1:" + std::to_string(port_of(d));
  const auto second = run_daemon(d, {"--config", d.file("config.json"), "--socket", d.file("s2"), "--http", taken});
  CHECK(second.status == 1);
  CHECK(contains(second.err, "HTTP cannot be served at " + taken + ": Address already in use; choose another port"));
}

TEST_CASE("E1: a command that would start a daemon tells at once that its port is taken, and doctor finds it") {
  daemon_under_test d(with_port());
  const auto taken = "127.0.0.1:" + std::to_string(port_of(d));
  world w;
  w.env.push_back("MCPBX_CONFIG=" + w.write("config.json", R"({"http": {"address": ")" + taken + "\"}}"));
  for (int i = 0; i < 3; ++i) {
    const auto r = run_cli(w, {"servers"}, {}, false);
    CHECK(r.status == 3);
    CHECK(contains(r.err, "HTTP cannot be served at " + taken + ": Address already in use; choose another port"));
  }
  CHECK(contains(run_cli(w, {"doctor"}, {}, false).out, "another process listens at " + taken));
}

TEST_CASE("D2: a question over the socket runs the tools of mcpbx, streamed and whole") {
  model_process model;
  daemon_under_test d(config().server("s").model("m", model.entry()).top("defaultModel", "\"m\""));
  d.wait_ready({"s"});
  const auto whole = http_client(d.socket()).ask(chat("m/rounds-1 s__echo"));
  CHECK(whole.starts_with("HTTP/1.1 200 OK\r\n"));
  const auto body = parse(whole.substr(whole.find("\r\n\r\n") + 4));
  CHECK(text_at(body, "choices.0.finish_reason") == "stop");
  CHECK(text_at(body, "choices.0.message.content") != "");
  CHECK(model.count("request") == 2);
  const auto stream = http_client(d.socket()).ask(chat("m/rounds-1 s__echo", R"(,"stream":true)"));
  CHECK(contains(stream, R"("finish_reason":"stop"})"));
  CHECK(contains(stream, "data: [DONE]\n\n"));
  // The runs are kept like all others.
  caller c = d.connect();
  CHECK(c.request("mcpbx/sessions/list").get("result.sessions").as_array().size() == 2);
}

TEST_CASE("L18: an app that leaves cancels its run, in the tool and at the model") {
  model_process model;
  daemon_under_test d(config().server("s", {"--log", "@DIR@/log"}).model("m", model.entry()));
  d.wait_ready({"s"});
  {
    const http_client tool(d.socket()), hangs(d.socket());
    tool.send(chat("m/rounds-1 s__cancel-ack", R"(,"stream":true)"));
    REQUIRE(eventually([&] { return contains(read_file(d.file("log")), "call cancel-ack"); }));
    hangs.send(chat("m/hang-mid-stream"));
    REQUIRE(eventually([&] { return model.count("request") == 2; }));
  }
  CHECK(eventually([&] { return contains(read_file(d.file("log")), "\ncancel-ack "); }));
  CHECK(eventually([&] { return model.count("closed") >= 1; }));
  caller c = d.connect();
  CHECK(eventually([&] { return c.request("mcpbx/status").get("result.runs.active") == json::value(0); }));
}

TEST_CASE("G20: a daemon that stops ends what apps wait for with an answer, and takes no more") {
  model_process model;
  daemon_under_test d(config().server("s").model("m", model.entry()));
  const http_client app(d.socket());
  app.send(chat("m/hang-before-head"));
  REQUIRE(eventually([&] { return model.count("request") == 1; }));
  CHECK(d.stop().status == 0);
  const auto told = app.read();
  CHECK(told.starts_with("HTTP/1.1 503 "));
  CHECK(contains(told, "\"code\":\"interrupted\""));
}

TEST_CASE("G19: requests that are none are answered in HTTP and hurt nobody") {
  daemon_under_test d(with_port());
  const auto token = bearer(token_in(d.file("token")));
  const int port = port_of(d);
  const auto status_of = [&](const std::string& text) { return http_client(port).ask(text).substr(9, 3); };
  CHECK(status_of("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r\n\r\n") == "400");
  CHECK(status_of("GET / HTTP/1.1\r\nHost: localhost\r\nX: " + std::string(20'000, 'x') + "\r\n\r\n") == "431");
  CHECK(status_of("POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n" + token +
                  "Content-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n") == "413");
  CHECK(
      status_of("POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n" + token +
                "Content-Type: application/json\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n") ==
      "400");
  const std::string deep = std::string(300, '[') + std::string(300, ']');
  CHECK(status_of("POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + token +
                  "Content-Type: application/json\r\nContent-Length: " + std::to_string(deep.size()) + "\r\n\r\n" +
                  deep) == "400");
  CHECK(d.session().call("s__echo", R"({"text":"x"})").text() == "x");
}

TEST_CASE("L17: ask -c does not go on with what was asked over HTTP") {
  daemon_under_test d(with_port());
  REQUIRE(http_client(d.socket()).ask(chat("m")).starts_with("HTTP/1.1 200 "));
  CHECK(contains(run_cli(d, {"ask", "-c", "again"}).err, "nothing was asked yet at this terminal or in this folder"));
  REQUIRE(run_cli(d, {"ask", "-m", "m", "from a shell"}).status == 0);
  REQUIRE(http_client(d.socket()).ask(chat("m")).starts_with("HTTP/1.1 200 "));
  const auto again = run_cli(d, {"ask", "-c", "again"});
  CHECK_MESSAGE(again.status == 0, again.err);
  for (const auto& s : parse(run_cli(d, {"--json", "sessions"}).out).as_array())
    CHECK(at(s, "runCount") == json::value(text_at(s, "title") == "from a shell" ? 2 : 1));
}

TEST_CASE("M6: /mcp serves sessions of older callers and requests of newer ones, on the port and on the socket") {
  daemon_under_test d(with_port());
  d.wait_ready({"s"});
  const auto token = bearer(token_in(d.file("token")));
  const auto initialize = mcp_post(
      R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},)"
      R"("clientInfo":{"name":"t","version":"1"}}})");
  CHECK(http_client(port_of(d)).ask(initialize).starts_with("HTTP/1.1 401 "));
  for (const bool on_port : {true, false}) {
    const auto ask = [&](std::string text) {
      text.insert(text.find("Accept: "), token);
      return on_port ? http_client(port_of(d)).ask(text) : http_client(d.socket()).ask(text);
    };
    const auto begun = ask(initialize);
    CHECK(begun.starts_with("HTTP/1.1 200 OK\r\n"));
    const auto at = begun.find("Mcp-Session-Id: ");
    REQUIRE(at != std::string::npos);
    const auto session = begun.substr(at, begun.find("\r\n", at) + 2 - at);
    CHECK(ask(mcp_post(R"({"jsonrpc":"2.0","method":"notifications/initialized"})", session))
              .starts_with("HTTP/1.1 202 "));
    const std::string params = R"("name":"s__echo","arguments":{"text":"hello"})";
    const auto called =
        ask(mcp_post(R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{)" + params + "}}", session));
    CHECK(contains(called, R"("id":2,"result":)"));
    CHECK(contains(called, "hello"));
    CHECK(ask("DELETE /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAccept: */*\r\n" + session + "\r\n")
              .starts_with("HTTP/1.1 200 "));
    const auto modern = ask(mcp_post(
        R"({"jsonrpc":"2.0","id":3,"method":"tools/call","params":{)" + params +
            R"(,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}})",
        "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: s__echo\r\n"));
    CHECK(contains(modern, R"("id":3,"result":)"));
    CHECK(contains(modern, R"("resultType":"complete")"));
  }
}

namespace {

// Returns true once somebody listens at this socket. It is there from bind(2) on, and can be connected to from
// listen(2) on.
bool is_listening(const std::string& path) {
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  path.copy(to.sun_path, sizeof to.sun_path - 1);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool connected = ::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
  ::close(fd);
  return connected;
}

// Returns the server block of docs/cookbook.md for this daemon: at a socket instead of a port with TLS.
std::string block_of_cookbook(const std::string& listens, int port) {
  const auto all = read_file(MCPBX_SOURCE_DIR "/docs/cookbook.md");
  const auto begin = all.find("```nginx\n");
  REQUIRE(begin != std::string::npos);
  std::istringstream lines(all.substr(begin + 9, all.find("\n```", begin + 9) - begin - 8));
  std::string block;
  for (std::string line; std::getline(lines, line);) {
    if (line.contains("ssl_certificate")) continue;
    if (line.contains("listen ")) line = "  listen unix:" + listens + ";";
    for (auto at = line.find(":8421"); at != std::string::npos; at = line.find(":8421", at + 1))
      line.replace(at, 5, ":" + std::to_string(port));
    block += line + "\n";
  }
  return block;
}

}  // namespace

TEST_CASE(
    "D2: behind nginx, as the cookbook has it, answers stream, the token counts, and a caller's leaving is seen") {
  const std::string nginx = "/usr/sbin/nginx";
  if (::access(nginx.c_str(), X_OK) != 0) {
    MESSAGE("the recipe for nginx is not tested: " << nginx << " is not installed");
    return;
  }
  model_process model;
  daemon_under_test d(config().model("m", model.entry()).server("s").top("http", R"({"address":"127.0.0.1:0"})"));
  const auto at = d.file("web");
  std::string settings = "daemon off; master_process off; pid @DIR@/pid; error_log stderr; events {}\nhttp {\n";
  for (const char* kind : {"client_body", "proxy", "fastcgi", "uwsgi", "scgi"})
    settings += std::string(kind) + "_temp_path @DIR@/" + kind + ";\n";
  settings += "access_log off;\n" + block_of_cookbook(at, port_of(d)) + "}\n";
  child web({.argv = {nginx, "-e", "stderr", "-p", d.dir(), "-c", d.write("nginx.conf", settings)}});
  REQUIRE_MESSAGE(eventually([&] { return is_listening(at) || web.ended(); }, 30), web.err);
  REQUIRE_MESSAGE(!web.ended(), web.err);
  caller c = d.connect();
  const auto token = read_file(text_at(c.request("mcpbx/status").value, "result.tokenFile"));
  const auto key = "Authorization: Bearer " + token.substr(0, token.find('\n')) + "\r\n";
  CHECK(contains(http_client(at).ask(get("/v1/models")), "HTTP/1.1 401"));
  CHECK(contains(http_client(at).ask(get("/v1/models", key)), "HTTP/1.1 200"));
  CHECK(contains(http_client(at).ask(get("/api/status", key + "Origin: https://page.example\r\n")), "HTTP/1.1 200"));
  {
    // The model never ends this answer, so a buffer on the way would keep its beginning.
    const http_client app(at);
    app.send(chat("m/hang-mid-stream", R"(,"stream":true)", key));
    const auto begun = app.read_to(R"("content":")");
    CHECK_MESSAGE(contains(begun, R"("content":")"), begun);
  }
  CHECK(eventually([&] { return model.count("closed") >= 1; }));
  web.signal(SIGTERM);
  CHECK(web.wait().status == 0);
}
