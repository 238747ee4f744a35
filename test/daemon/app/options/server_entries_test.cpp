// The process of a tool server from its entry: command, directory and the whole environment.
#include "daemon/app/options/server_entries.hpp"

#include "daemon/app/options/login_entries.hpp"
#include "daemon/app/options/remote_entries.hpp"
#include "mcp/async/lane.hpp"
#include "mcp/redact/secret.hpp"
#include "test/daemon/app/loaded.hpp"
#include "test/support/captured_output.hpp"
#include "test/support/manual_time.hpp"
#include "test/support/temporary_directory.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::async;
using namespace mcpbx::daemon::logins;
using namespace mcpbx::daemon::options;
using namespace mcpbx::daemon::references;
using namespace mcpbx::redact;
using mcpbx::daemon::test::loaded;
using mcpbx::test::changed_variable;

namespace {

using lines = std::vector<std::string>;

std::string env_file(std::string_view text) {
  auto read = parse_env_file(text, "f");
  if (!read) return "error: " + read.error().message;
  std::string out;
  for (const auto& [name, value] : *read) out += "[" + name + "=" + value + "]";
  return out;
}

// The always passed variables as this test wants them, whatever runs it.
struct known_environment {
  changed_variable path{"PATH", "/bin:/usr/bin"}, home{"HOME", "/home/u"}, user{"USER", "u"},
      logname{"LOGNAME", nullptr}, shell{"SHELL", nullptr}, term{"TERM", nullptr}, lang{"LANG", "C.UTF-8"},
      tz{"TZ", nullptr};
};

result<mcp::process::process_spec> spec_of(const std::string& entry) {
  return make_process_spec(loaded(R"({"mcpServers": {"s": )" + entry + "}}").servers.at(0), "/opt/mcpbx/bin");
}

// The means to start servers, and the last process that was started.
struct server_starts final : mcp::process::process_launcher, mcp::connect::link_events {
  boost::asio::io_context io;
  keyed_lanes references{io.get_executor(), "references"};
  mcpbx::test::manual_time time;
  lane compute{"compute", 1};
  http::clients::client client{io.get_executor(), time, compute, {}};
  std::optional<mcp::process::process_spec> started;
  std::unique_ptr<mcp::transports::transport> opened;
  std::string failure;
  server_means means() {
    return {
        "/bin", references, io.get_executor(), *this, time, client, std::make_shared<mcp::remote::remote_verdicts>(),
        {}};
  }

  std::unique_ptr<mcp::process::server_process> launch(mcp::process::process_spec spec,
                                                       mcp::process::process_events&) override {
    started = std::move(spec);
    return nullptr;
  }
  void on_open(std::unique_ptr<mcp::transports::transport> connection) override { opened = std::move(connection); }
  void on_not_opened(const mcp::connect::link_failure& f) override { failure = f.why; }
  void on_ended(const std::string&) override {}
};

}  // namespace

TEST_CASE("env file: lines as people write them") {
  CHECK(env_file("") == "");
  CHECK(env_file("A=1\nB=two words\n") == "[A=1][B=two words]");
  CHECK(env_file("# note\n\n  \nA=1") == "[A=1]");
  CHECK(env_file("export A=1\n  export  B = x \r\n") == "[A=1][B=x]");
  CHECK(env_file("A=\"a b\"\nB='c # d'\nC=\"\"\nD=\"\nE='x\"") == "[A=a b][B=c # d][C=][D=\"][E='x\"]");
  CHECK(env_file("A=b=c\nA=2") == "[A=b=c][A=2]");
  CHECK(env_file("A=$HOME ${X} `id`") == "[A=$HOME ${X} `id`]");  // no shell reads it
  CHECK(env_file("A=1\nplain") == "error: f:2: expected NAME=value");
  CHECK(env_file("=x") == "error: f:1: expected NAME=value");
}

TEST_CASE("G36: a tool server gets the eight variables that the daemon has and nothing else") {
  const known_environment known;
  const changed_variable canary("CANARY_SECRET", "canary-1"), library("LD_PRELOAD_X", "x");
  CHECK(spec_of(R"({"command": "x"})")->environment ==
        lines{"PATH=/bin:/usr/bin", "HOME=/home/u", "USER=u", "LANG=C.UTF-8"});
}

