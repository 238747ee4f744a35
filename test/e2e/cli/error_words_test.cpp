// Errors end with the command that helps, and names that are nearly right are told the right one.
#include "test/e2e/harness/harness.hpp"

#include <doctest/doctest.h>

#include <sys/stat.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

using namespace mcpbx::e2e;

namespace {

struct wrong_command {
  std::vector<std::string> words;
  int status;
  std::string says;  ///< a part of the sentence
};

// Returns true if the text ends with a command in backticks, and few words about it.
bool ends_with_a_command(std::string_view text) {
  const auto end = text.rfind('`');
  if (end == std::string_view::npos || text.size() - end > 62) return false;
  const auto begin = text.rfind('`', end - 1);
  if (begin == std::string_view::npos) return false;
  const auto command = text.substr(begin + 1, end - begin - 1);
  return std::ranges::any_of(std::vector<std::string_view>{"mcpbx ", "mcpbxd", "chmod ", "export ", "mkdir "},
                             [&](std::string_view program) { return command.starts_with(program); });
}

void check(const world& w, const std::vector<wrong_command>& table) {
  for (const auto& one : table) {
    std::string command;
    for (const auto& word : one.words) command += word + " ";
    CAPTURE(command);
    const auto r = run_cli(w, one.words);
    CAPTURE(r.err);
    CHECK(r.status == one.status);
    CHECK(contains(r.err, one.says));
    CHECK(ends_with_a_command(r.err));
    CHECK_FALSE(contains(r.err, "params."));
    auto words = one.words;
    words.insert(words.begin(), "--json");
    const auto as_json = run_cli(w, words);
    CHECK(as_json.status == one.status);
    // Events of a run, results of tools and reasons of `why` tell the failure themselves.
    if (!as_json.out.contains("\"type\":") && !as_json.out.contains("\"outcome\":"))
      CHECK(ends_with_a_command(text_at(parse(as_json.out), "error.message")));
  }
}

config usual() {
  return config()
      .server("files")
      .entry("off", R"({"command": "x", "disabled": true})")
      .entry("gone", R"({"command": "/no/such/program"})")
      .entry("web", R"({"url": "http://127.0.0.1:9/mcp"})")
      .model("demo", R"({"api": "rehearsal"})")
      .model("keyless", R"({"api": "anthropic", "model": "x", "apiKey": "${env:NO_SUCH_KEY}"})")
      .model("far", R"({"api": "openai-chat", "model": "x", "apiKey": "k", "baseUrl": "http://127.0.0.1:9/v1",
          "maxRetries": 0})")
      .top("profiles", R"({"small": {"tools": {"deny": ["*add*"]}}})")
      .top("store", R"({"url": "sqlite:@DIR@/j.db"})")
      .top("defaultModel", "\"demo\"");
}

}  // namespace

