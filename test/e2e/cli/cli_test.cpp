// The verbs of mcpbx against real servers: output, --json, exit statuses (D4).
#include "test/e2e/harness/harness.hpp"
#include "test/e2e/harness/pseudo_terminal.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace mcpbx::e2e;

namespace {

const config two_servers = config().server("a").server("b", {"--only", "echo,add"});

}  // namespace

TEST_CASE("D4: tools lists a table, JSON and every format, all or by pattern") {
  daemon_under_test d(two_servers);
  d.wait_ready({"a", "b"});
  const auto table = run_cli(d, {"tools", "b__*"});
  CHECK(table.status == 0);
  CHECK(contains(table.out, "b__echo"));
  CHECK(contains(table.out, "b__add"));
  CHECK_FALSE(contains(table.out, "a__"));
  CHECK(table.err.empty());
  const auto list = parse(run_cli(d, {"--json", "tools", "b__*"}).out);
  REQUIRE(list.is_array());
  CHECK(list.as_array().size() == 2);
  CHECK(at(list, "0.inputSchema").is_object());
  CHECK(parse(run_cli(d, {"tools", "--format", "mcp"}).out).as_array().size() > 50);
  const auto openai = parse(run_cli(d, {"tools", "b__echo", "--format", "openai"}).out);
  CHECK(text_at(openai, "0.type") == "function");
  CHECK(text_at(openai, "0.function.name") == "b__echo");
  CHECK(run_cli(d, {"tools", "nothing*"}).status == 0);
  for (const auto& [format, schema] :
       std::initializer_list<std::pair<std::string, std::string>>{{"openai-responses", "0.parameters"},
                                                                  {"anthropic", "0.input_schema"},
                                                                  {"gemini", "0.parametersJsonSchema"},
                                                                  {"ollama", "0.function.parameters"}}) {
    const auto shown = parse(run_cli(d, {"tools", "b__echo", "--format", format}).out);
    CHECK_MESSAGE(at(shown, schema).is_object(), format);
  }
  for (const std::string api : {"openai-chat", "dial", "azure"})
    CHECK(parse(run_cli(d, {"tools", "b__echo", "--format", api}).out) == openai);
  const auto react = run_cli(d, {"tools", "b__echo", "--format", "react"});
  CHECK(contains(react.out, "Action Input:"));
  CHECK(contains(react.out, "b__echo"));
  CHECK(run_cli(d, {"tools", "--format", "word"}).status == 2);
}

TEST_CASE("D4: call takes key=value or JSON, types by the schema, prints text or the result as it was sent") {
  daemon_under_test d(two_servers);
  const auto add = run_cli(d, {"call", "a__add", "a=20", "b=22"});
  CHECK(add.status == 0);
  CHECK(add.out == "42\n");
  CHECK(run_cli(d, {"call", "a__echo", "text=12"}).out == "12\n");
  CHECK(run_cli(d, {"call", "a__echo", "text=a=b c"}).out == "a=b c\n");
  CHECK(run_cli(d, {"call", "a__echo", "--args", R"({"text":"by JSON"})"}).out == "by JSON\n");
  CHECK(run_cli(d, {"call", "a__echo", "--args", "-"}, R"({"text":"by pipe"})").out == "by pipe\n");
  const auto raw = run_cli(d, {"--json", "call", "a__raw", "--args", R"({"n":1e400,"a":1.0,"a":2})"});
  CHECK(raw.out == R"({"content":[],"structuredContent":{"n":1e400,"a":1.0,"a":2}})"
                   "\n");
  CHECK(run_cli(d, {"call", "a__echo", "text"}).status == 2);
  CHECK(run_cli(d, {"call", "a__echo", "--args", "{"}).status == 2);
  CHECK(run_cli(d, {"call", "a__echo", "--args", "[1]"}).status == 2);
  CHECK(run_cli(d, {"call", "a__echo", "text=x", "--args", "{}"}).status == 2);
}

