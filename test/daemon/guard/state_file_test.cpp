// Files of the state directory: replaced whole, kept to their owner.
#include "daemon/guard/state_file.hpp"

#include "test/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

using namespace mcpbx;
using namespace mcpbx::daemon::guard;
using namespace mcpbx::files;
using mcpbx::test::temporary_directory;

TEST_CASE("a state file is replaced whole, with mode 0600, in a folder with mode 0700") {
  const temporary_directory dir;
  const std::string path = dir / "a/b/file";
  CHECK_FALSE(read_state_file(path, 100).value());
  CHECK_FALSE(replace_state_file(path, "x"));
  REQUIRE(files::make_folder_of(path));
  REQUIRE(files::make_folder_of(path));
  REQUIRE(replace_state_file(path, "one"));
  REQUIRE(replace_state_file(path, "two"));
  CHECK(read_state_file(path, 100).value() == "two");
  struct stat s{};
  REQUIRE(::stat(path.c_str(), &s) == 0);
  CHECK((s.st_mode & 07777) == 0600);
  REQUIRE(::stat((dir / "a/b").c_str(), &s) == 0);
  CHECK((s.st_mode & 07777) == 0700);
  CHECK_FALSE(std::filesystem::exists(path + ".new"));
}

TEST_CASE("a state file that cannot be replaced stays as it is, and the error names it") {
  const temporary_directory dir;
  const std::string path = dir / "file";
  REQUIRE(replace_state_file(path, "old"));
  std::filesystem::create_directories(path + ".new/in the way");
  const auto done = replace_state_file(path, "new");
  REQUIRE_FALSE(done);
  CHECK(done.error().message.find(path) != std::string::npos);
  CHECK(read_state_file(path, 100).value() == "old");
}

TEST_CASE("a state file that is too large or no file at all is not read") {
  const temporary_directory dir;
  CHECK_FALSE(read_state_file(dir.write("large", "12345"), 4));
  CHECK(read_state_file(dir / "large", 5).value() == "12345");
  CHECK_FALSE(read_state_file(dir.path(), 100));
  REQUIRE(::mkfifo((dir / "pipe").c_str(), 0600) == 0);
  CHECK_FALSE(read_state_file(dir / "pipe", 100));
  // A link that leads nowhere, such as to a disk that is not mounted, is not a file that was never there.
  CHECK(read_state_file(dir / "nothing", 100).value() == std::nullopt);
  REQUIRE(::symlink((dir / "gone").c_str(), (dir / "link").c_str()) == 0);
  CHECK_FALSE(read_state_file(dir / "link", 100));
}

TEST_CASE("a state lock is let go with its owner") {
  const temporary_directory dir;
  for (int i = 0; i < 2; ++i) CHECK(state_lock::take(dir / "file"));
  CHECK_FALSE(state_lock::take(dir / "no/such/folder"));
}

TEST_CASE("utc_text is ISO 8601 with milliseconds") {
  CHECK(utc_text(0) == "1970-01-01T00:00:00.000Z");
  CHECK(utc_text(1'700'000'000'007) == "2023-11-14T22:13:20.007Z");
}
