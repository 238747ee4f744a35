// Daemons that the CLI starts, private ones, the shim, and configurations that are refused.
#include "test/e2e/harness/harness.hpp"
#include "test/support/broken_configurations.hpp"
#include "test/support/host_spellings.hpp"

#include <doctest/doctest.h>

#include <sys/stat.h>

#include <filesystem>

using namespace mcpbx::e2e;
namespace fs = std::filesystem;

namespace {

/// A world with XDG places of its own and a configuration where the daemon looks for it.
class home : public world {
 public:
  explicit home(const config& c) {
    for (const char* name : {"run", "state", "config", "config/mcpbx"}) {
      fs::create_directory(file(name));
      fs::permissions(file(name), fs::perms::owner_all);
    }
    write("config/mcpbx/config.json", c.str());
    env.push_back("XDG_RUNTIME_DIR=" + file("run"));
    env.push_back("XDG_STATE_HOME=" + file("state"));
    env.push_back("XDG_CONFIG_HOME=" + file("config"));
  }
  ~home() {
    // End the daemon that the test left running.
    if (const pid_t pid = daemon(); pid > 0) {
      ::kill(pid, SIGTERM);
      if (!eventually([&] { return !alive(pid); })) ::kill(pid, SIGKILL);
    }
  }
  std::string default_socket() const { return file("run/mcpbx/mcpbx.sock"); }
  std::string log() const { return read_file(file("state/mcpbx/mcpbxd.log")); }
  /// The pid that the daemon's status tells, or -1.
  pid_t daemon() const {
    const auto r = run_cli(*this, {"--json", "status"}, {}, false);
    return r.status == 0 ? static_cast<pid_t>(at(parse(r.out), "pid").as_int64()) : -1;
  }
};

/// Returns the commands of the first code block below a heading of README.md, each as its words after `mcpbx`.
std::vector<std::vector<std::string>> commands_of_readme(std::string_view heading) {
  const std::string text = read_file(MCPBX_SOURCE_DIR "/README.md");
  std::vector<std::vector<std::string>> commands;
  for (auto at = text.find("\n    mcpbx ", text.find(heading)); at != std::string::npos && text[at + 1] == ' ';
       at = text.find('\n', at + 1)) {
    std::vector<std::string> words(1);
    bool quoted = false;
    for (const char c : text.substr(at + 11, text.find('\n', at + 1) - at - 11)) {
      if (c == '#' && !quoted) break;
      if (c == '"')
        quoted = !quoted;
      else if (c != ' ' || quoted)
        words.back() += c;
      else if (!words.back().empty())
        words.emplace_back();
    }
    if (words.back().empty()) words.pop_back();
    commands.push_back(std::move(words));
  }
  return commands;
}

}  // namespace

TEST_CASE("README: the commands of the first question work without a configuration, and a session is deleted") {
  home h{config()};
  fs::remove(h.file("config/mcpbx/config.json"));
  const auto commands = commands_of_readme("## First question");
  REQUIRE(commands.size() == 9);
  std::string all, answers;
  for (const auto& words : commands) {
    CAPTURE(words.at(0));
    if (words == std::vector<std::string>{"stop"}) {
      const auto sessions = parse(run_cli(h, {"--json", "sessions"}, {}, false).out);
      REQUIRE(sessions.as_array().size() == 1);
      const auto id = text_at(sessions, "0.session");
      CHECK(contains(run_cli(h, {"sessions", "show", id}, {}, false).out, "And 6 * 7?"));
      CHECK(run_cli(h, {"sessions", "rm", id}, {}, false).status == 0);
      CHECK(run_cli(h, {"sessions", "show", id}, {}, false).status == 5);
    }
    const auto r = run_cli(h, words, {}, false);
    CHECK_MESSAGE(r.status == 0, r.err);
    all += r.out;
    if (words.at(0) == "ask") answers += r.out;
  }
  CHECK_MESSAGE(contains(answers, "395"), answers);
  CHECK_MESSAGE(contains(answers, "42"), answers);
  CHECK(contains(all, "toolbox__calculate"));
  CHECK(contains(all, "expression"));
  CHECK(contains(all, "1024"));
  // Nothing of the conversation is left on the disk.
  for (const auto& entry : fs::recursive_directory_iterator(h.file("state")))
    if (entry.is_regular_file())
      CHECK_FALSE_MESSAGE(contains(read_file(entry.path().string()), "17 * 23"), entry.path().string());
}

