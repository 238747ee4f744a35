// The outbox's rules on a turned clock: what joins, what is replaced, what drops, what never does, and when it is over.
#include "daemon/front/base/outgoing_queue.hpp"

#include "mcp/support/shared_bytes.hpp"
#include "test/daemon/front/fake_transport.hpp"
#include "test/support/manual_time.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::front;
using namespace mcpbx::json;
using mcpbx::test::fake_transport;
using pace = outgoing_queue::pace;

namespace {

segments text(std::string_view t) {
  segments s;
  s.append_copy(t);
  return s;
}

/// Gives its messages when asked.
struct scripted_source final : outgoing_queue::source {
  segments next(std::string&) override {
    if (messages.empty()) {
      if (auto end = std::exchange(at_end, nullptr)) end();
      return {};
    }
    auto first = std::move(messages.front());
    messages.pop_front();
    if (refill) messages.push_back(first);
    return text(first);
  }
  std::size_t waiting() const override {
    std::size_t n = 0;
    for (const auto& m : messages) n += m.size();
    return n;
  }
  std::deque<std::string> messages;
  bool refill = false;  ///< never runs dry
  std::function<void()> at_end;
};

struct queue_fixture final : outgoing_queue::owner {
  explicit queue_fixture(outgoing_queue::options o = {}) : options(o) {}
  void pause_reading(bool p) override { paused = p; }
  void ask_flush() override { ++asked; }
  void on_stuck(const std::string& why) override { stuck = why; }

  outgoing_queue::options options;
  test::manual_time time;
  fake_transport::line line;
  fake_transport transport{line};
  outgoing_queue queue{options, time, transport, *this};
  std::shared_ptr<scripted_source> run = std::make_shared<scripted_source>();
  void give(const std::string& message, pace how = pace::at_once) {
    run->messages.push_back(message);
    queue.ready(run, how);
  }
  bool paused = false;
  int asked = 0;
  std::string stuck;
};

}  // namespace

TEST_CASE("an answer leaves at once when nothing waits") {
  queue_fixture f;
  f.queue.push(text("a"));
  CHECK(f.line.sent == std::vector<std::string>{"a"});
  CHECK(f.asked == 0);
  CHECK(f.queue.bytes() == 0);
}

TEST_CASE("what a source has leaves at once, and what is growing at the end of the turn") {
  queue_fixture f;
  f.give("a");
  CHECK(f.line.sent == std::vector<std::string>{"a"});
  CHECK(f.asked == 0);
  f.give("b", pace::turn);
  CHECK(f.line.sent.size() == 1);
  CHECK(f.asked == 1);
  f.queue.push(text("answer"));
  f.queue.flush();
  CHECK(f.line.sent == std::vector<std::string>{"a", "b", "answer"});
  // It grows no more: it leaves before what ended it.
  f.give("c", pace::turn);
  f.give("d");
  CHECK(f.line.sent == std::vector<std::string>{"a", "b", "answer", "c", "d"});
}

TEST_CASE("what may wait for more leaves after 1 ms, or with whatever leaves before") {
  queue_fixture f;
  f.give("a", pace::soon);
  f.time.advance(milliseconds(0));
  f.give("b", pace::soon);
  CHECK((f.line.sent.empty() && f.asked == 0));
  f.time.advance(milliseconds(1));
  CHECK(f.line.sent == std::vector<std::string>{"a", "b"});

  f.give("c", pace::soon);
  f.give("d");
  CHECK(f.line.sent == std::vector<std::string>{"a", "b", "c", "d"});
  f.give("e", pace::soon);
  f.give("f", pace::turn);
  CHECK(f.asked == 1);
  f.queue.flush();
  CHECK(f.line.sent.size() == 6);
  f.give("g", pace::soon);
  f.queue.push(text("answer"));
  CHECK(f.asked == 2);
  f.queue.flush();
  CHECK(f.line.sent == std::vector<std::string>{"a", "b", "c", "d", "e", "f", "g", "answer"});
}

