// `mcpbx config` without a daemon: what it prints of the files, and of errors in them.
#include "test/daemon/cli/config/config_home.hpp"
#include "test/support/contains.hpp"

#include <doctest/doctest.h>

using namespace mcpbx;
using mcpbx::test::config_home;
using mcpbx::test::contains;

TEST_CASE_FIXTURE(config_home, "config show: without a daemon the files are read, and that is said") {
  write(folder() + "/config.json",
        "{\n  \"mcpServers\": {\"git\": {\"command\": \"g\", \"env\": {\"TOKEN\": \"canary\", \"KEY\": "
        "\"${env:K}\"}}}\n}");
  const auto r = run({"config", "show"});
  CHECK(r.status == 0);
  CHECK(contains(r.err, "as told by the files, since no daemon runs: " + folder() + "/config.json"));
  CHECK(contains(r.out, "\"command\": \"g\",\n"));
  CHECK(contains(r.out, "\"env\": {\"TOKEN\":\"***\",\"KEY\":\"${env:K}\"},\n"));
  CHECK(contains(r.out, "\"maxRounds\": 10,  // default\n"));
  CHECK_FALSE(contains(r.out + r.err, "canary"));
  const auto origin = run({"config", "show", "--origin"});
  CHECK(contains(origin.out, "\"command\": \"g\",  // " + folder() + "/config.json:2:37\n"));
  const auto json = run({"config", "show", "--origin", "--json"});
  CHECK(contains(json.out, "{\"from\":\"files\",\"files\":[\"" + folder() + "/config.json\"],\"config\":{"));
  CHECK(contains(json.out, "\"mcpServers.git.command\":\"" + folder() + "/config.json:2:37\""));
  CHECK_FALSE(contains(run({"config", "show", "--json"}).out, "origins"));
}

TEST_CASE_FIXTURE(config_home, "config show: the text is JSON with comments that mcpbx itself takes") {
  write(folder() + "/config.json", "{\"mcpServers\": {\"git\": {\"command\": \"g\"}}}");
  const auto shown = run({"config", "show", "--origin"});
  write(dir / "copy.json", shown.out);
  CHECK(run({"--config", dir / "copy.json", "config", "check"}).status == 0);
}

TEST_CASE_FIXTURE(config_home, "config: errors have status 2 and their places, and no file is none") {
  const auto none = run({"config", "path"});
  CHECK(none.status == 0);
  CHECK(none.out == "");
  CHECK(contains(none.err, "`mcpbx edit` makes " + folder() + "/config.json"));
  CHECK(run({"config", "path", "--json"}).out == "[]\n");
  CHECK(run({"config", "check"}).out == "no configuration file: the defaults hold\n0 errors, 0 notices\n");
  write(folder() + "/config.json", "{\"loop\": {\"maxRounds\": \"x\"}, \"mcpServer\": {}}");
  const auto check = run({"config", "check"});
  CHECK(check.status == 2);
  CHECK(contains(check.out, folder() + "/config.json:1:24: error: must be a whole number"));
  CHECK(contains(check.out, "did you mean \"mcpServers\"?\n2 errors, 0 notices\n"));
  CHECK(contains(run({"config", "check", "--json"}).out, "\"line\":1,\"column\":24,\"what\":\"must be a whole number"));
  const auto show = run({"config", "show"});
  CHECK(show.status == 2);
  CHECK(contains(show.err, "the configuration has errors:\n" + folder() + "/config.json:1:24"));
  CHECK(show.err.ends_with("\n`mcpbx edit` opens it\n"));
  CHECK(run({"config", "path"}).out == folder() + "/config.json\n");
  CHECK(run({"--config", "/nowhere", "config", "path"}).status == 2);
}
