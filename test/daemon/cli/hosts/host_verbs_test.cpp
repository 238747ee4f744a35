// import, install and uninstall: the files that they write, refuse and leave alone, and the state that a killed one
// leaves.
#include "conf/config_files.hpp"
#include "conf/hosts/programs/programs.hpp"
#include "daemon/cli/hosts/own_file.hpp"
#include "test/daemon/cli/config/config_home.hpp"
#include "test/daemon/cli/config/write_faults.hpp"
#include "test/support/contains.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

using namespace mcpbx;
using mcpbx::test::config_home;
using mcpbx::test::contains;
using word_list = std::vector<std::string>;

namespace {

const std::string cursor_text =
    "{\n  // mine\n  \"mcpServers\": {\n    \"git\": {\"command\": \"git-mcp\", \"env\": {\"GIT_TOKEN\": "
    "\"canary-1\"}},\n"
    "    \"web\": {\"url\": \"https://mcp.example/mcp\"}, // far\n  },\n}\n";
const std::string cline_text =
    R"({"mcpServers": {"mygit": {"command": "git-mcp", "env": {"GIT_TOKEN": "canary-1"}}, "web": {"command": "other", "timeout": 600}}})";

struct host_home : config_home {
  std::string cursor() const { return dir / ".cursor/mcp.json"; }
  std::string cline() const { return dir / ".cline/data/settings/cline_mcp_settings.json"; }
  std::string codex() const { return dir / ".codex/config.toml"; }
  std::string goose() const { return dir / ".config/goose/config.yaml"; }

  /// Returns all files below the home with their contents, but for temporary ones.
  std::map<std::string, std::string> everything() const {
    namespace fs = std::filesystem;
    std::map<std::string, std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(dir.path()))
      if (entry.is_regular_file() && !entry.path().native().ends_with("new"))
        all[entry.path().native()] = text(entry.path().native());
    return all;
  }
};

unsigned bits_of(const std::string& path) {
  struct stat s{};
  REQUIRE(::stat(path.c_str(), &s) == 0);
  return s.st_mode & 07777;
}

bool is_there(const std::string& path) {
  return ::access(path.c_str(), F_OK) == 0;
}

