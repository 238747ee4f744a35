// The latest conversation of each terminal and folder.
#include "daemon/cli/link/last_sessions.hpp"

#include "test/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <sys/stat.h>

#include <fstream>
#include <string>
#include <vector>

using namespace mcpbx::cli::link;
using sessions = std::vector<std::string>;

TEST_CASE("last sessions: each place has the session that was used last there, the terminal's first") {
  const mcpbx::test::temporary_directory f;
  const last_sessions last(f / "state/last-sessions");
  CHECK(last.of({"folder /a"}).empty());
  last.note("ses_1", {"terminal 1", "folder /a"});
  last.note("ses_2", {"terminal 2", "folder /b c"});
  last.note("ses_3", {"terminal 1", "folder /b c"});
  CHECK(last.of({"terminal 1", "folder /a"}) == sessions{"ses_3", "ses_1"});
  CHECK(last.of({"terminal 2", "folder /b c"}) == sessions{"ses_2", "ses_3"});
  CHECK(last.of({"terminal 1", "folder /b c"}) == sessions{"ses_3"});
  CHECK(last.of({"terminal 9", "folder /b"}).empty());
  struct stat s{};
  REQUIRE(::stat((f / "state/last-sessions").c_str(), &s) == 0);
  CHECK((s.st_mode & 0777) == 0600);
}

TEST_CASE("last sessions: the oldest places are forgotten, and a file that is none does no harm") {
  const mcpbx::test::temporary_directory f;
  const last_sessions last(f / "last");
  for (int i = 0; i < 300; ++i) last.note("ses", {"folder /" + std::to_string(i)});
  CHECK(last.of({"folder /43"}).empty());
  CHECK(last.of({"folder /44"}).size() == 1);
  std::ofstream(f / "last") << "\0\n\nword\n";
  CHECK(last.of({"folder /44"}).empty());
  last.note("ses_2", {"folder /x"});
  CHECK(last.of({"folder /x"}) == sessions{"ses_2"});
  const last_sessions nowhere("");
  nowhere.note("ses", {"folder /x"});
  CHECK(nowhere.of({"folder /x"}).empty());
}

TEST_CASE("last sessions: the working directory is a place of this process") {
  CHECK(own_places().back().starts_with("folder /"));
}
