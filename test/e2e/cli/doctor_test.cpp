// `mcpbx doctor` against real files, programs and daemons: it works without any of them, and nothing makes it hang.
#include "test/e2e/harness/harness.hpp"

#include <doctest/doctest.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>

using namespace mcpbx::e2e;

namespace {

// Returns the finding with this code, or null. Codes may occur more than once: the first one counts.
json::value found(const json::value& all, std::string_view code, std::string_view subject = "") {
  REQUIRE(all.is_array());
  for (const auto& f : all.as_array())
    if (text_at(f, "code") == code && (subject.empty() || text_at(f, "subject") == subject)) return f;
  return nullptr;
}

json::value examined(const world& w, std::vector<std::string> arguments, int status) {
  arguments.insert(arguments.begin(), {"--json", "doctor"});
  const auto r = run_cli(w, arguments);
  CHECK_MESSAGE(r.status == status, r.out, r.err);
  return parse(r.out);
}

}  // namespace

TEST_CASE("D4: doctor works without a daemon and without a configuration, and starts nothing") {
  world w;
  w.env.push_back("MCPBX_CONFIG=");
  const auto all = examined(w, {}, 0);
  CHECK(found(all, "config-none").is_object());
  CHECK(found(all, "daemon-none").is_object());
  CHECK(found(all, "program-ok", "server toolbox").is_object());
  CHECK(found(all, "server-not-tried").is_object());
  CHECK(run_cli(w, {"status"}).status == 3);
  const auto text = run_cli(w, {"doctor"});
  CHECK(text.status == 0);
  CHECK(contains(text.out, "no daemon answers at"));
  CHECK(contains(text.out, "mend: mcpbx servers"));
  CHECK(contains(text.out, "0 faults"));
}

TEST_CASE("D4: doctor finds what is wrong in a broken configuration, and --fix mends what it can") {
  world w;
  const auto file = w.write("config.json", R"({"mcpServers": {"a": {"command": "no-such-program-x"},
    "b": {"command": "@DIR@/script"}, "c": {"command": "@DIR@/plain"}, "d": {"command": "true", "cwd": "@DIR@/none"},
    "e": {"command": "true", "env": {"T": "${env:NOT_SET_HERE}"}}, "off": {"command": "nothing", "disabled": true}},
    "models": {"m": {"api": "openai-chat", "model": "x", "baseUrl": "http://127.0.0.1:1/v1",
                     "apiKey": "${env:NO_KEY_HERE}"}}})");
  w.write("script", "#!/no/such/interpreter\n");
  w.write("plain", "#!/bin/sh\n");
  ::chmod(w.file("script").c_str(), 0700);
  ::chmod(file.c_str(), 0666);
  w.env.push_back("MCPBX_CONFIG=" + file);
  auto all = examined(w, {}, 1);
  CHECK(text_at(found(all, "config-mode"), "mend") == "chmod 644 " + file);
  CHECK(run_cli(w, {"doctor", "--fix"}).status == 2);  // nobody can be asked
  const auto fixed = run_cli(w, {"doctor", "--fix", "--yes"});
  CHECK(fixed.status == 1);
  CHECK(contains(fixed.err, "done: chmod 644"));
  struct stat s{};
  CHECK(::stat(file.c_str(), &s) == 0);
  CHECK((s.st_mode & 0777) == 0644);

  all = examined(w, {}, 1);
  CHECK(found(all, "config-mode").is_null());
  CHECK(text_at(found(all, "program-missing", "server a"), "mend").contains("config.json:1"));
  CHECK(text_at(found(all, "interpreter-missing", "server b"), "text").contains("/no/such/interpreter"));
  CHECK(text_at(found(all, "directory-missing", "server d"), "mend") == "mkdir -p " + w.file("none"));
  CHECK(text_at(found(all, "reference-missing", "server e"), "mend") == "export NOT_SET_HERE=… && mcpbx stop");
  CHECK(text_at(found(all, "model-key", "model m"), "mend") == "export NO_KEY_HERE=… && mcpbx stop");
  CHECK(found(all, "model-unreachable", "model m").is_object());
  CHECK(found(all, "program-missing", "server off").is_null());
  CHECK(found(all, "server-disabled", "server off").is_object());
  CHECK(text_at(found(all, "program-not-executable", "server c"), "mend") == "chmod u+x " + w.file("plain"));
  CHECK(contains(run_cli(w, {"doctor", "--fix", "--yes"}).err, "done: chmod u+x " + w.file("plain")));
  CHECK(::access(w.file("plain").c_str(), X_OK) == 0);
  // One server alone: nothing about the others.
  const auto one = examined(w, {"b"}, 1);
  CHECK(found(one, "interpreter-missing").is_object());
  CHECK(found(one, "program-missing").is_null());
  const auto near = run_cli(w, {"doctor", "of"});
  CHECK(near.status == 5);
}

