// The journal on disk as the loop uses it: groups, failures, what is closed at the first append.
#include "daemon/store/lane_journal.hpp"

#include "test/daemon/store/store_fixture.hpp"
#include "test/support/manual_time.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <optional>

using namespace mcpbx;
using namespace mcpbx::daemon::core;
using namespace mcpbx::daemon::store;
using namespace mcpbx::daemon::stored;
using namespace mcpbx::daemon::test;

namespace {

// Leaves a journal like a daemon that was killed after `count` records of run `n`.
void leave(const std::string& path, int n, std::size_t count) {
  const auto file = opened(path);
  auto records = run_of(n);
  records.erase(records.begin() + static_cast<std::ptrdiff_t>(count), records.end());
  REQUIRE(put(*file, batch_of(std::make_shared<run_place>(run_place{std::to_string(n)}), records)).has_value());
}

}  // namespace

TEST_CASE("lane journal: no file is made before the first record") {
  folder f;
  {
    store s(f.file());
    auto run = s.journal.open_run("r");
  }
  CHECK(std::filesystem::is_empty(f.path));
}

TEST_CASE("lane journal: a hundred runs at once are kept each whole and in order") {
  folder f;
  {
    store s(f.file());
    int done = 0;
    for (int n = 0; n < 100; ++n)
      go(s.context, [&s, &done, n]() -> asio::awaitable<void> {
        auto run = s.journal.open_run(std::to_string(n));
        const auto outcome = co_await write_run(*run, run_of(n));
        if (outcome) ++done;
      });
    s.context.run();
    CHECK(done == 100);
  }
  const auto all = contents(f.file());
  CHECK(all.size() == 100);
  for (const auto& [row, records] : all) {
    CHECK(texts_of(records) == texts_of(run_of(std::stoi(row.run))));
    CHECK((row.ended_ms > 0 && row.reason == "final"));
  }
}

TEST_CASE("lane journal: a name may be used again once its run has ended") {
  folder f;
  {
    store s(f.file());
    CHECK(s.write("4", run_of(4)).has_value());
    CHECK(s.write("4", run_of(4)).has_value());
  }
  CHECK(contents(f.file()).size() == 2);
}

TEST_CASE("G24: runs without an end are closed by the first append whatever record they end with") {
  const auto whole = run_of(2);
  for (std::size_t count = 1; count <= whole.size(); ++count) {
    CAPTURE(count);
    folder f;
    leave(f.file(), 2, count);
    {
      store s(f.file());
      CHECK(s.write("1", run_of(1)).has_value());
    }
    const auto all = contents(f.file());
    REQUIRE(all.size() == 2);
    const auto& closed = all[0].second;
    CHECK(fault_of(closed) == "");
    auto expected = fold(whole, count).recovery();
    expected.insert(expected.begin(), whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(count));
    CHECK(texts_of(closed) == texts_of(expected));
    CHECK(all[0].first.ended_ms > 0);
    CHECK(fault_of(fold(closed, closed.size()).facts().messages) == "");
    CHECK(texts_of(all[1].second) == texts_of(run_of(1)));
  }
}

TEST_CASE("lane journal: a run whose records cannot be read stays as it is and stops nobody") {
  folder f;
  leave(f.file(), 2, 3);
  {
    const auto file = opened(f.file());
    auto odd = batch_of(std::make_shared<run_place>(run_place{"2", 1, 3}), {record::cancel{}});
    odd.texts[0] = R"({"v":1,"type":"dream"})";
    REQUIRE(put(*file, std::move(odd)).has_value());
  }
  {
    store s(f.file());
    CHECK(s.write("1", run_of(1)).has_value());
  }
  const auto file = opened(f.file());
  const auto rows = runs_in(*file);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].reason == "damaged");
  CHECK(file->records(rows[0].id).error().message == "record 3: a record has the unknown type \"dream\"");
}

