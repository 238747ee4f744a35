// A disk that fails at every call in turn: what was acknowledged is there, and the journal goes on by itself.
#include "test/daemon/store/disk_faults.hpp"
#include "test/daemon/store/store_fixture.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::core;
using namespace mcpbx::daemon::sqlite;
using namespace mcpbx::daemon::store;
using namespace mcpbx::daemon::stored;
using namespace mcpbx::daemon::test;

namespace {

using fault = disk_faults::fault;

/// Writes the run while the disk fails; how many of its records were acknowledged.
std::size_t write_under_faults(store& s, const std::string& run, const std::vector<run_record>& records,
                               const std::string& file) {
  std::size_t acknowledged = 0;
  auto open = s.journal.open_run(run);
  s.context.restart();
  go(s.context, [&]() -> asio::awaitable<void> {
    const auto outcome = co_await write_run(*open, records, [&](std::size_t count) { acknowledged = count; });
    CHECK(outcome.has_value() == (acknowledged == records.size()));
    if (outcome) co_return;
    CHECK(outcome.error().code == errc::io);
    CHECK(contains(outcome.error().message, file));
    CHECK(contains(outcome.error().message, "; "));  // the mend
  });
  s.context.run();
  return acknowledged;
}

/// The records of a run of which `acknowledged` must be there, then only what recovery closes it with.
void check_run(const std::vector<run_record>& found, const std::vector<run_record>& whole, std::size_t acknowledged) {
  const auto texts = texts_of(found), wanted = texts_of(whole);
  std::size_t same = 0;
  while (same < texts.size() && same < wanted.size() && texts[same] == wanted[same]) ++same;
  CHECK(same >= acknowledged);
  CHECK(fault_of(found) == "");
  if (same == texts.size()) return;
  const std::vector<std::string> rest(texts.begin() + static_cast<std::ptrdiff_t>(same), texts.end());
  const std::vector kept(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(same));
  CHECK((rest == texts_of(recovery_of(kept, false)) || rest == texts_of(recovery_of(kept, true))));
}

/// A journal in whose file an earlier process left a run without an end (or none yet), while the `nth` call fails.
/// False: there were not so many calls.
bool survives(fault what, int nth, bool lasting, bool left) {
  CAPTURE(static_cast<int>(what));
  CAPTURE(nth);
  CAPTURE(lasting);
  CAPTURE(left);
  folder f;
  disk_faults disk;
  disk.waits = false;
  const auto before = run_of(2), during = run_of(5), after = run_of(3);
  constexpr std::size_t kept_before = 4;
  if (left) {
    sqlite_store file({.path = f.file()});
    REQUIRE(file.open().has_value());
    const std::vector<run_record> some(before.begin(), before.begin() + kept_before);
    REQUIRE(put(file, batch_of(std::make_shared<run_place>(run_place{"2"}), some)).has_value());
  }
  std::size_t acknowledged = 0;
  bool struck = false;
  {
    store s(f.file());
    disk.arm(what, nth, lasting);
    acknowledged = write_under_faults(s, "5", during, f.file());
    struck = disk.struck() > 0;
    disk.disarm();
    CHECK(s.write("3", after).has_value());
  }
  for (const auto& [row, records] : contents(f.file())) {
    CAPTURE(row.run);
    CHECK(row.ended_ms > 0);
    if (row.run == "2") check_run(records, before, kept_before);
    if (row.run == "5") check_run(records, during, acknowledged);
    if (row.run == "3") CHECK(texts_of(records) == texts_of(after));
    if (row.run == "5") acknowledged = 0;
  }
  CHECK(acknowledged == 0);  // else the run is missing
  return struck;
}

void at_every_call(fault what) {
  for (const bool left : {false, true})
    for (const bool lasting : {false, true}) {
      int nth = 1;
      while (survives(what, nth, lasting, left)) ++nth;
      CHECK(nth > 1);
    }
}

}  // namespace

TEST_CASE("G25: a disk that is full at any write loses nothing that was acknowledged, and the journal goes on" *
          sqlite_only()) {
  at_every_call(fault::full);
}
TEST_CASE("G25: an I/O error of any write loses nothing that was acknowledged, and the journal goes on" *
          sqlite_only()) {
  at_every_call(fault::write_error);
}
TEST_CASE("G25: a write that ends half way loses nothing that was acknowledged, and the journal goes on" *
          sqlite_only()) {
  at_every_call(fault::half_write);
}
TEST_CASE("G25: an I/O error of any sync loses nothing that was acknowledged, and the journal goes on" *
          sqlite_only()) {
  at_every_call(fault::sync_error);
}
TEST_CASE("G25: an I/O error of any read loses nothing that was acknowledged, and the journal goes on" *
          sqlite_only()) {
  at_every_call(fault::read_error);
}