TEST_CASE("of two sources that wait for more, one that cannot wait is asked at the end of the turn") {
  queue_fixture f;
  auto other = std::make_shared<scripted_source>();
  f.give("a", pace::soon);
  other->messages = {"b"};
  f.queue.ready(other, pace::soon);
  CHECK(f.asked == 0);
  other->messages.push_back("c");
  f.queue.ready(other, pace::at_once);
  CHECK(f.asked == 1);
  f.queue.flush();
  CHECK(f.line.sent == std::vector<std::string>{"a", "b", "c"});
  f.give("d", pace::soon);
  f.queue.close();
  f.time.advance(milliseconds(10));
  CHECK(f.line.sent.size() == 3);
}

TEST_CASE("G17: what a source holds counts as waiting, and is not asked for while the caller does not read") {
  outgoing_queue::options o;
  o.bound = 1'000'000;
  queue_fixture f(o);
  f.line.reads = false;
  f.queue.push(text(std::string(300'000, 'x')));
  for (int i = 0; i < 10; ++i) {
    f.give(std::string(100'000, 'a'), i % 2 == 0 ? pace::turn : pace::at_once);
    f.queue.flush();
  }
  CHECK(f.line.sent.size() == 1);
  CHECK(f.queue.bytes() >= 1'300'000);
  CHECK(f.paused);
  // It lets go of some by itself.
  f.run->messages.resize(3);
  f.queue.ready(f.run, pace::at_once);
  CHECK(f.queue.bytes() < 700'000);
  CHECK(!f.paused);
  f.line.reads = true;
  f.line.unsent = 0;
  f.queue.flush();
  CHECK(f.line.sent.size() == 4);
  CHECK(f.queue.bytes() == 0);
}

TEST_CASE("a source that never runs dry keeps nobody waiting") {
  queue_fixture f;
  f.line.reads = false;
  f.run->refill = true;
  f.give(std::string(100'000, 'a'));
  auto other = std::make_shared<scripted_source>();
  other->messages = {"b"};
  f.queue.ready(other, pace::at_once);
  f.queue.push(text("answer"));
  for (int i = 0; i < 2; ++i) {
    f.line.unsent = 0;
    f.queue.flush();
  }
  REQUIRE(f.line.sent.size() > 5);
  CHECK(std::ranges::count(f.line.sent, "b") == 1);
  CHECK(std::ranges::count(f.line.sent, "answer") == 1);
}

TEST_CASE("what the end of a source pushes leaves behind its last message") {
  for (const bool reads : {true, false}) {
    CAPTURE(reads);
    queue_fixture f;
    f.line.reads = reads;
    f.run->at_end = [&] { f.queue.push(text("response")); };
    f.give("event", pace::turn);
    f.give(std::string(300'000, 'd'));
    f.line.unsent = 0;
    f.queue.flush();
    REQUIRE(f.line.sent.size() == 3);
    CHECK(f.line.sent[0] == "event");
    CHECK(f.line.sent[2] == "response");
  }
}

TEST_CASE("a source may close the outbox from inside") {
  queue_fixture f;
  f.run->at_end = [&] { f.queue.close(); };
  f.give("a");
  auto again = std::make_shared<scripted_source>();
  again->messages = {"b"};
  f.queue.ready(again, pace::at_once);
  CHECK(f.line.sent == std::vector<std::string>{"a"});
  queue_fixture g;
  g.run->at_end = [&] { g.queue.close(); };
  g.give("a", pace::turn);
  g.queue.flush();
  CHECK(g.line.sent == std::vector<std::string>{"a"});
  CHECK(g.queue.bytes() == 0);
}

TEST_CASE("G17: progress keeps the last of each token") {
  queue_fixture f;
  f.line.reads = false;
  f.queue.push(text(std::string(300'000, 'x')));
  for (int i = 0; i < 100; ++i) {
    f.queue.push_progress(1, text("one " + std::to_string(i)));
    f.queue.push_progress(2, text("two " + std::to_string(i)));
  }
  f.line.unsent = 0;
  f.queue.flush();
  CHECK(f.line.sent.size() == 3);
  CHECK(f.line.sent.at(1) == "one 99");
  CHECK(f.line.sent.at(2) == "two 99");
  // Progress that has left is not replaced any more.
  f.queue.push_progress(1, text("one 100"));
  CHECK(f.line.sent.size() == 4);
}

TEST_CASE("of each list_changed one waits") {
  queue_fixture f;
  const auto push = [&](std::string_view method) {
    segments text;
    text.append_literal(method);
    f.queue.push_merged(std::string(method), text);
  };
  for (int i = 0; i < 5; ++i) {
    push("notifications/tools/list_changed");
    push("notifications/notes/list_changed");
  }
  f.queue.flush();
  CHECK(f.line.sent ==
        std::vector<std::string>{"notifications/tools/list_changed", "notifications/notes/list_changed"});
  push("notifications/notes/list_changed");
  f.queue.flush();
  CHECK(f.line.sent.size() == 3);
}

TEST_CASE("G17: over the bound the caller is not read and results still enter") {
  outgoing_queue::options o;
  o.bound = 1'000'000;
  queue_fixture f(o);
  f.line.reads = false;
  for (int i = 0; i < 30; ++i) f.queue.push(text(std::string(100'000, static_cast<char>('a' + i % 26))));
  CHECK(f.paused);
  CHECK(f.queue.bytes() >= 3'000'000);
  f.time.advance(milliseconds(29'999));
  CHECK(f.stuck.empty());
  // It reads again in time: everything comes, in order, and it is read again.
  f.line.reads = true;
  f.line.unsent = 0;
  f.queue.flush();
  CHECK(f.line.sent.size() == 30);
  for (int i = 0; i < 30; ++i) CHECK(f.line.sent.at(static_cast<std::size_t>(i)).front() == 'a' + i % 26);
  CHECK(!f.paused);
  f.time.advance(milliseconds(100'000));
  CHECK(f.stuck.empty());
  CHECK(f.queue.bytes() == 0);
}

TEST_CASE("G17: a caller that stays over the bound for 30 s is given up") {
  outgoing_queue::options o;
  o.bound = 1'000'000;
  queue_fixture f(o);
  f.line.reads = false;
  for (int i = 0; i < 30; ++i) f.queue.push(text(std::string(100'000, 'x')));
  f.time.advance(milliseconds(30'000));
  CHECK(f.stuck.find("does not read") != std::string::npos);
}

TEST_CASE("G17: a caller that reads nothing while answers pile up to the ceiling is given up at once") {
  queue_fixture f;
  f.line.reads = false;
  const std::string mib(1u << 20, 'x');
  int pushed = 0;
  for (; pushed < 100 && f.stuck.empty(); ++pushed) f.queue.push(text(mib));
  CHECK(f.stuck == "the caller does not read: more than 40 MiB wait for it");
  CHECK(pushed == 41);  // one is with the transport
}

TEST_CASE("G17: a caller that reads slower than its answers come is not given up for it") {
  queue_fixture f;
  f.line.reads = false;
  const std::string mib(1u << 20, 'x');
  for (int i = 0; i < 100; ++i) {
    f.queue.push(text(mib));
    if (i % 4 == 3) {
      f.line.unsent = 0;
      f.queue.flush();
    }
  }
  CHECK(f.queue.bytes() > (70u << 20));
  CHECK(f.stuck.empty());
}

TEST_CASE("G17: two answers of the largest size at once are no reason to give a caller up") {
  queue_fixture f;
  f.line.reads = false;
  f.queue.push(text(std::string(32u << 20, 'x')));
  f.queue.push(text(std::string(32u << 20, 'y')));
  CHECK(f.stuck.empty());
  CHECK(f.paused);
}

TEST_CASE("one large message enters an empty outbox and may take long as long as it moves") {
  queue_fixture f;
  f.line.reads = false;
  f.queue.push(text(std::string(16u << 20, 'x')));
  CHECK(f.line.sent.size() == 1);
  CHECK(f.paused);
  for (int i = 0; i < 3; ++i) {
    f.line.unsent -= 1u << 20;
    f.time.advance(milliseconds(30'000));
    CHECK(f.stuck.empty());
  }
  f.time.advance(milliseconds(30'000));
  CHECK(!f.stuck.empty());
}

TEST_CASE("all bytes are given back whatever way the outbox ends") {
  const std::size_t before = byte_account::total();
  {
    queue_fixture f;
    f.line.reads = false;
    for (int i = 0; i < 3; ++i) f.queue.push(text(std::string(300'000, 'x')));
    CHECK(byte_account::total() > before);
    f.queue.close();
    f.queue.push(text("late"));
    f.give("late");
    CHECK(f.queue.bytes() == f.line.unsent);
  }
  CHECK(byte_account::total() == before);
}
