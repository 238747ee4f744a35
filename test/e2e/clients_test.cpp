// The clients of docs/clients, each in its own language: they list tools, ask, show events and answer a question.
#include "test/e2e/harness/harness.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>
#include <vector>

using namespace mcpbx::e2e;

namespace {

struct client {
  std::string file;
  std::vector<std::string> needs;  // programs, the first one runs it
};

const std::vector<client> clients{{"mcpbx.py", {"python3"}}, {"mcpbx.mjs", {"node"}}, {"mcpbx.sh", {"sh", "socat"}}};

// Returns false, and says so, if the machine lacks a program that the client needs.
bool can_run(const client& c) {
  for (const auto& program : c.needs)
    if (std::system(("command -v " + program + " >/dev/null 2>&1").c_str()) != 0) {
      MESSAGE(("docs/clients/" + c.file + " is not tested: " + program + " is not installed"));
      return false;
    }
  return true;
}

cli_result run(const world& w, const std::vector<std::string>& command, std::string_view input) {
  auto environment = w.env;
  environment.push_back("MCPBX_SOCKET=" + w.socket());
  std::vector<std::string> words{"/usr/bin/env"};
  words.insert(words.end(), command.begin(), command.end());
  child c({.argv = std::move(words), .env = std::move(environment), .cwd = w.dir()});
  if (!input.empty()) c.write(input);
  c.close_stdin();
  const auto end = c.wait();
  return {end.status, c.out, c.err};
}

std::string file_of(const client& c) {
  return MCPBX_SOURCE_DIR "/docs/clients/" + c.file;
}

}  // namespace

TEST_CASE("docs/clients: each client lists tools, asks with events, and answers a question with yes or no") {
  daemon_under_test d(config()
                          .server("s", {"--log", "@DIR@/log"}, R"("approve":["ec*"])")
                          .model("m", R"({"api":"rehearsal"})")
                          .top("defaultModel", "\"m\""));
  d.wait_ready({"s"});
  for (const auto& c : clients) {
    if (!can_run(c)) continue;
    CAPTURE(c.file);
    const auto ask = [&](const std::vector<std::string>& words, std::string_view input = {}) {
      std::vector<std::string> command{c.needs[0], file_of(c)};
      command.insert(command.end(), words.begin(), words.end());
      return run(d, command, input);
    };
    const auto tools = ask({"tools", "s__ec*"});
    CHECK_MESSAGE(tools.status == 0, tools.err);
    CHECK_MESSAGE(contains(tools.out, "s__echo"), tools.out);
    CHECK_FALSE(contains(tools.out, "s__add"));
    const auto usage = ask({});
    CHECK(usage.status != 0);
    CHECK(contains(usage.err, "usage: " + c.file + " ask TEXT | tools [PATTERN]"));
    if (c.file == "mcpbx.sh") continue;
    const auto yes = ask({"ask", "s__echo \"a\\b\""}, "y\n");
    CHECK_MESSAGE(yes.status == 0, yes.err);
    CHECK(contains(yes.err, "s__echo? [y/N]"));
    CHECK_MESSAGE(contains(yes.err, "[tool_result"), yes.err);
    const auto calls = count_of(read_file(d.file("log")), "tools/call");
    CHECK(calls > 0);
    const auto no = ask({"ask", "s__echo"}, "n\n");
    CHECK(count_of(read_file(d.file("log")), "tools/call") == calls);
    CHECK(contains(no.err, "s__echo? [y/N]"));
  }
}

TEST_CASE("docs/clients: a program that sources the shell's client gets events and answers questions") {
  if (!can_run(clients[2])) return;
  daemon_under_test d(config()
                          .server("s", {"--log", "@DIR@/log"}, R"("approve":["ec*"])")
                          .model("m", R"({"api":"rehearsal"})")
                          .top("defaultModel", "\"m\""));
  d.wait_ready({"s"});
  const auto program = d.write("program.sh", ". '" + file_of(clients[2]) +
                                                 "'\n"
                                                 "on_event() { echo \"event $1\" >&2; }\n"
                                                 "on_question() { echo '\"approve\":true'; }\n"
                                                 "mcpbx_ask 's__echo \"a\\b\"\n\tnext' '\"status\":\"off\"'\n"
                                                 "mcpbx_ask x '\"model\":\"none\"' || echo \"failed $?\"\n");
  const auto r = run(d, {"sh", program}, {});
  CHECK_MESSAGE(contains(r.out, R"("stopReason":"final")"), r.err);
  CHECK(contains(r.err, "event question\n"));
  CHECK(contains(r.err, "event tool_result\n"));
  CHECK(contains(r.err, "event done\n"));
  CHECK(contains(r.out, "failed 1\n"));
  CHECK_MESSAGE(contains(r.err, "there is no model"), r.err);
}

TEST_CASE("docs/clients: each client has 100 lines at most, so that it can be read before it is copied") {
  for (const auto& c : clients) CHECK_MESSAGE(count_of(read_file(file_of(c)), "\n") <= 100, c.file);
}

TEST_CASE("docs/clients: without a daemon each client says so and fails") {
  const world w;
  for (const auto& c : clients) {
    if (!can_run(c)) continue;
    const auto r = run(w, {c.needs[0], file_of(c), "ask", "x"}, {});
    CHECK_MESSAGE(r.status != 0, c.file);
    CHECK_MESSAGE(r.err != "", c.file);
    CHECK_FALSE(contains(r.err, "Traceback"));
  }
}
