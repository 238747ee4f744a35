// mcpbx/pins/list and mcpbx/pins/accept at the door, and pins and the audit in what the door tells.
#include "daemon/front/front_door.hpp"
#include "test/daemon/front/fake_backend.hpp"
#include "test/daemon/front/fake_transport.hpp"
#include "test/mcp/server/fake_host.hpp"
#include "test/support/manual_time.hpp"
#include "test/support/temporary_directory.hpp"

#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::audit;
using namespace mcpbx::daemon::door;
using namespace mcpbx::daemon::pins;
using namespace mcpbx::json;
using namespace mcpbx::test;

namespace {

struct fake_pins final : pin_register {
  void list(pin_choice which, bool definitions, std::function<void(pin_report)> then) override {
    asked.push_back(which.server + "|" + which.tool + (definitions ? "|definitions" : ""));
    then(report);
  }
  void accept(pin_choice which, std::string sha256, std::function<void(result<std::size_t>)> then) override {
    asked.push_back("accept " + which.server + "|" + which.tool + "|" + sha256);
    then(outcome);
  }
  std::vector<std::string> asked;
  pin_report report;
  result<std::size_t> outcome = std::size_t{2};
};

struct pins_door {
  explicit pins_door(audit_log* audit = nullptr) : door(io.get_executor(), time, backend, options(audit), {}) {
    backend.register_of_pins = &pins;
    mcp::clients::server_status s;
    s.name = "git";
    backend.status = {s};
    mcp::catalogs::withheld_tools withheld;
    withheld.emplace("git__history",
                     mcp::catalogs::withheld_tool{"git", "log", std::make_shared<const std::string>("it changed")});
    backend.catalog = std::make_shared<mcp::catalogs::catalog>(
        std::vector<mcp::catalogs::entry_ptr>{make_tool(server, "git__a_b", "a.b")}, 1, std::move(withheld));
    door.accept(std::make_unique<fake_transport>(line), {1000, 100});
    run();
  }
  ~pins_door() {
    door.close();
    run();
  }
  static front_door::options options(audit_log* audit) {
    front_door::options o;
    o.audit = audit;
    return o;
  }
  void run() {
    io.restart();
    io.poll();
  }
  std::string ask(const std::string& method, const std::string& params) {
    const std::size_t before = line.sent.size();
    line.say(R"({"jsonrpc":"2.0","id":1,"method":")" + method + R"(","params":)" + params + "}");
    run();
    backend.settle();
    run();
    return line.sent.size() == before ? "" : line.sent.back();
  }
  std::string list_of(const std::string& name) {
    pins.asked.clear();
    ask("mcpbx/pins/list", R"({"name":)" + json_quoted(name) + "}");
    return pins.asked.empty() ? "" : pins.asked.back();
  }

  boost::asio::io_context io;
  manual_time time;
  fake_backend backend;
  fake_pins pins;
  std::shared_ptr<fake_client> server = std::make_shared<fake_client>("git");
  fake_transport::line line;
  front_door door;
};

}  // namespace

TEST_CASE("G37: a pin is named by its server, by the name the tool is offered under, or by the server's own") {
  pins_door d;
  CHECK(d.list_of("git") == "git|");
  CHECK(d.list_of("git__a_b") == "git|a.b");
  CHECK(d.list_of("git__history") == "git|log");
  CHECK(d.list_of("git__gone") == "git|gone");
  CHECK(d.list_of("old__tool") == "old|tool");
  CHECK(d.list_of("old") == "old|");
  d.ask("mcpbx/pins/list", R"({"definitions":true})");
  CHECK(d.pins.asked.back() == "||definitions");
  CHECK(text_of(d.ask("mcpbx/pins/list", R"({"name":"gti"})")).find("did you mean \"git\"") != std::string::npos);
}

TEST_CASE("G37: the list has every pin with its state, and what keeps it from being compared") {
  pins_door d;
  pin_row changed;
  changed.server = "git";
  changed.tool = "log";
  changed.mode = pin_mode::block;
  changed.state = pin_state::changed;
  changed.withheld = changed.origin_only = true;
  changed.sha256 = "new";
  changed.pinned_sha256 = "old";
  changed.pinned_at = "then";
  changed.pinned = raw_json::literal(R"({"name":"log"})");
  pin_row fresh;
  fresh.server = "git";
  fresh.tool = "x";
  fresh.state = pin_state::added;
  d.pins.report = {"/state/pins.json", "", {changed, fresh}};
  CHECK(d.ask("mcpbx/pins/list", "{}") ==
        R"({"jsonrpc":"2.0","id":1,"result":{"file":"/state/pins.json","pins":[)"
        R"({"server":"git","tool":"log","name":"git__history","state":"changed","pin":"block","withheld":true,)"
        R"("originOnly":true,"sha256":"new","pinnedSha256":"old","pinnedAt":"then","pinned":{"name":"log"}},)"
        R"({"server":"git","tool":"x","state":"new","pin":"off","withheld":false}]}})");
  d.pins.report = {"/state/pins.json", "it is corrupt", {}};
  CHECK(d.ask("mcpbx/pins/list", R"({"name":"git"})").find(R"("problem":"it is corrupt")") != std::string::npos);
}