/// Runs the command line in a child that has a fault; returns its exit status, 128 + the signal when it was killed, 99
/// if it has no such step.
int faulty(const word_list& line, test::write_fault what, int step) {
  const pid_t child = ::fork();
  if (child == 0) {
    const int nothing = ::open("/dev/null", O_RDWR);
    for (int fd = 0; fd < 3; ++fd) ::dup2(nothing, fd);
    test::arm_write_fault(what, step);
    const int status = config_home::run_here(line);
    ::_exit(test::write_steps() > step ? status : 99);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

const std::vector<std::pair<std::string, std::string>> broken_cursor{
    {"{", ":1:2: the file ends inside the object"},
    {"", ":1:1: the file holds no JSON value"},
    {"[]", "must be an object, not a list"},
    {"{\"mcpServers\": []}", "must be an object of servers, not a list"},
    {"{'mcpServers': {}}", ":1:2: a key needs double quotes"},
    {"{\"mcpServers\": {\"a\": {}, \"a\": {}}}", ":1:26: this key stands twice"},
    {"{\"mcpServers\": {\"a\": {\"command\": \"b}}}", "this string is not closed"},
    {"{\"mcpServers\": {\"a\": \xFF}}", "not valid UTF-8"},
    {std::string("{\"mcpServers\":\0}", 16), ":1:"},
    {std::string(100, '['), "nested deeper than 64 levels"}};

}  // namespace

TEST_CASE_FIXTURE(host_home, "import: the servers of two programs become files of ours, and theirs stay as they are") {
  write(cursor(), cursor_text);
  write(cline(), cline_text);
  const auto r = run({"import", "--yes"});
  CHECK(r.status == 0);
  CHECK(contains(r.out, "git          Cursor   new"));
  CHECK(contains(r.out, "mygit        Cline    same as git"));
  CHECK(contains(r.out, "web → web-2  Cline    new"));
  CHECK_FALSE(contains(r.out + r.err, "canary"));
  CHECK(text(cursor()) == cursor_text);
  CHECK(text(cline()) == cline_text);
  CHECK(files().size() == 4);
  CHECK(text(secret("git.GIT_TOKEN")) == "canary-1\n");
  CHECK(bits_of(secret("git.GIT_TOKEN")) == 0600);
  const auto loaded = conf::load_files(conf::environment::of_process());
  REQUIRE_MESSAGE(loaded.ok(), loaded.error_text());
  CHECK(loaded.config.find_server("web-2")->call_timeout_ms.count() == 600'000);
  const auto before = everything();
  const auto again = run({"import", "--yes"});
  CHECK(again.status == 0);
  CHECK(contains(again.err, "there is nothing new to import"));
  CHECK(everything() == before);
}

TEST_CASE_FIXTURE(host_home, "import: a server whose entry was edited since is known again, and is not taken twice") {
  write(cursor(), R"({"mcpServers": {"git": {"command": "git-mcp", "args": ["--all"]}}})");
  write(cline(), R"({"mcpServers": {"mygit": {"command": "git-mcp", "args": ["--all"]}}})");
  CHECK(run({"import", "--yes"}).status == 0);
  const auto file = dir / ".config/mcpbx/config.d/git.json";
  auto ours = text(file);
  CHECK(ours.starts_with("// Imported by mcpbx from cursor: \"git\" in \"" + cursor() + "\"\n" +
                         "// Imported by mcpbx from cline: \"mygit\" in \"" + cline() + "\"\n"));
  ours.replace(ours.find("--all"), 5, "--mine");
  write(file, ours);
  const auto before = everything();
  const auto again = run({"import", "--yes"});
  CHECK(again.status == 0);
  CHECK(contains(again.err, "there is nothing new to import"));
  CHECK(contains(again.out, "same as git"));
  CHECK(contains(again.out + again.err, "our own entry differs from that of Cursor and stays as it is"));
  CHECK(everything() == before);
  // Another server of that name is another one.
  write(dir / ".codeium/windsurf/mcp_config.json", R"({"mcpServers": {"git": {"command": "other-git"}}})");
  CHECK(contains(run({"import", "--yes"}).out, "git-2"));
  // The file goes as before when the entry does.
  CHECK(run({"remove", "git", "--yes"}).status == 0);
  CHECK_FALSE(is_there(file));
}

TEST_CASE_FIXTURE(host_home, "import: an edited entry of a file that --config names is known again, too") {
  write(cursor(), R"({"mcpServers": {"git": {"command": "git-mcp", "args": ["--all"]}}})");
  write(cline(), R"({"mcpServers": {"mygit": {"command": "git-mcp", "args": ["--all"]}}})");
  for (const std::string begun :
       {"{\n  // mine\n  \"mcpServers\": {}\n}\n", R"({"mcpServers": {"a": {"command": "true"}}})"}) {
    const auto file = dir / "all.json";
    write(file, begun);
    CHECK(run({"--config", file, "import", "--yes"}).status == 0);
    auto ours = text(file);
    CHECK(contains(ours, "// Imported by mcpbx from cursor: \"git\" in \"" + cursor() + "\" as \"git\"\n"));
    CHECK(contains(ours, "// Imported by mcpbx from cline: \"mygit\" in \"" + cline() + "\" as \"git\"\n"));
    ours.replace(ours.find("--all"), 5, "--mine");
    write(file, ours);
    const auto again = run({"--config", file, "import", "--yes"});
    CHECK(again.status == 0);
    CHECK(contains(again.err, "there is nothing new to import"));
    CHECK(contains(again.out + again.err, "our own entry differs from that of Cursor and stays as it is"));
    CHECK(text(file) == ours);
    // The marks go with their entry, and the server is new again.
    CHECK(run({"--config", file, "remove", "git", "--yes"}).status == 0);
    CHECK_FALSE(contains(text(file), "Imported by mcpbx"));
    CHECK(run({"--config", file, "import", "--yes"}).status == 0);
    CHECK(contains(text(file), "--all"));
  }
}

TEST_CASE_FIXTURE(host_home, "import: the mark of an entry in a file that --config names may have any name") {
  for (const std::string name : {"git as work", "as", "a as b as c"}) {
    const auto file = dir / "all.json";
    write(cursor(), R"({"mcpServers": {")" + name + R"(": {"command": "git-mcp", "args": ["--all"]}}})");
    write(file, "{}");
    CHECK(run({"--config", file, "import", "--yes"}).status == 0);
    auto ours = text(file);
    ours.replace(ours.find("--all"), 5, "--mine");
    write(file, ours);
    CHECK(contains(run({"--config", file, "import", "--yes"}).err, "there is nothing new to import"));
    CHECK(text(file) == ours);
    CHECK(run({"--config", file, "remove", name, "--yes"}).status == 0);
    CHECK_FALSE(contains(text(file), "Imported by mcpbx"));
  }
}

TEST_CASE_FIXTURE(
    host_home,
    "import: it writes nothing without a yes, with --dry-run, and without programs, and says where it looked") {
  CHECK(run({"import"}).status == 5);
  CHECK(contains(run({"import"}).err, "import looked for\n  " + (dir / ".config/Claude/claude_desktop_config.json")));
  CHECK(contains(run({"import", "--from", "cursr"}).err, "did you mean \"cursor\"?"));
  CHECK(run({"import", "--from", "cursr"}).status == 5);
  write(cursor(), cursor_text);
  const auto before = everything();
  const auto unasked = run({"import"});
  CHECK(unasked.status == 2);
  CHECK(contains(unasked.err, "add --yes"));
  CHECK(run({"--json", "import"}).out.starts_with("{\"error\":"));
  CHECK(run({"import", "--dry-run"}).status == 0);
  CHECK(run({"import", "--from", "cline"}).status == 5);
  const auto json = run({"--json", "import", "--dry-run"});
  CHECK(contains(json.out, R"({"servers":[{"program":"cursor",)"));
  CHECK(contains(json.out, R"("outcome":"new","name":"git","shown":"git-mcp")"));
  CHECK(contains(json.out, R"("dryRun":true)"));
  CHECK_FALSE(contains(json.out + json.err, "canary"));
  CHECK(everything() == before);
}

TEST_CASE_FIXTURE(host_home, "import: --ask has every tool of every new server need a yes") {
  write(cursor(), cursor_text);
  CHECK(run({"import", "--ask", "--yes"}).status == 0);
  const auto loaded = conf::load_files(conf::environment::of_process());
  CHECK(loaded.config.find_server("web")->approve == std::vector<std::string>{"*"});
}

TEST_CASE_FIXTURE(host_home,
                  "import: a server that cannot be kept is refused with its place, and the others are written") {
  write(cursor(), R"({"mcpServers": {"good": {"command": "g"}, "bad": {"command": "b", "sandbox": {"x": 1}}}})");
  const auto r = run({"import", "--yes"});
  CHECK(r.status == 1);
  CHECK(contains(r.out, cursor() + ":1:78: restricts the server in a way that mcpbx cannot"));
  CHECK(is_there(drop_in("good.json")));
  CHECK_FALSE(is_there(drop_in("bad.json")));
}

TEST_CASE_FIXTURE(
    host_home, "import: a project's file is read when it is named, and by the program that its path or content tells") {
  const std::string entry = R"({"command": "./run", "args": ["."]})";
  write(dir / "p/.vscode/mcp.json", "{\"servers\": {\"own\": " + entry + "}}");
  CHECK(run({"import"}).status == 5);
  CHECK(run({"import", dir / "p/.vscode/mcp.json", "--yes"}).status == 0);
  CHECK(contains(text(drop_in("own.json")), "\"command\": \"" + (dir / "p/run") + "\""));
  write(dir / "some.json", "{\"context_servers\": {\"zed\": {\"command\": \"z\", \"timeout\": 5}}}");
  CHECK(run({"import", dir / "some.json", "--yes"}).status == 0);
  CHECK(contains(text(drop_in("zed.json")), "\"callTimeoutMs\": 5000"));
  write(dir / "any.json", "{\"mcpServers\": {\"any\": {\"command\": \"a\"}}}");
  const auto unknown = run({"import", dir / "any.json", "--yes"});
  CHECK(unknown.status == 2);
  CHECK(contains(unknown.err, "add --from PROGRAM"));
  CHECK(run({"import", dir / "any.json", "--from", "kiro", "--yes"}).status == 0);
  CHECK(contains(run({"import", dir / "none.json"}).err, "there is no file"));
}

TEST_CASE_FIXTURE(host_home,
                  "import and install: ten broken files give one sentence with the place, and nothing is written") {
  for (const auto& [broken, says] : broken_cursor) {
    CAPTURE(broken);
    write(cursor(), broken);
    const auto before = everything();
    const auto imported = run({"import", "--yes"});
    CHECK(imported.status == 1);
    CHECK_MESSAGE(contains(imported.out, says), imported.out);
    CHECK(contains(imported.out, cursor()));
    const auto installed = run({"install", "cursor", "--yes"});
    if (broken.empty()) {  // a file of no bytes is one without entries
      CHECK(installed.status == 0);
      CHECK(run({"uninstall", "cursor", "--yes"}).status == 0);
    } else {
      CHECK(installed.status == 2);
      CHECK_MESSAGE(contains(installed.err, cursor()), installed.err);
    }
    CHECK(everything() == before);
  }
}

TEST_CASE_FIXTURE(host_home, "install: our entry comes, what mcpbx runs goes, and uninstall puts every byte back") {
  write(cursor(), cursor_text);
  ::chmod(cursor().c_str(), 0644);
  REQUIRE(run({"import", "--yes"}).status == 0);
  const auto r = run({"install", "cursor", "--yes"});
  CHECK(r.status == 0);
  CHECK(contains(r.err, "takes out there, since mcpbx runs them (the backup has them): git, web"));
  CHECK_FALSE(contains(r.out + r.err, "canary"));
  CHECK(contains(text(cursor()), "// mine"));
  CHECK(contains(text(cursor()), "\"mcpbx\": {"));
  CHECK(text(cursor() + ".mcpbx-backup") == cursor_text);
  CHECK(bits_of(cursor() + ".mcpbx-backup") == 0600);
  CHECK(bits_of(cursor()) == 0644);
  const auto installed = everything();
  CHECK(contains(run({"install", "cursor", "--yes"}).err, "is in " + cursor() + " already"));
  CHECK(everything() == installed);
  CHECK(contains(run({"install", "--list"}).out, "cursor          Cursor              installed"));
  CHECK(contains(run({"import", "--yes"}).out, "left out  it is mcpbx itself"));
  CHECK(everything() == installed);
  CHECK(run({"uninstall", "cursor", "--yes"}).status == 0);
  CHECK(text(cursor()) == cursor_text);
  CHECK(bits_of(cursor()) == 0644);
  CHECK_FALSE(is_there(cursor() + ".mcpbx-backup"));
  CHECK_FALSE(is_there(cursor() + ".mcpbx-note"));
  const auto back = everything();
  const auto twice = run({"uninstall", "cursor", "--yes"});
  CHECK(twice.status == 0);
  CHECK(contains(twice.err, "mcpbx is not in " + cursor()));
  CHECK(everything() == back);
}

TEST_CASE_FIXTURE(host_home, "install: changes that the person makes afterwards stay when it is undone") {
  write(cline(), cline_text);
  REQUIRE(run({"import", "--yes"}).status == 0);
  REQUIRE(run({"install", "cline", "--yes"}).status == 0);
  CHECK(contains(text(cline()), "\"disabled\": true"));
  auto changed = text(cline());
  changed.insert(changed.find("\"mygit\""), "\"later\": {\"command\": \"l\"}, ");
  write(cline(), changed);
  // A second install keeps them too, and switches off what was taken over meanwhile.
  REQUIRE(run({"import", "--yes"}).status == 0);
  REQUIRE(run({"install", "cline", "--profile", "none", "--yes"}).status == 5);
  REQUIRE(run({"install", "cline", "--yes"}).status == 0);
  CHECK(contains(text(cline()), "\"later\": {\"command\": \"l\", \"disabled\": true}"));
  CHECK(run({"uninstall", "cline", "--yes"}).status == 0);
  auto wanted = cline_text;
  wanted.insert(wanted.find("\"mygit\""), "\"later\": {\"command\": \"l\"}, ");
  CHECK(text(cline()) == wanted);
}

TEST_CASE_FIXTURE(host_home, "uninstall: a file that mcpbx made stays once servers of the person stand in it") {
  std::filesystem::create_directories(std::filesystem::path(cursor()).parent_path());
  REQUIRE(run({"install", "cursor", "--yes"}).status == 0);
  REQUIRE(run({"install", "cursor", "--socket", "/run/a.sock", "--yes"}).status == 0);
  auto changed = text(cursor());
  changed.insert(changed.find("\"mcpbx\""), "\"later\": {\"command\": \"l\"}, ");
  write(cursor(), changed);
  // A second install with other words must not take the file as ours.
  REQUIRE(run({"install", "cursor", "--socket", "/run/b.sock", "--yes"}).status == 0);
  CHECK(run({"uninstall", "cursor", "--yes"}).status == 0);
  REQUIRE(is_there(cursor()));
  CHECK(contains(text(cursor()), "\"later\": {\"command\": \"l\"}"));
  CHECK_FALSE(contains(text(cursor()), "\"mcpbx\""));
  CHECK_FALSE(is_there(cursor() + ".mcpbx-note"));
}

TEST_CASE_FIXTURE(host_home, "uninstall: a block of ours alone that a person has changed is left to them") {
  const std::string block = dir / ".continue/mcpServers/mcpbx.yaml";
  std::filesystem::create_directories(std::filesystem::path(block).parent_path());
  REQUIRE(run({"install", "continue", "--yes"}).status == 0);
  const auto changed = text(block) + "  - name: later\n    command: l\n";
  write(block, changed);
  const auto left = run({"uninstall", "continue", "--yes"});
  CHECK(left.status == 2);
  CHECK(contains(left.err, "is not as mcpbx left it"));
  CHECK(text(block) == changed);
  REQUIRE(run({"install", "continue", "--yes"}).status == 0);
  CHECK(text(block + ".mcpbx-backup") == changed);
  REQUIRE(run({"uninstall", "continue", "--yes"}).status == 0);
  CHECK(text(block) == changed);
}

TEST_CASE_FIXTURE(host_home, "import: the file of a project is narrowed by its own settings and by the user's") {
  const std::string project = dir / "work";
  write(project + "/.mcp.json",
        R"({"mcpServers": {"a": {"command": "a"}, "b": {"command": "b"}, "c": {"command": "c"}}})");
  write(project + "/.claude/settings.json", R"({"permissions": {"deny": ["mcp__a__delete"]}})");
  write(project + "/.claude/settings.local.json", R"({"disabledMcpjsonServers": ["b"]})");
  write(dir / ".claude.json", R"({"projects": {"/work": {"disabledMcpServers": ["c"]}}})");
  const auto r = run({"import", project + "/.mcp.json", "--dry-run"});
  CHECK(r.status == 0);
  CHECK(contains(r.err, "\"deny\": [\"delete\"]"));
  CHECK(contains(r.out, "b       Claude Code  new, off"));
  CHECK(contains(r.out, "c       Claude Code  new, off"));
  write(project + "/.claude/settings.json", "{");
  CHECK(contains(run({"import", project + "/.mcp.json", "--dry-run"}).out, "a       Claude Code  refused"));
}

TEST_CASE_FIXTURE(host_home, "import: a secret in a command of several words is in no output") {
  write(cursor(), R"({"mcpServers": {"a": {"command": "npx -y server --api-key canary-2"},
                                     "b": {"command": "sh", "args": ["-c", "TOKEN=canary-3 run"]}}})");
  for (const word_list& line : {word_list{"import", "--dry-run"}, word_list{"import", "--dry-run", "--json"}}) {
    const auto r = run(line);
    CHECK(contains(r.out, "***"));
    CHECK_FALSE(contains(r.out + r.err, "canary"));
  }
}

