// The feed of a run: events that are joined, replaced or dropped, their numbers for several readers, and snapshots.
#include "daemon/loop/run/run_feed.hpp"

#include "daemon/loop/json/event_json.hpp"
#include "daemon/loop/run/ended_runs.hpp"
#include "mcp/support/shared_bytes.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::run;
using namespace mcpbx::daemon::test;
using namespace mcpbx::json;

namespace {

using kind = run_event::kind;
using lines = std::vector<std::string>;

run_event delta(std::string_view t, kind k = kind::text) {
  return {k, "", std::string(t), {}};
}

run_event event(kind k, std::string_view body, std::string id = "") {
  segments s;
  s.append_copy(body);
  return {k, std::move(id), "", std::move(s)};
}

run_event status(std::string_view text) {
  return event(kind::status, "{\"type\":\"status\",\"text\":" + json_quoted(text) + "}");
}

run_event round(int n) {
  return {kind::round, "", "", daemon::event_json::round(n, "m")};
}

/// A reader that reads when read() is called, or as soon as an event arrives.
struct reader final : run_feed::listener {
  explicit reader(run_feed& f, run_feed::wish w = {}, bool reads_at_once = false)
      : at_once(reads_at_once), place(f.attach(*this, w)) {}
  void on_ready(run_event::kind latest) override {
    ++told;
    if (at_once && !run_event::is_delta(latest)) read();
    if (then) then();
  }
  /// Reads at most `most` events and returns each as "seq: text or body".
  lines read(std::size_t most = 1000) {
    lines now;
    for (const run_feed::entry* e = nullptr; now.size() < most && (e = place->peek()) != nullptr; place->pop()) {
      std::string line = std::to_string(e->seq) + ": ";
      if (e->dropped > 0) line += "(" + std::to_string(e->dropped) + " dropped) ";
      now.push_back(line + (e->event.is_delta() ? e->event.text : e->event.body.str()));
    }
    all.insert(all.end(), now.begin(), now.end());
    return now;
  }

  bool at_once;
  int told = 0;
  lines all;
  std::function<void()> then;
  std::unique_ptr<feed_reader> place;
};

std::shared_ptr<run_feed> make(run_feed::options o = {}) {
  return std::make_shared<run_feed>("r1", o);
}

}  // namespace

TEST_CASE("run_feed: deltas that nobody has been sent join and keep their order with everything else") {
  const auto f = make();
  reader r(*f);
  f->push(delta("Hel"));
  f->push(delta("lo"));
  f->push(delta("hm", kind::reasoning));
  f->push(status("s"));
  f->push(delta("again"));
  CHECK(r.read() == lines{"1: Hello", "2: hm", R"(3: {"type":"status","text":"s"})", "4: again"});
  // An event that was sent does not grow any more.
  f->push(delta("!"));
  CHECK(r.read() == lines{"5: !"});
  CHECK(f->counts().joined == 1);
  CHECK(f->bytes() == 0);
}

TEST_CASE("G17: for a slow reader a thousand deltas are one event") {
  const auto f = make();
  reader r(*f);
  for (int i = 0; i < 1000; ++i) f->push(delta("a"));
  CHECK(r.told == 1000);
  CHECK(r.place->waiting() < 2000);
  CHECK(r.read() == lines{"1: " + std::string(1000, 'a')});
}

TEST_CASE("G17: progress keeps the last of each call") {
  const auto f = make();
  reader r(*f);
  const auto progress = [&](const std::string& call, int n) {
    f->push(event(kind::tool_progress, call + std::to_string(n), call));
  };
  for (int i = 0; i < 100; ++i) {
    progress("a", i);
    f->push(delta("."));
    progress("b", i);
  }
  CHECK(r.read() == lines{"1: a99", "2: .", "3: b99", "4: " + std::string(99, '.')});
  progress("a", 100);
  CHECK(r.read() == lines{"5: a100"});
  CHECK(f->counts().replaced == 198);
}

TEST_CASE("G17: logs drop the oldest and the next one says how many are missing") {
  for (const std::size_t most : {1, 3}) {
    const auto f = make({.max_logs = most});
    reader r(*f);
    for (int i = 0; i < 10; ++i) f->push(event(kind::tool_log, std::to_string(i)));
    f->push(status("s"));
    auto got = r.read();
    REQUIRE(got.size() == most + 1);
    CHECK(got[0] == (most == 3 ? "1: (7 dropped) 7" : "1: (9 dropped) 9"));
    if (most == 3) CHECK(got[1] == "2: 8");
    CHECK(got.back() == std::to_string(most + 1) + R"(: {"type":"status","text":"s"})");
    CHECK(f->counts().dropped_logs == 10 - most);
  }
}

