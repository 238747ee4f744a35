// The keeper: decides later, on the speaking thread, and anew when something is approved.
#include "daemon/guard/pins/pin_guard.hpp"

#include "test/daemon/guard/pins/pinned_tools.hpp"
#include "test/support/manual_time.hpp"
#include "test/support/no_threads.hpp"
#include "test/support/temporary_directory.hpp"

#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::pins;
using namespace mcpbx::test;

namespace {

struct kept {
  temporary_directory dir;
  std::string file = dir / "state/pins.json";
  boost::asio::io_context io{1};
  manual_time time;
  std::vector<std::string> decisions;  // of server s: the names that are withheld, or "-"
  std::optional<pin_guard> keeper;

  kept() { open(); }
  void open() {
    pin_guard::options o{result<std::string>(file), {server_of("s", pin_mode::block), server_of("o", pin_mode::off)}};
    keeper.emplace(io.get_executor(), time, o);
  }
  void list_tools(const std::vector<mcp::protocol::feature_item>& tools) {
    keeper->judge("s", mcp::protocol::tool_kind(), list_of(tools), [this](const mcp::catalogs::definition_decision& d) {
      std::string names;
      if (d.withheld)
        for (const auto& [name, why] : *d.withheld) names += name;
      decisions.push_back(names.empty() ? "-" : names);
    });
  }
  void run() {
    io.restart();
    io.run();
  }
};

using words = std::vector<std::string>;

}  // namespace

TEST_CASE("G37: a decision comes after the pins are on the disk, and never from inside") {
  kept k;
  k.list_tools({tool_of("a")});
  CHECK(k.decisions.empty());
  CHECK_FALSE(std::filesystem::exists(k.file));
  k.run();
  CHECK(k.decisions == words{"-"});
  CHECK(std::filesystem::exists(k.file));
}

TEST_CASE("G37: the definitions outlive the daemon as pins") {
  kept k;
  k.list_tools({tool_of("a")});
  k.run();
  k.open();
  k.list_tools({tool_of("a", "CHANGED")});
  k.run();
  CHECK(k.decisions == words{"-", "a"});
}

TEST_CASE("G37: a file that cannot be used for a while is tried again, ever more seldom") {
  kept k;
  std::filesystem::create_directories(k.dir / "state");
  std::filesystem::create_directory(k.file);  // no file at all
  k.list_tools({tool_of("a")});
  k.run();
  CHECK(k.decisions == words{"a"});
  k.time.advance(milliseconds(999));
  k.run();
  CHECK(k.decisions.size() == 1);
  k.time.advance(milliseconds(1));
  k.run();
  CHECK(k.decisions == words{"a", "a"});
  std::filesystem::remove(k.file);
  k.time.advance(milliseconds(1000));
  k.run();
  CHECK(k.decisions.size() == 2);
  k.time.advance(milliseconds(1000));
  k.run();
  CHECK(k.decisions == words{"a", "a", "-"});
  CHECK(k.time.armed() == 0);
}

TEST_CASE("G37: pins that cannot be compared for want of a thread withhold, and are compared later") {
  kept k;
  {
    const no_threads none;
    k.list_tools({tool_of("a")});
    CHECK(k.decisions.empty());
    k.run();
    CHECK(k.decisions == words{"a"});
  }
  k.time.advance(milliseconds(1000));
  k.run();
  CHECK(k.decisions == words{"a", "-"});
}

TEST_CASE("G37: an approval is told to those who wait for it, and decides anew") {
  kept k;
  k.list_tools({tool_of("a")});
  k.run();
  k.list_tools({tool_of("a", "CHANGED")});
  k.run();
  std::optional<result<std::size_t>> accepted;
  k.keeper->accept({"s", "a"}, "", [&](result<std::size_t> done) { accepted = std::move(done); });
  CHECK_FALSE(accepted);
  k.run();
  REQUIRE(accepted);
  CHECK(accepted->value() == 1);
  CHECK(k.decisions == words{"-", "a", "-"});
  std::string state;
  k.keeper->list({}, false, [&](const pin_report& r) { state = daemon::pins::to_string(r.rows.at(0).state); });
  k.run();
  CHECK(state == "ok");
}