TEST_CASE_FIXTURE(host_home, "uninstall: without the backup our entry goes all the same, and servers are switched on") {
  write(cline(), cline_text);
  REQUIRE(run({"import", "--yes"}).status == 0);
  REQUIRE(run({"install", "cline", "--yes"}).status == 0);
  std::filesystem::remove(cline() + ".mcpbx-backup");
  CHECK(run({"uninstall", "cline", "--yes"}).status == 0);
  CHECK(text(cline()) == cline_text);
  CHECK_FALSE(is_there(cline() + ".mcpbx-note"));
  // A note that is none does no harm.
  write(cline() + ".mcpbx-note", "{\"mark\": 7}");
  CHECK(run({"install", "cline", "--yes"}).status == 0);
  CHECK(run({"uninstall", "cline", "--yes"}).status == 0);
  CHECK(text(cline()) == cline_text);
}

TEST_CASE_FIXTURE(host_home, "uninstall: a backup whose note is gone is kept, since only that has what was taken out") {
  write(cursor(), cursor_text);
  REQUIRE(run({"import", "--yes"}).status == 0);
  REQUIRE(run({"install", "cursor", "--yes"}).status == 0);
  for (const char* note : {"", "{\"mark\": 7}"}) {
    write(cursor() + ".mcpbx-note", note);
    const auto again = run({"install", "cursor", "--socket", "/run/a.sock", "--yes"});
    CHECK(again.status == 2);
    CHECK(contains(again.err, "the note beside it is gone: move it away"));
  }
  const auto r = run({"uninstall", "cursor", "--yes"});
  CHECK(r.status == 0);
  CHECK(contains(r.err, "keeps " + cursor() + ".mcpbx-backup"));
  CHECK_FALSE(contains(text(cursor()), "\"mcpbx\""));
  CHECK(text(cursor() + ".mcpbx-backup") == cursor_text);
  CHECK(contains(run({"uninstall", "cursor", "--yes"}).err, "mcpbx is not in"));
  CHECK(is_there(cursor() + ".mcpbx-backup"));
  // There was no file before, so the backup has nothing.
  std::filesystem::create_directories(std::filesystem::path(cline()).parent_path());
  REQUIRE(run({"install", "cline", "--yes"}).status == 0);
  std::filesystem::remove(cline() + ".mcpbx-note");
  CHECK(run({"uninstall", "cline", "--yes"}).status == 0);
  CHECK_FALSE(is_there(cline() + ".mcpbx-backup"));
}