TEST_CASE("D4: without a daemon at the default socket the CLI starts one, which serves on until stop") {
  home h(config().server("s"));
  CHECK(run_cli(h, {"status"}, {}, false).status == 3);
  CHECK(run_cli(h, {"stop"}, {}, false).status == 3);
  const auto first = run_cli(h, {"call", "s__echo", "text=hello"}, {}, false);
  CHECK_MESSAGE(first.status == 0, first.err);
  CHECK(first.out == "hello\n");
  const pid_t pid = h.daemon();
  REQUIRE(pid > 0);
  CHECK(run_cli(h, {"call", "s__process"}, {}, false).status == 0);
  CHECK(h.daemon() == pid);
  CHECK(fs::read_symlink("/proc/" + std::to_string(pid) + "/cwd") == h.dir());
  CHECK(eventually([&] { return contains(h.log(), "ready "); }));
  struct stat s{};
  REQUIRE(::stat(h.file("state/mcpbx/mcpbxd.log").c_str(), &s) == 0);
  CHECK((s.st_mode & 0777) == 0600);
  CHECK(run_cli(h, {"stop"}, {}, false).status == 0);
  CHECK_FALSE(fs::exists(h.default_socket()));
  CHECK_FALSE(alive(pid));
  CHECK(h.tagged().empty());
}

TEST_CASE("cli: a command that finds its daemon stopping starts one behind it") {
  home h(config().server("s", {"--spawn-log", "@DIR@/spawns", "--behave", "ignore-sigterm"}));
  CHECK(run_cli(h, {"call", "s__echo", "text=first"}, {}, false).status == 0);
  const pid_t before = h.daemon();
  REQUIRE(before > 0);
  ::kill(before, SIGTERM);
  REQUIRE(eventually([&] { return !fs::exists(h.default_socket()); }));
  const auto r = run_cli(h, {"call", "s__echo", "text=second"}, {}, false);
  CHECK_MESSAGE(r.status == 0, r.err);
  CHECK(r.out == "second\n");
  CHECK_FALSE(alive(before));
  CHECK(h.daemon() != before);
  CHECK(count_of(read_file(h.file("spawns")), "\n") == 2);
}

TEST_CASE("cli: many commands at once start one daemon between them (G42)") {
  home h(config().server("s", {"--spawn-log", "@DIR@/spawns"}));
  std::vector<std::unique_ptr<child>> all;
  for (int i = 0; i < 12; ++i) all.push_back(start_cli(h, {"call", "s__echo", "text=hello"}, false));
  for (auto& c : all) {
    CHECK_MESSAGE(c->wait().status == 0, c->err);
    CHECK(c->out == "hello\n");
  }
  CHECK(count_of(read_file(h.file("spawns")), "\n") == 1);
}

TEST_CASE("cli: whoever has lost the variables finds the daemon that runs, and the other way round (G42)") {
  for (const bool first_has_them : {true, false}) {
    home h(config().server("s", {"--spawn-log", "@DIR@/spawns"}));
    const auto whole = h.env;
    // As clients that spawn `mcpbx mcp` leave them; without XDG_CONFIG_HOME there is another configuration.
    const std::vector<std::string> stripped(whole.begin(), whole.begin() + 3);
    fs::create_directories(h.file(".config/mcpbx"));
    h.write(".config/mcpbx/config.json", read_file(h.file("config/mcpbx/config.json")));
    h.env = first_has_them ? whole : stripped;
    CHECK(run_cli(h, {"call", "s__echo", "text=hello"}, {}, false).status == 0);
    const pid_t pid = h.daemon();
    REQUIRE(pid > 0);
    h.env = first_has_them ? stripped : whole;
    const auto r = run_cli(h, {"mcp"},
                           R"({"jsonrpc":"2.0","id":1,"method":"ping"})"
                           "\n",
                           false);
    CHECK_MESSAGE(contains(r.out, R"("result":{})"), r.err);
    CHECK(h.daemon() == pid);
    CHECK(run_cli(h, {"wait"}, {}, false).status == 0);
    CHECK(count_of(read_file(h.file("spawns")), "\n") == 1);
    // Nor does a daemon that is started by hand begin beside it.
    const auto second = run_daemon(h, {});
    CHECK(second.status == 1);
    CHECK(contains(second.err, "already runs at"));
    CHECK(run_cli(h, {"stop"}, {}, false).status == 0);
    CHECK_FALSE(fs::exists(fs::symlink_status(h.file(".local/state/mcpbx/running"))));
    CHECK(run_cli(h, {"status"}, {}, false).status == 3);
    h.env = whole;
  }
}

