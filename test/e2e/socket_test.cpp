// The local socket and those who call: ownership, races, floods, broken messages (G16 to G19, G42).
#include "test/e2e/harness/harness.hpp"

#include <doctest/doctest.h>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cstring>
#include <filesystem>

using namespace mcpbx::e2e;
namespace fs = std::filesystem;

namespace {

mode_t mode_of(const std::string& path) {
  struct stat s{};
  REQUIRE(::lstat(path.c_str(), &s) == 0);
  return s.st_mode & 0777;
}

std::int64_t counted_at(caller& c, const char* path) {
  return at(c.request("mcpbx/status").value, path).to_number<std::int64_t>();
}

const config one_server = config().server("s");

}  // namespace

TEST_CASE("G42: the socket is 0600, its directory is made 0700, and a directory open to others is refused") {
  world w;
  w.write("config.json", one_server.str());
  const std::string socket = w.file("new/dir/s");
  child::options o{.argv = {MCPBXD, "--config", w.file("config.json"), "--socket", socket}, .env = w.env};
  {
    child daemon(o);
    REQUIRE(eventually([&] { return fs::exists(socket); }));
    CHECK(mode_of(socket) == 0600);
    CHECK(mode_of(socket + ".lock") == 0600);
    CHECK(mode_of(w.file("new")) == 0700);
    CHECK(mode_of(w.file("new/dir")) == 0700);
    daemon.signal(SIGTERM);
    CHECK(daemon.wait().status == 0);
  }
  fs::permissions(w.file("new/dir"), fs::perms::owner_all | fs::perms::others_write);
  const auto r = run_daemon(w, {"--config", w.file("config.json"), "--socket", socket});
  CHECK(r.status == 1);
  CHECK(contains(r.err, "chmod go-w"));
}

TEST_CASE("G42: a second daemon at the same socket is refused and the first goes on") {
  daemon_under_test d(one_server);
  caller c = d.session();
  const auto r = run_daemon(d, {"--config", d.file("config.json"), "--socket", d.socket()});
  CHECK(r.status == 1);
  CHECK(contains(r.err, "already"));
  // Not even when the lock file was removed.
  fs::remove(d.socket() + ".lock");
  CHECK(run_daemon(d, {"--config", d.file("config.json"), "--socket", d.socket()}).status == 1);
  CHECK(c.call("s__echo", R"({"text":"unmoved"})").text() == "unmoved");
  CHECK(d.session().call("s__echo", R"({"text":"new"})").text() == "new");
}

TEST_CASE("G42: a stale socket is replaced, anything else in its place is not") {
  world w;
  w.write("config.json", one_server.str());
  {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, w.socket().c_str());
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    REQUIRE(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    ::close(fd);
  }
  {
    child daemon({.argv = {MCPBXD, "--config", w.file("config.json"), "--socket", w.socket()}, .env = w.env});
    CHECK(eventually([&] { return run_cli(w, {"status"}).status == 0; }));
    daemon.signal(SIGTERM);
    CHECK(daemon.wait().status == 0);
  }
  w.write("s", "a file of somebody's");
  CHECK(run_daemon(w, {"--config", w.file("config.json"), "--socket", w.socket()}).status == 1);
  CHECK(read_file(w.socket()) == "a file of somebody's");
}

TEST_CASE("G42: of many daemons that start at once one wins") {
  for (int round = 0; round < (sanitized ? 25 : 100); ++round) {
    world w;
    w.write("config.json", config().str());
    std::vector<std::unique_ptr<child>> all;
    for (int i = 0; i < 8; ++i)
      all.push_back(std::make_unique<child>(
          child::options{.argv = {MCPBXD, "--config", w.file("config.json"), "--socket", w.socket()},
                         .env = w.env,
                         .stderr_file = w.file("log" + std::to_string(i))}));
    const auto living = [&] {
      std::size_t n = 0;
      for (auto& c : all) n += c->ended() ? 0 : 1;
      return n;
    };
    CHECK(eventually([&] { return living() == 1; }));
    CHECK(run_cli(w, {"status"}).status == 0);
    for (auto& c : all)
      if (c->ended()) CHECK(c->ended()->status == 1);
    for (auto& c : all) c->signal(SIGTERM);
    CHECK(eventually([&] { return living() == 0; }));
  }
}