TEST_CASE("G25: without room an append fails whole and the journal goes on by itself when there is some" *
          sqlite_only()) {
  folder f;
  {
    store s(f.file());
    auto run = s.journal.open_run("3");
    auto records = run_of(3);
    result<void> first, second;
    go(s.context, [&]() -> asio::awaitable<void> { first = co_await run->append({records[0], records[1]}, true); });
    s.context.run();
    REQUIRE(first.has_value());
    {
      no_room limit(256 << 10);
      auto big = reply(std::string(1 << 20, 'x'));
      s.context.restart();
      go(s.context, [&]() -> asio::awaitable<void> { second = co_await run->append({big}, false); });
      s.context.run();
    }
    REQUIRE_FALSE(second.has_value());
    CHECK(second.error().code == errc::io);
    CHECK(contains(second.error().message, f.file()));
    run.reset();  // its run ended in memory with store_error
    CHECK(s.write("1", run_of(1)).has_value());
  }
  const auto all = contents(f.file());
  REQUIRE(all.size() == 2);
  CHECK(fault_of(all[0].second) == "");
  CHECK(all[0].first.reason == "store_error");
  CHECK(all[0].second.size() == 4);
  CHECK(texts_of(all[1].second) == texts_of(run_of(1)));
}

TEST_CASE("lane journal: what cannot be opened fails each append until it can" * sqlite_only()) {
  folder f;
  store s(f.path + "/not/there/journal.db");
  for (int i = 0; i < 2; ++i) {
    const auto refused = s.write("1", run_of(1));
    REQUIRE_FALSE(refused.has_value());
    CHECK(contains(refused.error().message, "cannot be opened for writing"));
  }
  std::filesystem::create_directories(f.path + "/not/there");
  CHECK(s.write("1", run_of(1)).has_value());
}