TEST_CASE("cli: a daemon that it started is replaced when the configuration or a key is new and nobody uses it") {
  home h(config().server("s").model("m", R"({"api":"openai-chat","model":"x","apiKey":"${env:MY_TEST_KEY}"})"));
  const auto pid_after = [&] {
    const auto r = run_cli(h, {"call", "s__echo", "text=hello"}, {}, false);
    CHECK_MESSAGE(r.status == 0, r.err);
    CHECK_MESSAGE(r.err.empty(), r.err);
    return h.daemon();
  };
  const pid_t first = pid_after();
  REQUIRE(first > 0);
  CHECK(pid_after() == first);
  h.env.emplace_back("MY_TEST_KEY=a key");
  const pid_t second = pid_after();
  CHECK(second != first);
  CHECK_FALSE(alive(first));
  CHECK(pid_after() == second);
  // A variable that is unset here is no change, and neither is a file rewritten with the same content.
  h.env.pop_back();
  h.write("config/mcpbx/config.json", read_file(h.file("config/mcpbx/config.json")));
  CHECK(pid_after() == second);
  fs::create_directory(h.file("config/mcpbx/config.d"));
  h.write("config/mcpbx/config.d/more.json", R"({"store":{"maxAgeDays":3}})");
  const pid_t third = pid_after();
  CHECK(third != second);
  // With another caller present the daemon stays, and the command says so.
  caller busy(h.default_socket());
  fs::remove(h.file("config/mcpbx/config.d/more.json"));
  const auto r = run_cli(h, {"call", "s__echo", "text=hello"}, {}, false);
  CHECK(r.status == 0);
  CHECK_MESSAGE(contains(r.err, "more.json has changed since the daemon read it; `mcpbx stop` ends it"), r.err);
  CHECK(h.daemon() == third);
  CHECK_FALSE(contains(r.err, "a key"));
}

TEST_CASE(
    "G34 cli: a daemon that it started reads a changed configuration again, and goes on with the old one if that is "
    "wrong") {
  home h(config().server("s"));
  const auto call = [&](const std::string& tool) { return run_cli(h, {"call", tool, "text=hello"}, {}, false); };
  CHECK(call("s__echo").out == "hello\n");
  const pid_t first = h.daemon();
  caller busy(h.default_socket());
  h.write("config/mcpbx/config.json", config().server("s").server("new").str());
  const auto changed = call("new__echo");
  CHECK_MESSAGE(changed.out == "hello\n", changed.err);
  h.write("config/mcpbx/config.json", R"({"mcpServer": {}})");
  const auto wrong = call("new__echo");
  CHECK(wrong.status == 0);
  CHECK(wrong.out == "hello\n");
  CHECK_MESSAGE(wrong.err.starts_with("mcpbx: the configuration is wrong, and the one before stays in force:\n"),
                wrong.err);
  CHECK(h.daemon() == first);
}

TEST_CASE("cli: a started daemon ends by itself after idleExitMs") {
  home h(config().server("s").top("idleExitMs", "300"));
  CHECK(run_cli(h, {"tools"}, {}, false).status == 0);
  CHECK(eventually([&] { return !fs::exists(h.default_socket()); }));
  CHECK(eventually([&] { return h.tagged().empty(); }));
}

TEST_CASE("cli: a started daemon whose last detached run has outlived its callers ends by itself all the same") {
  model_process model;
  home h(config()
             .server("s", {"--log", "@DIR@/log"}, R"("callTimeoutMs":1000)")
             .model("m", model.entry())
             .top("idleExitMs", "300"));
  CHECK(run_cli(h, {"tools"}, {}, false).status == 0);
  {
    caller c(h.default_socket());
    const auto begun = c.request("mcpbx/chat", R"({"input":"q","detach":true,"model":"m/rounds-1 s__never-answer"})");
    CHECK_MESSAGE(!begun.failed(), begun.line);
    CHECK(eventually([&] { return contains(read_file(h.file("log")), "call never-answer"); }));
  }
  CHECK(eventually([&] { return !fs::exists(h.default_socket()); }));
  CHECK(eventually([&] { return h.tagged().empty(); }));
}

