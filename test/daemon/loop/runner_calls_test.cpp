// Calls that a run does not make, or makes without a check: tools that are unknown, gone or withheld, and arguments
// that do not fit their schema.
#include "daemon/loop/core/answer_format.hpp"
#include "daemon/loop/tools/argument_checks.hpp"
#include "mcp/support/log.hpp"
#include "mcp/support/text.hpp"
#include "test/daemon/loop/core/wire_history.hpp"
#include "test/daemon/loop/loop_fixture.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::core;
using namespace mcpbx::daemon::test;
using namespace mcpbx::daemon::tools;
using namespace mcpbx::json;

TEST_CASE("L10: an unknown tool is told what resembles it and no server hears of it") {
  fixture f;
  f.model->script = {calls({call("a", "srv__lokup"), call("b", "zzz")}), says("sorry")};
  f.run();
  CHECK(f.server->params.empty());
  const auto results = f.caller_.of("tool_result");
  REQUIRE(results.size() == 2);
  CHECK(contains(results[0], "Similar names: srv__lookup"));
  CHECK(contains(results[1], "The tools are: srv__lookup, srv__other"));
  CHECK(f.caller_.of("tool_call").size() == 2);  // the caller sees the calls all the same
}

TEST_CASE("L10: a name that no API takes is told as the model wrote it, and never runs the tool it would become") {
  fixture f;
  f.offer({"lookup", "other"});
  const std::string written = "srv.lookup";
  f.model->script = {calls({call("a", written), call("b", "srv__lookup "), call("c", "srv__lookup!")}), says("sorry")};
  f.run();
  CHECK(f.server->params.empty());
  const auto results = f.caller_.of("tool_result");
  REQUIRE(results.size() == 3);
  CHECK(contains(results[0], "there is no tool named \\\"srv.lookup\\\" here"));
  CHECK(contains(results[1], "there is no tool named \\\"srv__lookup \\\" here. Similar names: srv__lookup"));
  REQUIRE(f.model->requests.size() == 2);
  CHECK(wire_fault_of(f.model->requests[1].messages) == "");
}

TEST_CASE("G29: a tool that this run may not use is not executed") {
  fixture f;
  f.model->script = {calls({call("a", "srv__other")}), says("sorry")};
  auto r = fixture::ask();
  r.tools.only = {"*lookup"};
  f.run(std::move(r));
  CHECK(f.model->requests[0].tools->tools.size() == 1);
  CHECK(f.server->params.empty());
  CHECK(contains(f.caller_.of("tool_result").at(0), "there is no tool named"));
}

TEST_CASE("M4: a profile's filter limits what a run is offered and may call, and a request only narrows it") {
  fixture f;
  f.offer({"lookup", "other", "third"});
  f.model->script = {calls({call("a", "srv__other"), call("b", "srv__third"), lookup("c")}), says("done")};
  auto r = fixture::ask();
  r.profile = "reader";
  r.tools.allow = {"srv__lookup", "srv__other"};
  r.tools.deny = {"*other"};
  r.tools.only = {"*lookup", "*third"};
  f.run(std::move(r));
  REQUIRE(f.model->requests[0].tools->tools.size() == 1);
  CHECK(f.model->requests[0].tools->tools[0].name == "srv__lookup");
  REQUIRE(f.server->params.size() == 1);
  CHECK(contains(f.server->params[0], "lookup"));
  const auto& started = std::get<daemon::stored::record::run_started>(f.written().front());
  CHECK(started.profile == "reader");
  CHECK(started.tools.deny == lines{"*other"});
  CHECK(f.caller_.member("stopReason") == "final");
}

TEST_CASE("L10: a server that is gone or down or refuses becomes an error result") {
  fixture f;
  f.server->tools["lookup"] = [](const mcp::clients::server_call&) {
    return mcp::rpc::call_outcome::failed(errc::unavailable, "server \"srv\" exited with status 3");
  };
  f.server->tools["other"] = [](const mcp::clients::server_call&) {
    return mcp::rpc::call_outcome{
        mcp::rpc::call_outcome::kind::error, raw_json::literal(R"({"code":-32602,"message":"need \"id\""})"), {}};
  };
  f.model->script = {calls({lookup("a"), call("b", "srv__other")}), calls({lookup("c")}), says("done")};
  f.runs->start(fixture::ask(), f.caller_).value();
  f.server->hold["none"] = true;
  f.settle();
  const auto results = f.caller_.of("tool_result");
  REQUIRE(results.size() == 3);
  CHECK(contains(results[0], "exited with status 3"));
  CHECK(contains(results[1], "need \\\"id\\\" (code -32602)"));
  CHECK(std::get<daemon::stored::record::call_result>(f.written()[5]).cause ==
        daemon::stored::record::result_cause::unavailable);
}

