// Runs that an earlier daemon left, behind a journal that cannot be had at first.
#include "daemon/app/journal/left_runs.hpp"

#include "daemon/loop/core/recovery.hpp"
#include "daemon/store/lane_journal.hpp"
#include "daemon/store/records/record_format.hpp"
#include "daemon/store/sqlite/sqlite_store.hpp"
#include "providers/model/message.hpp"
#include "test/support/manual_time.hpp"
#include "test/support/temporary_directory.hpp"

#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::core;
using namespace mcpbx::daemon::journals;
using namespace mcpbx::daemon::sqlite;
using namespace mcpbx::daemon::store;
using namespace mcpbx::daemon::stored;
using mcpbx::test::manual_time;
using mcpbx::test::temporary_directory;

namespace {

/// Answers with an error until the test says otherwise.
class absent_journal final : public journal {
 public:
  std::unique_ptr<run_journal> open_run(const std::string& run) override { return none.open_run(run); }
  void take_unfinished(answer<std::vector<unfinished_run>> then) override {
    ++asked;
    if (slow) return void(later = std::move(then));
    if (fault) return then(std::unexpected(*fault));
    std::vector<unfinished_run> runs;
    if (!std::exchange(taken, true)) {
      runs.emplace_back();
      runs.back().run = "night";
    }
    then(std::move(runs));
  }
  bool is_shared() const override { return shared; }
  std::optional<error> fault;
  bool shared = false;
  int asked = 0;
  bool slow = false;  // it answers when the test calls `later`
  answer<std::vector<unfinished_run>> later;
  bool taken = false;
  memory_journal none;
};

/// A detached run that a daemon has begun in this file, and left.
void leave_run(const std::string& path) {
  record::run_started started;
  started.run = "night";
  started.session = "ses_1";
  started.messages = {providers::user_message("go")};
  started.detached = true;
  run_batch batch;
  batch.place = std::make_shared<run_place>(run_place{"night"});
  batch.records.emplace_back(started);
  batch.texts = {to_text(batch.records.front())};
  batch.at_ms = 1;
  sqlite_store file({.path = path});
  REQUIRE(file.open().has_value());
  run_batch* const one = &batch;
  REQUIRE(file.append({&one, 1}, true).has_value());
}

}  // namespace