TEST_CASE("D5: a configuration with errors is status 2, and the errors are shown") {
  home h(config().server("s").top("lop", "{}"));
  const auto r = run_cli(h, {"tools"}, {}, false);
  CHECK(r.status == 2);
  CHECK(contains(r.err, "config.json:1:"));
  CHECK(contains(r.err, "\"loop\""));
}

TEST_CASE("cli: a relative --config or MCPBX_CONFIG is one of the caller's directory, not of the daemon's") {
  home h(config().server("wrong"));
  h.write("mine.json", config().server("s").str());
  // The daemon runs in $HOME, which is the folder above.
  h.cwd = h.file("elsewhere");
  fs::create_directory(h.cwd);
  const std::string relative = "../mine.json";
  const auto r = run_cli(h, {"--config", relative, "call", "s__echo", "text=mine"}, {}, false);
  CHECK_MESSAGE(r.status == 0, r.err);
  CHECK(r.out == "mine\n");
  CHECK(run_cli(h, {"stop"}, {}, false).status == 0);
  h.env.push_back("MCPBX_CONFIG=" + relative);
  CHECK(run_cli(h, {"call", "s__echo", "text=mine"}, {}, false).out == "mine\n");
}

TEST_CASE("cli: wait starts the daemon as every verb does") {
  home h(config().server("s"));
  const auto r = run_cli(h, {"wait"}, {}, false);
  CHECK_MESSAGE(r.status == 0, r.err);
  CHECK(h.daemon() > 0);
  CHECK(run_cli(h, {"stop"}, {}, false).status == 0);
  h.write("config/mcpbx/config.json", "{");
  CHECK(run_cli(h, {"wait"}, {}, false).status == 2);
}

TEST_CASE("cli: the command that starts the daemon waits for its tool servers, and says for whom") {
  model_process model;
  home h(
      config()
          .server("quick")
          .entry(
              "slow",
              R"({"command":"/bin/sh","args":["-c","until [ -e @DIR@/go ]; do sleep 0.05; done; exec @SERVER@ --tag @TAG@"]})")
          .model("m", model.entry())
          .top("defaultModel", "\"m\""));
  // Runs a command whose daemon has a server that starts only when the command has said that it waits.
  const auto told = [&](const config::words& words) {
    fs::remove(h.file("go"));
    auto command = start_cli(h, words, false);
    CHECK_MESSAGE(command->says("slow (at most 15 s; --no-wait does not wait)"), command->err);
    CHECK_FALSE(command->ended());
    h.write("go", "");
    const auto status = command->wait().status;
    CHECK_MESSAGE(status == 0, command->err);
    return command;
  };
  const auto cold = told({"tools", "slow__e*"});
  CHECK(contains(cold->out, "slow__echo"));
  CHECK(cold->err.starts_with("mcpbx: waiting for tool servers to start: "));
  REQUIRE(run_cli(h, {"stop"}, {}, false).status == 0);
  CHECK(told({"call", "slow__echo", "text=hello"})->out == "hello\n");
  REQUIRE(run_cli(h, {"stop"}, {}, false).status == 0);
  // A tool that is there is called at once.
  fs::remove(h.file("go"));
  CHECK_FALSE(contains(run_cli(h, {"call", "quick__echo", "text=hello"}, {}, false).err, "--no-wait"));
  REQUIRE(run_cli(h, {"stop"}, {}, false).status == 0);
  told({"ask", "question"});
  CHECK(contains(model.log(), "slow__echo"));
}

TEST_CASE("cli: tools with --no-wait, or of a daemon that runs, tells which servers are still starting") {
  home h(config().server("quick").entry(
      "slow",
      R"({"command":"/bin/sh","args":["-c","while [ ! -e @DIR@/go ]; do sleep 0.05; done; exec @SERVER@ --tag @TAG@"]})"));
  for (const auto& words : {config::words{"tools", "--no-wait"}, {"tools"}}) {
    const auto r = run_cli(h, words, {}, false);
    CHECK(r.status == 0);
    CHECK(contains(r.out, "quick__echo"));
    CHECK(r.err == "mcpbx: still starting, their tools are missing: slow; `mcpbx wait` waits for them\n");
  }
  h.write("go", "");
  CHECK(run_cli(h, {"wait"}, {}, false).status == 0);
  CHECK(run_cli(h, {"tools"}, {}, false).err.empty());
}