TEST_CASE_FIXTURE(host_home, "uninstall: an entry of our name that stood there before comes back with the file") {
  const std::string mine = "{\"mcpServers\": {\"mcpbx\": {\"command\": \"/opt/mine\", \"env\": {\"A\": \"b\"}}}}\n";
  const std::string toml = "[mcp_servers.mcpbx]\ncommand = \"/opt/mine\"\n\n[tui]\na = 1\n";
  write(cursor(), mine);
  write(codex(), toml);
  for (const char* name : {"cursor", "codex"}) {
    CHECK(run({"install", name, "--yes"}).status == 0);
    CHECK(run({"uninstall", name, "--yes"}).status == 0);
  }
  CHECK(text(cursor()) == mine);
  CHECK(text(codex()) == toml);
  CHECK_FALSE(is_there(cursor() + ".mcpbx-backup"));
  // A person who pasted our entry by hand has it taken out.
  CHECK(run({"uninstall", "cursor", "--yes"}).status == 0);
  CHECK(text(cursor()) == "{\"mcpServers\": {}}\n");
}

TEST_CASE_FIXTURE(host_home, "install: TOML and YAML files are changed and put back like JSON ones") {
  const std::string toml = "model = \"x\"\n\n[mcp_servers.git]\ncommand = \"git-mcp\"\n";
  const std::string yaml = "extensions:\n  git: # mine\n    type: stdio\n    cmd: git-mcp\n";
  write(codex(), toml);
  write(goose(), yaml);
  REQUIRE(run({"import", "--yes"}).status == 0);
  for (const char* name : {"codex", "goose"}) {
    CHECK(run({"install", name, "--yes"}).status == 0);
    CHECK(contains(text(name == std::string("codex") ? codex() : goose()), "enabled"));
    CHECK(run({"uninstall", name, "--yes"}).status == 0);
  }
  CHECK(text(codex()) == toml);
  CHECK(text(goose()) == yaml);
}