TEST_CASE("E1: errors about names, servers, models and runs end with the command that helps") {
  daemon_under_test d(usual());
  d.wait_ready({"files"});
  d.env.push_back("MCPBX_CONFIG=" + d.file("config.json"));
  CHECK(run_cli(d, {"ask", "--detach", "--run", "nightly", "hello"}).status == 0);
  REQUIRE(eventually([&] { return run_cli(d, {"attach", "nightly"}).status == 0; }));
  const auto session = text_at(parse(run_cli(d, {"--json", "sessions"}).out), "0.session");
  auto near_session = session;
  near_session.back() = session.back() == '0' ? '1' : '0';
  const std::string meant = "(did you mean \"" + session + "\"?)";
  check(d, {
               // Models and keys.
               {{"ask", "-m", "dmeo", "x"}, 2, "-m: there is no model \"dmeo\" (did you mean \"demo\"?)"},
               {{"ask", "--model=dmeo", "x"}, 2, "--model: there is no model \"dmeo\""},
               {{"models", "dmeo"}, 5, "(did you mean \"demo\"?)"},
               {{"ask", "-m", "keyless", "x"}, 2, "NO_SUCH_KEY is not set"},
               {{"ask", "-m", "far", "x"}, 4, "could not be reached"},
               // Profiles.
               {{"ask", "-p", "smal", "x"}, 2, "(did you mean \"small\"?)"},
               {{"tools", "-p", "smal"}, 2, "(did you mean \"small\"?)"},
               {{"mcp", "--profile", "smal"}, 2, "(did you mean \"small\"?)"},
               {{"install", "cursor", "-p", "smal"}, 5, "(did you mean \"small\"?)"},
               // Sessions.
               {{"sessions", "show", near_session}, 5, meant},
               {{"sessions", "show", session.substr(0, 10)}, 5, meant},
               {{"sessions", "show", session.substr(4, 8)}, 5, meant},
               {{"sessions", "rm", near_session}, 5, meant},
               {{"sessions", "resume", near_session}, 5, meant},
               {{"export", near_session}, 5, meant},
               {{"ask", "-s", near_session, "x"}, 5, meant},
               {{"chat", "-s", near_session}, 5, meant},
               {{"sessions", "show", "nothing-like-it"}, 5, "there is no session"},
               // Runs.
               {{"attach", "nigthly"}, 5, "(did you mean \"nightly\"?)"},
               {{"cancel", "nigthly"}, 5, "(did you mean \"nightly\"?)"},
               {{"attach", "other"}, 5, "it may have ended"},
               {{"cancel", "nightly"}, 5, "has ended already"},
               // Tools.
               {{"call", "files__ehco", "text=x"}, 5, "files__echo"},
               {{"call", "files__add", "a=x"}, 2, "a"},
               {{"why", "files__ehco"}, 5, "files__echo"},
               {{"bench", "files__ehco"}, 5, "files__echo"},
               {{"bench", "files__echo", "--args", "[]"}, 2, "--args"},
               {{"call", "files__fail"}, 1, "returned an error"},
               // Prompts and resources.
               {{"ask", "--prompt", "nothing", "x"}, 5, "there is no prompt"},
               {{"ask", "--resource", "file:///x", "x"}, 5, "there is no resource"},
               {{"prompts", "get", "nothing"}, 5, "there is no prompt"},
               {{"resources", "read", "file:///x"}, 5, "there is no resource"},
               // Servers.
               {{"servers", "fils"}, 5, "(did you mean \"files\"?)"},
               {{"restart", "fils"}, 5, "(did you mean \"files\"?)"},
               {{"restart", "off"}, 2, "`mcpbx enable off`"},
               {{"logs", "fils"}, 5, "(did you mean \"files\"?)"},
               {{"logs", "web"}, 2, "has no log"},
               {{"doctor", "fils"}, 5, "(did you mean \"files\"?)"},
               {{"edit", "fils"}, 5, "(did you mean \"files\"?)"},
               {{"remove", "fils"}, 5, "(did you mean \"files\"?)"},
               {{"enable", "fils"}, 5, "(did you mean \"files\"?)"},
               {{"disable", "fils"}, 5, "(did you mean \"files\"?)"},
               // Pins and logins.
               {{"pins", "show", "fils"}, 5, "(did you mean \"files\"?)"},
               {{"pins", "show", "files__ehco"}, 5, "(did you mean \"files__echo\"?)"},
               {{"pins", "accept", "fils"}, 5, "(did you mean \"files\"?)"},
               {{"auth", "login", "wbe"}, 5, "(did you mean \"web\"?)"},
               {{"auth", "logout", "wbe"}, 5, "(did you mean \"web\"?)"},
               {{"auth", "status", "wbe"}, 5, "(did you mean \"web\"?)"},
               {{"auth", "login", "web"}, 1, "could not be reached"},
               // Programs, files and words.
               {{"import", "--from", "cursr"}, 5, "(did you mean \"cursor\"?)"},
               {{"import", "--from", "cursor"}, 5, "there is no file"},
               {{"import", "/no/such/file"}, 2, "/no/such/file"},
               {{"install", "cursr"}, 5, "(did you mean \"cursor\"?)"},
               {{"uninstall", "cursr"}, 5, "(did you mean \"cursor\"?)"},
               {{"install"}, 2, "name of a program"},
               {{"config", "sho"}, 2, "(did you mean \"show\"?)"},
               {{"completion", "bsh"}, 2, "(did you mean \"bash\"?)"},
               {{"ask", "--file", "/no/such/file", "x"}, 2, "/no/such/file"},
               {{"ask", "--client-tools", "/no/such/file", "x"}, 2, "/no/such/file"},
               {{"export", "--all", "-o", "/no/such/folder/x"}, 1, "nothing was written"},
               {{"add", "a", "--", "x"}, 2, "nothing is written without a yes"},
               {{"doctor", "--fix"}, 2, "--yes"},
               {{"--config", d.file("config.json"), "status"}, 2, "has its configuration already"},
           });
  // A name without a pattern that no tool has is told near ones, too.
  CHECK(contains(run_cli(d, {"tools", "files__ehco"}).err, "near names: files__echo"));
}

TEST_CASE("E1: errors without a daemon, about files and places, end with the command that helps") {
  world w;
  w.env.push_back("MCPBX_CONFIG=");
  check(w, {{{"status"}, 3, "no daemon answers"},
            {{"--socket", "/no/such/s", "ask", "x"}, 3, "no daemon answers"},
            {{"--socket", std::string(200, 's'), "status"}, 2, "107"},
            {{"--standalone", "--config", "/no/such/file", "status"}, 2, "there is no file"},
            {{"--config", "/no/such/file", "config", "show"}, 2, "there is no file"},
            {{"wait", "--timeout", "0"}, 3, ""}});
  const auto broken = w.write("broken.json", "{\"mcpServers\": {\"a\": {\"command\": 1}}, \"idelExitMs\": 5}");
  check(w, {{{"--standalone", "--config", broken, "status"}, 2, "did you mean \"idleExitMs\"?"},
            {{"--config", broken, "config", "show"}, 2, "did you mean \"idleExitMs\"?"},
            {{"--config", broken, "add", "b", "--yes", "--", "true"}, 2, "nothing was written"}});
  const auto open = w.write("open.json", "{}");
  REQUIRE(::chmod(open.c_str(), 0666) == 0);
  check(w, {{{"--standalone", "--config", open, "status"}, 2, "`chmod go-w "},
            {{"--config", open, "config", "show"}, 2, "`chmod go-w "}});
  const auto no_store = w.write("no_store.json", R"({"store": {"url": "sqlite:/dev/null/j.db"}})");
  check(w, {{{"--standalone", "--config", no_store, "sessions"}, 1, "/dev/null/j.db"}});
  const model_process taken;
  const auto port = w.write("port.json", R"({"http": {"address": ")" + taken.address() + R"(", "auth": "none"}})");
  const auto started = run_cli(w, {"--config", port, "tools"}, {}, false);
  CHECK(started.status == 3);
  CHECK(contains(started.err, "choose another port"));
  CHECK_MESSAGE(ends_with_a_command(started.err), started.err);
}