TEST_CASE("D4: --standalone runs a private daemon for one command and leaves nothing") {
  home h(config().server("wrong"));
  fs::create_directory(h.file("tmp"));
  h.env.push_back("TMPDIR=" + h.file("tmp"));
  h.write("mine.json", config().server("s", {"--spawn-log", "@DIR@/spawns"}).str());
  const auto r =
      run_cli(h, {"--standalone", "--config", h.file("mine.json"), "call", "s__echo", "text=private"}, {}, false);
  CHECK_MESSAGE(r.status == 0, r.err);
  CHECK(r.out == "private\n");
  CHECK_FALSE(fs::exists(h.default_socket()));
  CHECK(h.tagged().empty());
  CHECK(count_of(read_file(h.file("spawns")), "\n") == 1);
  CHECK(run_cli(h, {"--standalone", "--config", h.file("none.json"), "tools"}, {}, false).status == 2);
  CHECK(fs::is_empty(h.file("tmp")));
}

TEST_CASE("cli: a private daemon ends with a command that is killed") {
  home h(config{});
  fs::create_directory(h.file("tmp"));
  h.env.push_back("TMPDIR=" + h.file("tmp"));
  h.write("mine.json", config().server("s", {"--log", "@DIR@/log", "--behave", "ignore-sigterm"}).str());
  auto c = start_cli(h, {"--standalone", "--config", h.file("mine.json"), "call", "s__never-answer"}, false);
  REQUIRE(eventually([&] { return contains(read_file(h.file("log")), "call never-answer"); }));
  CHECK_FALSE(fs::is_empty(h.file("tmp")));
  c->signal(SIGKILL);
  CHECK(eventually([&] { return h.tagged().empty(); }));
  CHECK(eventually([&] { return fs::is_empty(h.file("tmp")); }));
}

TEST_CASE("M6 D4: mcpbx mcp is an MCP server on pipes") {
  daemon_under_test d(config().server("s"));
  auto shim = start_cli(d, {"mcp"});
  const auto ask = [&](const std::string& line) {
    shim->write(line + "\n");
    for (;;)
      if (const auto answer = shim->read_line(); !contains(answer, "list_changed\"}")) return parse(answer);
  };
  const auto opened = ask(R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
                          R"("capabilities":{},"clientInfo":{"name":"host","version":"1"}}})");
  CHECK(text_at(opened, "result.serverInfo.name") == "mcpbx");
  shim->write(R"({"jsonrpc":"2.0","method":"notifications/initialized"})"
              "\n");
  CHECK(at(ask(R"({"jsonrpc":"2.0","id":2,"method":"tools/list"})"), "result.tools.0.name").is_string());
  CHECK(
      text_at(
          ask(R"({"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"s__echo","arguments":{"text":"t"}}})"),
          "result.content.0.text") == "t");
  shim->close_stdin();
  CHECK(shim->wait().status == 0);
  CHECK_FALSE(contains(shim->out, "mcpbx-shim"));
  CHECK(shim->err.empty());
}

TEST_CASE("D6: behind mcpbx mcp there is MCP and the profile, and nothing else") {
  daemon_under_test d(config().server("s").top("profiles", R"({"reader":{"tools":{"allow":["s__echo"]}}})"));
  auto shim = start_cli(d, {"mcp", "--profile", "reader"});
  const auto ask = [&](const std::string& line) {
    shim->write(line + "\n");
    for (;;)
      if (const auto answer = shim->read_line(); !contains(answer, "list_changed\"}")) return answer;
  };
  for (const std::string method : {"mcpbx/hello", "mcpbx/chat", "mcpbx/pins/accept", "mcpbx/tools", "mcpbx/stop"})
    CHECK(contains(ask(R"({"jsonrpc":"2.0","id":1,"method":")" + method + R"(","params":{"profile":"other"}})"),
                   "-32601"));
  ask(R"({"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}})");
  const auto tools = ask(R"({"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"cursor":null}})");
  CHECK(contains(tools, "s__echo"));
  CHECK_FALSE(contains(tools, "s__big"));
  CHECK(contains(ask(R"({"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"s__big","arguments":{}}})"),
                 "-32602"));
  shim->close_stdin();
  CHECK(shim->wait().status == 0);
  CHECK(run_cli(d, {"status"}).status == 0);
}

