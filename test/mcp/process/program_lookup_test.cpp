// G8: every reason for which a program cannot start is named.
#include "mcp/process/program_lookup.hpp"

#include "test/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <cerrno>
#include <filesystem>
#include <string>

using namespace mcpbx;
using namespace mcpbx::mcp::process;
using namespace mcpbx::test;

namespace {

process_spec spec_for(std::string program, const temporary_directory& where, std::string path = "/usr/bin:/bin") {
  return {"s", {std::move(program)}, {"HOME=/", "PATH=" + path}, where.path(), false};
}

std::string why(const process_spec& spec) {
  const auto found = find_program(spec);
  REQUIRE_FALSE(found);
  return found.error().message;
}

}  // namespace

TEST_CASE("a bare name is looked up in the PATH of the server's own environment, first entry first") {
  temporary_directory d;
  std::filesystem::create_directories(d / "one");
  std::filesystem::create_directories(d / "two");
  const auto second = d.write("two/tool", "#!/bin/sh\n", true);
  CHECK(find_program(spec_for("tool", d, (d / "one") + ":" + (d / "two"))) == second);
  const auto first = d.write("one/tool", "#!/bin/sh\n", true);
  CHECK(find_program(spec_for("tool", d, (d / "one") + ":" + (d / "two"))) == first);
  CHECK(find_program(spec_for("tool", d, "one")) == first);  // relative entries count from the working directory
  d.write("tool", "#!/bin/sh\n", true);
  CHECK(find_program(spec_for("tool", d, ":/nowhere")));  // an empty entry is the working directory
}

TEST_CASE("a name with a slash is taken from the working directory, not from the PATH") {
  temporary_directory d;
  const auto file = d.write("tool", "#!/bin/sh\n", true);
  CHECK(find_program(spec_for("./tool", d)) == d.path() + "/./tool");
  CHECK(find_program(spec_for(file, d)) == file);
}

TEST_CASE("G8: a missing program is named with the PATH that was searched") {
  temporary_directory d;
  CHECK(why(spec_for("npx-not-here", d, "/usr/bin:/opt")) == "no such program \"npx-not-here\" in PATH=/usr/bin:/opt");
  CHECK(why(spec_for("./not-here", d)) == "no such program \"./not-here\"");
  CHECK(find_program(spec_for("./not-here", d)).error().code == errc::not_found);
}

TEST_CASE("G8: a file that is not executable, a directory and an empty command are named") {
  temporary_directory d;
  const auto file = d.write("script", "#!/bin/sh\n");
  CHECK(why(spec_for("./script", d)) == "\"./script\" is not executable: chmod +x ./script");
  CHECK(why(spec_for("script", d, d.path())) == "\"" + file + "\" is not executable: chmod +x " + file);
  CHECK(why(spec_for(d.path(), d)) == "\"" + d.path() + "\" is a directory, not a program");
  CHECK(why({"s", {}, {}, "/", false}) == "there is no command to run");
}

TEST_CASE("G8: a working directory that is missing, relative or no directory is named") {
  temporary_directory d;
  auto spec = spec_for("sh", d);
  spec.directory = d / "gone";
  CHECK(why(spec) == "no such directory \"" + (d / "gone") + "\" (its cwd)");
  spec.directory = "relative";
  CHECK(why(spec) == "the working directory \"relative\" is not absolute");
  spec.directory = d.write("file", "");
  CHECK(why(spec) == "the working directory \"" + spec.directory + "\" is not a directory");
}

TEST_CASE("G8: what exec could not do is told by what the file is") {
  temporary_directory d;
  const auto script = d.write("script", "#!/no/such/interpreter -x\n", true);
  CHECK(explain_exec_failure(script, ENOENT) ==
        "\"" + script + "\" names the interpreter \"/no/such/interpreter\", which does not exist");
  const auto windows = d.write("windows", "#!/bin/sh\r\necho\r\n", true);
  CHECK(explain_exec_failure(windows, ENOENT).find("CR LF") != std::string::npos);
  const auto text = d.write("text", "echo hello\n", true);
  CHECK(explain_exec_failure(text, ENOEXEC).find("neither a program nor a script") != std::string::npos);
  const auto elf = d.write("elf",
                           "\x7f"
                           "ELF.....",
                           true);
  CHECK(explain_exec_failure(elf, ENOENT).find("loader is missing") != std::string::npos);
  CHECK(explain_exec_failure(elf, ENOEXEC).find("another processor") != std::string::npos);
  CHECK(explain_exec_failure(text, E2BIG).find("larger than the system takes") != std::string::npos);
}
