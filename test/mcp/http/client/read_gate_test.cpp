// Back-pressure on answers while bytes run short, on a turned clock.
#include "mcp/http/client/read_gate.hpp"

#include "mcp/support/shared_bytes.hpp"
#include "test/support/manual_time.hpp"

#include <doctest/doctest.h>

#include <deque>
#include <memory>
#include <vector>

using namespace mcpbx;
using mcpbx::http::clients::read_gate;

namespace {

struct gate_fixture {
  gate_fixture() { byte_account::set_limit(byte_account::total() + (std::size_t{4} << 20)); }
  ~gate_fixture() { byte_account::set_limit(before); }
  gate_fixture(const gate_fixture&) = delete;
  gate_fixture& operator=(const gate_fixture&) = delete;

  /// Of the bound, in quarters.
  void fill(std::size_t quarters) { held.set(quarters << 20); }
  /// Lets an exchange that has read everything ask for more. Returns true if it may read at once.
  bool ask(std::size_t which) {
    if (places[which]->is_free()) return true;
    return places[which]->may_read([this, which] {
      resumed.push_back(which);
      return alive;
    });
  }
  void look() { time.advance(milliseconds(20)); }

  std::size_t before = byte_account::limit();
  test::manual_time time;
  std::shared_ptr<read_gate> gate = std::make_shared<read_gate>(time);
  byte_share held;
  std::deque<std::unique_ptr<read_gate::place>> places = [this] {
    std::deque<std::unique_ptr<read_gate::place>> all;
    for (int i = 0; i < 20; ++i) all.push_back(std::make_unique<read_gate::place>(gate));
    return all;
  }();
  std::vector<std::size_t> resumed;
  bool alive = true;
};

}  // namespace

TEST_CASE("G18: while there is room every answer is read, and no timer runs") {
  gate_fixture f;
  f.fill(3);
  for (std::size_t i = 0; i < 20; ++i) CHECK(f.ask(i));
  CHECK(f.time.armed() == 0);
}

TEST_CASE("G18: when bytes run short eight answers are read to their end, then the oldest that wait") {
  gate_fixture f;
  f.fill(4);
  for (std::size_t i = 0; i < 20; ++i) CHECK(f.ask(i) == (i < 8));
  for (std::size_t i = 0; i < 8; ++i) CHECK(f.ask(i));
  f.places[3].reset();
  f.places[12].reset();  // the user of this exchange has left
  f.look();
  CHECK(f.resumed == std::vector<std::size_t>{8});
  CHECK(f.ask(8));
  f.fill(2);
  f.look();
  CHECK(f.resumed == std::vector<std::size_t>{8, 9, 10, 11, 13, 14, 15, 16, 17, 18, 19});
  CHECK(f.ask(19));
  CHECK(f.time.armed() == 0);
}

TEST_CASE("G18: above the bound one answer is read, and none while bytes become fewer") {
  gate_fixture f;
  f.fill(6);
  CHECK(f.ask(0));
  CHECK_FALSE(f.ask(1));
  f.look();
  CHECK(f.ask(0));
  f.fill(5);
  f.look();
  CHECK_FALSE(f.ask(0));  // ended answers are still on their way to callers
  f.look();
  CHECK(f.resumed == std::vector<std::size_t>{0});
  CHECK(f.ask(0));
  f.places[0].reset();
  f.look();
  CHECK(f.resumed == std::vector<std::size_t>{0, 1});
}

TEST_CASE("G18: an answer that brings nothing for a second gives its place to one that waits") {
  gate_fixture f;
  f.fill(4);
  for (std::size_t i = 0; i < 9; ++i) CHECK(f.ask(i) == (i < 8));
  for (int i = 0; i < 49; ++i) {
    f.look();
    CHECK(f.ask(1));
  }
  CHECK(f.resumed.empty());
  f.look();
  CHECK(f.resumed == std::vector<std::size_t>{8});
  CHECK(f.ask(1));
}

TEST_CASE("G18: an answer of which nothing is left to read takes no place") {
  gate_fixture f;
  f.fill(4);
  for (std::size_t i = 0; i < 12; ++i) CHECK(f.ask(i) == (i < 8));
  f.alive = false;
  f.places[0].reset();
  f.look();
  CHECK(f.resumed == std::vector<std::size_t>{8, 9, 10, 11});
  CHECK(f.time.armed() == 0);
}
