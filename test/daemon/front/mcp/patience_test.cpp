// Tests of the waiting of many for the same length of time.
#include "daemon/front/mcp/patience.hpp"

#include "test/support/manual_time.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

using namespace mcpbx;
using mcpbx::daemon::mcp_door::patience;

namespace {

class waiter final : public patience::waiter {
 public:
  explicit waiter(std::function<void()> then) : then_(std::move(then)) {}

 private:
  void on_waited() override { then_(); }
  std::function<void()> then_;
};

struct fixture {
  test::manual_time time;
  patience all{time, milliseconds{100}};
  std::string order;
  std::unique_ptr<waiter> make(char name) {
    return std::make_unique<waiter>([this, name] { order += name; });
  }
};

}  // namespace

TEST_CASE("patience ends for each waiter after its own time, in the order in which they came") {
  fixture f;
  const auto a = f.make('a'), b = f.make('b'), c = f.make('c');
  f.all.begin(*a);
  f.time.advance(milliseconds{60});
  f.all.begin(*b);
  f.time.advance(milliseconds{39});
  CHECK(f.order.empty());
  f.time.advance(milliseconds{1});
  CHECK(f.order == "a");
  f.all.begin(*c);
  f.time.advance(milliseconds{60});
  CHECK(f.order == "ab");
  f.time.advance(milliseconds{40});
  CHECK(f.order == "abc");
}

TEST_CASE("patience forgets a waiter that stops waiting or is destroyed, and serves the others in time") {
  fixture f;
  auto a = f.make('a');
  const auto b = f.make('b'), c = f.make('c');
  f.all.begin(*a);
  f.all.begin(*b);
  f.time.advance(milliseconds{50});
  f.all.begin(*c);
  a.reset();
  b->stop_waiting();
  b->stop_waiting();
  f.time.advance(milliseconds{99});
  CHECK(f.order.empty());
  f.time.advance(milliseconds{1});
  CHECK(f.order == "c");
  f.all.begin(*b);
  f.time.advance(milliseconds{100});
  CHECK(f.order == "cb");
}

TEST_CASE("a waiter may destroy itself and others when its time is over") {
  fixture f;
  std::unique_ptr<waiter> a, b;
  a = std::make_unique<waiter>([&] {
    f.order += 'a';
    b.reset();
    a.reset();
  });
  b = f.make('b');
  const auto c = f.make('c');
  for (auto* one : {a.get(), b.get(), c.get()}) f.all.begin(*one);
  f.time.advance(milliseconds{100});
  CHECK(f.order == "ac");
}

TEST_CASE("patience may end before those who wait for it") {
  test::manual_time time;
  waiter left([] {});
  {
    patience all(time, milliseconds{100});
    all.begin(left);
  }
  time.advance(milliseconds{200});
  left.stop_waiting();
}