TEST_CASE("G36: passEnv and envFile and env are laid over it in this order") {
  const known_environment known;
  const mcpbx::test::temporary_directory folder;
  const changed_variable a("MCPBX_TEST_A", "pass"), b("MCPBX_TEST_B", "pass"), c("MCPBX_TEST_C", "pass"),
      unset("MCPBX_TEST_D", nullptr);
  const auto file = folder.write("vars", "MCPBX_TEST_B=file\nMCPBX_TEST_C=file\nFROM_FILE=1\n");
  const auto spec =
      spec_of(R"({"command": "x", "passEnv": ["MCPBX_TEST_A", "MCPBX_TEST_B", "MCPBX_TEST_C", "MCPBX_TEST_D"],
    "envFile": ")" +
              file + R"(", "env": {"MCPBX_TEST_C": "entry", "LANG": "de_DE", "REF": "<${env:MCPBX_TEST_A}>"}})");
  REQUIRE(spec);
  CHECK(spec->environment == lines{"PATH=/bin:/usr/bin", "HOME=/home/u", "USER=u", "LANG=de_DE", "MCPBX_TEST_A=pass",
                                   "MCPBX_TEST_B=file", "MCPBX_TEST_C=entry", "FROM_FILE=1", "REF=<pass>"});
}

TEST_CASE("G35: values with a secret's name are registered when they are resolved") {
  const known_environment known;
  const mcpbx::test::temporary_directory folder;
  const auto file = folder.write("vars", "FILE_TOKEN=canary-file-77\nPLAIN=canary-plain-7\n");
  REQUIRE(spec_of(R"({"command": "x", "envFile": ")" + file + R"(", "env": {"API_KEY": "canary-entry-7"}})"));
  CHECK(redactor::redact("canary-file-77 canary-entry-7 canary-plain-7") == "*** *** canary-plain-7");
  redactor::clear();
}

TEST_CASE("G35: values of passEnv are registered like those of env") {
  const known_environment known;
  const changed_variable pat("MCPBX_TEST_PAT", "canary-pat-7"), url("MCPBX_TEST_DB", "pg://u:canary-url-7@h/db"),
      plain("MCPBX_TEST_MODE", "ordinary");
  redactor::clear();
  REQUIRE(spec_of(R"({"command": "x", "passEnv": ["MCPBX_TEST_PAT", "MCPBX_TEST_DB", "MCPBX_TEST_MODE"]})"));
  CHECK(redactor::redact("canary-pat-7 canary-url-7 ordinary") == "*** *** ordinary");
  redactor::clear();
}

TEST_CASE("command and arguments and directory with references and home") {
  const known_environment known;
  const changed_variable root("MCPBX_TEST_A", "/srv");
  const auto spec = spec_of(
      R"({"command": "~/bin/x", "args": ["--root", "${env:MCPBX_TEST_A}/a", "${MCPBX_TEST_A}", "~", "${NONE:-d e}"],
                  "cwd": "work", "orphans": "keep"})");
  REQUIRE(spec);
  CHECK(spec->name == "s");
  CHECK(spec->argv == lines{"/home/u/bin/x", "--root", "/srv/a", "/srv", "~", "d e"});
  CHECK(spec->directory == "/home/u/work");
  CHECK(spec->keep_orphans);
  CHECK(spec_of(R"({"command": "x"})")->directory == "/home/u");
  CHECK(spec_of(R"({"command": "x", "cwd": "~/a"})")->directory == "/home/u/a");
  CHECK(spec_of(R"({"command": "x", "cwd": "/b"})")->directory == "/b");
}

TEST_CASE("the bundled toolbox is the one beside the daemon wherever PATH leads") {
  const known_environment known;
  CHECK(spec_of(R"({"command": "mcpbx-toolbox", "args": ["~"]})")->argv == lines{"/opt/mcpbx/bin/mcpbx-toolbox", "~"});
  CHECK(spec_of(R"({"command": "/x/mcpbx-toolbox"})")->argv == lines{"/x/mcpbx-toolbox"});
}