TEST_CASE("G42: a tool server of ours may not call, unless its entry says so") {
  // The toolbox of the test: a tool server that is the CLI itself, asking the daemon it belongs to.
  const std::string asks = R"({"command":"/bin/sh","args":["-c","@MCPBX@ --socket @DIR@/s --json status >@DIR@/answer )"
                           R"(2>&1; echo $? >@DIR@/status; exec @SERVER@ --tag @TAG@"]MORE})";
  for (const bool may : {false, true}) {
    std::string entry = asks;
    entry.replace(entry.find("@MCPBX@"), 7, MCPBX);
    entry.replace(entry.find("MORE"), 4, may ? R"(,"mayCall":true)" : "");
    // Another server's entry changes nothing.
    std::string other = R"({"command":"/bin/sh","args":["-c","@MCPBX@ --socket @DIR@/s --json status >@DIR@/other )"
                        R"(2>&1; echo $? >@DIR@/other_status; exec @SERVER@ --tag @TAG@"]MORE})";
    other.replace(other.find("@MCPBX@"), 7, MCPBX);
    other.replace(other.find("MORE"), 4, may ? "" : R"(,"mayCall":true)");
    daemon_under_test d(config().entry("s", entry).entry("other", other));
    REQUIRE(
        eventually([&] { return !read_file(d.file("status")).empty() && !read_file(d.file("other_status")).empty(); }));
    CHECK(read_file(d.file("other_status")) == (may ? "3\n" : "0\n"));
    CHECK(read_file(d.file("status")) == (may ? "0\n" : "3\n"));
    if (!may) CHECK(contains(read_file(d.file("answer")), "mayCall"));
  }
}

TEST_CASE("G42: a child of a tool server that connects and exits is a stranger that nobody lets in") {
  constexpr int knocks = 300;
  const std::string knock = R"(use Socket;
$SIG{CHLD} = 'IGNORE';
for (1..300) {
  next if fork;
  socket(my $s, PF_UNIX, SOCK_STREAM, 0);
  connect($s, sockaddr_un('@DIR@/s')) or exit;
  syswrite($s, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"mcpbx/stop\"}\n");
  exit;
}
1 while wait != -1;
open(my $f, '>', '@DIR@/knocked'); print $f "done\n";
)";
  daemon_under_test d(
      config().entry("s", R"({"command":"/bin/sh","args":["-c","perl @DIR@/knock.pl; exec @SERVER@ --tag @TAG@"]})"),
      {.files = {{"knock.pl", knock}}});
  CHECK(eventually([&] { return !read_file(d.file("knocked")).empty(); }));
  caller c = d.session();
  CHECK(eventually([&] { return counted_at(c, "result.callers.refused") >= knocks; }));
  d.wait_ready({"s"});
  CHECK(counted_at(c, "result.callers.accepted") == 2);  // this one, and wait_ready
  CHECK_FALSE(contains(d.log(), "asked to by a caller"));
}

TEST_CASE("G42: a tool server that has the token gets in by the port no more than by the socket") {
  for (const bool may : {false, true}) {
    const std::string ask = R"(use IO::Socket::INET;
until (-s '@DIR@/port') { select(undef, undef, undef, 0.02); }
open(my $f, '<', '@DIR@/port'); my $port = <$f>;
open($f, '<', '@DIR@/token'); my $token = <$f>; chomp $token;
my $s = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port + 0) or die;
print $s "GET /v1/models HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer $token\r\nConnection: close\r\n\r\n";
my $answer = join '', <$s>;
open($f, '>', '@DIR@/answer.new'); print $f $answer; close $f; rename '@DIR@/answer.new', '@DIR@/answer';
)";
    std::string entry = R"({"command":"/bin/sh","args":["-c","perl @DIR@/ask.pl & exec @SERVER@ --tag @TAG@"]MORE})";
    entry.replace(entry.find("MORE"), 4, may ? R"(,"mayCall":true)" : "");
    daemon_under_test d(config().entry("s", entry).top("http", R"({"address":"127.0.0.1:0"})"),
                        {.files = {{"ask.pl", ask}}});
    caller c = d.session();
    const auto http = text_at(c.request("mcpbx/status").value, "result.http");
    d.write("port", http.substr(http.rfind(':') + 1));
    CHECK(eventually([&] { return !read_file(d.file("answer")).empty(); }));
    const auto answer = read_file(d.file("answer"));
    CHECK_MESSAGE(answer.starts_with(may ? "HTTP/1.1 200 " : "HTTP/1.1 403 "), answer);
    CHECK(contains(answer, "mayCall") != may);
  }
}

