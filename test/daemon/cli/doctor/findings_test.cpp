// The judges of `mcpbx doctor`: each code comes from facts, has its mend, and has a row in docs/troubleshooting.md.
#include "daemon/cli/doctor/findings.hpp"

#include "daemon/cli/doctor/words.hpp"
#include "test/support/contains.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>
#include <string>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::cli::doctor;
using namespace mcpbx::cli::doctor::checks;
using namespace mcpbx::json;
using mcpbx::test::contains;

namespace {

constexpr uid_t me = 1000, other = 1001;

path_facts a_file(std::string path, unsigned mode = 0600, uid_t owner = me) {
  path_facts p;
  p.path = std::move(path);
  p.state = path_facts::look::there;
  p.mode = mode;
  p.owner = owner;
  p.writable = true;
  return p;
}

path_facts a_folder(std::string path, unsigned mode = 0700, uid_t owner = me) {
  auto p = a_file(std::move(path), mode, owner);
  p.is = path_facts::kind::folder;
  return p;
}

// A machine on which everything is well.
facts well() {
  facts all;
  all.user = me;
  all.version = "0.3.0";
  all.config.paths = {a_file("/h/config.json"), a_folder("/h")};
  all.config.files = {"/h/config.json"};
  all.config.servers = 1;
  all.config.models = 1;
  program_facts p;
  p.server = "git";
  p.program = "git-mcp";
  p.found = "/usr/bin/git-mcp";
  p.entry_at = "/h/config.json:3";
  all.programs.push_back(p);
  model_facts m;
  m.name = "gpt";
  m.has_endpoint = m.has_address = true;
  m.address = {address_facts::outcome::answers, "https://api.example:443", ""};
  all.models.push_back(m);
  all.socket.state = socket_facts::outcome::answers;
  all.socket.file = a_file("/run/s");
  all.socket.file.is = path_facts::kind::socket;
  all.socket.folder = a_folder("/run");
  all.daemon.emplace();
  all.daemon->hello = raw_json::own(R"({"version":"0.3.0","pid":7,"idleExit":true})");
  all.daemon->status = raw_json::own("{}");
  all.daemon->servers = raw_json::own(
      R"([{"name":"git","state":"ready","revision":"2025-11-25","tools":3,"lastError":"","noiseLines":0}])");
  all.state.folder = a_folder("/state");
  all.state.journal = a_file("/state/mcpbx.db");
  all.state.has_journal = true;
  all.state.journal_is = state_facts::integrity::good;
  all.state.free_bytes = 1ll << 40;
  return all;
}

std::string row(std::string_view state, std::string_view error, std::string_view more = "") {
  return R"([{"name":"git","state":")" + std::string(state) + R"(","lastError":")" + std::string(error) + "\"" +
         std::string(more) + "}]";
}

struct example {
  check_code code;
  std::function<void(facts&)> change;
  std::string mend;  ///< words of the mend
  repair::kind fix = repair::kind::none;
};