TEST_CASE("what cannot be resolved makes the entry unavailable and says where") {
  const known_environment known;
  const changed_variable unset("MCPBX_TEST_A", nullptr);
  const auto env = spec_of(R"({"command": "x", "env": {"K": "${env:MCPBX_TEST_A}"}})");
  REQUIRE_FALSE(env);
  CHECK(env.error().code == errc::config);
  CHECK(env.error().message.find("mcpServers.s.env.K") != std::string::npos);
  CHECK(env.error().message.find("MCPBX_TEST_A") != std::string::npos);
  CHECK_FALSE(spec_of(R"({"command": "x", "envFile": "/no/such/file"})"));
  CHECK_FALSE(spec_of(R"({"command": "x", "args": ["${file:/no/such/file}"]})"));
}

TEST_CASE("server options: every key of an entry reaches its place") {
  const auto all = loaded(R"({"toolNames": "plain", "mcpServers": {
    "a": {"command": "x", "disabled": true, "start": "lazy", "protocol": "2025-06-18", "startTimeoutMs": 1000,
          "callTimeoutMs": 2000, "callHardTimeoutMs": 3000, "idleStopMs": 4000, "maxConcurrency": 5,
          "tools": {"allow": ["a*"], "deny": ["ab"], "rename": {"ac": "z"}, "serial": ["w*"], "retry": ["r"],
                    "callTimeoutMs": {"s*": 6}, "callHardTimeoutMs": {"s*": 7}},
          "trustAnnotations": true, "maxRetries": 8},
    "b": {"command": "x", "toolNames": "prefixed"}}})");
  server_starts s;
  const auto a = make_server_options(all.servers.at(0), all, s.means());
  CHECK(a.name == "a");
  CHECK(a.disabled);
  CHECK(a.lazy);
  CHECK(a.plain_names);
  CHECK(a.protocol == "2025-06-18");
  CHECK(a.start_timeout.count() == 1000);
  CHECK(a.limits.idle.count() == 2000);
  CHECK(a.limits.hard.count() == 3000);
  CHECK(a.idle_stop.count() == 4000);
  CHECK(a.max_concurrency == 5);
  CHECK(a.tools.allow == lines{"a*"});
  CHECK(a.tools.deny == lines{"ab"});
  CHECK(a.tools.rename.at("ac") == "z");
  CHECK(a.calls.serial_tools == lines{"w*"});
  CHECK(a.calls.retry == lines{"r"});
  CHECK(a.calls.trust_annotations);
  CHECK(a.calls.max_retries == 8);
  CHECK(a.calls.idle.at(0) == std::pair(std::string("s*"), milliseconds(6)));
  CHECK(a.calls.hard.at(0) == std::pair(std::string("s*"), milliseconds(7)));
  CHECK_FALSE(make_server_options(all.servers.at(1), all, s.means()).plain_names);
}

TEST_CASE("M4: extensions that an entry does not name are open while no rule is about what the server offers") {
  const auto is_open = [](const std::string& members, const std::string& around = "") {
    const auto all = loaded("{" + around + R"("mcpServers": {"s": {"command": "x")" + members + "}}}");
    return extension_rules_of(all.servers.at(0), all).open;
  };
  CHECK(is_open(""));
  CHECK(is_open(R"(, "tools": {"rename": {"a": "b"}, "serial": ["*"]}, "maxConcurrency": 1, "pin": "off")"));
  CHECK(
      is_open(R"(, "extensions": {"x": {}})", R"("profiles": {"p": {"tools": {"deny": ["*"]}, "approve": ["*"]}}, )"));
  for (const char* filter : {"tools", "prompts", "resources"})
    for (const char* rule : {"allow", "deny"})
      CHECK_FALSE(is_open(std::string(", \"") + filter + "\": {\"" + rule + R"(": ["x*"]})"));
  CHECK_FALSE(is_open(R"(, "approve": ["x*"])"));
  CHECK_FALSE(is_open(R"(, "pin": "block")"));
  CHECK_FALSE(is_open("", R"("loop": {"approveDestructive": true}, )"));
  CHECK_FALSE(is_open("", R"("loop": {"approveAfterOutput": true}, )"));

  const auto all = loaded(R"({"mcpServers": {
    "a": {"command": "x", "extensions": {"mine": {"methods": ["m/*"]}, "bare": {}}},
    "b": {"command": "x", "extensions": {"theirs": {"methods": ["t/*"]}, "told": {}}},
    "c": {"command": "x", "disabled": true, "extensions": {"gone": {"methods": ["g/*"]}}},
    "far": {"url": "https://example.com/mcp"}}})");
  const auto rules = extension_rules_of(all.servers.at(0), all);
  CHECK(rules.named == mcp::protocol::extension_methods{{"mine", {"m/*"}}, {"bare", {}}});
  CHECK(rules.elsewhere == std::set<std::string, std::less<>>{"theirs"});
  // The pins of a server at an address block, if its entry says nothing else.
  CHECK_FALSE(extension_rules_of(all.servers.at(3), all).open);
}

