// Files and programs behind references.
#include "daemon/app/references/system_references.hpp"

#include "test/support/captured_output.hpp"
#include "test/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <sys/stat.h>

#include <string>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::references;

namespace {

std::string run(const std::vector<std::string>& words) {
  auto out = system_references().command(words);
  return out ? *out : "error: " + out.error().message;
}

}  // namespace

TEST_CASE("references: variables are the daemon's own") {
  const mcpbx::test::changed_variable set("MCPBX_TEST_A", "value"), empty("MCPBX_TEST_B", ""),
      unset("MCPBX_TEST_C", nullptr);
  system_references source;
  CHECK(source.env("MCPBX_TEST_A") == "value");
  CHECK(source.env("MCPBX_TEST_B") == "");
  CHECK_FALSE(source.env("MCPBX_TEST_C"));
}

TEST_CASE("references: a regular file of at most 1 MiB is read and nothing else") {
  const mcpbx::test::temporary_directory folder;
  system_references source;
  CHECK(source.file(folder.write("key", "line\n")).value() == "line\n");
  CHECK(source.file(folder / "none").error().code == errc::not_found);
  CHECK(source.file(folder.path()).error().code == errc::io);
  CHECK(source.file(folder.write("full", std::string(1 << 20, 'x'))).value().size() == 1 << 20);
  CHECK(source.file(folder.write("big", std::string((1 << 20) + 1, 'x'))).error().code == errc::limit);
  // A pipe that nobody writes to would hold the lane for ever.
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  const auto pipe = source.file(folder / "pipe");
  CHECK(pipe.error().code == errc::io);
  CHECK(pipe.error().message == "cannot read " + folder / "pipe" + ": it is no regular file");
}

TEST_CASE("G44: a command runs without a shell") {
  CHECK(run({"printf", "%s|%s", "$HOME `id` $(id)", "; echo x > y"}) == "$HOME `id` $(id)|; echo x > y");
}

TEST_CASE(
    "references: a command has the daemon's environment and an empty standard input and no standard error of ours") {
  const mcpbx::test::changed_variable set("MCPBX_TEST_A", "value");
  CHECK(run({"printenv", "MCPBX_TEST_A"}) == "value\n");
  CHECK(run({"cat"}) == "");
  CHECK(run({"sh", "-c", "echo noise >&2; echo out"}) == "out\n");
  CHECK(run({"sh", "-c", "ls /proc/self/fd | sort -n | tail -n 1"}) == "3\n");  // the listing's own
}

TEST_CASE("references: a command that fails is an error that says how") {
  CHECK(run({"false"}) == "error: the command `false` ended with status 1");
  CHECK(run({"sh", "-c", "kill -9 $$"}) == "error: the command `sh` was ended by signal 9");
  CHECK(run({"mcpbx-no-such-program"}) ==
        "error: the command `mcpbx-no-such-program` could not be started: No such file or directory");
  CHECK(system_references().command({"false"}).error().code == errc::config);
  CHECK(system_references().command({"head", "-c", "1100000", "/dev/zero"}).error().code == errc::limit);
}