TEST_CASE("D4: exit statuses of call: 0, 1 for an error of the tool, 5 for an unknown tool, 3 without a daemon") {
  daemon_under_test d(two_servers);
  CHECK(run_cli(d, {"call", "a__echo", "text=x"}).status == 0);
  const auto failed = run_cli(d, {"call", "a__fail"});
  CHECK(failed.status == 1);
  CHECK(contains(failed.err, "This tool always fails."));
  CHECK(failed.out.empty());
  const auto json_failed = run_cli(d, {"--json", "call", "a__fail"});
  CHECK(json_failed.status == 1);
  CHECK(at(parse(json_failed.out), "isError") == json::value(true));
  const auto error = run_cli(d, {"call", "a__error"});
  CHECK(error.status == 1);
  CHECK_MESSAGE(error.err.starts_with("mcpbx: the tool server \"a\" answered the call of a__error with an error ("),
                error.err);
  CHECK(contains(error.err, "This tool answers an error."));
  const auto unknown = run_cli(d, {"call", "a__ecko"});
  CHECK(unknown.status == 5);
  CHECK(contains(unknown.err, "similar: a__echo"));
  for (const std::string name : {"a__ecko", "NOPE"}) {
    const auto none_such = run_cli(d, {"call", name});
    CHECK(none_such.status == 5);
    CHECK(contains(none_such.err, "there is no tool `" + name + "`"));
    CHECK(contains(none_such.err, "`mcpbx tools`"));
    CHECK_FALSE(contains(none_such.err, "tools/list"));
  }
  const auto dies = run_cli(d, {"call", "a__crash-in-call"});
  CHECK(dies.status == 1);
  CHECK(contains(dies.err, "\"a\""));
  world nobody;
  const auto none = run_cli(nobody, {"call", "a__echo"});
  CHECK(none.status == 3);
  CHECK(contains(none.err, nobody.socket()));
}

TEST_CASE("cli: Ctrl-C cancels a call: status 130, and the server hears of it (G16)") {
  daemon_under_test d(config().server("a", {"--log", "@DIR@/log"}));
  auto c = start_cli(d, {"call", "a__cancel-ack"});
  REQUIRE(eventually([&] { return contains(read_file(d.file("log")), "call cancel-ack"); }));
  c->signal(SIGINT);
  CHECK(c->wait().status == 130);
  CHECK(eventually([&] { return contains(read_file(d.file("log")), "\ncancel-ack "); }));
}

TEST_CASE("D4: servers, status and restart tell and do what the daemon does") {
  daemon_under_test d(config()
                          .server("good", {"--only", "echo"})
                          .server("bad", {"--behave", "exit-at-start=7"})
                          .server("off", {}, R"("disabled":true)")
                          .server("later", {}, R"("start":"lazy")"));
  d.wait_ready({"good"});
  caller c = d.connect();
  REQUIRE(eventually([&] { return !text_at(c.server("bad"), "lastError").empty(); }));
  const auto table = run_cli(d, {"servers"});
  CHECK(table.status == 0);
  for (const std::string_view word : {"good", "ready", "bad", "status 7", "off", "disabled", "exit-at-start"})
    CHECK_MESSAGE(contains(table.out, word), word, " is not in:\n", table.out);
  const auto list = parse(run_cli(d, {"--json", "servers"}).out);
  REQUIRE(list.is_array());
  CHECK(list.as_array().size() == 4);
  CHECK(text_at(list, "0.name") == "good");
  CHECK(at(list, "0.tools") == json::value(1));
  CHECK(text_at(list, "3.state") == "lazy");
  const auto status = run_cli(d, {"status"});
  CHECK(status.status == 0);
  CHECK(contains(status.out, d.socket()));
  CHECK(at(parse(run_cli(d, {"--json", "status"}).out), "pid") == json::value(d.pid()));
  CHECK(run_cli(d, {"restart", "good"}).status == 0);
  CHECK(eventually([&] { return text_at(c.server("good"), "restarts") == "1"; }));
  const auto unknown = run_cli(d, {"restart", "goad"});
  CHECK(unknown.status == 5);
  CHECK(contains(unknown.err, "good"));
  CHECK(run_cli(d, {"restart", "off"}).status == 2);
}

namespace {

// Returns the widest line of what a terminal showed.
std::size_t widest_line(std::string_view shown) {
  std::size_t widest = 0, used = 0;
  for (const char c : shown) {
    used = c == '\n' || c == '\r' ? 0 : used + ((static_cast<unsigned char>(c) & 0xC0) == 0x80 ? 0 : 1);
    widest = std::max(widest, used);
  }
  return widest;
}

std::string at_terminal(const world& w, const std::vector<std::string>& arguments) {
  pseudo_terminal screen(w, arguments);
  CHECK(screen.wait() == 0);
  return screen.shown;
}

}  // namespace