TEST_CASE("G25: what the lane does not do in time fails, and what hangs in the middle leaves its run closed") {
  folder f;
  leave(f.file(), 2, 3);
  std::promise<void> release;
  auto released = release.get_future().share();
  {
    asio::io_context context(1);
    mcpbx::test::manual_time time;
    auto o = rules([released](const auto& records, bool same_process) {
      released.wait();
      return recovery_of(records, same_process);
    });
    lane_journal journal(context.get_executor(), time, file_at(f.file()), std::move(o));
    auto a = journal.open_run("1"), b = journal.open_run("0");
    result<void> hung, late;
    result<std::vector<session_row>> listed;
    go(context, [&]() -> asio::awaitable<void> { hung = co_await a->append({run_of(1)[0]}, false); });
    context.poll();
    time.advance(milliseconds(1));
    go(context, [&]() -> asio::awaitable<void> { late = co_await write_run(*b, run_of(0)); });
    journal.list_sessions({}, [&](auto rows) { listed = std::move(rows); });
    context.poll();
    time.advance(milliseconds(9'998));
    CHECK(hung.has_value());
    time.advance(milliseconds(1));
    REQUIRE_FALSE(hung.has_value());
    CHECK(late.has_value());
    time.advance(milliseconds(1));
    REQUIRE_FALSE(late.has_value());
    REQUIRE_FALSE(listed.has_value());
    for (const auto& why : {hung.error(), late.error(), listed.error()}) {
      CHECK(why.code == errc::io);
      CHECK(contains(why.message, " did not answer for 10000 ms; see what keeps it busy"));
    }
    REQUIRE(journal.trouble().has_value());
    CHECK(contains(journal.trouble()->problem, " did not answer for 10000 ms"));
    CHECK(journal.trouble()->since_ms == time.wall_ms() - 1);  // when the first append was given up
    CHECK(time.armed() == 0);
    // Nothing can follow on records of which nobody knows.
    go(context, [&]() -> asio::awaitable<void> { late = co_await a->append({record::cancel{}}, false); });
    context.poll();
    CHECK(contains(late.error().message, "earlier records of this run could not be written to the journal "));
    a.reset();
    b.reset();
    release.set_value();
    context.run();
    context.restart();
    auto next = journal.open_run("3");
    go(context, [&]() -> asio::awaitable<void> { late = co_await write_run(*next, run_of(3)); });
    context.run();
    CHECK(late.has_value());
    CHECK_FALSE(journal.trouble().has_value());
  }
  const auto all = contents(f.file());
  REQUIRE(all.size() == 3);
  CHECK((all[0].first.run == "2" && all[0].first.reason == "interrupted"));
  CHECK((all[1].first.run == "1" && all[1].first.reason == "store_error"));
  CHECK(fault_of(all[1].second) == "");
  CHECK(texts_of(all[2].second) == texts_of(run_of(3)));
}

TEST_CASE("G24: runs that are to go on, and come when nobody waits for them any more, are there for who asks next") {
  for (const bool asked_meanwhile : {false, true}) {
    folder f;
    leave(f.file(), 2, 3);
    std::promise<void> release;
    auto released = release.get_future().share();
    asio::io_context context(1);
    mcpbx::test::manual_time time;
    auto o = rules();
    o.rules.goes_on = [released](const auto&) {
      released.wait();
      return true;
    };
    lane_journal journal(context.get_executor(), time, file_at(f.file()), std::move(o));
    std::vector<result<std::vector<unfinished_run>>> got;
    const auto take = [&] { journal.take_unfinished([&](auto runs) { got.push_back(std::move(runs)); }); };
    take();
    context.poll();
    time.advance(milliseconds(10'000));
    REQUIRE(got.size() == 1);
    CHECK(contains(got[0].error().message, "did not answer for 10000 ms"));
    if (asked_meanwhile) take();
    release.set_value();
    context.run();
    context.restart();
    take();
    take();
    context.run();
    std::size_t runs = 0;
    for (std::size_t i = 1; i < got.size(); ++i) {
      REQUIRE(got[i].has_value());
      runs += got[i]->size();
      for (const auto& one : *got[i]) CHECK((one.run == "2" && one.records.size() == 4));
    }
    CHECK(got.size() == (asked_meanwhile ? 4 : 3));
    CHECK(runs == 1);
  }
}

namespace {

/// A store that keeps nothing, and does so when it is told to.
class slow_file final : public run_store {
 public:
  struct state {
    std::mutex guard;
    std::condition_variable changed;
    int allowed = 0;  // appends that may go on
    int closed = 0;
    bool erasing_waits = false;
    bool shared = false, out_of_reach = false;
    std::optional<error> refusal;     // of appends
    std::vector<std::size_t> groups;  // bytes of each append
    std::vector<std::string> order;   // runs, as their first record came
    std::vector<bool> synced;         // of each append
  };
  explicit slow_file(std::shared_ptr<state> s) : state_(std::move(s)) {}
  std::string name() const override { return "the slow store"; }
  bool exists() override { return true; }
  result<void> open() override { return {}; }
  void close() override { ++state_->closed; }
  bool is_shared() const override { return state_->shared; }
  result<void> touch() override {
    if (state_->out_of_reach) return fail(errc::io, "the slow store is out of reach");
    return {};
  }
  result<void> append(std::span<run_batch* const> batches, bool synced) override {
    std::unique_lock lock(state_->guard);
    if (state_->refusal) return std::unexpected(*state_->refusal);
    std::size_t bytes = 0;
    for (auto* b : batches) {
      for (const auto& text : b->texts) bytes += text.size();
      b->place->id = 1;
      state_->order.push_back(b->place->run);
    }
    state_->groups.push_back(bytes);
    state_->synced.push_back(synced);
    state_->changed.notify_all();
    state_->changed.wait(lock, [&] { return state_->allowed > 0; });
    --state_->allowed;
    return {};
  }
  result<void> mark_damaged(std::int64_t, std::int64_t) override { return {}; }
  result<std::vector<run_row>> unfinished_runs() override { return {}; }
  result<std::vector<run_row>> runs_of(std::string_view) override { return {}; }
  result<std::optional<run_row>> find_run(std::string_view) override { return {}; }
  result<std::vector<run_row>> runs_before(std::int64_t, std::size_t) override { return {}; }
  result<void> read_run(std::int64_t, const record_sink& sink) override {
    return sink({1, 0, R"({"v":1,"type":"run_ended","reason":"final"})"});
  }
  result<void> read_session(std::string_view, const record_sink&) override { return {}; }
  result<std::vector<session_row>> sessions(const session_query&) override { return {}; }
  result<std::optional<session_row>> session(std::string_view) override { return {}; }
  result<void> erase(std::span<const std::string>) override {
    std::unique_lock lock(state_->guard);
    state_->changed.wait(lock, [&] { return !state_->erasing_waits; });
    return fail(errc::io, "the slow store is broken");
  }
  result<std::vector<session_row>> unused_sessions(std::int64_t, std::size_t) override {
    std::vector<session_row> rows(1);
    rows.front().id = "ses_1";
    return rows;
  }
  result<std::int64_t> kept_bytes() override { return 0; }

 private:
  std::shared_ptr<state> state_;
};

}  // namespace

TEST_CASE("G25: a store that fails while sessions are removed is opened anew, and what was written before stays kept") {
  const auto disk = std::make_shared<slow_file::state>();
  disk->allowed = 1;
  asio::io_context context(1);
  mcpbx::test::manual_time time;
  auto o = rules();
  o.keep.max_age_ms = 1;
  lane_journal journal(context.get_executor(), time, std::make_unique<slow_file>(disk), std::move(o));
  auto run = journal.open_run("1");
  result<void> kept = fail(errc::internal, "nothing");
  go(context, [&]() -> asio::awaitable<void> { kept = co_await write_run(*run, {run_of(1).front()}); });
  context.run();
  CHECK(kept.has_value());
  // Behind what is removed when the answer has been given.
  bool listed = false;
  journal.list_sessions({}, [&](auto) { listed = true; });
  context.restart();
  context.run();
  CHECK(listed);
  CHECK(disk->closed == 1);
}

TEST_CASE("G25: an append is answered before sessions are removed, however long that takes") {
  const auto disk = std::make_shared<slow_file::state>();
  disk->allowed = 1;
  disk->erasing_waits = true;
  asio::io_context context(1);
  mcpbx::test::manual_time time;
  auto o = rules();
  o.keep.max_age_ms = 1;
  lane_journal journal(context.get_executor(), time, std::make_unique<slow_file>(disk), std::move(o));
  auto run = journal.open_run("1");
  std::optional<result<void>> kept;
  go(context, [&]() -> asio::awaitable<void> { kept = co_await run->append({run_of(1).front()}, true); });
  while (!kept) context.run_one();
  CHECK(kept->has_value());
  const std::lock_guard lock(disk->guard);
  disk->erasing_waits = false;
  disk->changed.notify_all();
}

TEST_CASE("G23: the intent of a call waits for the disk before its bytes leave when the calls are to be synced") {
  record::call_intent to_server, to_caller;
  to_caller.to_caller = true;
  const std::vector<std::vector<run_record>> appends{
      {reply("x"), to_server}, {to_caller}, {record::call_result{}}, {reply("y")}};
  for (const bool calls : {false, true}) {
    const auto disk = std::make_shared<slow_file::state>();
    disk->allowed = 100;
    asio::io_context context(1);
    mcpbx::test::manual_time time;
    auto o = rules();
    o.sync_calls = calls;
    lane_journal journal(context.get_executor(), time, std::make_unique<slow_file>(disk), std::move(o));
    auto run = journal.open_run("1");
    go(context, [&]() -> asio::awaitable<void> {
      for (const auto& records : appends) {
        const auto kept = co_await run->append(records, false);
        CHECK(kept.has_value());
      }
      const auto ended = co_await run->append({run_record(record::run_ended{})}, true);
      CHECK(ended.has_value());
    });
    context.run();
    CHECK(disk->synced == std::vector<bool>{calls, false, false, false, true});
  }
}

TEST_CASE("store lane: what waits and is written is 16 MiB at most, the runs wait, and 10 s later they get an error") {
  const auto disk = std::make_shared<slow_file::state>();
  asio::io_context context(1);
  mcpbx::test::manual_time time;
  constexpr int runs = 100, fit = 16;
  constexpr std::size_t bound = std::size_t{16} << 20;
  std::vector<std::unique_ptr<run_journal>> open;
  std::vector<std::optional<result<void>>> outcomes(runs);
  const auto count = [&](bool good) {
    return std::ranges::count_if(outcomes, [&](const auto& o) { return o && o->has_value() == good; });
  };
  lane_journal journal(context.get_executor(), time, std::make_unique<slow_file>(disk), rules());
  const auto go_on = [&](int appends) {
    const std::lock_guard lock(disk->guard);
    disk->allowed += appends;
    disk->changed.notify_all();
  };
  for (std::size_t i = 0; i < std::size_t{runs}; ++i) {
    open.push_back(journal.open_run(std::to_string(i)));
    go(context, [&, i]() -> asio::awaitable<void> {
      std::vector<run_record> one;
      one.push_back(reply(std::string(1'000'000, 'x')));
      outcomes[i] = co_await open[i]->append(std::move(one), false);
    });
  }
  context.poll();
  // The first went alone; behind it is what there is room for.
  CHECK(journal.held_bytes() <= bound);
  CHECK(journal.held_bytes() > bound - 1'100'000);
  time.advance(milliseconds(9'999));
  go_on(2);
  while (count(true) < 1 + fit) context.run_one();
  CHECK(journal.held_bytes() <= bound);
  CHECK(journal.held_bytes() > bound - 1'100'000);
  CHECK(count(false) == 0);
  time.advance(milliseconds(1));
  CHECK(count(true) == 1 + fit);
  CHECK(count(false) == runs - 1 - fit);
  for (const auto& o : outcomes)
    if (o && !*o) CHECK(o->error().message == "the slow store did not answer for 10000 ms; see what keeps it busy");
  // An append that hangs on the lane still counts.
  CHECK(journal.held_bytes() > bound - 1'100'000);
  go_on(100);
  while (journal.held_bytes() > 0) context.run_one();
  for (const auto bytes : disk->groups) CHECK(bytes <= bound);
  for (std::size_t i = 0; i < disk->order.size(); ++i) CHECK(disk->order[i] == std::to_string(i));
}

TEST_CASE(
    "lane journal: a short commit is waited for awake while few runs are open, one that waits for the disk is not") {
  const auto disk = std::make_shared<slow_file::state>();
  asio::io_context context(1);
  mcpbx::test::manual_time time;  // it stands, so every wait is short
  auto o = rules();
  o.awake_runs = 2;
  lane_journal journal(context.get_executor(), time, std::make_unique<slow_file>(disk), std::move(o));
  auto run = journal.open_run("1");
  // Returns true if the thread stays awake while the lane works on an append.
  const auto waits_awake = [&](bool synced) {
    bool begun = false, done = false;
    go(context, [&]() -> asio::awaitable<void> {
      begun = true;
      std::vector<run_record> one;
      one.push_back(reply("x"));
      CHECK((co_await run->append(std::move(one), synced)).has_value());
      done = true;
    });
    context.restart();
    while (!begun) context.poll_one();
    const bool awake = context.poll_one() == 1;
    {
      const std::lock_guard lock(disk->guard);
      ++disk->allowed;
      disk->changed.notify_all();
    }
    context.run();
    CHECK(done);
    return awake;
  };
  CHECK_FALSE(waits_awake(false));  // nothing is known yet
  CHECK(waits_awake(false));
  CHECK_FALSE(waits_awake(true));
  CHECK(waits_awake(false));
  auto second = journal.open_run("2");
  CHECK(waits_awake(false));
  auto third = journal.open_run("3");
  CHECK_FALSE(waits_awake(false));
  second.reset();
  CHECK(waits_awake(false));
}

TEST_CASE("G49: a shared store that is out of reach is trouble until a sign of life or a record gets there") {
  const auto disk = std::make_shared<slow_file::state>();
  disk->shared = disk->out_of_reach = true;
  asio::io_context context(1);
  mcpbx::test::manual_time time;
  lane_journal journal(context.get_executor(), time, std::make_unique<slow_file>(disk), rules());
  const auto look = [&] {
    bool answered = false;
    journal.take_unfinished([&](const auto&) { answered = true; });
    context.restart();
    while (!answered) context.run_one();
    return journal.trouble();
  };
  const auto since = time.wall_ms();
  REQUIRE(look().has_value());
  CHECK(journal.trouble()->problem == "the slow store is out of reach");
  time.advance(milliseconds(15'000));
  CHECK(look()->since_ms == since);
  disk->out_of_reach = false;
  CHECK_FALSE(look().has_value());
}

TEST_CASE("G49: an append that fails for the sake of one run is no trouble of the store, and ends none") {
  const auto disk = std::make_shared<slow_file::state>();
  asio::io_context context(1);
  mcpbx::test::manual_time time;
  lane_journal journal(context.get_executor(), time, std::make_unique<slow_file>(disk), rules());
  const auto write = [&](std::optional<error> refusal) {
    disk->refusal = std::move(refusal);
    auto run = journal.open_run("1");
    go(context, [&]() -> asio::awaitable<void> { (void)co_await run->append({run_of(1).front()}, false); });
    context.restart();
    context.run();
    return journal.trouble();
  };
  for (const auto code : {errc::unavailable, errc::not_found, errc::parse}) CHECK_FALSE(write(error{code, "in use"}));
  CHECK(write(error{errc::io, "broken"}).value().problem == "broken");
  for (const auto code : {errc::unavailable, errc::not_found, errc::parse}) {
    CAPTURE(static_cast<int>(code));
    CHECK(write(error{code, "in use"}).value().problem == "broken");
  }
  disk->allowed = 1;
  CHECK_FALSE(write(std::nullopt));
}

TEST_CASE("G25: an answer of a read that throws does not end the journal") {
  const auto disk = std::make_shared<slow_file::state>();
  disk->allowed = 1;
  asio::io_context context(1);
  mcpbx::test::manual_time time;
  lane_journal journal(context.get_executor(), time, std::make_unique<slow_file>(disk), rules());
  journal.find_owner("1", [](const auto&) { throw std::bad_alloc(); });
  CHECK_THROWS(context.run());  // run_loop() goes on behind it
  bool answered = false;
  journal.find_owner("2", [&](const auto&) { answered = true; });
  context.restart();
  for (int i = 0; i < 200 && !answered; ++i) {
    context.restart();
    context.run_for(std::chrono::milliseconds(10));
  }
  CHECK(answered);
}

TEST_CASE("G25: of answers that come too late, one that throws does not keep the others back") {
  folder f;
  leave(f.file(), 2, 3);
  std::promise<void> release;
  auto released = release.get_future().share();
  asio::io_context context(1);
  mcpbx::test::manual_time time;
  lane_journal journal(context.get_executor(), time, file_at(f.file()),
                       rules([released](const auto& records, bool same_process) {
                         released.wait();
                         return recovery_of(records, same_process);
                       }));
  int answered = 0;
  journal.list_sessions({}, [](const auto&) {});  // hangs on the lane
  journal.list_sessions({}, [](const auto&) { throw std::bad_alloc(); });
  journal.list_sessions({}, [&](const auto& rows) { answered += rows ? 0 : 1; });
  context.poll();
  CHECK_THROWS_AS(time.advance(milliseconds(10'000)), std::bad_alloc);
  CHECK(answered == 1);
  release.set_value();
  context.run();
}