TEST_CASE("G37: approving names what is approved, and its errors are told") {
  pins_door d;
  CHECK(d.ask("mcpbx/pins/accept", R"({"name":"git__history","sha256":"abc"})").find(R"("result":{"accepted":2})") !=
        std::string::npos);
  CHECK(d.pins.asked.back() == "accept git|log|abc");
  d.pins.outcome = fail(errc::not_found, "no such tool");
  CHECK(text_of(d.ask("mcpbx/pins/accept", R"({"name":"git","sha256":"abc"})")) == "no such tool");
  CHECK(code_of(d.ask("mcpbx/pins/accept", "{}")) == -32602);
  CHECK(code_of(d.ask("mcpbx/pins/accept", R"({"name":""})")) == -32602);
  d.backend.register_of_pins = nullptr;
  CHECK(text_of(d.ask("mcpbx/pins/list", "{}")) == "this daemon keeps no pins");
}

TEST_CASE("G37: without a hash an approval is of what this connection was shown last, and of nothing else") {
  pins_door d;
  const auto refused = [&](const std::string& answer) {
    return text_of(answer).find("was not shown on this") != std::string::npos;
  };
  CHECK(refused(d.ask("mcpbx/pins/accept", R"({"name":"git"})")));
  pin_row row;
  row.server = "git";
  row.tool = "log";
  d.pins.report = {"/state/pins.json", "", {row}, "hash-1"};
  CHECK(d.ask("mcpbx/pins/list", R"({"name":"git"})").find(R"("sha256":"hash-1")") != std::string::npos);
  CHECK(refused(d.ask("mcpbx/pins/accept", R"({"name":"git"})")));  // without the definitions nothing was shown
  d.ask("mcpbx/pins/list", R"({"name":"git","definitions":true})");
  CHECK(refused(d.ask("mcpbx/pins/accept", R"({"name":"git__history"})")));
  CHECK(d.ask("mcpbx/pins/accept", R"({"name":"git"})").find(R"("accepted":2)") != std::string::npos);
  CHECK(d.pins.asked.back() == "accept git||hash-1");
  d.pins.report.sha256 = "hash-2";
  d.ask("mcpbx/pins/list", R"({"name":"git","definitions":true})");
  d.ask("mcpbx/pins/accept", R"({"name":"git"})");
  CHECK(d.pins.asked.back() == "accept git||hash-2");
}

TEST_CASE("G37: mcpbx/servers tells what is withheld and why") {
  pins_door d;
  d.backend.status[0].withheld = 3;
  d.backend.status[0].pin_notice = "tool server \"git\": 3 definitions are not as pinned";
  CHECK(d.ask("mcpbx/servers", "{}")
            .find(R"("withheldTools":3,"pins":"tool server \"git\": 3 definitions are not as pinned"})") !=
        std::string::npos);
}

TEST_CASE("G48: the door tells the audit who calls, and the status how the audit is") {
  const temporary_directory dir;
  boost::asio::io_context lane_side;
  manual_time time;
  audit_log log(lane_side.get_executor(), time, {.path = result<std::string>(dir / "audit.jsonl")});
  pins_door d(&log);
  d.ask("mcpbx/hello", R"({"name":"cli"})");
  d.ask("initialize", R"({"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}})");
  CHECK(d.ask("tools/call", R"({"name":"git__history"})") == "");
  lane_side.run();
  d.run();
  CHECK(text_of(d.line.sent.back()).find("is not offered") != std::string::npos);
  std::ifstream in(dir / "audit.jsonl");
  std::string line;
  REQUIRE(std::getline(in, line));
  CHECK(line.find(R"("principal":"uid:1000","pid":100,"name":"cli","tool":"git__history","decision":"refused")") !=
        std::string::npos);
  CHECK(d.ask("mcpbx/status", "{}").find(R"("records":1,"lost":0)") != std::string::npos);
}
