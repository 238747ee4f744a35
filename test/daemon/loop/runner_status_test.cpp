// Status lines that a model writes while a tool runs.
#include "test/daemon/loop/loop_fixture.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::run;
using namespace mcpbx::daemon::stored;
using namespace mcpbx::daemon::test;
using namespace mcpbx::json;

namespace {

run_request watched(std::string status_model = "quick") {
  auto r = fixture::ask();
  r.limits.status = status_mode::model;
  r.limits.status_model = std::move(status_model);
  return r;
}

lines statuses(const fixture& f) {
  lines texts;
  for (const auto& e : f.caller_.of("status"))
    texts.push_back(find_member(*raw_json::parse(e), "text").as_string().value());
  return texts;
}

bool has(const lines& all, std::string_view line) {
  return std::ranges::find(all, line) != all.end();
}

std::int64_t input_tokens(const fixture& f) {
  return find_member(find_member(f.caller_.done.at(0), "usage"), "inputTokens").as_integer().value();
}

}  // namespace

TEST_CASE("L15: a quick model writes the line about the tool at work, and its tokens count in the usage") {
  fixture f;
  f.server->hold["lookup"] = true;
  f.model->script = {calls({call("a", "srv__lookup", R"({"of":"Lisbon"})")}), says("done")};
  f.quick->script = {says("\n \"Looking up Lisbon.\"\nmore")};
  f.run(watched());
  CHECK(statuses(f).back() == "Looking up Lisbon...");
  CHECK_FALSE(has(statuses(f), "Using Lookup..."));
  CHECK(f.server->params.size() == 1);
  REQUIRE(f.quick->requests.size() == 1);
  CHECK(f.quick->requests[0].settings.max_output_tokens == 20);
  CHECK(f.quick->requests[0].tools == nullptr);
  CHECK_FALSE(f.quick->requests[0].may_repeat);  // a retry would come after the tool's end
  CHECK(f.model->requests[0].may_repeat);
  CHECK(f.quick->requests[0].messages.back()->text() == "Tool: lookup\nArguments: {\"of\":\"Lisbon\"}");
  f.server->release();
  f.settle();
  CHECK(f.caller_.member("stopReason") == "final");
  CHECK(input_tokens(f) == 30);
  CHECK(f.caller_.done[0].text().find("Looking up") == std::string_view::npos);
  // The records alone give the same number.
  CHECK(fold(f.written(), f.written().size()).facts().usage.input == 30);
  CHECK(f.time.armed() == 0);
}

TEST_CASE("L15: the line is cancelled when the tool ends first, and never delays it") {
  fixture f;
  f.model->script = {calls({call("a", "srv__lookup")}), says("done")};
  f.quick->script = {silent()};
  f.run(watched());
  CHECK(f.caller_.member("stopReason") == "final");
  CHECK(f.quick->requests.size() == 1);
  CHECK(f.quick->open == 0);
  CHECK(input_tokens(f) == 20);
  CHECK(f.time.armed() == 0);
}

TEST_CASE("L15: the tool's name stands in after 2 s, and where the model fails or says nothing") {
  fixture f;
  f.server->hold["lookup"] = true;
  f.model->script = {calls({call("a", "srv__lookup")}), says("done")};
  f.run(watched());
  CHECK_FALSE(has(statuses(f), "Using Lookup..."));
  f.time.advance(milliseconds(1999));
  f.settle();
  CHECK(f.quick->open == 1);
  f.time.advance(milliseconds(1));
  f.settle();
  CHECK(statuses(f).back() == "Using Lookup...");
  CHECK(f.quick->open == 0);
  f.server->release();
  f.settle();
  CHECK(f.caller_.member("stopReason") == "final");
  for (auto answer : {breaks({}), says(" \n")}) {
    fixture g;
    g.server->hold["lookup"] = true;
    g.model->script = {calls({call("a", "srv__lookup")}), says("done")};
    g.quick->script = {answer};
    g.run(watched());
    CHECK(statuses(g).back() == "Using Lookup...");
    g.server->release();
    g.settle();
    CHECK(g.caller_.member("stopReason") == "final");
  }
}

