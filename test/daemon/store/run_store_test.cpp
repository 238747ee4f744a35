// Tests of transactions, the same for every kind of store.
#include "daemon/store/run_store.hpp"

#include "test/daemon/store/sample_records.hpp"
#include "test/daemon/store/store_fixture.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::store;
using namespace mcpbx::daemon::stored;
using namespace mcpbx::daemon::test;

TEST_CASE("store file: every kind of record comes back") {
  folder f;
  auto records = sample_records();
  const auto ends = [](const run_record& r) { return std::holds_alternative<record::run_ended>(r); };
  const auto end = std::ranges::find_if(records, ends);
  REQUIRE(end != records.end());
  std::rotate(end, end + 1, records.end());  // nothing comes behind the end of a run
  {
    const auto file = opened(f.file());
    CHECK(put(*file, batch_of(std::make_shared<run_place>(run_place{"run-1"}), records), true).has_value());
  }
  const auto all = contents(f.file());
  REQUIRE(all.size() == 1);
  CHECK(texts_of(all[0].second) == texts_of(records));
  const auto& row = all[0].first;
  CHECK((row.run == "run-1" && row.session == "session-1" && row.principal == "uid 1000"));
  CHECK((row.model == "configured-1" && row.started_ms == 1 && row.ended_ms == 1 && row.reason == "repeated_calls"));
}

TEST_CASE("store file: an append is all or nothing and a place is taken once") {
  folder f;
  const auto file = opened(f.file());
  const auto records = run_of(1);
  auto ours = std::make_shared<run_place>(run_place{"r"});
  REQUIRE(put(*file, batch_of(ours, {records[0], records[1]})).has_value());
  CHECK((ours->id == 1 && ours->next_seq == 2));
  // Another writer of the same run, who has not seen the second record.
  auto theirs = std::make_shared<run_place>(run_place{"r", ours->id, 1});
  auto other = std::make_shared<run_place>(run_place{"other"});
  auto good = batch_of(other, run_of(2)), bad = batch_of(theirs, {records[2]});
  std::vector<run_batch*> both{&good, &bad};
  const auto refused = file->append(both, false);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == errc::not_found);
  CHECK(contains(refused.error().message, " went on with the run"));
  CHECK((other->id == 0 && other->next_seq == 0 && theirs->next_seq == 1));
  CHECK(runs_in(*file).size() == 1);
  CHECK(file->records(ours->id).value().size() == 2);
  CHECK(put(*file, batch_of(ours, {records[2]}), true).has_value());
}