TEST_CASE("shim: requests that are piped in and followed by the end still get their answers") {
  daemon_under_test d(config().server("s"));
  std::string input =
      R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},)"
      R"("clientInfo":{"name":"host","version":"1"}}})"
      "\n"
      R"({"jsonrpc":"2.0","method":"notifications/initialized"})"
      "\n";
  for (int i = 2; i <= 40; ++i)
    input += R"({"jsonrpc":"2.0","id":)" + std::to_string(i) + R"(,"method":"tools/call","params":{"name":"s__)" +
             (i == 20 ? R"(big","arguments":{"n":3000000}}})" : R"(echo","arguments":{"text":"t"}}})") + "\n";
  const auto r = run_cli(d, {"mcp"}, input);
  CHECK(r.status == 0);
  CHECK(count_of(r.out, R"("result":)") == 40);
  CHECK_FALSE(contains(r.out, "mcpbx-shim"));
  CHECK(r.err.empty());
}

TEST_CASE("shim: input that ends within a line ends it, after the answers to what was whole") {
  daemon_under_test d(config().server("s"));
  const auto r = run_cli(d, {"mcp"},
                         R"({"jsonrpc":"2.0","id":1,"method":"ping"})"
                         "\n"
                         R"({"jsonrpc":"2.0","id":2,"method":"ping"})");
  CHECK(r.status == 0);
  CHECK(contains(r.out, R"("id":1,"result":{}})"));
  CHECK_FALSE(contains(r.out, R"("id":2,"result")"));
}

TEST_CASE("shim: an answer that comes long after the end of the input still comes") {
  // Longer than any patience of the shim's own would be.
  daemon_under_test d(config().server("s", {}, R"("callTimeoutMs":6500)"));
  const auto r = run_cli(
      d, {"mcp"},
      R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}})"
      "\n"
      R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"s__never-answer"}})"
      "\n");
  CHECK(r.status == 0);
  CHECK_MESSAGE(contains(r.out, "gave no sign of life for 6500 ms"), r.out);
}

TEST_CASE("shim: a large message passes both ways") {
  daemon_under_test d(config().server("s"));
  const std::string text(8u << 20, 'x');
  const auto r = run_cli(
      d, {"mcp"},
      R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}})"
      "\n"
      R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"s__raw","arguments":{"t":")" +
          text + "\"}}}\n");
  CHECK(r.status == 0);
  const bool whole = contains(r.out, R"("structuredContent":{"t":")" + text + "\"}");
  CHECK(whole);
}

TEST_CASE("shim: it says so when the daemon goes, and is started by its host's call when there is none") {
  {
    daemon_under_test d(config().server("s"));
    auto shim = start_cli(d, {"mcp"});
    shim->write(R"({"jsonrpc":"2.0","id":1,"method":"ping"})"
                "\n");
    CHECK(contains(shim->read_line(), R"("result":{})"));
    d.stop(SIGKILL);
    CHECK(shim->wait().status == 3);
    CHECK(contains(shim->err, "the daemon closed the connection"));
  }
  home h(config().server("s"));
  const auto r = run_cli(h, {"mcp"},
                         R"({"jsonrpc":"2.0","id":1,"method":"ping"})"
                         "\n",
                         false);
  CHECK(r.status == 0);
  CHECK(contains(r.out, R"("result":{})"));
}