TEST_CASE("preparing is immediate without files and commands and happens on the lane with them") {
  const known_environment known;
  const auto all = loaded(R"({"mcpServers": {"now": {"command": "x"}, "later": {"command": "${cmd:printf prog}"}}})");
  server_starts s;
  const auto now = make_server_options(all.servers.at(0), all, s.means()).connect();
  const auto a = now->open(s);
  REQUIRE(s.started);
  CHECK(s.started->argv == lines{"x"});
  s.started.reset();
  const auto later = make_server_options(all.servers.at(1), all, s.means()).connect();
  const auto b = later->open(s);
  CHECK_FALSE(s.started);
  s.references.join();
  s.io.run();
  REQUIRE(s.started);
  CHECK(s.started->argv == lines{"prog"});
}

TEST_CASE("a server with a url is reached with its headers and certificates resolved and bounded calls") {
  ::setenv("MCPBX_TEST_TOKEN", "canary-of-url", 1);
  const auto all = loaded(R"({"mcpServers": {
    "far": {"url": "https://tools.example/mcp?key=canary-of-query", "headers": {"Authorization": "Bearer ${env:MCPBX_TEST_TOKEN}"},
            "caFile": "ca.pem", "clientCertFile": "/etc/me.pem", "transport": "sse", "startTimeoutMs": 5000},
    "bad": {"url": "https://tools.example/mcp", "headers": {"X-Key": "${env:MCPBX_TEST_UNSET}"}, "maxConcurrency": 7}}})");
  const auto spec = make_remote_spec(all.servers.at(0));
  REQUIRE(spec);
  CHECK(spec->url == "https://tools.example/mcp?key=canary-of-query");
  REQUIRE(spec->headers.size() == 1);
  CHECK(spec->headers[0].value == "Bearer canary-of-url");
  CHECK(spec->trust.ca_file == std::string(::getenv("HOME")) + "/ca.pem");
  CHECK(spec->trust.cert_file == "/etc/me.pem");
  CHECK(spec->trust.key_file.empty());
  CHECK(spec->events_first);
  CHECK(spec->connect_timeout == milliseconds(5000));
  CHECK(redactor::redact("it said canary-of-url and canary-of-query").find("canary") == std::string::npos);
  CHECK(shown_address(all.servers.at(0)) == "https://tools.example/mcp");
  server_starts s;
  const auto o = make_server_options(all.servers.at(0), all, s.means());
  CHECK(o.unusable.empty());
  CHECK(o.max_concurrency == 256);
  const auto far = o.connect();
  REQUIRE(far->remote());
  CHECK(far->remote()->address == "https://tools.example/mcp");
  const auto link = far->open(s);
  CHECK_FALSE(s.opened);
  s.time.advance(milliseconds(0));
  CHECK(s.opened);
  const auto bad = make_server_options(all.servers.at(1), all, s.means());
  CHECK(bad.max_concurrency == 7);
  const auto other = bad.connect();
  const auto unset = other->open(s);
  s.time.advance(milliseconds(0));
  CHECK(s.failure.find("MCPBX_TEST_UNSET") != std::string::npos);
  s.opened.reset();
}

