// A daemon's log file is bounded, whoever else writes or moves it.
#include "daemon/app/process/stderr_file.hpp"

#include "test/support/captured_output.hpp"
#include "test/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

using mcpbx::daemon::process::stderr_file;
namespace fs = std::filesystem;

namespace {

std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_line(const std::string& line) {
  REQUIRE(::write(2, line.data(), line.size()) == static_cast<ssize_t>(line.size()));
}

}  // namespace

TEST_CASE("G47: a full log file is moved and the oldest goes") {
  const mcpbx::test::temporary_directory folder;
  const auto path = folder / "log";
  const mcpbx::test::captured_output captured;  // gives stderr back at the end
  stderr_file file(path, 10, 3);
  for (int i = 0; i < 9; ++i) {
    write_line(std::to_string(i) + "234567890\n");
    file.look();
  }
  write_line("end\n");
  file.look();
  CHECK(content(path) == "end\n");
  CHECK(content(path + ".1") == "8234567890\n");
  CHECK(content(path + ".2") == "7234567890\n");
  CHECK_FALSE(fs::exists(path + ".3"));
  struct stat s{};
  REQUIRE(::stat(path.c_str(), &s) == 0);
  CHECK((s.st_mode & 0777) == 0600);
}

TEST_CASE("G47: a log file is begun anew on demand and when another process has moved it") {
  const mcpbx::test::temporary_directory folder;
  const auto path = folder / "log";
  const mcpbx::test::captured_output captured;
  stderr_file file(path);
  write_line("one\n");
  file.look(true);
  write_line("two\n");
  CHECK(content(path) == "two\n");
  CHECK(content(path + ".1") == "one\n");
  fs::rename(path, folder / "moved");
  file.look();
  write_line("three\n");
  CHECK(content(path) == "three\n");
  CHECK(content(folder / "moved") == "two\n");
}

TEST_CASE("G47: a link in place of the log file is not written through") {
  const mcpbx::test::temporary_directory folder;
  const auto path = folder / "log";
  fs::create_symlink(folder / "victim", path);
  const mcpbx::test::captured_output captured;
  stderr_file file(path);
  write_line("x\n");
  CHECK_FALSE(fs::exists(folder / "victim"));
}
