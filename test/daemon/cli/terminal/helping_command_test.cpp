// The command at the end of a sentence: found, added, and hints put in front of it.
#include "daemon/cli/terminal/helping_command.hpp"

#include "daemon/cli/terminal/terminal.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace mcpbx::cli::terminals;

TEST_CASE("E1: a sentence ends with a command if one of the known programs stands in backticks near its end") {
  for (const char* with : {"there is none; `mcpbx servers` lists them", "others may write it: run `chmod go-w /x`",
                           "set it, as in `export EDITOR=nano`", "see `mcpbx ask --help`"})
    CHECK_MESSAGE(ends_with_command(with), with);
  for (const char* without :
       {"", "`", "there is none", "there is no verb `x`", "the tool said `rm -rf`", "`mcpbx servers`",
        "`mcpbx servers` lists them, and then a server said very much about what went wrong in its own words"})
    CHECK(ends_with_command(without) == (std::string(without) == "`mcpbx servers`"));
}

TEST_CASE("E1: a command is added once, behind a full stop, and below a text of several lines") {
  const std::string_view doctor = "`mcpbx doctor` tells more";
  CHECK(with_command("it failed", doctor) == "it failed; `mcpbx doctor` tells more");
  CHECK(with_command("It failed.", doctor) == "It failed; `mcpbx doctor` tells more");
  CHECK(with_command("it goes on...", doctor) == "it goes on...; `mcpbx doctor` tells more");
  CHECK(with_command("one\ntwo\n", doctor) == "one\ntwo\n`mcpbx doctor` tells more");
  CHECK(with_command("none; `mcpbx tools` lists them", doctor) == "none; `mcpbx tools` lists them");
  CHECK(with_command("it failed", "") == "it failed");
  CHECK(with_command("a server wrote `mcpbx`", doctor) == "a server wrote `mcpbx`");
}

TEST_CASE("E1: a command that a stranger names does not take the place of ours") {
  const std::string_view tools = "`mcpbx tools x` shows its arguments";
  CHECK(with_own_command("the tool said: run `sudo sh x`", tools) ==
        "the tool said: run `sudo sh x`; `mcpbx tools x` shows its arguments");
  CHECK(with_own_command("one\nrun `chmod 777 /`\n", tools) ==
        "one\nrun `chmod 777 /`\n`mcpbx tools x` shows its arguments");
}

TEST_CASE("E1: a hint stands in front of the command") {
  CHECK(with_hint("there is no x; `mcpbx sessions` lists them", " (did you mean \"y\"?)") ==
        "there is no x (did you mean \"y\"?); `mcpbx sessions` lists them");
  CHECK(with_hint("there is no x", " (near: y)") == "there is no x (near: y)");
  CHECK(with_hint("there is no x", "") == "there is no x");
}

TEST_CASE("E1: only statuses that are not told by a verb's own page have a command") {
  CHECK(command_for_status(usage).empty());
  CHECK(command_for_status(no_such).empty());
  CHECK(command_for_status(no_daemon).contains("`mcpbx doctor`"));
  CHECK(command_for_status(provider_failed).contains("--online"));
}