TEST_CASE("G35: the command that people see has references as written and no secret") {
  const auto shown = [](const std::string& args) {
    const auto all = loaded(R"({"mcpServers": {"s": {"command": "npx", "args": )" + args + "}}}");
    return redactor::redact(shown_command(all.servers.at(0)));
  };
  CHECK(shown(R"(["-y", "server files", "--root=/home/u"])") == "npx -y 'server files' '--root=/home/u'");
  CHECK(shown(R"(["--api-key", "canary-1", "--token=canary-2", "-e", "GITHUB_TOKEN=canary-3"])") ==
        "npx --api-key *** --token=*** -e GITHUB_TOKEN=***");
  CHECK(shown(R"(["--token", "${env:T}", "--token", "${T:-canary-4}", "--verbose"])") ==
        "npx --token ${env:T} --token *** --verbose");
  CHECK(shown(R"(["postgres://u:canary-5@h/db", "https://h/?token=canary-6"])") ==
        "npx postgres://u:***@h/db 'https://h/?token'=***");
  CHECK(shown(R"(["--header", "Authorization: Bearer canary-7"])") == "npx --header Authorization:***");
  CHECK(shown(R"(["--env=API_KEY=canary-8", "--header=Authorization: Bearer canary-9", "--token", "-canary-10"])") ==
        "npx '--env=API_KEY'=*** '--header=Authorization':*** --token ***");
  CHECK(shown(R"(["A=1 API_TOKEN=canary-11 x", "--opt={\"apiKey\":\"canary-12\"}"])") ==
        "npx 'A=1 API_TOKEN'=*** '--opt={\"apiKey\"':***");
  redactor::clear();
}

TEST_CASE("server_entries: the identity of an entry is that of its process, and of nothing else") {
  const auto identity = [](const std::string& entry) {
    return identity_of(loaded(R"({"mcpServers": {"s": )" + entry + "}}").servers.at(0));
  };
  const auto usual = identity(R"({"command": "x", "args": ["a", "b"], "env": {"K": "v"}})");
  for (const auto* other : {R"({"command": "y", "args": ["a", "b"], "env": {"K": "v"}})",
                            R"({"command": "x", "args": ["a b"], "env": {"K": "v"}})",
                            R"({"command": "x", "args": ["ab", ""], "env": {"K": "v"}})",
                            R"({"command": "x", "args": ["a", "b"], "env": {"K": "w"}})",
                            R"({"command": "x", "args": ["a", "b"], "env": {"K": "v"}, "passEnv": ["P"]})",
                            R"({"command": "x", "args": ["a", "b"], "env": {"K": "v"}, "envFile": "f"})",
                            R"({"command": "x", "args": ["a", "b"], "env": {"K": "v"}, "cwd": "/"})",
                            R"({"command": "x", "args": ["a", "b"], "env": {"K": "v"}, "mayCall": true})",
                            R"({"command": "x", "args": ["a", "b"], "env": {"K": "v"}, "orphans": "keep"})"})
    CHECK_MESSAGE(identity(other) != usual, other);
  CHECK(identity(R"({"command": "x", "args": ["a", "b"], "env": {"K": "v"}, "maxConcurrency": 1,
    "tools": {"deny": ["z"]}, "callTimeoutMs": 5000, "approve": ["*"], "start": "lazy"})") == usual);
}

TEST_CASE("G35: the redactor does not keep each assertion that a platform makes for a login") {
  const known_environment known;
  const mcpbx::test::temporary_directory folder;
  const auto file = folder.write("assertion", "assertion-canary-1\n");
  server_starts starts;
  const auto entries = login_entries(
      loaded(
          R"({"mcpServers": {"s": {"url": "https://s.example/mcp", "auth": {"grant": "workload", "assertion": "${file:)" +
          file + R"(}"}}}})"),
      starts.means());
  REQUIRE(entries.size() == 1);
  CHECK_FALSE(entries.front().own_authorization);
  const auto with_header = login_entries(
      loaded(
          R"({"mcpServers": {"s": {"url": "https://s.example/mcp", "headers": {"authorization": "Bearer some-token"}}}})"),
      starts.means());
  REQUIRE(with_header.size() == 1);
  CHECK(with_header.front().own_authorization);
  std::optional<login_settings> settings;
  const auto work = boost::asio::make_work_guard(starts.io);
  entries.front().settings([&](result<login_settings> s) {
    settings = std::move(s).value();
    starts.io.stop();
  });
  starts.io.run();
  REQUIRE(settings);
  CHECK(settings->assertion.reveal() == "assertion-canary-1");
  CHECK(redactor::redact("assertion-canary-1") == "assertion-canary-1");
}