TEST_CASE_FIXTURE(host_home,
                  "install: a file that is new is removed again, and a program without a folder is not made one") {
  CHECK(run({"install", "cursor", "--yes"}).status == 5);
  std::filesystem::create_directory(dir / ".cursor");
  CHECK(run({"install", "cursor", "--yes"}).status == 0);
  CHECK(bits_of(cursor()) == 0600);
  CHECK(run({"uninstall", "cursor", "--yes"}).status == 0);
  CHECK(std::filesystem::is_empty(dir / ".cursor"));
  CHECK(contains(run({"install", "cherry-studio"}).out, "\"mcpbx\": {"));
  CHECK(contains(run({"install", "continue", "--paste"}).out, "mcpServers:\n  - name: mcpbx\n"));
  CHECK(run({"install"}).status == 2);
  CHECK(contains(run({"install", "claudecode"}).err, "did you mean \"claude-code\"?"));
}

TEST_CASE_FIXTURE(
    host_home,
    "install: links, read-only files and folders, and other things under the name are refused with the mend") {
  write(dir / "real.json", "{}");
  std::filesystem::create_directory(dir / ".cursor");
  std::filesystem::create_symlink(dir / "real.json", cursor());
  auto r = run({"install", "cursor", "--yes"});
  CHECK(r.status == 2);
  CHECK(contains(r.err, "is a link, and mcpbx does not write through links"));
  CHECK(text(dir / "real.json") == "{}");
  std::filesystem::remove(cursor());
  write(cursor(), "{}");
  ::chmod(cursor().c_str(), 0444);
  CHECK(contains(run({"install", "cursor", "--yes"}).err, "is read-only: run `chmod u+w " + cursor() + "`"));
  ::chmod(cursor().c_str(), 0644);
  ::chmod((dir / ".cursor").c_str(), 0500);
  CHECK(contains(run({"install", "cursor", "--yes"}).err,
                 "cannot be written: run `chmod u+w " + (dir / ".cursor") + "`"));
  ::chmod((dir / ".cursor").c_str(), 0700);
  CHECK(run({"install", "cursor"}).status == 2);
  CHECK(run({"install", "cursor", "--dry-run"}).status == 0);
  CHECK(text(cursor()) == "{}");
  std::filesystem::remove(cursor());
  std::filesystem::create_directory(cursor());
  CHECK(contains(run({"install", "cursor", "--yes"}).err, "is no regular file"));
}