TEST_CASE("D4: at a terminal servers and tools fit 80 columns, and elsewhere they have all columns") {
  daemon_under_test d(config().server("good").server("a-server-with-a-long-name", {"--behave", "exit-at-start=7"}));
  d.wait_ready({"good"});
  caller c = d.connect();
  REQUIRE(eventually([&] { return !text_at(c.server("a-server-with-a-long-name"), "lastError").empty(); }));
  const auto servers = at_terminal(d, {"servers"}), tools = at_terminal(d, {"tools"});
  CHECK_MESSAGE(widest_line(servers) <= 80, servers);
  CHECK_MESSAGE(contains(servers, "\n  "), servers);
  CHECK_FALSE(contains(servers, "LAST ERROR"));
  CHECK_MESSAGE(widest_line(tools) <= 80, tools);
  CHECK(contains(tools, "good__echo"));
  const auto plain = run_cli(d, {"servers"}).out;
  CHECK(plain.starts_with("NAME                       STATE"));
  CHECK(contains(plain.substr(0, plain.find('\n')), "REVISION    TOOLS  PROMPTS  RESOURCES  PID"));
  CHECK(plain.substr(0, plain.find('\n')).ends_with("RESTARTS  LAST ERROR"));
}

TEST_CASE("D4: status is for people at a terminal, and the same lines as ever elsewhere") {
  daemon_under_test d(config().server("bad", {"--behave", "exit-at-start=7"}));
  caller c = d.connect();
  REQUIRE(eventually([&] { return !text_at(c.server("bad"), "lastError").empty(); }));
  const auto shown = at_terminal(d, {"status"});
  CHECK_MESSAGE(widest_line(shown) <= 80, shown);
  CHECK_MESSAGE(contains(shown, "daemon    version "), shown);
  CHECK(contains(shown, "callers   2 open, "));
  CHECK(contains(shown, "MiB limit"));
  const auto plain = run_cli(d, {"status"}).out;
  CHECK(contains(plain, "\nuptimeMs  "));
  CHECK(contains(plain, "\ncallers   open 2, max "));
  CHECK(parse(run_cli(d, {"--json", "status"}).out).is_object());
}

TEST_CASE("D4: servers NAME tells everything about one server") {
  daemon_under_test d(config().server("good", {"--only", "echo"}).server("other"));
  d.wait_ready({"good"});
  const auto shown = run_cli(d, {"servers", "good"});
  CHECK(shown.status == 0);
  for (const std::string_view line :
       {"name        good\n", "state       ready\n", "restarts    0\n", "tools       1\n", "last error  none\n"})
    CHECK_MESSAGE(contains(shown.out, line), line, " is not in:\n", shown.out);
  CHECK(contains(shown.out, "\npid         "));
  CHECK(contains(shown.out, "\nprotocol    20"));
  CHECK_MESSAGE(contains(shown.out, " --only echo\n"), shown.out);
  CHECK_FALSE(contains(shown.out, "other"));
  CHECK(text_at(parse(run_cli(d, {"--json", "servers", "good"}).out), "name") == "good");
  const auto unknown = run_cli(d, {"servers", "goud"});
  CHECK(unknown.status == 5);
  CHECK(contains(unknown.err, "there is no tool server \"goud\" (did you mean \"good\"?)"));
}

TEST_CASE("D4: tools NAME tells everything about one tool") {
  daemon_under_test d(two_servers);
  d.wait_ready({"a", "b"});
  const auto shown = run_cli(d, {"tools", "b__add"});
  CHECK(shown.status == 0);
  CHECK(contains(shown.out, "name         b__add\nserver       b\ndescription  "));
  CHECK_MESSAGE(contains(shown.out, "\n\nARGUMENT  TYPE"), shown.out);
  CHECK_MESSAGE(contains(shown.out, "\na         integer"), shown.out);
  CHECK(contains(run_cli(d, {"tools", "b__ad"}).err, "no tool matches b__ad"));
}

TEST_CASE("D4: wait gives 0 when all are ready, 1 when one cannot be, 3 when no daemon answers") {
  {
    daemon_under_test d(
        config().server("good").server("lazy", {}, R"("start":"lazy")").server("off", {}, R"("disabled":true)"));
    const auto ok = run_cli(d, {"wait"});
    CHECK(ok.status == 0);
    CHECK(ok.out.empty());
  }
  {
    daemon_under_test d(config().server("good").server("loop", {"--behave", "exit-after-init"}));
    const auto bad = run_cli(d, {"wait"});
    CHECK(bad.status == 1);
    CHECK(contains(bad.err, "loop"));
  }
  {
    daemon_under_test d(config().server("slow", {"--behave", "hang-in-init"}));
    const auto late = run_cli(d, {"wait", "--timeout", "1"});
    CHECK(late.status == 1);
    CHECK(contains(late.err, "slow"));
    CHECK(contains(text_at(parse(run_cli(d, {"--json", "wait", "--timeout", "0"}).out), "error.message"), "slow"));
  }
  {
    // Its start is tried again and again; each retry shows as starting.
    daemon_under_test d(config().server("hangs", {"--behave", "hang-in-init"}, R"("startTimeoutMs":300)"));
    const auto hopeless = run_cli(d, {"wait"});
    CHECK(hopeless.status == 1);
    CHECK(contains(hopeless.err, "hangs: "));
    CHECK(contains(hopeless.err, "300 ms"));
    const auto listed = run_cli(d, {"--json", "wait"});
    CHECK(listed.status == 1);
    CHECK(text_at(parse(listed.out), "0.name") == "hangs");
  }
  world nobody;
  const auto none = run_cli(nobody, {"wait", "--timeout", "0"});
  CHECK(none.status == 3);
  CHECK(contains(none.err, nobody.socket()));
}