std::function<void(facts&)> servers(std::string json) {
  return [json](facts& f) { f.daemon->servers = raw_json::own(json); };
}
std::function<void(facts&)> remote(std::string problem) {
  return servers(row("failed", "tool server \\\"git\\\" is in trouble",
                     R"(,"remote":{"address":"https://x","problem":")" + problem + "\"}"));
}
std::function<void(facts&)> program(program_facts::outcome state, std::string detail = "") {
  return [state, detail](facts& f) {
    f.programs[0].state = state;
    f.programs[0].detail = detail;
  };
}
std::function<void(facts&)> address(address_facts::outcome state) {
  return [state](facts& f) { f.models[0].address.state = state; };
}
std::function<void(facts&)> socket_is(socket_facts::outcome state) {
  return [state](facts& f) {
    f.daemon.reset();
    f.socket.state = state;
  };
}

const std::vector<example>& examples() {
  using namespace checks;
  using enum repair::kind;
  using look = path_facts::look;
  using outcome = program_facts::outcome;
  static const std::vector<example> all{
      {config_ok, [](facts&) {}, ""},
      {config_none, [](facts& f) { f.config.files.clear(), f.config.paths.clear(); }, "mcpbx import"},
      {config_notice, [](facts& f) { f.config.notices = {"c:1:1: notice"}; }, ""},
      {config_wrong, [](facts& f) { f.config.errors = {"/h/config.json:2:1: unknown key"}; }, "mcpbx reload"},
      {config_owner, [](facts& f) { f.config.paths[0].owner = other; }, "sudo chown 1000 /h/config.json"},
      {config_mode, [](facts& f) { f.config.paths[0].mode = 0664; }, "chmod 644 /h/config.json", set_mode},
      {config_mode, [](facts& f) { f.config.paths[1].mode = 0777; }, "chmod 755 /h", set_mode},
      {config_slow, [](facts& f) { f.config.paths[0].state = look::slow; }, "mount"},
      {config_unreadable, [](facts& f) { f.config.paths[0].state = look::unreadable; }, "chmod u+r"},
      {program_ok, [](facts&) {}, ""},
      {program_missing, [](facts& f) { f.programs[0].state = outcome::missing, f.programs[0].program = "/x/npx"; },
       "sudo apt install npm"},
      {program_missing, program(outcome::missing), "/h/config.json:3"},
      {program_missing,
       [](facts& f) { f.programs[0].state = outcome::missing, f.programs[0].program = "git-mcp --stdio"; },
       "write \"command\": \"git-mcp\" and the words behind it as \"args\""},
      {program_missing, program(outcome::broken, "it is a directory"), "correct"},
      {program_only_in_shell, program(outcome::only_in_shell), "mcpbx stop"},
      {program_only_in_shell,
       [](facts& f) {
         f.programs[0].state = outcome::only_in_shell;
         f.daemon->hello = raw_json::own(R"({"version":"0.3.0","pid":7,"idleExit":false})");
       },
       "\"command\": \"/usr/bin/git-mcp\""},
      {program_not_for_service, [](facts& f) { f.programs[0].not_for_service = true; }, "/usr/bin/git-mcp"},
      {program_fetches, [](facts& f) { f.programs[0].fetches = true; }, ""},
      {program_slow, program(outcome::slow), "mount"},
      {program_not_executable,
       [](facts& f) { f.programs[0].state = outcome::not_executable, f.programs[0].of_user = true; },
       "chmod u+x /usr/bin/git-mcp", set_mode},
      {program_not_executable, program(outcome::not_executable), "chmod u+x"},
      {interpreter_missing, program(outcome::no_interpreter, "node"), "sudo apt install nodejs"},
      {directory_missing, program(outcome::no_directory, "/no where"), "mkdir -p '/no where'"},
      {reference_missing,
       [](facts& f) {
         f.programs[0].missing = {"in \"mcpServers.git.env.TOKEN\": the environment variable TOKEN is not set: set it"};
       },
       "export TOKEN=… && mcpbx stop"},
      {reference_missing, [](facts& f) { f.programs[0].missing = {"cannot read /x"}; }, "mcpbx reload"},
      {server_ok, [](facts&) {}, ""},
      {server_ok,
       [](facts& f) {
         f.daemon.reset();
         f.trials = {{"git", true, "", 4, 12}};
       },
       ""},
      {server_failed,
       [](facts& f) {
         f.daemon.reset();
         f.trials = {{"git", false, "it answered nonsense", 0, 0}};
       },
       "mcpbx restart git"},
      {server_exits,
       [](facts& f) {
         f.daemon.reset();
         f.trials = {{"git", false, "it exited with status 3 before it was ready", 0, 0}};
       },
       "/h/config.json:3"},
      {server_lazy, servers(row("lazy", "")), ""},
      {server_disabled, servers(row("disabled", "")), ""},
      {server_starting, servers(row("starting", "")), "mcpbx wait"},
      {server_stopped, servers(row("stopped", "")), "mcpbx restart git", restart_server},
      {server_crash_loop, servers(row("crash_loop", "it exited with status 1")), "mcpbx restart git", restart_server},
      {server_exits, servers(row("failed", "it exited with status 1 before it was ready")), "args"},
      {server_silent, servers(row("failed", "it was not ready within 30 s: it did not answer initialize")),
       "startTimeoutMs"},
      {server_junk,
       servers(
           row("failed", "it was not ready within 3 s; it wrote a line to its stdout that is no JSON-RPC: \\\"hi\\\"")),
       "stdout"},
      {server_failed, servers(row("failed", "something else")), "mcpbx restart git", restart_server},
      {server_failed, servers(row("failed", "it cannot be started: built for another processor")),
       "correct \"command\" in its entry, /h/config.json:3", restart_server},
      {server_failed, servers(row("failed", "it cannot be started: ${cmd:false}: the command ended with status 1")),
       "correct that reference", restart_server},
      {server_noise, servers(row("ready", "", R"(,"noiseLines":2,"tools":1)")), ""},
      {server_recovered, servers(row("ready", "it was killed", R"(,"tools":1)")), ""},
      {server_no_tools, servers(row("ready", "", R"(,"tools":0)")), "mcpbx servers git"},
      {server_pins, servers(row("ready", "", R"(,"tools":1,"pins":"2 tools are withheld")")), "mcpbx pins show git"},
      {server_unauthorized, remote("unauthorized"), "mcpbx auth login git"},
      {server_unauthorized,
       servers(row("failed", "it refuses the Authorization header of its entry",
                   R"(,"remote":{"problem":"unauthorized"})")),
       "valid token"},
      {server_refused, remote("refused"), "mcpbx restart git"},
      {server_unreachable, remote("unreachable"), "url", restart_server},
      {server_certificate, remote("certificate"), "caFile"},
      {server_protocol, remote("protocol"), "url"},
      {server_slow, remote("slow"), "mcpbx restart git", restart_server},
      {server_unreachable,
       [](facts& f) {
         f.daemon.reset();
         f.programs[0].is_remote = true;
         f.programs[0].address = {address_facts::outcome::unreachable, "https://x:443", "Connection refused"};
       },
       "url"},
      {server_unreachable,
       [](facts& f) {
         f.daemon.reset();
         f.programs[0].is_remote = true;
         f.programs[0].address = {address_facts::outcome::certificate, "https://localhost:443",
                                  "x was refused: the TLS handshake failed: wrong version number (SSL routines)."};
       },
       "write http:// instead of https://"},
      {server_not_tried, [](facts& f) { f.daemon.reset(); }, "mcpbx doctor git"},
      {model_ok, [](facts&) {}, ""},
      {model_none, [](facts& f) { f.models.clear(); }, "OPENAI_API_KEY"},
      {model_key,
       [](facts& f) { f.models[0].missing = {"in \"models.gpt.apiKey\": the environment variable K_1 is not set"}; },
       "export K_1=…"},
      {model_problem, [](facts& f) { f.models[0].problem = "it has no baseUrl"; }, "mcpbx reload"},
      {model_unresolved, address(address_facts::outcome::unresolved), "baseUrl"},
      {model_unreachable, address(address_facts::outcome::unreachable), "baseUrl"},
      {model_unreachable,
       [](facts& f) {
         f.models[0].has_address = false;
         f.models[0].address.state = address_facts::outcome::unreachable;
       },
       "connect this machine to the network"},
      {model_unreachable,
       [](facts& f) {
         f.models[0].has_address = false;
         f.models[0].address = {address_facts::outcome::unreachable, "http://127.0.0.1:11434", ""};
       },
       "start that program"},
      {model_certificate, address(address_facts::outcome::certificate), "caFile"},
      {model_unreachable,
       [](facts& f) {
         f.models[0].address = {address_facts::outcome::certificate, "https://127.0.0.1:1", "wrong version number"};
       },
       "write http:// instead of https://"},
      {model_unreachable,
       [](facts& f) {
         f.models[0].address = {address_facts::outcome::certificate, "https://api.openai.com:443",
                                "wrong version number"};
       },
       "the login page of a network"},
      {model_slow, address(address_facts::outcome::slow), "mcpbx doctor gpt"},
      {model_unchecked, address(address_facts::outcome::unchecked), ""},
      {model_answers, [](facts& f) { f.online = f.models[0].asked = true; }, ""},
      {model_fails, [](facts& f) { f.online = f.models[0].asked = true, f.models[0].answer_problem = "status 401"; },
       "mcpbx models gpt --remote"},
      {model_not_asked, [](facts& f) { f.online = true; }, "mcpbx --standalone doctor gpt --online"},
      {state_ok, [](facts&) {}, ""},
      {state_mode, [](facts& f) { f.state.folder.mode = 0777; }, "chmod 700 /state", set_mode},
      {state_unwritable, [](facts& f) { f.state.folder.writable = false; }, "chmod u+rwx /state", set_mode},
      {state_slow, [](facts& f) { f.state.folder.state = look::slow; }, "XDG_STATE_HOME"},
      {disk_low, [](facts& f) { f.state.free_bytes = 100 << 20; }, "df -h /state"},
      {disk_full, [](facts& f) { f.state.free_bytes = 1 << 20; }, "df -h /state"},
      {journal_ok, [](facts&) {}, ""},
      {journal_mode, [](facts& f) { f.state.journal.mode = 0644; }, "chmod 600 /state/mcpbx.db", set_mode},
      {journal_unwritable, [](facts& f) { f.state.journal.writable = false; }, "chmod u+rw", set_mode},
      {journal_damaged, [](facts& f) { f.state.journal_is = state_facts::integrity::damaged; }, "mv /state/mcpbx.db"},
      {journal_unchecked, [](facts& f) { f.state.journal_is = state_facts::integrity::unchecked; }, ""},
      {journal_trouble,
       [](facts& f) { f.daemon->status = raw_json::own(R"({"store":{"problem":"no room","sinceMs":1}})"); }, "df -h"},
      {token_mode, [](facts& f) { f.state.token_wanted = true, f.state.token = a_file("/h/token", 0644); },
       "chmod 600 /h/token", set_mode},
      {token_missing,
       [](facts& f) {
         f.state.token_wanted = true;
         f.state.token.path = "/h/token";
       },
       "mcpbx stop"},
      {port_taken,
       [](facts& f) {
         f.daemon.reset();
         f.socket.state = socket_facts::outcome::none;
         f.state.taken_port = "127.0.0.1:8421";
       },
       "http.address"},
      {daemon_ok, [](facts&) {}, ""},
      {daemon_none, socket_is(socket_facts::outcome::none), "mcpbx servers"},
      {daemon_hangs,
       [](facts& f) {
         f.daemon.reset();
         f.socket.state = socket_facts::outcome::silent;
         f.socket.holder = 42;
       },
       "kill 42"},
      {daemon_denied, socket_is(socket_facts::outcome::denied), "MCPBX_SOCKET"},
      {daemon_busy,
       [](facts& f) {
         f.daemon.reset();
         f.socket.state = socket_facts::outcome::refused;
         f.socket.lock_held = true;
       },
       "mcpbx wait"},
      {daemon_version, [](facts& f) { f.daemon->hello = raw_json::own(R"({"version":"0.2.9","pid":7})"); },
       "mcpbx stop"},
      {daemon_outdated, [](facts& f) { f.daemon->news = "a file has changed", f.daemon->reload_helps = true; },
       "mcpbx reload", reload},
      {daemon_outdated, [](facts& f) { f.daemon->news = "K is not what it was"; }, "mcpbx stop"},
      {daemon_second, [](facts& f) { f.daemon->others = {{77, "/x/s"}}; }, "mcpbx --socket /x/s stop"},
      {socket_mode, [](facts& f) { f.socket.file.mode = 0666; }, "chmod 600 /run/s", set_mode},
      {socket_folder, [](facts& f) { f.socket.folder.mode = 0777; }, "chmod go-w /run", set_mode},
      {socket_folder, [](facts& f) { f.socket.folder.owner = other; }, "MCPBX_SOCKET"},
      {socket_stale, socket_is(socket_facts::outcome::refused), "rm /run/s", remove_socket},
      {socket_blocked,
       [](facts& f) {
         f.daemon.reset();
         f.socket.state = socket_facts::outcome::unusable;
         f.socket.file.is = path_facts::kind::file;
       },
       "mv /run/s"},
      {socket_path,
       [](facts& f) {
         f.socket = {};
         f.daemon.reset();
         f.socket.state = socket_facts::outcome::unusable;
         f.socket.problem = "the socket's path has 200 bytes";
       },

       "shorter"},
      {host_direct, [](facts& f) { f.hosts = {{"cursor", "Cursor", {"git"}, {}, ""}}; }, "mcpbx install cursor"},
      {host_more, [](facts& f) { f.hosts = {{"cursor", "Cursor", {}, {"x"}, ""}}; }, "mcpbx import --from cursor"},
      {host_sandboxed, [](facts& f) { f.hosts = {{"zed", "Zed", {}, {}, "/h/.var/app/dev.zed.Zed"}}; }, "/mcp"},
      {unit_ok, [](facts& f) { f.unit = {"mcpbx.socket", "active", true}; }, ""},
      {unit_failed, [](facts& f) { f.unit = {"mcpbx.service", "failed", true}; }, "systemctl --user restart"},
  };
  return all;
}

findings judged(const example& e) {
  auto all = well();
  e.change(all);
  return findings_of(all);
}

}  // namespace

TEST_CASE("doctor: a machine on which everything is well has no notices and no faults") {
  const auto found = findings_of(well());
  for (const auto& f : found) CHECK_MESSAGE(f.code.level == severity::ok, f.text);
  CHECK_FALSE(any_fault(found));
  CHECK(summary(found) == "7 checks: 0 faults, 0 notices");
}

TEST_CASE("doctor: each fault is found by its code, with the mend and the repair that belong to it") {
  for (const auto& e : examples()) {
    CAPTURE(e.code.word);
    CAPTURE(e.mend);
    const auto found = judged(e);
    const auto f = std::ranges::find(found, e.code, &finding::code);
    REQUIRE(f != found.end());
    CHECK(contains(f->mend, e.mend));
    CHECK(e.mend.empty() == f->mend.empty());
    CHECK(f->fix.does == e.fix);
    CHECK_FALSE(f->text.empty());
    CHECK_FALSE(f->subject.empty());
    // Nothing else is at fault: one cause has one finding.
    for (const auto& o : found)
      if (o.code.level == severity::fault) CHECK_MESSAGE(o.code == e.code, o.code.word, ": ", o.text);
  }
}

TEST_CASE("doctor: every code has an example, a mend if it is a fault, and a row in docs/troubleshooting.md") {
  std::set<std::string_view> shown;
  for (const auto& e : examples()) {
    shown.insert(e.code.word);
    if (e.code.level == severity::fault) CHECK_MESSAGE(!e.mend.empty(), e.code.word);
  }
  std::ifstream file(MCPBX_SOURCE_DIR "/docs/troubleshooting.md");
  const std::string document((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::set<std::string_view> words;
  for (const auto& code : all_checks()) {
    CHECK_MESSAGE(words.insert(code.word).second, code.word);
    CHECK_MESSAGE(shown.contains(code.word), code.word);
    const std::string level(cli::doctor::to_string(code.level));
    CHECK_MESSAGE(contains(document, "| `" + std::string(code.word) + "` | " + level + " |"), code.word);
  }
}

TEST_CASE("doctor: a server whose program is missing gets no second finding about its failed start") {
  auto all = well();
  all.programs[0].state = program_facts::outcome::missing;
  all.daemon->servers = raw_json::own(row("failed", "tool server cannot be started: no such program"));
  const auto found = findings_of(all);
  CHECK(std::ranges::count(found, severity::fault, [](const finding& f) { return f.code.level; }) == 1);
}

TEST_CASE("doctor: asked about one server it tells of others nothing, and of the rest only faults") {
  auto all = well();
  all.only = "git";
  all.config.paths[0].mode = 0666;
  all.models[0].missing = {"the environment variable K is not set"};
  const auto found = findings_of(all);
  CHECK(std::ranges::any_of(found, [](const finding& f) { return f.code == checks::config_mode; }));
  CHECK(std::ranges::none_of(found, [](const finding& f) { return f.subject.starts_with("model "); }));
  CHECK(std::ranges::any_of(found, [](const finding& f) { return f.subject == "server git"; }));
}

TEST_CASE("doctor: a file of root, or in a folder that keeps others' files apart, is no fault") {
  auto all = well();
  all.config.paths = {a_file("/tmp/config.json", 0644, 0), a_folder("/tmp", 01777, 0)};
  all.socket.folder = a_folder("/tmp", 01777, 0);
  CHECK_FALSE(any_fault(findings_of(all)));
}

TEST_CASE("doctor: findings are a JSON array with stable members") {
  const findings all{
      {checks::config_mode, "configuration", "a \"text\"", "chmod 600 /x", {repair::kind::set_mode, "/x", 0600}},
      {checks::server_ok, "server git", "it is ready"}};
  CHECK(to_json(all) ==
        R"([{"code":"config-mode","level":"fault","subject":"configuration","text":"a \"text\"","mend":"chmod 600 /x",)"
        R"("fixable":true},{"code":"server-ok","level":"ok","subject":"server git","text":"it is ready"}])");
}

TEST_CASE("doctor: what a finding says is not said twice") {
  auto all = well();
  all.models[0].address = {address_facts::outcome::unreachable, "https://api.example:443",
                           "api.example could not be reached: Connection refused."};
  const auto found = findings_of(all);
  const auto f = std::ranges::find(found, checks::model_unreachable, &finding::code);
  REQUIRE(f != found.end());
  CHECK(f->text == "https://api.example:443 could not be reached: Connection refused.");
}

TEST_CASE("a mend never sends a key without TLS to another machine") {
  for (const char* here : {"https://localhost:8080", "https://127.0.0.1", "https://[::1]:1/v1"})
    CHECK_MESSAGE(mend_without_tls(here, "url", "x", "correct it").contains("http://"), here);
  for (const char* elsewhere :
       {"https://api.openai.com:443", "https://127.0.0.1.example.org", "https://localhost.org:1", "https://10.0.0.1",
        "https://[fe80::1]:1", "https://", "unix:/x", ""})
    CHECK_MESSAGE(!mend_without_tls(elsewhere, "url", "x", "correct it").contains("http://"), elsewhere);
}

TEST_CASE("doctor: long words of a server are cut") {
  auto all = well();
  all.daemon->servers = raw_json::own(row("failed", std::string(100'000, 'x')));
  for (const auto& f : findings_of(all)) CHECK(f.text.size() < 1'000);
}