TEST_CASE("G19: every malformed message gets the error of the specification, and the connection is kept") {
  daemon_under_test d(one_server);
  caller c = d.session();
  struct wrong {
    std::string_view line;
    int code;
    std::string_view id;  // as JSON
  };
  const wrong table[] = {
      {"{", -32700, "null"},
      {"nonsense", -32700, "null"},
      {R"({"jsonrpc":"2.0","id":1,"method":"ping"}})", -32700, "*"},
      {R"({"jsonrpc":"2.0","id":1,"method":"ping",})", -32700, "*"},
      {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"a\":\"\xff\"}}", -32700, "*"},
      {"5", -32600, "null"},
      {R"("text")", -32600, "null"},
      {"null", -32600, "null"},
      {"{}", -32600, "null"},
      {R"({"id":1,"method":"ping"})", -32600, "1"},
      {R"({"jsonrpc":"1.0","id":1,"method":"ping"})", -32600, "1"},
      {R"({"jsonrpc":2.0,"id":1,"method":"ping"})", -32600, "1"},
      {R"({"jsonrpc":"2.0","id":1})", -32600, "*"},
      {R"({"jsonrpc":"2.0","id":null,"method":"ping"})", -32600, "null"},
      {R"({"jsonrpc":"2.0","id":1.5,"method":"ping"})", -32600, "null"},
      {R"({"jsonrpc":"2.0","id":{},"method":"ping"})", -32600, "null"},
      {R"({"jsonrpc":"2.0","id":1,"method":5})", -32600, "1"},
      {R"({"jsonrpc":"2.0","id":1,"method":"ping","params":[]})", -32600, "1"},
      {R"({"jsonrpc":"2.0","id":1,"method":"ping","params":"x"})", -32600, "1"},
      {R"({"jsonrpc":"2.0","id":1,"id":2,"method":"ping"})", -32600, "*"},
      {R"({"jsonrpc":"2.0","id":1,"method":"ping","method":"x"})", -32600, "1"},
      {"[]", -32600, "null"},
      {R"([{"jsonrpc":"2.0","id":1,"method":"ping"}])", -32600, "null"},
      {R"({"jsonrpc":"2.0","id":1,"method":"no/such"})", -32601, "1"},
      {R"({"jsonrpc":"2.0","id":1,"method":"tasks/list","params":{"cursor":7}})", -32602, "1"},
      {R"({"jsonrpc":"2.0","id":1,"method":"mcpbx/reload","params":{"x":1}})", -32602, "1"},
      {R"({"jsonrpc":"2.0","id":1,"method":"tools/call"})", -32602, "1"},
      {R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":5}})", -32602, "1"},
      {R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"s__echo","arguments":[]}})", -32602, "1"},
      {R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"s__echo","name":"s__add"}})", -32602, "1"},
      {R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nobody__knows"}})", -32602, "1"},
      {R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"mine"}})", -32602, "1"},
      {R"({"jsonrpc":"2.0","id":1,"method":"mcpbx/restart","params":{"server":"nobody"}})", -32002, "1"},
      {R"({"jsonrpc":"2.0","id":1,"method":"mcpbx/restart","params":{"sever":"s"}})", -32602, "1"},
      {R"({"jsonrpc":"2.0","id":1,"method":"mcpbx/chat","params":{"input":""}})", -32602, "1"},
  };
  for (const auto& row : table) {
    CAPTURE(row.line);
    c.send(row.line);
    const auto r = parse(c.line());
    CHECK(at(r, "error.code") == json::value(row.code));
    CHECK_FALSE(text_at(r, "error.message").empty());
    if (row.id != "*") CHECK(json::serialize(at(r, "id")) == row.id);
  }
  // Messages that are no requests get no answer: the next line is the answer to the ping.
  for (const std::string_view silent :
       {"", "   ", R"({"jsonrpc":"2.0","method":"notifications/unknown"})", R"({"jsonrpc":"2.0","id":99,"result":{}})",
        R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":12345}})"})
    c.send(silent);
  c.send_bytes("{\"jsonrpc\":\"2.0\",\"id\":\"last\",\"method\":\"ping\"}\r\n");
  CHECK(c.line() == R"({"jsonrpc":"2.0","id":"last","result":{}})");
}

TEST_CASE("G19: an id that is in use is refused, MCP methods need the handshake, our own do not") {
  daemon_under_test d(one_server);
  caller fresh = d.connect();
  CHECK(fresh.request("tools/list").code() == -32600);
  CHECK_FALSE(fresh.request("ping").failed());
  CHECK_FALSE(fresh.request("mcpbx/hello", R"({"name":"e2e"})").failed());
  CHECK_FALSE(fresh.request("mcpbx/tools").failed());
  caller c = d.session();
  const auto open = c.start_call("s__wait_for_file", R"({"path":")" + d.file("go") + "\"}");
  c.send(R"({"jsonrpc":"2.0","id":)" + std::to_string(open) + R"(,"method":"ping"})");
  CHECK(at(parse(c.line()), "error.code") == json::value(-32600));
  d.write("go", "");
  CHECK(c.wait(open).text().starts_with("found"));
}

TEST_CASE("G11 G19: an oversized line is refused early, the id is told and the next line counts") {
  daemon_under_test d(config().server("s").top("limits", R"({"maxMessageBytes":1000000})"));
  caller c = d.session();
  const growth g(d);
  for (int i = 0; i < 5; ++i) {
    c.send_bytes(
        R"({"jsonrpc":"2.0","id":"big","method":"tools/call","params":{"name":"s__echo","arguments":{"text":")");
    for (int part = 0; part < 8; ++part) c.send_bytes(std::string(1u << 20, 'x'));
    c.send("\"}}}");
    const auto r = parse(c.line());
    CHECK(at(r, "error.code").is_int64());
    CHECK(contains(text_at(r, "error.message"), "1000000"));
    CHECK(text_at(r, "id") == "big");
  }
  CHECK(g.peak_mib() <= 16);
  CHECK(c.call("s__echo", R"({"text":"next"})").text() == "next");
}

TEST_CASE("G19: something that is no JSON-RPC is told so, and a web browser is turned away") {
  daemon_under_test d(one_server);
  caller c = d.connect();
  c.send_bytes("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  CHECK(c.closed_by_peer());
  CHECK(d.session().call("s__echo", R"({"text":"x"})").text() == "x");
}