TEST_CASE("L18: two readers get the same events under the same numbers, each at its own pace") {
  const auto f = make();
  reader fast(*f), slow(*f);
  f->push(delta("a"));
  CHECK(fast.read() == lines{"1: a"});
  f->push(delta("b"));
  CHECK(fast.read() == lines{"2: b"});
  f->push(delta("c"));
  f->push(delta("d"));
  // The slow reader has not had "a" and "b" yet. Text that no reader has had stays one event.
  CHECK(slow.read() == lines{"1: a", "2: b", "3: cd"});
  CHECK(fast.read() == lines{"3: cd"});
  CHECK(f->bytes() == 0);
}

TEST_CASE("events that every reader has are gone at once and a slow one holds them") {
  const auto f = make();
  reader fast(*f, {}, true);
  reader slow(*f);
  for (int i = 0; i < 10; ++i) f->push(status("s"));
  CHECK(fast.all.size() == 10);
  CHECK(fast.place->waiting() == 0);
  CHECK(slow.place->waiting() == f->bytes());
  slow.read(4);
  CHECK(slow.place->waiting() == f->bytes());
  CHECK(f->bytes() > 0);
  slow.place.reset();
  CHECK(f->bytes() == 0);
}

TEST_CASE("a reader without deltas gets the rest and its numbers rise by one where it is alone") {
  const auto f = make();
  reader r(*f, {.deltas = false});
  f->push(delta("a"));
  f->push(status("s"));
  f->push(delta("b"));
  f->push(delta("hm", kind::reasoning));
  CHECK(r.told == 1);
  CHECK(r.read() == lines{R"(1: {"type":"status","text":"s"})"});
  CHECK(f->bytes() == 0);
  f->push(status("t"));
  CHECK(r.read() == lines{R"(2: {"type":"status","text":"t"})"});
  {
    reader other(*f);
    CHECK(other.read().size() == 1);  // the snapshot
    f->push(delta("c"));
    f->push(status("u"));
    CHECK(r.read() == lines{R"(4: {"type":"status","text":"u"})"});
    CHECK(other.read() == lines{"3: c", R"(4: {"type":"status","text":"u"})"});
  }
}

TEST_CASE("done ends the readers of that moment, with its result") {
  const auto f = make();
  reader r(*f);
  std::string abandoned;
  f->when_abandoned([&](std::string why) { abandoned = why; });
  f->push(delta("a"));
  f->done(raw_json::literal(R"({"text":"a"})"));
  CHECK(f->over());
  CHECK_FALSE(r.place->ended());
  CHECK(r.read() == lines{"1: a", R"(2: {"type":"done","result":{"text":"a"}})"});
  CHECK(r.place->ended());
  CHECK(r.place->result().text() == R"({"text":"a"})");
  CHECK(r.place->peek() == nullptr);
  r.place.reset();
  CHECK(abandoned.empty());
}

TEST_CASE("L18: the last reader that leaves before the end abandons the run, and only the last") {
  const auto f = make();
  lines abandoned;
  f->when_abandoned([&](std::string why) { abandoned.push_back(why); });
  {
    reader a(*f);
    reader b(*f);
    a.place->leave("cancelled by its caller");
    CHECK(abandoned.empty());
    CHECK(f->wanted());
  }
  CHECK(abandoned == lines{"the caller went away"});
  CHECK_FALSE(f->wanted());
  reader late(*f);  // attaches while the run is being cancelled
  f->done(raw_json::literal("{}"));
  late.place->leave("x");
  CHECK(abandoned.size() == 1);
}

TEST_CASE("L18: a detached run is abandoned by nobody and keeps what everybody has") {
  const auto f = make({.keep = true});
  f->when_abandoned([&](std::string) { FAIL("abandoned"); });
  f->push(delta("Hel"));
  f->push(delta("lo"));
  f->push(status("s"));
  {
    reader r(*f);
    CHECK(r.read() == lines{"1: Hello", R"(2: {"type":"status","text":"s"})"});
  }
  f->push(delta("more"));
  f->done(raw_json::literal("{}"));
  const std::string done = R"({"type":"done","result":{}})";
  CHECK(reader(*f).read() == lines{"1: Hello", R"(2: {"type":"status","text":"s"})", "3: more", "4: " + done});
  CHECK(reader(*f, {.after = 2}).read() == lines{"3: more", "4: " + done});
  reader all_had(*f, {.after = 4});
  CHECK(all_had.place->ended());
  CHECK(all_had.place->result().text() == "{}");
  CHECK(all_had.read().empty());
}

