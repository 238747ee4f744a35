// The journal of a process that may not do what it has to.
#include "test/daemon/store/store_fixture.hpp"

#include <doctest/doctest.h>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <utility>

using namespace mcpbx;
using namespace mcpbx::daemon::test;

TEST_CASE("G25: a journal for which no thread can be started fails what is asked of it, until one can" *
          sqlite_only()) {
  folder f;
  ::chmod(f.path.c_str(), 0777);
  pipe_pair said;
  const auto pid = in_child([&] {
    if (::geteuid() == 0 && ::setresuid(65534, 65534, 65534) != 0) ::_exit(1);  // root may have any number
    store s(f.file());
    rlimit limit{};
    ::getrlimit(RLIMIT_NPROC, &limit);
    const auto most = std::exchange(limit.rlim_cur, 0);
    ::setrlimit(RLIMIT_NPROC, &limit);
    auto refused = s.write("1", run_of(1));
    said.say(refused ? "written" : refused.error().message);
    said.say(s.journal.trouble() ? s.journal.trouble()->problem : "no trouble");
    std::string listed = "nothing";
    s.journal.list_sessions({}, [&](auto rows) { listed = rows ? "listed" : rows.error().message; });
    s.context.restart();
    s.context.run();
    said.say(listed);
    limit.rlim_cur = most;
    ::setrlimit(RLIMIT_NPROC, &limit);
    refused = s.write("2", run_of(2));
    said.say(refused ? "written" : refused.error().message);
    said.say(s.journal.trouble() ? s.journal.trouble()->problem : "no trouble");
  });
  for (int i = 0; i < 3; ++i)
    CHECK(said.line().starts_with("the journal " + f.file() +
                                  " cannot be used: no thread could be started for the lane \"store\" ("));
  CHECK(said.line() == "written");
  CHECK(said.line() == "no trouble");
  CHECK(end_of(pid) == 0);
  ::chmod(f.path.c_str(), 0700);
}

TEST_CASE("G25 G49: a folder in which nothing may be made is the journal's trouble until something may" *
          sqlite_only()) {
  folder f;
  ::chmod(f.path.c_str(), 0777);
  const auto inside = f.path + "/own";
  pipe_pair said;
  const auto pid = in_child([&] {
    if (::geteuid() == 0 && ::setresuid(65534, 65534, 65534) != 0) ::_exit(1);  // root may write everywhere
    if (::mkdir(inside.c_str(), 0500) != 0) ::_exit(2);
    store s(inside + "/journal.db");
    const auto told = [&] { said.say(s.journal.trouble() ? s.journal.trouble()->problem : "no trouble"); };
    told();
    (void)s.write("1", run_of(1));
    told();
    ::chmod(inside.c_str(), 0700);
    (void)s.write("2", run_of(2));
    told();
  });
  CHECK(said.line() == "no trouble");
  CHECK(contains(said.line(), inside + "/journal.db cannot be opened for writing"));
  CHECK(said.line() == "no trouble");
  CHECK(end_of(pid) == 0);
  ::chmod(f.path.c_str(), 0700);
}