TEST_CASE("D4: doctor tells every error of a configuration that cannot be read, be it a pipe or broken text") {
  world w;
  REQUIRE(::mkfifo(w.file("pipe").c_str(), 0600) == 0);
  w.env.push_back("MCPBX_CONFIG=" + w.file("pipe"));
  CHECK(text_at(found(examined(w, {}, 1), "config-wrong"), "text").contains("is no regular file"));
  w.env.back() = "MCPBX_CONFIG=" + w.write("broken", R"({"mcpServers": {"a": {"comand": "x"}}, "models": 3)");
  CHECK(found(examined(w, {}, 1), "config-wrong").is_object());
  w.env.back() = "MCPBX_CONFIG=" + w.file("none");
  CHECK(found(examined(w, {}, 1), "config-wrong").is_object());
}

TEST_CASE("D4: doctor connects to no lazy server at an address unless it is named, with a daemon and without") {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  socklen_t size = sizeof at;
  REQUIRE(::bind(listener, reinterpret_cast<const sockaddr*>(&at), size) == 0);
  REQUIRE(::listen(listener, 8) == 0);
  REQUIRE(::getsockname(listener, reinterpret_cast<sockaddr*>(&at), &size) == 0);
  const auto asked = [&] {
    pollfd p{listener, POLLIN, 0};
    return ::poll(&p, 1, 0) != 0;
  };
  const std::string entry =
      R"({"start": "lazy", "url": "http://127.0.0.1:)" + std::to_string(ntohs(at.sin_port)) + R"(/mcp"})";
  const std::string gone = R"({"start": "lazy", "url": "http://127.0.0.1:1/mcp"})";
  {
    world w;
    w.env.push_back("MCPBX_CONFIG=" +
                    w.write("config.json", R"({"mcpServers": {"lazy": )" + entry + R"(, "gone": )" + gone + "}}"));
    CHECK(found(examined(w, {}, 0), "server-lazy", "server lazy").is_object());
    CHECK_FALSE(asked());
    CHECK(found(examined(w, {"gone"}, 1), "server-unreachable", "server gone").is_object());
  }
  daemon_under_test d(config().entry("lazy", entry));
  d.env.push_back("MCPBX_CONFIG=" + d.file("config.json"));
  CHECK(found(examined(d, {}, 0), "server-lazy", "server lazy").is_object());
  CHECK_FALSE(asked());
  ::close(listener);
}

TEST_CASE("D4: doctor asks a running daemon, starts a lazy server by name only, and finds those that fail") {
  daemon_under_test d(config()
                          .server("good")
                          .server("lazy", {}, R"("start": "lazy")")
                          .entry("quick", R"({"command": "false"})")
                          .entry("chatty", R"({"command": "/bin/sh", "args": ["-c", "echo hello; sleep 1000 # @TAG@"],
                                               "startTimeoutMs": 300})")
                          .entry("mute", R"({"command": "/bin/sh", "args": ["-c", "sleep 1000 # @TAG@"],
                                             "startTimeoutMs": 300})")
                          .entry("gone", R"({"url": "http://127.0.0.1:1/mcp"})"));
  d.wait_ready({"good"});
  d.env.push_back("MCPBX_CONFIG=" + d.file("config.json"));
  json::value all;
  REQUIRE(eventually([&] {
    all = parse(run_cli(d, {"--json", "doctor"}).out);
    return found(all, "server-junk", "server chatty").is_object() &&
           found(all, "server-silent", "server mute").is_object() &&
           found(all, "server-unreachable", "server gone").is_object();
  }));
  CHECK(found(all, "daemon-ok").is_object());
  CHECK(found(all, "server-ok", "server good").is_object());
  CHECK(found(all, "server-lazy", "server lazy").is_object());
  const bool ended = found(all, "server-exits", "server quick").is_object() ||
                     found(all, "server-crash-loop", "server quick").is_object();
  CHECK_MESSAGE(ended, json::serialize(all));
  CHECK(found(all, "config-ok").is_object());
  CHECK(found(examined(d, {"lazy"}, 0), "server-ok", "server lazy").is_object());
  // A change of the file is seen, and mended.
  d.write("config.json", R"({"mcpServers": {}})");
  const auto news = examined(d, {}, 1);
  CHECK(text_at(found(news, "daemon-outdated"), "mend") == "mcpbx reload");
  CHECK(contains(run_cli(d, {"doctor", "--fix", "--yes"}).err, "done: mcpbx reload"));
  CHECK(found(examined(d, {}, 0), "daemon-outdated").is_null());
}

