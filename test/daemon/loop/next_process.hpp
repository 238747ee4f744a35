// A run that one process leaves behind and the next process resumes.
#pragma once
#include "test/daemon/loop/loop_fixture.hpp"

#include <string>
#include <utility>
#include <vector>

namespace mcpbx::daemon::test {

inline run::run_request detached(const std::string& name) {
  auto r = fixture::ask();
  r.run = name;
  r.detach = true;
  return r;
}

/// Returns the records of a detached run that waits for approval.
inline std::vector<stored::run_record> left_asking() {
  fixture f;
  f.offer({"guarded"});
  f.model->script = {calls({call("a", "srv__guarded")})};
  auto r = detached("long");
  r.limits.question_timeout_ms = 60'000;
  f.run(std::move(r));
  return f.written();
}

/// A process that resumes the run "long". It does not check the run against its own records, because the first ones
/// were written by another process.
struct next_process : fixture {
  next_process() { unproven = "its records begin in another process"; }
  daemon::store::memory_journal disk{true};
  void resume(std::vector<stored::run_record> records) {
    daemon::store::unfinished_run left;
    left.run = "long";
    left.journal = disk.open_run("long");
    left.records = std::move(records);
    runs->resume(std::move(left));
    settle();
  }
  const std::vector<stored::run_record>& added() const { return *disk.kept().back().second; }
};

}  // namespace mcpbx::daemon::test