TEST_CASE("G34: a wrong configuration is status 78 with every error, its file, line and mend") {
  world w;
  w.write("broken.json",
          "{\n  \"mcpServers\": { \"a\": { \"args\": [] },\n    \"b\": { \"command\": 5 } },\n  \"lop\": {},\n"
          "  \"limits\": { \"callers\": 0 }\n}\n");
  for (const bool check : {false, true}) {
    std::vector<std::string> arguments{"--config", w.file("broken.json"), "--socket", w.socket()};
    if (check) arguments.push_back("--check-config");
    const auto r = run_daemon(w, arguments);
    CHECK(r.status == 78);
    for (const std::string_view word :
         {"broken.json:2:", "broken.json:3:", "broken.json:4:", "broken.json:5:", "\"loop\""})
      CHECK_MESSAGE(contains(r.err, word), word, " is not in:\n", r.err);
    CHECK(r.err.ends_with("\n4 errors, 0 notices\n") == check);
    CHECK(contains(r.err, "broken.json:4:3: error: ") == check);
    CHECK_FALSE(fs::exists(w.socket()));
  }
  w.write("torn.json", "{ \"mcpServers\": {");
  CHECK(run_daemon(w, {"--config", w.file("torn.json")}).status == 78);
  CHECK(run_daemon(w, {"--config", w.file("missing.json")}).status == 78);
  CHECK(run_daemon(w, {"--log-level", "loud"}).status == 2);
  CHECK(run_daemon(w, {"--http", "0.0.0.0:1"}).status == 2);
  w.write("good.json", config().server("s").str());
  const auto good = run_daemon(w, {"--config", w.file("good.json"), "--check-config"});
  CHECK(good.status == 0);
  CHECK(good.err.ends_with("good.json: ok\n0 errors, 0 notices\n"));
  // Notes are marked as such and cause no failure.
  w.write("noted.json", "{\n  \"store\": { \"url\": \"postgresql://me:word@h/d\" }\n}\n");
  const auto noted = run_daemon(w, {"--config", w.file("noted.json"), "--check-config"});
  CHECK(noted.status == 0);
  CHECK_MESSAGE(contains(noted.err, "noted.json:2:21: notice: "), noted.err);
  CHECK_MESSAGE(noted.err.ends_with("noted.json: ok\n0 errors, 1 notice\n"), noted.err);
}

TEST_CASE("G34: the daemon does not start with any of twenty broken files, and tells all of their errors") {
  world w;
  for (const auto& [text, errors] : mcpbx::test::broken_configurations()) {
    CAPTURE(text);
    w.write("config.json", text);
    const auto r = run_daemon(w, {"--config", w.file("config.json"), "--socket", w.socket()});
    CHECK(r.status == 78);
    for (const char* one : errors) CHECK_MESSAGE(contains(r.err, w.file("config.json") + ":" + one), one, "\n", r.err);
    CHECK_FALSE(fs::exists(w.socket()));
  }
}

TEST_CASE("G34: a configuration that others may write is refused") {
  world w;
  w.write("open.json", "{}");
  fs::permissions(w.file("open.json"), fs::perms::owner_all | fs::perms::others_write);
  const auto r = run_daemon(w, {"--config", w.file("open.json"), "--socket", w.socket()});
  CHECK(r.status == 78);
  CHECK(contains(r.err, "open.json"));
}

TEST_CASE("D5: no way to keep a tool away that other hosts know leaves it callable") {
  // One daemon for all that act: a server each.
  config acting;
  std::vector<std::string> names;
  for (const auto& s : mcpbx::test::host_spellings) {
    if (!s.acts) {
      home refused(config().server("s", {"--counter-file", "@DIR@/counted"}, s.members));
      CAPTURE(s.members);
      CHECK(run_daemon(refused, {"--check-config"}).status == 78);
      CHECK(run_daemon(refused, {}).status == 78);
      continue;
    }
    names.push_back("s" + std::to_string(names.size()));
    acting.server(names.back(), {"--counter-file", "@DIR@/counted"}, s.members);
  }
  acting.server("plain");
  home h(acting);
  CHECK(run_cli(h, {"call", "plain__echo", "text=x"}, {}, false).status == 0);
  for (const auto& name : names) {
    CAPTURE(name);
    CHECK(run_cli(h, {"call", name + "__counter"}, {}, false).status != 0);
    CHECK(run_cli(h, {"call", name + "__other"}, {}, false).status != 0);
  }
  CHECK_FALSE(fs::exists(h.file("counted")));
}

TEST_CASE("cli: a server with a url that nobody answers at is failed with the reason and tried again later") {
  home h(config().entry("far", R"({"url": "http://127.0.0.1:1/mcp?key=canary-of-query"})").server("s"));
  const auto checked = run_daemon(h, {"--check-config"});
  CHECK(checked.status == 0);
  CHECK(run_cli(h, {"call", "s__echo", "text=x"}, {}, false).status == 0);
  const auto listed = run_cli(h, {"--json", "servers"}, {}, false);
  const auto far = parse(listed.out).as_array().at(0);
  CHECK(far.as_object().at("startFailed").as_bool());
  CHECK(contains(text_at(far, "lastError"), "tool server \"far\" cannot be reached: 127.0.0.1:1 could not be reached"));
  CHECK(text_at(far.as_object().at("remote"), "problem") == "unreachable");
  CHECK_FALSE(contains(listed.out, "canary"));
}