TEST_CASE(
    "G37: what the pins are told to be is what is decided by them, also when their file went or another wrote it") {
  kept k;
  std::string row;
  const auto look = [&] {
    k.keeper->list({}, false, [&](const pin_report& r) {
      row =
          std::string(daemon::pins::to_string(r.rows.at(0).state)) + (r.rows.at(0).withheld ? " withheld" : " offered");
    });
    k.run();
  };
  k.list_tools({tool_of("a")});
  k.run();
  std::filesystem::remove(k.file);
  look();
  CHECK((row == "ok offered" && k.decisions.back() == "-" && std::filesystem::exists(k.file)));
  // Another daemon approves another form of it.
  const auto aside = k.file + ".old";
  std::filesystem::rename(k.file, aside);
  pin_guard other(k.io.get_executor(), k.time, {result<std::string>(k.file), {server_of("s", pin_mode::block)}});
  other.judge("s", mcp::protocol::tool_kind(), list_of({tool_of("a", "CHANGED")}),
              [](const mcp::catalogs::definition_decision&) {});
  k.run();
  look();
  CHECK((row == "changed withheld" && k.decisions.back() == "a"));
  std::filesystem::rename(aside, k.file);
  look();
  CHECK((row == "ok offered" && k.decisions.back() == "-"));
}

TEST_CASE("G37: of lists that follow each other only the last is decided about") {
  kept k;
  k.list_tools({tool_of("a")});
  k.list_tools({tool_of("a"), tool_of("b")});  // while the first is being looked at
  k.run();
  CHECK(k.decisions == words{"b"});
}

TEST_CASE("G37: a server that is off is offered at once, and no file is made for it") {
  kept k;
  int told = 0;
  k.keeper->judge("o", mcp::protocol::tool_kind(), list_of({tool_of("a")}),
                  [&](const mcp::catalogs::definition_decision& d) { told += d.withheld ? 9 : 1; });
  CHECK(told == 1);
  k.run();
  CHECK_FALSE(std::filesystem::exists(k.file));
}

TEST_CASE("G37: a keeper that goes while its lane works tells nobody") {
  kept k;
  k.list_tools({tool_of("a")});
  k.keeper.reset();
  k.run();
  CHECK(k.decisions.empty());
}

TEST_CASE("G38: a plain name is given anew as servers list their tools, and for good when all have settled") {
  kept k;
  const auto plain = [](std::string name) {
    auto s = server_of(std::move(name), pin_mode::off);
    s.plain_name = [](std::string_view tool) { return std::string(tool); };
    return s;
  };
  pin_guard::options o{result<std::string>(k.file), {plain("a"), plain("b")}};
  k.keeper.emplace(k.io.get_executor(), k.time, o);
  words said;
  const auto list = [&](const std::string& server) {
    k.keeper->judge(server, mcp::protocol::tool_kind(), list_of({tool_of("read")}),
                    [&said, server](const mcp::catalogs::definition_decision& d) {
                      said.push_back(server + (d.prefixed ? " prefixed" : ""));
                    });
  };
  list("b");
  k.run();
  CHECK(said == words{"b"});
  list("a");
  k.run();
  CHECK(said == words{"b", "a", "b prefixed"});
  CHECK_FALSE(std::filesystem::exists(k.file));
  k.keeper->settled();
  k.run();
  CHECK(said == words{"b", "a", "b prefixed", "a", "b prefixed"});
  CHECK(std::filesystem::exists(k.file));
}

TEST_CASE("G37: servers that are set anew are judged by their new mode, and those that stay keep their list") {
  kept k;
  const auto set = [&](pin_mode mode) { k.keeper->set_servers({server_of("s", mode)}); };
  k.list_tools({tool_of("a")});
  k.run();
  k.list_tools({tool_of("a", "CHANGED")});
  k.run();
  CHECK(k.decisions == words{"-", "a"});
  set(pin_mode::warn);
  k.run();
  CHECK(k.decisions == words{"-", "a", "-"});
  set(pin_mode::block);
  set(pin_mode::off);  // at once, and what was asked for before counts no more
  CHECK(k.decisions == words{"-", "a", "-", "-"});
  k.run();
  CHECK(k.decisions.size() == 4);
  set(pin_mode::block);
  k.run();
  CHECK(k.decisions.back() == "a");
  k.keeper->set_servers({});
  k.run();
  CHECK(k.decisions.size() == 5);
  k.list_tools({tool_of("b")});  // of a server that is not configured
  CHECK(k.decisions.back() == "-");
}

TEST_CASE("G37: a server that is set while a list of another is compared does not get that one's decision") {
  kept k;
  k.list_tools({tool_of("a")});
  k.keeper->set_servers({server_of("new", pin_mode::block), server_of("s", pin_mode::block)});
  std::vector<std::string> of_new;
  k.keeper->judge(
      "new", mcp::protocol::tool_kind(), list_of({tool_of("x")}),
      [&](const mcp::catalogs::definition_decision& d) { of_new.emplace_back(d.withheld ? "withheld" : "-"); });
  k.run();
  CHECK(of_new == words{"-"});
  CHECK_FALSE(k.decisions.empty());
}