TEST_CASE("a snapshot stands for what everybody has had: the round, its text, and what is open") {
  const auto f = make();
  reader first(*f, {}, true);
  f->push(round(1));
  f->push(delta("old"));
  f->push(event(kind::tool_call, R"({"type":"tool_call","call":"c1"})", "c1"));
  f->push(event(kind::tool_call, R"({"type":"tool_call","call":"c2"})", "c2"));
  f->push(event(kind::tool_result, R"({"type":"tool_result","call":"c1"})", "c1"));
  const auto about_question = [&](kind k, std::string_view type, std::string call, const std::string& id) {
    auto e = event(k, R"({"type":")" + std::string(type) + R"(","question":")" + id + "\"}", std::move(call));
    e.text = id;
    f->push(std::move(e));
  };
  about_question(kind::question, "question", "c3", "q1");
  about_question(kind::question, "question", "c4", "q2");
  about_question(kind::question, "question", "c5", "q3");
  about_question(kind::answer, "answer", "", "q1");
  f->push(event(kind::tool_result, R"({"type":"tool_result","call":"c5"})", "c5"));  // closes q3, which has no answer
  f->push(round(2));
  f->push(delta("ne"));
  f->push(delta("w \"1\""));
  first.read();
  CHECK(f->bytes() == 0);
  const std::string rest =
      R"("calls":[{"type":"tool_call","call":"c2"}],"questions":[{"type":"question","question":"q2"}]})";
  reader second(*f);
  reader textless(*f, {.deltas = false});
  f->push(delta("!"));
  CHECK(second.read() == lines{R"(12: {"type":"snapshot","round":2,"model":"m","text":"new \"1\"",)" + rest, "13: !"});
  CHECK(textless.read() == lines{R"(12: {"type":"snapshot","round":2,"model":"m",)" + rest});
  CHECK(first.read() == lines{"13: !"});
}

TEST_CASE("a reader that has everything so far gets no snapshot, and one of another life of the daemon does") {
  const auto f = make();
  reader first(*f, {}, true);
  f->push(status("a"));
  f->push(status("b"));
  CHECK(reader(*f, {.after = 2}).read().empty());
  CHECK(reader(*f, {.after = 1}).read().size() == 1);
  const auto fresh = make();
  CHECK(reader(*fresh).read().empty());
  CHECK(reader(*fresh, {.after = 57}).read() == lines{R"(0: {"type":"snapshot","text":"","calls":[],"questions":[]})"});
}

TEST_CASE("a run that an earlier daemon began numbers its events above those, and tells its callers so") {
  const auto f = make({.keep = true, .numbers_above = 1000});
  f->push(round(3));
  f->push(status("on"));
  for (const std::uint64_t after : {0, 57, 999}) {
    const auto got = reader(*f, {.after = after}).read();
    REQUIRE(got.size() == 3);
    CHECK(got[0].starts_with(R"(1000: {"type":"snapshot")"));
    CHECK(got[1].starts_with(R"(1001: {"type":"round")"));
  }
  CHECK(reader(*f, {.after = 1001}).read() == lines{R"(1002: {"type":"status","text":"on"})"});
}

TEST_CASE("text that only readers without deltas were there for is not lost for one that comes back") {
  const auto f = make();
  reader textless(*f, {.deltas = false}, true);
  f->push(status("a"));
  f->push(delta("missed"));
  CHECK(reader(*f, {.after = 1}).read() ==
        lines{R"(2: {"type":"snapshot","text":"missed","calls":[],"questions":[]})"});
  f->push(status("b"));
  CHECK(textless.all.back().starts_with("3: "));
}