TEST_CASE(
    "L10: the model is told that a lost call may have taken effect, but not of one that never reached its server") {
  fixture f;
  f.server->tools["lookup"] = [](const mcp::clients::server_call&) {
    return mcp::rpc::call_outcome::lost(errc::unavailable, "server \"srv\" exited with status 3 during the call");
  };
  f.server->tools["other"] = [](const mcp::clients::server_call&) {
    return mcp::rpc::call_outcome::failed(errc::unavailable, "server \"srv\" is not running");
  };
  f.model->script = {calls({lookup("a"), call("b", "srv__other")}), says("done")};
  f.run();
  const auto results = f.caller_.of("tool_result");
  REQUIRE(results.size() == 2);
  CHECK(contains(results[0], "status 3 during the call. It may have taken effect all the same. Another tool may do"));
  CHECK(contains(results[1], "is not running. Another tool may do"));
}

TEST_CASE("L10: a tool whose server object is gone has an error result without an intent") {
  fixture f;
  auto orphan = std::make_shared<mcp::catalogs::catalog_entry>(*f.entry("lookup"));
  orphan->owner.reset();
  f.tools.catalog = std::make_shared<mcp::catalogs::catalog>(std::vector<mcp::catalogs::entry_ptr>{orphan}, 9);
  f.model->script = {calls({lookup("a")}), says("done")};
  f.run();
  CHECK(contains(f.caller_.of("tool_result").at(0), "is gone"));
}

TEST_CASE("G37: a tool that is withheld since its round began is not called, and the model is told why") {
  fixture f;
  f.model->endless = [&](std::size_t round) {
    if (round > 0) return says("done");
    mcp::catalogs::withheld_tools withheld;
    withheld.emplace(
        "srv__lookup",
        mcp::catalogs::withheld_tool{"srv", "lookup", std::make_shared<const std::string>("its definition changed")});
    f.tools.catalog =
        std::make_shared<mcp::catalogs::catalog>(std::vector<mcp::catalogs::entry_ptr>{}, 9, std::move(withheld));
    return calls({lookup("a")});
  };
  f.run();
  CHECK(contains(f.caller_.of("tool_result").at(0), "Not executed"));
  CHECK(contains(f.caller_.of("tool_result").at(0), "its definition changed"));
  CHECK(f.server->params.empty());
}

namespace {

mcp::catalogs::catalog_ptr catalog_with(fixture& f, std::string_view schema, std::uint64_t hash) {
  auto e = std::make_shared<mcp::catalogs::catalog_entry>(*f.entry("lookup"));
  e->definition = raw_json::own("{\"name\":\"lookup\",\"inputSchema\":" + std::string(schema) + "}");
  e->hash = hash;
  return std::make_shared<mcp::catalogs::catalog>(std::vector<mcp::catalogs::entry_ptr>{e}, hash);
}

}  // namespace

TEST_CASE("L10: arguments that miss the schema become an error result that names path and form") {
  fixture f;
  f.tools.catalog = catalog_with(f,
                                 R"({"type":"object","required":["unit"],"properties":{"unit":{"enum":["C","F"]},)"
                                 R"("items":{"type":"array","items":{"properties":{"name":{"type":"string"}}}}}})",
                                 20);
  f.model->script = {
      calls({call("a", "srv__lookup", R"({"items":[{"name":"x"},{"name":5}]})")}),
      calls({call("b", "srv__lookup", R"({"unit":"C"})")}),
      says("done"),
  };
  f.run();
  CHECK(f.server->params == lines{R"({"name":"lookup","arguments":{"unit":"C"}})"});
  const auto results = f.caller_.of("tool_result");
  REQUIRE(results.size() == 2);
  CHECK(contains(results[0], "arguments.items[1].name: expected a string, found the number 5"));
  CHECK(contains(results[0], R"(arguments: expected the member \"unit\", which is missing)"));
  CHECK(std::get<daemon::stored::record::call_result>(f.written()[3]).cause ==
        daemon::stored::record::result_cause::bad_arguments);
}