TEST_CASE("cli: wait does not give up for a server that cannot start while another one is starting") {
  daemon_under_test d(
      config()
          .server("broken", {"--behave", "hang-in-init"}, R"("startTimeoutMs":300)")
          .entry("slow", R"({"command":"/bin/sh","args":["-c","sleep 5; exec @SERVER@ --tag @TAG@"]})"));
  REQUIRE(eventually([&] { return at(d.connect().server("broken"), "startFailed") == json::value(true); }));
  const auto r = run_cli(d, {"wait"});
  CHECK(r.status == 1);
  CHECK(contains(r.err, "broken: "));
  CHECK_FALSE(contains(r.err, "slow"));
  CHECK(d.connect().state("slow") == "ready");
}

TEST_CASE("cli: wait takes a daemon that starts meanwhile") {
  daemon_under_test d(config().server("good"));
  CHECK(d.stop().status == 0);
  auto waiting = start_cli(d, {"wait"});
  d.start();
  CHECK(waiting->wait().status == 0);
}

TEST_CASE("D4: usage errors are 2 with a sentence, what comes later too") {
  world w;
  const std::vector<std::vector<std::string>> wrong{{},
                                                    {"frobnicate"},
                                                    {"serverz"},
                                                    {"call"},
                                                    {"ask"},
                                                    {"ask", " "},
                                                    {"tools", "--no-such-option"},
                                                    {"chat", "-c", "-s", "x"},
                                                    {"sessions", "show"},
                                                    {"doctor", "--yes"},
                                                    {"completion", "tcsh"},
                                                    {"call", "x", "--input", "ask"},
                                                    {"ask", "--max-rounds", "-1", "question"}};
  for (const auto& arguments : wrong) {
    const auto r = run_cli(w, arguments);
    CAPTURE(arguments.empty() ? std::string("no verb") : arguments[0]);
    CHECK(r.status == 2);
    if (!arguments.empty()) {
      CHECK(r.out.empty());
      CHECK(r.err.starts_with("mcpbx: "));
      CHECK(count_of(r.err, "\n") == 1);
    }
  }
  CHECK(contains(run_cli(w, {"serverz"}).err, "servers"));
  CHECK(run_cli(w, {"--version"}).status == 0);
  CHECK(run_cli(w, {"--version"}).out.starts_with("mcpbx "));
  CHECK(run_cli(w, {"help"}).status == 0);
  CHECK(contains(run_cli(w, {"--help"}).out, "ask"));
}

TEST_CASE("cli: text of tools reaches a pipe byte for byte, and no escape sequence is ours (E1)") {
  daemon_under_test d(config().server("a"));
  const auto r = run_cli(d, {"call", "a__ansi-escape"});
  CHECK(r.status == 0);
  CHECK(contains(r.out, "\x1b[31mred"));
  for (const auto& verb : {"tools", "servers", "status"}) CHECK_FALSE(contains(run_cli(d, {verb}).out, "\x1b"));
}

TEST_CASE("cli: a daemon that closes during a call is status 3") {
  daemon_under_test d(config().server("a", {"--log", "@DIR@/log"}));
  auto c = start_cli(d, {"call", "a__never-answer"});
  REQUIRE(eventually([&] { return contains(read_file(d.file("log")), "call never-answer"); }));
  d.stop(SIGKILL);
  CHECK(c->wait().status == 3);
}

TEST_CASE("F8: tools beyond a model's maxTools are left out of what it is offered, and the listing says so") {
  daemon_under_test d(config()
                          .server("b", {"--only", "echo,add,raw"})
                          .model("m", R"({"api": "openai-chat", "model": "x", "maxTools": 3})")
                          .top("defaultModel", "\"m\""));
  d.wait_ready({"b"});
  const auto shown = run_cli(d, {"tools", "--format", "openai"});
  CHECK(shown.status == 0);
  CHECK(parse(shown.out).as_array().size() == 2);
  CHECK(contains(shown.err, "The tool \"b__raw\" is left out: the model takes 3 tools (maxTools"));
  CHECK(parse(run_cli(d, {"tools", "--format", "anthropic"}).out).as_array().size() == 3);
}