TEST_CASE("G17: over the bound the oldest events go, and a slow reader gets a snapshot for them") {
  const auto f = make({.bound = 100'000});
  reader slow(*f);
  reader fast(*f, {}, true);
  const std::string large(10'000, 'x');
  for (int i = 1; i <= 50; ++i) {
    f->push(round(i));
    f->push(delta("text " + std::to_string(i)));
    f->push(event(kind::tool_result, "{\"type\":\"tool_result\",\"content\":\"" + large + "\"}", "c"));
    CHECK(f->bytes() <= 100'000);
    CHECK(slow.place->waiting() == f->bytes());
  }
  CHECK(fast.all.size() == 150);
  const auto got = slow.read();
  REQUIRE(got.size() > 10);
  CHECK(got.size() < 40);
  CHECK(got[0].find("\"type\":\"snapshot\"") != std::string::npos);
  // The slow reader goes on after the snapshot, with the numbers that the fast one has seen.
  CHECK(std::vector(got.begin() + 1, got.end()) ==
        std::vector(fast.all.end() - static_cast<std::ptrdiff_t>(got.size() - 1), fast.all.end()));
  CHECK(got[0].starts_with(std::to_string(150 - (got.size() - 1)) + ": "));
  CHECK(f->bytes() == 0);
}

TEST_CASE("G17: an event that is larger than the bound reaches whoever reads, and nothing stops the run") {
  const auto f = make({.bound = 1000});
  reader fast(*f, {}, true), slow(*f);
  const std::string large(5'000, 'x');
  f->push(delta("before"));
  f->push(event(kind::tool_result, large, "c"));
  CHECK(fast.all == lines{"1: before", "2: " + large});
  f->push(status("s"));
  f->done(raw_json::own("\"" + large + "\""));
  CHECK(fast.all.size() == 4);
  const auto got = slow.read();
  REQUIRE(got.size() == 3);
  CHECK(got[0].starts_with(R"(2: {"type":"snapshot","text":"before")"));
  CHECK(got[2].starts_with("4: {\"type\":\"done\""));
  CHECK(slow.place->ended());
}

TEST_CASE("events over the bound that nobody has been sent are numbered when they go") {
  const auto f = make({.bound = 2000, .keep = true});
  for (int i = 0; i < 20; ++i) f->push(status(std::string(300, 'x')));
  const auto got = reader(*f).read();
  REQUIRE(got.size() > 1);
  CHECK(got.back().starts_with("20: "));
  CHECK(got[0].starts_with(std::to_string(21 - got.size()) + R"(: {"type":"snapshot")"));
}

TEST_CASE("a run that goes on after done begins anew for later readers and ends the earlier ones") {
  for (const bool keep : {false, true}) {
    CAPTURE(keep);
    const auto f = make({.bound = 2000, .keep = keep});
    reader slow(*f), first(*f, {}, true);
    f->push(event(kind::tool_call, R"({"type":"tool_call","call":"c1"})", "c1"));
    f->done(raw_json::literal("1"));
    CHECK(first.place->ended());
    // A reader that attaches while the run is parked gets the result.
    reader parked(*f);
    CHECK(parked.read().back() == R"(2: {"type":"done","result":1})");
    CHECK(reader(*f, {.after = 2}).place->ended());
    f->reopen();  // the next event would reopen it too
    CHECK_FALSE(f->over());
    reader next(*f, {.after = 2}), other(*f);
    CHECK_FALSE(next.place->ended());
    f->push(status("on"));
    CHECK(next.read() == lines{R"(3: {"type":"status","text":"on"})"});
    CHECK(other.read() ==
          lines{R"(2: {"type":"snapshot","text":"","calls":[{"type":"tool_call","call":"c1"}],"questions":[]})",
                R"(3: {"type":"status","text":"on"})"});
    // The slow reader from before gets its own `done`, even if that event was dropped.
    for (int i = 0; i < 20; ++i) f->push(status(std::string(300, 'x')));
    const auto late = slow.read();
    CHECK(late.back() == R"(2: {"type":"done","result":1})");
    CHECK(slow.place->ended());
    CHECK(slow.place->result().text() == "1");
    f->done(raw_json::literal("2"));
    CHECK(next.read().back().ends_with(R"({"type":"done","result":2})"));
    CHECK(next.place->result().text() == "2");
  }
}

TEST_CASE("readers may leave and come while they are told") {
  const auto f = make();
  reader a(*f), b(*f), c(*f);
  std::unique_ptr<reader> d;
  a.then = [&] {
    a.place.reset();
    b.place.reset();
    if (!d) d = std::make_unique<reader>(*f);
  };
  f->push(status("s"));
  CHECK(b.told == 0);
  CHECK(c.read().size() == 1);
  CHECK(d->read().size() == 1);
  a.then = nullptr;
  f->push(status("t"));
  CHECK(c.told == 2);
  CHECK(c.read().size() == 1);
}

TEST_CASE("run_feed: a reader that is told may leave, read, come back, or let go of the feed itself") {
  enum class way { push, replace, done, refuse };
  for (const auto how : {way::push, way::replace, way::done, way::refuse})
    for (const int what : {0, 1, 2, 3, 4}) {
      CAPTURE(what);
      auto f = make({.bound = 300});
      auto* const feed = f.get();
      int abandoned = 0;
      f->when_abandoned([&](const std::string&) {
        ++abandoned;
        if (what == 4) f.reset();
      });
      auto slow = std::make_unique<reader>(*f);
      auto acting = std::make_unique<reader>(*f), last = std::make_unique<reader>(*f);
      feed->push(status("first"));
      std::unique_ptr<reader> again;
      acting->then = [&] {
        if (what == 0) acting->place->leave("");
        if (what == 1) acting->read();
        if (what == 2 && !again) again = std::make_unique<reader>(*f, run_feed::wish{}, true);
        if (what >= 3) {
          slow->place.reset();
          last->place.reset();
          if (what == 3) f.reset();
          acting->place.reset();
        }
      };
      switch (how) {
        case way::push:
          feed->push(status(std::string(1000, 'x')));
          break;
        case way::replace:
          feed->push(event(kind::tool_progress, "{}", "c"));
          break;
        case way::done:
          feed->done(raw_json::literal("1"));
          break;
        case way::refuse:
          feed->refuse({errc::limit, "no"});
          break;
      }
      CHECK((f == nullptr) == (what == 3 || (what == 4 && abandoned > 0)));
      acting->then = nullptr;
    }
}

TEST_CASE("all bytes are given back whatever way a feed ends") {
  const std::size_t before = byte_account::total();
  {
    const auto f = make({.bound = 2000});
    reader slow(*f), fast(*f, {}, true);
    f->push(round(1));
    for (int i = 0; i < 100; ++i) {
      f->push(delta(std::string(100, 'x')));
      if (i % 3 == 0) f->push(status("s"));
    }
    f->done(raw_json::own(R"({"stopReason":"final"})"));
    CHECK(byte_account::total() > before);
    slow.read(2);
  }
  CHECK(byte_account::total() == before);
}

TEST_CASE("ended_runs: so many and so many bytes are kept, the oldest go, the newest always fits") {
  const auto ended = [](const std::string& name, std::size_t bytes) {
    auto f = std::make_shared<run_feed>(name, run_feed::options{.keep = true});
    f->push(status(std::string(bytes, 'x')));
    f->done(raw_json::literal("{}"));
    return f;
  };
  ended_runs kept(3, 10'000);
  for (const char* name : {"a", "b", "c", "d"}) kept.add(ended(name, 10), 7, "");
  CHECK(kept.size() == 3);
  CHECK(kept.find("a") == nullptr);
  REQUIRE(kept.find("b") != nullptr);
  CHECK(kept.find("b")->likeness == 7);
  kept.add(ended("e", 8'000), 0, "");
  CHECK(kept.find("e") != nullptr);
  CHECK(kept.size() < 4);
  kept.add(ended("f", 50'000), 0, "");
  CHECK(kept.size() == 1);
  CHECK(kept.find("f") != nullptr);
}

TEST_CASE("L17: a run that did not begin ends its readers with the reason and without done") {
  for (const bool keep : {false, true}) {
    const auto f = make({.keep = keep});
    bool abandoned = false;
    f->when_abandoned([&](const std::string&) { abandoned = true; });
    reader a(*f), b(*f);
    f->refuse({errc::not_found, "there is no such session"});
    CHECK((a.told == 1 && a.read().empty() && a.place->ended()));
    CHECK((b.read().empty() && b.place->ended()));
    REQUIRE(a.place->refusal().has_value());
    CHECK(a.place->refusal()->message == "there is no such session");
    CHECK_FALSE(abandoned);
    CHECK(f->bytes() == 0);
  }
}

TEST_CASE("G18: what was told is held once, and not at all beside the message that says the same") {
  const auto before = byte_account::total();
  const auto feed = make();
  reader first(*feed);
  feed->push(round(1));
  std::string all;
  for (int i = 0; i < 1'000; ++i) {
    all += std::string(1'000, static_cast<char>('a' + i % 26));
    feed->push(delta(std::string_view(all).substr(all.size() - 1'000)));
    if (i % 7 == 0) first.read();
  }
  CHECK(feed->round_text() == all);
  first.read();
  CHECK(byte_account::total() - before < all.size() + (100u << 10));
  // Sharing a different text releases nothing.
  feed->share_text(std::make_shared<std::string>(all + "?"));
  CHECK_FALSE(first.place->told_all());
  feed->share_text(std::make_shared<std::string>(all));
  CHECK(first.place->told_all());
  CHECK(byte_account::total() - before < (100u << 10));
  CHECK(feed->round_text() == all);
  reader late(*feed);
  const auto got = late.read();
  REQUIRE(got.size() == 1);
  CHECK(got[0].contains("\"text\":\"" + all + "\""));
  feed->push(round(2));
  first.read();
  CHECK_FALSE(first.place->told_all());
  CHECK(feed->round_text().empty());
}
