// add, remove, enable and disable: what they write, refuse and leave alone, and what a killed one leaves behind.
#include "conf/config_files.hpp"
#include "test/daemon/cli/config/config_home.hpp"
#include "test/daemon/cli/config/write_faults.hpp"
#include "test/support/contains.hpp"

#include <doctest/doctest.h>

#include <sys/stat.h>
#include <sys/wait.h>

#include <functional>
#include <string>
#include <vector>

using namespace mcpbx;
using mcpbx::test::config_home;
using mcpbx::test::contains;
using words = std::vector<std::string>;

namespace {

const std::string own_text =
    "// mine\n{\n  \"mcpServers\": {\n    \"git\": { \"command\": \"git-mcp\" } // kept\n  }\n}\n";
const std::string time_text =
    "{\n  \"mcpServers\": {\n    \"time\": {\n      \"command\": \"clock\",\n      \"args\": [\"--utc\"]\n    }\n  "
    "}\n}\n";

unsigned mode_of(const std::string& path) {
  struct stat s{};
  REQUIRE(::stat(path.c_str(), &s) == 0);
  return s.st_mode & 07777;
}

bool disabled(std::string_view name) {
  const auto loaded = conf::load_files(conf::environment::of_process());
  REQUIRE_MESSAGE(loaded.ok(), loaded.error_text());
  const auto* entry = loaded.config.find_server(name);
  REQUIRE(entry);
  return entry->disabled;
}

/// Runs the command line in a child that has a fault; returns its exit status, 128 + the signal when it was killed.
int run_with_fault(const words& line, test::write_fault what, int step) {
  const pid_t child = ::fork();
  if (child == 0) {
    const int nothing = ::open("/dev/null", O_RDWR);
    for (int fd = 0; fd < 3; ++fd) ::dup2(nothing, fd);
    test::arm_write_fault(what, step);
    const int status = config_home::run_here(line);
    const bool reached = test::write_steps() > step;
    ::_exit(reached ? status : 99);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

TEST_CASE_FIXTURE(config_home, "add: the entry stands in a file of its own, mode 0600, and the own file is untouched") {
  write(folder() + "/config.json", own_text);
  const auto r = run({"add", "time", "--yes", "--", "clock", "--utc"});
  CHECK(r.status == 0);
  CHECK(contains(r.err, "time: clock --utc\nwrites " + drop_in("time.json") + "\n  + {\n"));
  CHECK(r.out == "wrote " + drop_in("time.json") + "\nno daemon runs; the next one reads it\n");
  CHECK(text(drop_in("time.json")) == time_text);
  CHECK(mode_of(drop_in("time.json")) == 0600);
  CHECK(mode_of(folder() + "/config.d") == 0700);
  CHECK(text(folder() + "/config.json") == own_text);
  const auto again = run({"add", "time", "--yes", "--", "clock", "--utc"});
  CHECK(again.status == 0);
  CHECK(contains(again.err, "the configuration says this already"));
}

TEST_CASE_FIXTURE(config_home,
                  "add: every key that has an option is written, in the order in which people write them") {
  CHECK(run({"add", "a/b", "--lazy", "--cwd", "~/x", "--env-file", "~/e", "--env", "A=1=2", "--env", "B=", "--yes",
             "server", "one"})
            .status == 0);
  CHECK(
      text(drop_in("a%2Fb.json")) ==
      "{\n  \"mcpServers\": {\n    \"a/b\": {\n      \"command\": \"server\",\n      \"args\": [\"one\"],\n      "
      "\"env\": {\n        \"A\": \"1=2\",\n        \"B\": \"\"\n      },\n      \"envFile\": \"~/e\",\n      \"cwd\": "
      "\"~/x\",\n      \"start\": \"lazy\"\n    }\n  }\n}\n");
  CHECK(run({"add", "far", "https://tools.example/mcp", "--header", "X-Team: a b", "--yes"}).status == 0);
  CHECK(contains(text(drop_in("far.json")),
                 "\"url\": \"https://tools.example/mcp\",\n      \"headers\": {\n        "
                 "\"X-Team\": \"a b\"\n"));
}

TEST_CASE_FIXTURE(config_home, "add: without a terminal and --yes the change is shown, and nothing is written") {
  const auto r = run({"add", "time", "--", "clock"});
  CHECK(r.status == 2);
  CHECK(contains(r.err, "writes " + drop_in("time.json")));
  CHECK(contains(r.err, "nothing is written without a yes, and there is no terminal to ask at: add --yes"));
  CHECK(files().empty());
  CHECK(run({"add", "time", "--dry-run", "--", "clock"}).status == 0);
  CHECK(files().empty());
}

TEST_CASE_FIXTURE(config_home, "add: secrets in clear move to files of mode 0600, and no output shows them") {
  const auto r =
      run({"add", "hub", "--env", "GITHUB_TOKEN=canary-1", "--env", "MODE=loud", "--yes", "--", "hub", "--api-key",
           "canary-2", "--header", "Authorization: Bearer canary-3", "postgres://u:canary-4@h/d"});
  CHECK(r.status == 0);
  CHECK_FALSE(contains(r.out + r.err, "canary"));
  CHECK(contains(r.err, "moves the secret env.GITHUB_TOKEN to " + secret("hub.GITHUB_TOKEN") + " (0600)"));
  CHECK(text(secret("hub.GITHUB_TOKEN")) == "canary-1\n");
  CHECK(text(secret("hub.api-key")) == "canary-2\n");
  CHECK(text(secret("hub.Authorization")) == "canary-3\n");
  CHECK(text(secret("hub.address")) == "canary-4\n");
  CHECK(mode_of(secret("hub.api-key")) == 0600);
  CHECK(mode_of(folder() + "/secrets") == 0700);
  const auto entry = text(drop_in("hub.json"));
  CHECK_FALSE(contains(entry, "canary"));
  CHECK(contains(entry, "\"GITHUB_TOKEN\": \"${file:~/.config/mcpbx/secrets/hub.GITHUB_TOKEN}\""));
  CHECK(contains(entry, "\"Authorization: Bearer ${file:~/.config/mcpbx/secrets/hub.Authorization}\""));
  CHECK(contains(entry, "postgres://u:${file:~/.config/mcpbx/secrets/hub.address}@h/d"));
  CHECK(contains(entry, "\"MODE\": \"loud\""));
}

TEST_CASE_FIXTURE(config_home, "add: a secret never overwrites another one, and equal ones share a file") {
  CHECK(run({"add", "hub", "--env", "TOKEN=one", "--yes", "--", "hub"}).status == 0);
  CHECK(run({"add", "hub", "--env", "TOKEN=two", "--yes", "--", "hub"}).status == 0);
  CHECK(text(secret("hub.TOKEN")) == "one\n");
  CHECK(text(secret("hub.TOKEN-2")) == "two\n");
  CHECK(contains(text(drop_in("hub.json")), "secrets/hub.TOKEN-2}"));
  CHECK(run({"add", "hub", "--env", "TOKEN=one", "--yes", "--", "hub"}).status == 0);
  CHECK(contains(text(drop_in("hub.json")), "secrets/hub.TOKEN}"));
  CHECK(files().size() == 3);
}

TEST_CASE_FIXTURE(config_home, "add: --keep-secrets leaves them in the entry, and shows them as ***") {
  const auto r = run({"add", "hub", "--env", "TOKEN=canary", "--yes", "--keep-secrets", "--", "hub"});
  CHECK(r.status == 0);
  CHECK(contains(r.err, "\"TOKEN\": \"***\""));
  CHECK_FALSE(contains(r.out + r.err, "canary"));
  CHECK(contains(text(drop_in("hub.json")), "\"TOKEN\": \"canary\""));
  CHECK_FALSE(std::filesystem::exists(folder() + "/secrets"));
}

TEST_CASE_FIXTURE(config_home, "add: wrong words are told with the mend, and write nothing") {
  const auto fails = [&](const words& line, std::string_view sentence) {
    CAPTURE(sentence);
    const auto r = run(line);
    CHECK(r.status == 2);
    CHECK(contains(r.err, sentence));
    CHECK_FALSE(contains(r.err, "canary"));
  };
  fails({"add", "x"}, "COMMAND");
  fails({"add", "x", "npx", "-y", "pkg"}, "; write -- before a command that has options of its own");
  fails({"add", "x", "--env", "canary", "--", "cmd"}, "--env takes NAME=VALUE");
  fails({"add", "x", "--env", "1A=canary", "--", "cmd"}, "--env takes NAME=VALUE");
  fails({"add", "x", "--env", "A=1", "--env", "A=2", "--", "cmd"}, "--env names A twice");
  fails({"add", "x", "--header", "A: b", "--", "cmd"}, "--header is for a server with an address");
  fails({"add", "x", "--env", "A=b", "https://h/mcp"}, "a remote server takes --header");
  fails({"add", "x", "https://h/mcp", "y"}, "an address takes no arguments");
  fails({"add", "x", "--yes", "--", ""},
        "this would make the configuration wrong, and nothing was written:\n" + drop_in("x.json") + ":4:18: ");
  fails({"add", "x\ny", "--yes", "--", "cmd"}, "the name must be");
  fails({"add", "x", "--yes", "http://h h/"}, "must be");
  CHECK(files().empty());
}

TEST_CASE_FIXTURE(config_home, "add: a command between quotes is told to be written as words") {
  const auto r = run({"add", "x", "--yes", "--", "npx -y server --key canary"});
  CHECK(r.status == 2);
  CHECK(contains(r.err, "leave out the quotes around it, as in `mcpbx add x -- npx -y PACKAGE`"));
  CHECK_FALSE(contains(r.out + r.err, "canary"));
  write(dir / "a b", "#!/bin/sh\n");
  ::chmod((dir / "a b").c_str(), 0700);
  CHECK(run({"add", "x", "--yes", "--", dir / "a b"}).status == 0);
}

TEST_CASE_FIXTURE(config_home, "add: a name that another file has is refused with that file") {
  write(folder() + "/config.json", own_text);
  const auto r = run({"add", "git", "--yes", "--", "other"});
  CHECK(r.status == 2);
  CHECK(contains(r.err, "git is in " + folder() + "/config.json already"));
  CHECK(text(folder() + "/config.json") == own_text);
}

TEST_CASE_FIXTURE(config_home, "add: a configuration with errors is told, and stays as it is") {
  write(folder() + "/config.json", "{\"mcpServers\": {},\n \"modles\": {}}");
  const auto before = files();
  const auto r = run({"add", "time", "--yes", "--", "clock"});
  CHECK(r.status == 2);
  CHECK(contains(
      r.err, "the configuration has errors, and nothing was written:\n" + folder() + "/config.json:2:2: unknown key"));
  CHECK(files() == before);
}

TEST_CASE_FIXTURE(config_home, "add: a folder that others can write is refused with the command that mends it") {
  write(drop_in("time.json"), time_text);
  ::chmod((folder() + "/config.d").c_str(), 0777);
  const auto r = run({"add", "x", "--yes", "--", "cmd"});
  CHECK(r.status == 2);
  CHECK(contains(r.err, "chmod go-w"));
  CHECK(files().size() == 1);
}

TEST_CASE_FIXTURE(config_home, "add and remove: a file named by --config is edited in place and keeps its comments") {
  const auto file = dir / "mine.jsonc";
  write(file, own_text);
  CHECK(run({"--config", file, "add", "time", "--yes", "--", "clock"}).status == 0);
  CHECK(text(file) ==
        "// mine\n{\n  \"mcpServers\": {\n    \"git\": { \"command\": \"git-mcp\" }, // kept\n    \"time\": {\n      "
        "\"command\": \"clock\",\n      \"args\": []\n    }\n  }\n}\n");
  ::setenv("MCPBX_CONFIG", file.c_str(), 1);
  CHECK(run({"disable", "git", "--yes"}).status == 0);
  CHECK(disabled("git"));
  CHECK(run({"enable", "git", "--yes"}).status == 0);
  CHECK(run({"remove", "time", "--yes"}).status == 0);
  CHECK(text(file) == own_text);
  CHECK(files().empty());
}

TEST_CASE_FIXTURE(config_home, "remove: an entry's file goes, an own file's entry stays with the mend") {
  write(folder() + "/config.json", own_text);
  write(drop_in("time.json"), time_text);
  write(drop_in("two.json"), "{\"mcpServers\": {\"a\": {\"command\": \"x\"}, \"b\": {\"command\": \"y\"}}}");
  CHECK(run({"remove", "time", "--yes"}).status == 0);
  CHECK_FALSE(std::filesystem::exists(drop_in("time.json")));
  CHECK(run({"remove", "a", "--yes"}).status == 0);
  CHECK(text(drop_in("two.json")) == "{\"mcpServers\": {\"b\": {\"command\": \"y\"}}}");
  const auto own = run({"remove", "git", "--yes"});
  CHECK(own.status == 2);
  CHECK(contains(own.err, "git stands in " + folder() + "/config.json, which is your own file: take it out there"));
  CHECK(contains(own.err, "`mcpbx disable git`"));
  const auto none = run({"remove", "gti", "--yes"});
  CHECK(none.status == 5);
  CHECK(contains(none.err, "there is no entry gti in the configuration (did you mean \"git\"?)"));
  CHECK(run({"remove", "b"}).status == 2);
  CHECK(files().size() == 2);
}

TEST_CASE_FIXTURE(config_home, "remove: secrets stay on the disk, and their place is told") {
  CHECK(run({"add", "hub", "--env", "TOKEN=canary", "--yes", "--", "hub"}).status == 0);
  const auto r = run({"remove", "hub", "--yes"});
  CHECK(r.status == 0);
  CHECK(contains(r.err, "its secret stays in ~/.config/mcpbx/secrets/hub.TOKEN"));
  CHECK(text(secret("hub.TOKEN")) == "canary\n");
}

TEST_CASE_FIXTURE(config_home, "disable and enable: an overlay decides over the own file, which is never rewritten") {
  write(folder() + "/config.json", own_text);
  CHECK(run({"disable", "git", "--yes"}).status == 0);
  CHECK(text(drop_in("git.json")) ==
        "{\n  \"mcpServers\": {\n    \"git\": {\n      \"disabled\": true\n    }\n  }\n}\n");
  CHECK(disabled("git"));
  CHECK(contains(run({"disable", "git", "--yes"}).err, "git is disabled already"));
  CHECK(run({"enable", "git", "--yes"}).status == 0);
  CHECK_FALSE(std::filesystem::exists(drop_in("git.json")));
  CHECK_FALSE(disabled("git"));
  CHECK(text(folder() + "/config.json") == own_text);
  CHECK(run({"disable", "gti", "--yes"}).status == 5);
}

TEST_CASE_FIXTURE(config_home, "enable: where the own file says disabled, the overlay says that it is not") {
  write(folder() + "/config.json", "{\"mcpServers\": {\"git\": {\"command\": \"g\", \"disabled\": true}}}");
  CHECK(run({"enable", "git", "--yes"}).status == 0);
  CHECK(contains(text(drop_in("git.json")), "\"disabled\": false"));
  CHECK_FALSE(disabled("git"));
}

TEST_CASE_FIXTURE(config_home, "enable: a key that an overlay cannot outweigh is told with its file") {
  write(folder() + "/config.json", "{\"mcpServers\": {\"git\": {\"command\": \"g\", \"enabled\": false}}}");
  const auto r = run({"enable", "git", "--yes"});
  CHECK(r.status == 2);
  CHECK(contains(r.err, "git would go on to be disabled, since another key of its entry or a later file decides"));
  CHECK(contains(r.err, folder() + "/config.json"));
  CHECK(files().size() == 1);
}

TEST_CASE_FIXTURE(config_home, "config verbs: with --json the outcome is one object") {
  const auto r = run({"--json", "add", "hub", "--env", "TOKEN=canary", "--yes", "--", "hub"});
  CHECK(r.out == "{\"written\":[\"" + drop_in("hub.json") + "\"],\"removed\":[],\"secrets\":[{\"path\":\"env.TOKEN\"," +
                     "\"file\":\"" + secret("hub.TOKEN") + "\"}],\"daemon\":\"none\"}\n");
  CHECK(run({"--json", "remove", "hub", "--yes"}).out ==
        "{\"written\":[],\"removed\":[\"" + drop_in("hub.json") + "\"],\"secrets\":[],\"daemon\":\"none\"}\n");
}

TEST_CASE_FIXTURE(config_home, "edit: the text of the editor replaces the file once it is right") {
  write(folder() + "/config.json", own_text);
  write(dir / "new", "{\"mcpServers\": {\"git\": {\"command\": \"other\"}}} // edited\n");
  ::setenv("EDITOR", ("cp " + dir / "new").c_str(), 1);
  const auto r = run({"edit"});
  CHECK(r.status == 0);
  CHECK(r.out == "wrote " + folder() + "/config.json\nno daemon runs; the next one reads it\n");
  CHECK(files() == std::map<std::string, std::string>{{"config.json", text(dir / "new")}});
}

TEST_CASE_FIXTURE(config_home, "edit: a link to the file stays, and the file behind it is replaced") {
  write(dir / "dotfiles/config.json", own_text);
  write(drop_in("time.json"), time_text);
  std::filesystem::create_symlink(dir / "dotfiles/config.json", folder() + "/config.json");
  ::setenv("EDITOR", "sed -i s/git-mcp/other/", 1);
  CHECK(run({"edit"}).status == 0);
  CHECK(std::filesystem::is_symlink(folder() + "/config.json"));
  CHECK(contains(text(dir / "dotfiles/config.json"), "\"other\""));
}

TEST_CASE_FIXTURE(config_home, "edit: the draft of a server called config is not that of config.json") {
  write(folder() + "/config.json", "{}");
  write(drop_in("config.json"), R"({"mcpServers": {"config": {"command": "c"}}})");
  write(dir / "fails", "#!/bin/sh\necho changed > \"$1\"\nexit 1\n");
  ::setenv("EDITOR", ("sh '" + (dir / "fails") + "'").c_str(), 1);
  CHECK(contains(run({"edit", "config"}).err, "stays in " + folder() + "/drafts/config.d-config.json"));
  CHECK(contains(run({"edit"}).err, "stays in " + folder() + "/drafts/config.json"));
}

TEST_CASE_FIXTURE(config_home, "edit: a folder of drafts that others can write is not used") {
  write(folder() + "/config.json", own_text);
  write(folder() + "/drafts/config.json", "{}");
  ::chmod((folder() + "/drafts").c_str(), 0777);
  ::setenv("EDITOR", "true", 1);
  const auto r = run({"edit"});
  CHECK(r.status == 2);
  CHECK(contains(r.err, "chmod go-w"));
}

TEST_CASE_FIXTURE(config_home, "edit: an editor that fails, and a text that stays, change nothing") {
  write(folder() + "/config.json", own_text);
  const auto before = files();
  ::setenv("VISUAL", "false", 1);
  const auto failed = run({"edit"});
  CHECK(failed.status == 1);
  CHECK(contains(failed.err, "the editor `false` failed with status 1, and nothing was changed"));
  CHECK(files() == before);
  ::setenv("VISUAL", "true", 1);
  const auto same = run({"edit"});
  CHECK(same.status == 0);
  CHECK(contains(same.err, "nothing was changed"));
  CHECK(files() == before);
  ::setenv("VISUAL", "rm -f", 1);
  CHECK(run({"edit"}).status == 1);
  CHECK(files() == before);
  ::setenv("VISUAL", "sh -c 'kill -9 $$'", 1);
  CHECK(run({"edit"}).status == 1);
  CHECK(files() == before);
}

TEST_CASE_FIXTURE(config_home, "edit: a wrong text is told with its places, and the draft stays") {
  write(folder() + "/config.json", own_text);
  write(dir / "new", "{\n  \"mcpServer\": {}\n}\n");
  ::setenv("EDITOR", ("cp " + dir / "new").c_str(), 1);
  const auto r = run({"edit"});
  CHECK(r.status == 2);
  CHECK(contains(r.err, "the configuration would be wrong, and nothing was changed:\n" + folder() +
                            "/config.json:2:3: unknown key"));
  CHECK(contains(r.err, "your text stays in " + folder() + "/drafts/config.json"));
  CHECK(text(folder() + "/config.json") == own_text);
  CHECK(text(folder() + "/drafts/config.json") == text(dir / "new"));
  const auto again = run({"edit"});
  CHECK(again.status == 2);
  CHECK(contains(again.err, "a draft of an earlier edit is in " + folder() + "/drafts/config.json"));
}

TEST_CASE_FIXTURE(config_home, "edit: without a file one is begun, and NAME opens the file of its entry") {
  ::setenv("EDITOR", "sed -i 's/\"mcpServers\": {/&\"a\": {\"command\": \"x\"}/'", 1);
  CHECK(run({"edit"}).status == 0);
  CHECK(contains(text(folder() + "/config.json"), "\"mcpServers\": {\"a\": {\"command\": \"x\"}\n"));
  write(drop_in("time.json"), time_text);
  ::setenv("EDITOR", "sed -i s/clock/watch/", 1);
  CHECK(run({"edit", "time"}).status == 0);
  CHECK(contains(text(drop_in("time.json")), "\"watch\""));
  CHECK(run({"edit", "tme"}).status == 5);
  ::setenv("PATH", "/nowhere", 1);
  ::unsetenv("EDITOR");
  CHECK(contains(run({"edit"}).err, "export EDITOR=nano"));
}

TEST_CASE_FIXTURE(config_home, "config verbs: the examples of their help do what they say") {
  ::setenv("EDITOR", "true", 1);
  const std::vector<words> examples{{"add", "--yes", "time", "--", "mcpbx-toolbox"},
                                    {"add", "--yes", "github", "--", "github-mcp-server"},
                                    {"disable", "github", "--yes"},
                                    {"enable", "github", "--yes"},
                                    {"config", "show", "--origin"},
                                    {"config", "check"},
                                    {"config", "path"},
                                    {"edit"},
                                    {"remove", "github", "--yes"}};
  for (const auto& line : examples) {
    std::string shown = "  mcpbx";
    for (const auto& word : line) shown += " " + word;
    CAPTURE(shown);
    if (line.back() != "github-mcp-server") CHECK(contains(run({line.front(), "--help"}).out, shown));
    CHECK(run(line).status == 0);
  }
}

TEST_CASE("config verbs: a command that is killed or fails at any step leaves the old or the new files whole") {
  struct {
    words line;
    bool has_secret;
  } const cases[] = {
      {{"add", "time", "--yes", "--", "new-clock"}, false},
      {{"add", "hub", "--env", "TOKEN=canary", "--yes", "--", "hub"}, true},
      {{"remove", "time", "--yes"}, false},
      {{"disable", "git", "--yes"}, false},
      {{"disable", "time", "--yes"}, false},
      {{"edit"}, false},
  };
  for (const auto& [line, has_secret] : cases) {
    for (const auto what : {test::write_fault::killed, test::write_fault::fails}) {
      bool ended = false;
      for (int step = 0; !ended; ++step) {
        CAPTURE(line.front() + " " + line.back() + " at step " + std::to_string(step));
        REQUIRE(step < 60);
        const config_home home;
        home.write(home.folder() + "/config.json", own_text);
        home.write(home.drop_in("time.json"), time_text);
        home.write(home.dir / "new", "{\"mcpServers\": {\"git\": {\"command\": \"edited\"}}}\n");
        ::setenv("EDITOR", ("cp " + home.dir / "new").c_str(), 1);
        const auto before = home.files();
        const int status = run_with_fault(line, what, step);
        std::filesystem::remove_all(home.folder() + "/drafts");  // a draft of `edit` is never read
        const auto left = home.files();
        const bool loads = conf::load_files(conf::environment::of_process()).ok();
        CHECK(loads);
        const auto again = config_home::run(line);
        const auto after = home.files();
        CHECK(after.find(".new") == after.end());
        if (status == 99) {  // the verb has no such step
          ended = true;
          continue;
        }
        if (what == test::write_fault::killed) CHECK(status == 128 + SIGKILL);
        for (const auto& [name, text] : left) {
          if (name.ends_with(".new")) continue;  // a temporary file, which nobody reads
          const auto old = before.find(name), fresh = after.find(name);
          CAPTURE(name);
          CHECK(((old != before.end() && old->second == text) || (fresh != after.end() && fresh->second == text)));
        }
        for (const auto& [name, text] : before) CHECK((left.contains(name) || line[0] == "remove"));
        CHECK((again.status == 0 || again.status == 5));  // 5: it was removed before the kill
        for (const auto& [name, text] : after) CHECK_FALSE(name.ends_with(".new"));
        if (has_secret) CHECK(after.at("secrets/hub.TOKEN") == "canary\n");
        if (what == test::write_fault::fails && status != 0) {
          CHECK(status == 1);
          CHECK((left == before || left == after));
        }
      }
    }
  }
}