TEST_CASE("L15: a call that is made again has no second line written about it") {
  fixture f;
  auto again = std::make_shared<mcp::catalogs::catalog_entry>(*f.entry("lookup"));
  again->manner.max_retries = 1;
  f.tools.catalog = std::make_shared<mcp::catalogs::catalog>(std::vector<mcp::catalogs::entry_ptr>{again}, 9);
  f.server->tools["lookup"] = [](const mcp::clients::server_call&) {
    return mcp::rpc::call_outcome::failed(errc::unavailable, "server \"srv\" died");
  };
  f.model->script = {calls({lookup("a")}), says("done")};
  f.run(watched());
  CHECK(f.quick->requests.size() == 1);
  f.time.advance(milliseconds(1'000));
  f.settle();
  CHECK(f.server->params.size() == 2);
  CHECK(f.quick->requests.size() == 1);
  CHECK(has(statuses(f), "Trying Lookup again..."));
  CHECK(f.caller_.member("stopReason") == "final");
}

TEST_CASE("L15: a cancelled run takes the lines that are being written with it") {
  fixture f;
  f.server->hold["lookup"] = true;
  f.model->script = {calls({call("a", "srv__lookup"), call("b", "srv__lookup")})};
  const auto run = f.run(watched());
  CHECK(f.quick->open == 2);
  CHECK(f.runs->cancel(run, ""));
  f.settle();
  CHECK(f.quick->open == 0);
  CHECK(f.caller_.member("stopReason") == "cancelled");
}

TEST_CASE("L15: at most four lines are written at once, the other tools go by their names") {
  fixture f;
  f.server->hold["lookup"] = true;
  f.model->script = {calls({call("a", "srv__lookup"), call("b", "srv__lookup"), call("c", "srv__lookup"),
                            call("d", "srv__lookup"), call("e", "srv__lookup"), call("g", "srv__lookup")}),
                     says("done")};
  f.run(watched());
  CHECK(f.quick->requests.size() == 4);
  CHECK(f.server->params.size() == 6);
  CHECK(std::ranges::count(statuses(f), "Using Lookup...") == 2);
}

TEST_CASE(
    "L15: without a statusModel the run's own model writes, an unknown one is an error, and nobody listening asks "
    "none") {
  fixture f;
  f.server->hold["lookup"] = true;
  f.model->script = {calls({call("a", "srv__lookup")}), says("Looking it up"), says("done")};
  f.run(watched(""));
  CHECK(statuses(f).back() == "Looking it up...");
  CHECK(f.model->requests.size() == 2);
  f.server->release();
  f.settle();
  CHECK(f.caller_.member("text") == "done");
  const auto wrong = f.runs->start(watched("nope"), f.caller_);
  REQUIRE_FALSE(wrong.has_value());
  CHECK(wrong.error().message == "statusModel: there is no model \"nope\"");
  auto quiet = watched();
  quiet.limits.status = status_mode::names;
  f.caller_.done.clear();
  f.server->hold.clear();
  f.model->script = {calls({call("z", "srv__lookup")}), says("done")};
  f.run(std::move(quiet));
  CHECK(f.quick->requests.empty());
}

TEST_CASE("a run tells which server waits for a login and with what command and goes on without it") {
  fixture f;
  f.tools.want_login = {{"saas", "tool server \"saas\" needs a login: run `mcpbx auth login saas`"},
                        {"other", "tool server \"other\" needs a login: run `mcpbx auth login other`"}};
  f.model->script = {says("done")};
  auto r = fixture::ask();
  r.limits.status = status_mode::names;
  r.tools.allow = {"srv__*", "saas__*"};
  f.run(std::move(r));
  CHECK(has(statuses(f), "tool server \"saas\" needs a login: run `mcpbx auth login saas`"));
  CHECK(std::ranges::count_if(statuses(f), [](const auto& s) { return s.contains("auth login"); }) == 1);
  CHECK(f.caller_.member("stopReason") == "final");
}