TEST_CASE_FIXTURE(host_home, "install: a file that changes between the question and the answer is left alone") {
  write(cursor(), cursor_text);
  const auto& program = *conf::programs::find_program("cursor");
  const auto file = cli::hosts::look_at_own_file(program, cursor());
  REQUIRE(file);
  const auto change = cli::hosts::plan_install(*file, cursor_text, {"/usr/bin/mcpbx", {"mcp"}}, {});
  REQUIRE(change);
  write(cursor(), "{\"other\": 1}");
  const auto written = cli::hosts::write_install(*file, *change);
  REQUIRE_FALSE(written);
  CHECK(contains(written.error().message, "has changed while this command waited"));
  CHECK(text(cursor()) == "{\"other\": 1}");
  CHECK_FALSE(is_there(cursor() + ".mcpbx-backup"));
  CHECK_FALSE(is_there(cursor() + ".mcpbx-note"));
}

TEST_CASE("host verbs: one that is killed or fails at any step leaves the old or the new file, and the way back") {
  for (const word_list& line : {word_list{"install", "cursor", "--yes"},
                                {"uninstall", "cursor", "--yes"},
                                {"import", "--from", "cursor", "--yes"}}) {
    for (const auto what : {test::write_fault::killed, test::write_fault::fails}) {
      bool ended = false;
      for (int step = 0; !ended; ++step) {
        CAPTURE(line[0] + " at step " + std::to_string(step));
        REQUIRE(step < 60);
        const host_home home;
        home.write(home.cursor(), cursor_text);
        if (line[0] != "import") REQUIRE(config_home::run({"import", "--yes"}).status == 0);
        std::string installed;
        if (line[0] == "uninstall") {
          REQUIRE(config_home::run({"install", "cursor", "--yes"}).status == 0);
          installed = home.text(home.cursor());
        }
        const int status = faulty(line, what, step);
        ended = status == 99;
        if (what == test::write_fault::killed && !ended) CHECK(status == 128 + SIGKILL);
        const auto left = home.text(home.cursor());
        CHECK(conf::load_files(conf::environment::of_process()).ok());
        if (line[0] == "import") CHECK(left == cursor_text);
        if (line[0] == "uninstall") CHECK((left == cursor_text || left == installed));
        if (line[0] == "install") CHECK((left == cursor_text || contains(left, "\"mcpbx\": {")));
        // The same command ends what it began, and the other one takes it back.
        CHECK(config_home::run(line).status == 0);
        if (line[0] == "import") continue;
        CHECK(config_home::run({"install", "cursor", "--yes"}).status == 0);
        CHECK(config_home::run({"uninstall", "cursor", "--yes"}).status == 0);
        CHECK(home.text(home.cursor()) == cursor_text);
        CHECK_FALSE(is_there(home.cursor() + ".mcpbx-backup"));
        CHECK_FALSE(is_there(home.cursor() + ".mcpbx-note"));
        // A new file that was left beside an old one has gone with the next write.
        std::vector<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator(home.dir / ".cursor"))
          names.push_back(entry.path().filename().native());
        CHECK(names == std::vector<std::string>{"mcp.json"});
      }
    }
  }
}