TEST_CASE("D4: doctor does not hang with a daemon that hangs, and names its process") {
  daemon_under_test d(config().server("a"));
  d.wait_ready({"a"});
  ::kill(d.pid(), SIGSTOP);
  const auto all = examined(d, {}, 1);
  ::kill(d.pid(), SIGCONT);
  CHECK(text_at(found(all, "daemon-hangs"), "mend") == "kill " + std::to_string(d.pid()));
}

TEST_CASE("D4: doctor finds a socket that a killed daemon left, and a journal that is damaged") {
  daemon_under_test d(config().server("a").top("store", R"({"url": "sqlite:@DIR@/j.db"})"));
  d.wait_ready({"a"});
  d.env.push_back("MCPBX_CONFIG=" + d.file("config.json"));
  CHECK(run_cli(d, {"ask", "-m", "demo", "hello"}).status == 0);
  d.stop(SIGKILL);
  auto all = examined(d, {}, 0);
  CHECK(text_at(found(all, "socket-stale"), "mend") == "rm " + d.socket());
  CHECK(found(all, "journal-ok").is_object());
  CHECK(run_cli(d, {"doctor", "--fix", "--yes"}).status == 0);
  CHECK(::access(d.socket().c_str(), F_OK) != 0);
  ::unlink(d.file("j.db-wal").c_str());  // SQLite would mend the file from it
  d.write("j.db", "this is no database, and it has never been one; it only has the name of one, and some length");
  ::chmod(d.file("j.db").c_str(), 0644);
  all = examined(d, {}, 1);
  CHECK(found(all, "journal-damaged").is_object());
  CHECK(found(all, "journal-mode").is_object());
}

TEST_CASE("D4: doctor --online makes one request to a model, which leaves no session behind") {
  model_process model;
  daemon_under_test d(config().model("m", model.entry()).top("store", R"({"url": "sqlite:@DIR@/j.db"})"));
  d.env.push_back("MCPBX_CONFIG=" + d.file("config.json"));
  CHECK(found(examined(d, {"m"}, 0), "model-ok", "model m").is_object());
  CHECK(found(examined(d, {"m", "--online"}, 0), "model-answers", "model m").is_object());
  CHECK(run_cli(d, {"--json", "sessions"}).out == "[]\n");
}

TEST_CASE("D4: doctor --online that is interrupted while the model is silent leaves no session behind") {
  model_process model;
  daemon_under_test d(
      config()
          .model("m", R"({"api": "openai-chat", "model": "hang-before-head", "apiKey": "k", "baseUrl": ")" +
                          model.url() + "\"}")
          .top("store", R"({"url": "sqlite:@DIR@/j.db"})"));
  d.env.push_back("MCPBX_CONFIG=" + d.file("config.json"));
  auto doctor = start_cli(d, {"doctor", "m", "--online"});
  REQUIRE(eventually([&] { return contains(model.log(), "Reply with the word ok"); }));
  doctor->signal(SIGINT);
  CHECK(doctor->wait().status == 130);
  CHECK(run_cli(d, {"--json", "sessions", "--all"}).out == "[]\n");
}

TEST_CASE("D4: doctor names other programs that start the same servers past mcpbx, or have more of them") {
  world w;
  w.env.push_back("MCPBX_CONFIG=" +
                  w.write("config.json", R"({"mcpServers": {"files": {"command": "true", "args": ["x"]}}})"));
  ::mkdir(w.file(".cursor").c_str(), 0700);
  w.write(".cursor/mcp.json", R"({"mcpServers": {"mine": {"command": "true", "args": ["x"]},
                                                 "other": {"command": "false"}}})");
  const auto all = examined(w, {}, 0);
  CHECK(text_at(found(all, "host-direct", "program cursor"), "text").contains("itself, past mcpbx: files"));
  CHECK(text_at(found(all, "host-more", "program cursor"), "mend") == "mcpbx import --from cursor");
}