TEST_CASE("L10: absent arguments are checked as an empty object") {
  fixture f;
  f.tools.catalog = catalog_with(f, R"({"required":["x"]})", 21);
  auto bare = call("a", "srv__lookup");
  bare.arguments = {};
  f.model->script = {calls({bare}), says("done")};
  f.run();
  CHECK(f.server->params.empty());
  CHECK(contains(f.caller_.of("tool_result").at(0), R"(expected the member \"x\")"));
}

TEST_CASE("L10: a schema that cannot be compiled or followed never keeps a call from its server") {
  for (const auto* schema : {"[1,2]", R"({"$ref":"https://example.com/other"})", R"({"required":"x"})"}) {
    fixture f;
    f.tools.catalog = catalog_with(f, schema, 22);
    f.model->script = {calls({call("a", "srv__lookup", R"({"y":1})")}), says("done")};
    f.run();
    CHECK(f.server->params.size() == 1);
  }
}

TEST_CASE("F8 L10: with no schema, null or true for one, any object of arguments fits, and nothing is said about it") {
  for (const auto* schema : {"", R"(,"inputSchema":null)", R"(,"inputSchema":true)"}) {
    fixture f;
    f.unproven = "nothing runs here";
    const auto listed = catalog_with(f, "{}", 24);
    auto bare = *listed->entries()[0];
    bare.definition = raw_json::own(R"({"name":"lookup")" + std::string(schema) + "}");
    bare.hash = stable_hash(bare.definition.text());
    std::vector<std::string> logged;
    log::install(log::level::warn, [&](log::level, std::string_view line) { logged.emplace_back(line); });
    CHECK(argument_checks().problem(bare, "t", raw_json::literal(R"({"any":[1]})")).empty());
    log::install(log::level::off, {});
    CHECK(logged.empty());
  }
}

TEST_CASE("L10: arguments that a bound kept from being checked whole are sent and the log says so once for the tool") {
  fixture f;
  f.tools.catalog = catalog_with(f, R"({"$ref":"#"})", 23);
  f.model->script = {calls({call("a", "srv__lookup", R"({"y":1})"), call("b", "srv__lookup", R"({"y":2})")}),
                     says("done")};
  std::vector<std::string> logged;
  log::install(log::level::warn, [&](log::level, std::string_view line) { logged.emplace_back(line); });
  f.run();
  log::install(log::level::off, {});
  CHECK(f.server->params.size() == 2);
  const auto told = [](const std::string& line) { return contains(line, "without a complete check"); };
  CHECK(std::ranges::count_if(logged, told) == 1);
}

TEST_CASE("L10: arguments that are sent unchecked because they cannot be read are told as that") {
  fixture f;
  f.unproven = "nothing runs here";
  const auto tool = catalog_with(f, R"({"required":["x"]})", 24)->entries()[0];
  const auto said = [&](const char* arguments) {
    std::string all;
    log::install(log::level::warn, [&](log::level, std::string_view line) { all += line; });
    CHECK(argument_checks().problem(*tool, "t", raw_json::own(arguments)).empty());
    log::install(log::level::off, {});
    return all;
  };
  CHECK(contains(said(R"({"z":"\ud800"})"), "complete check, because they have half of a surrogate pair; the server"));
  CHECK(contains(said(R"({"z":"\udc00"})"), "because they have half of a surrogate pair;"));
  CHECK(contains(said((R"({"z":)" + std::string(300, '[') + std::string(300, ']') + "}").c_str()),
                 "are nested too deeply or take too many steps;"));
  const auto answer = check_answer(R"({"x":"\udc00"})", raw_json::literal(R"({"required":["x"]})"));
  CHECK(contains(answer.problem, "because it has half of a surrogate pair; answer without it"));
}

TEST_CASE("L10: a schema is compiled at the first call and kept within bounds") {
  fixture f;
  f.unproven = "nothing runs here";
  argument_checks checks;
  CHECK(checks.kept() == 0);
  for (std::uint64_t i = 0; i < 2 * argument_checks::max_kept; ++i) {
    const auto catalog = catalog_with(f, R"({"required":["x)" + std::to_string(i) + "\"]}", i);
    for (int k = 0; k < 2; ++k)
      CHECK(contains(checks.problem(*catalog->entries()[0], "t", {}), "\"x" + std::to_string(i) + "\""));
  }
  CHECK(checks.kept() == argument_checks::max_kept);
}