TEST_CASE("G24 G25: the journal is asked for runs that were left until it is there, less often each time, and once") {
  for (const auto code : {errc::io, errc::config, errc::limit}) {
    absent_journal journal;
    manual_time time;
    std::vector<std::string> taken;
    left_runs left(journal, time, [&](unfinished_run run) { taken.push_back(run.run); });
    journal.fault = error{code, "the database is not there"};
    int answered = 0;
    left.ask([&] { ++answered; });
    std::vector<int> waits;
    for (int i = 0; i < 6; ++i) {
      const int before = journal.asked;
      int seconds = 0;
      while (journal.asked == before && seconds < 100) {
        time.advance(milliseconds(1'000));
        ++seconds;
      }
      waits.push_back(seconds);
    }
    CHECK(waits == std::vector<int>{5, 10, 20, 40, 60, 60});
    CHECK(taken.empty());
    CHECK(answered == 0);
    journal.fault.reset();
    time.advance(milliseconds(60'000));
    CHECK(taken == std::vector<std::string>{"night"});
    CHECK(answered == 1);
    CHECK(time.armed() == 0);
    const int asked = journal.asked;
    time.advance(milliseconds(600'000));
    CHECK(journal.asked == asked);
  }
}

TEST_CASE("G24 L17 O5: a journal that daemons share is asked every 15 s for runs of others that have gone") {
  absent_journal journal;
  journal.shared = true;
  manual_time time;
  std::vector<std::string> taken;
  left_runs left(journal, time, [&](unfinished_run run) { taken.push_back(run.run); });
  left.ask();
  CHECK(journal.asked == 1);
  for (int i = 2; i < 10; ++i) {
    time.advance(milliseconds(14'999));
    CHECK(journal.asked == i - 1);
    time.advance(milliseconds(1));
    CHECK(journal.asked == i);
    // Out of reach for a while: it is asked as often, since a daemon that is silent for 60 s loses its runs.
    journal.fault = i < 5 ? std::optional(error{errc::io, "the database is not there"}) : std::nullopt;
    if (i == 6) journal.taken = false;
  }
  CHECK(taken == std::vector<std::string>{"night", "night"});
  left.stop();
  time.advance(milliseconds(60'000));
  CHECK(journal.asked == 9);
}

TEST_CASE(
    "G24: who names a run has the journal asked at once, and is told when the runs are taken or why they are not") {
  absent_journal journal;
  manual_time time;
  std::vector<std::string> taken;
  left_runs left(journal, time, [&](unfinished_run run) { taken.push_back(run.run); });
  std::vector<std::string> told;
  const auto name_a_run = [&] {
    left.when_taken([&](const result<void>& here) {
      told.push_back(here ? "here" : std::string(mcpbx::to_string(here.error().code)) + ": " + here.error().message);
    });
  };
  journal.fault = error{errc::io, "the journal j is in use; end that one"};
  left.ask();
  time.advance(milliseconds(1'000));
  name_a_run();
  CHECK(journal.asked == 2);
  const std::string why =
      "unavailable: an earlier daemon may have left runs, which cannot be told yet, so ask again later: "
      "the journal j is in use; end that one";
  CHECK(told == std::vector<std::string>{why});
  time.advance(milliseconds(4'000));  // the timer is as it was
  CHECK(journal.asked == 3);

  journal.slow = true;
  name_a_run();
  name_a_run();
  CHECK(journal.asked == 4);  // one question for both
  time.advance(milliseconds(10'000));
  CHECK(journal.asked == 4);  // and none beside it
  journal.slow = false;
  std::exchange(journal.later, {})(std::unexpected(*journal.fault));
  CHECK(told == std::vector<std::string>{why, why, why});

  journal.fault.reset();
  name_a_run();
  CHECK(told.back() == "here");
  CHECK(taken == std::vector<std::string>{"night"});
  CHECK(time.armed() == 0);
  const int asked = journal.asked;
  name_a_run();
  CHECK(told.size() == 5);
  CHECK(told.back() == "here");
  CHECK(journal.asked == asked);
}

TEST_CASE("G18 G24: no more than 256 requests wait for the runs of an earlier daemon, and each is answered") {
  absent_journal journal;
  manual_time time;
  left_runs left(journal, time, [](const unfinished_run&) {});
  journal.slow = true;
  left.ask();
  std::size_t here = 0, refused = 0;
  for (std::size_t i = 0; i < left_runs::max_waiting + 3; ++i)
    left.when_taken([&](const result<void>& r) {
      if (r) return void(++here);
      CHECK(r.error().code == errc::limit);
      ++refused;
    });
  CHECK((here == 0 && refused == 3 && journal.asked == 1));
  std::exchange(journal.later, {})(std::vector<unfinished_run>());
  CHECK((here == left_runs::max_waiting && refused == 3));
}

TEST_CASE("G20: a daemon that stops asks for runs that were left no more") {
  absent_journal journal;
  manual_time time;
  left_runs left(journal, time, [](const unfinished_run&) {});
  journal.fault = error{errc::io, "the database is not there"};
  left.ask();
  left.stop();
  CHECK(time.armed() == 0);
  left.ask();
  CHECK(time.armed() == 0);
}

TEST_CASE("G24 G25: a detached run goes on when the folder of its journal is there again") {
  temporary_directory f;
  const std::string folder = f / "journals", away = f / "away";
  std::filesystem::create_directory(folder);
  leave_run(folder + "/mcpbx.db");
  std::filesystem::rename(folder, away);
  f.write("journals", "a file in its place");
  boost::asio::io_context io(1);
  manual_time time;
  lane_journal::options o;
  o.rules.recovery = recovery_of;
  o.rules.fold = folded;
  o.rules.goes_on = [](const auto& records) { return goes_on(records); };
  lane_journal journal(io.get_executor(), time,
                       std::make_unique<sqlite_store>(sqlite_store::options{.path = folder + "/mcpbx.db"}),
                       std::move(o));
  std::vector<unfinished_run> taken;
  left_runs left(journal, time, [&](unfinished_run run) { taken.push_back(std::move(run)); });
  left.ask();
  io.run();
  CHECK(taken.empty());
  std::filesystem::remove(folder);
  std::filesystem::rename(away, folder);
  time.advance(milliseconds(5'000));
  io.restart();
  io.run();
  REQUIRE(taken.size() == 1);
  CHECK(taken[0].run == "night");
  CHECK(taken[0].session == "ses_1");
  REQUIRE(taken[0].records.size() == 2);
  CHECK(std::holds_alternative<record::taken_over>(taken[0].records[1]));
}
