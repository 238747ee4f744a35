// Every combination of what a call's decision depends on, against the outcomes written down as tables.
#include "daemon/policy/policy.hpp"

#include "test/daemon/policy/decision_table.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::policy;
using namespace mcpbx::daemon::stored;
using namespace mcpbx::daemon::test;
using namespace mcpbx::json;

namespace {

using enum verdict;

terms_ptr approving(std::vector<std::string> approve) {
  return std::make_shared<const std::vector<server_terms>>(
      std::vector<server_terms>{{"other", {}, {}, {"*"}}, {"git", {}, {}, std::move(approve)}});
}

const terms_ptr naming_it = approving({"log", "pu*"}), naming_others = approving({"log"});
const std::vector<std::string> profile_naming_it{"git__log", "git__p*"}, profile_naming_others{"git__log", "push"};

tool_facts push() {
  return {.server = "git", .own = "push", .names = {"git__push"}};
}

const mcp::catalogs::withheld_tool held{"git", "push", std::make_shared<const std::string>("its definition changed")};

}  // namespace

TEST_CASE("L19 G37: a run's call is made, asked about or refused as the table says, for every combination of inputs") {
  // s/n: a server's tool or not; w: withheld; p, e, t: named by `approve` of the profile, of the entry now and then;
  // d: may destroy; D: approveDestructive; O, o: approveAfterOutput applies; c: changed; a: approved; x: run is ending;
  // mode a(ll), k (ask) or n(one); r: reachable.
  const std::vector<std::string_view> inputs{"sn", "w.", "p.", "e.", "t.",  "d.", "D.",
                                             "O.", "c.", "a.", "x.", "akn", "r."};
  const std::vector<table_row> table{
      {"n- --- --- --- --", allow, rule::not_of_a_server},
      {"sw --- --- --- --", deny, rule::withheld},
      {"s. ... .-- --- --", allow, rule::none},
      {"s. ... d.. --- --", allow, rule::none},
      {"s. --- --- c-- --", deny, rule::changed},
      {"s. --- --- .a- --", allow, rule::approved},
      {"s. --- --- ..x --", deny, rule::run_is_ending},
      {"s. --- --- ... a-", allow, rule::approved_beforehand},
      {"s. --- --- ... n-", deny, rule::may_not_ask},
      {"s. --- --- ... k.", deny, rule::nobody_to_ask},
      {"s. p-- --- ... kr", ask, rule::profile_approve},
      {"s. .e- --- ... kr", ask, rule::entry_approve},
      {"s. ..t --- ... kr", ask, rule::entry_approve_then},
      {"s. ... dD- ... kr", ask, rule::approve_destructive},
      {"s. ... d.O ... kr", ask, rule::approve_after_output},
  };
  check_table(inputs, table, [](std::string_view now) {
    kept_terms then;
    then.servers = now[4] == 't' ? naming_it : naming_others;
    auto tool = push();
    tool.of_a_server = now[0] == 's';
    tool.withheld = now[1] == 'w' ? &held : nullptr;
    tool.may_destroy = now[5] == 'd';
    tool.changed = now[8] == 'c';
    const calling_run run{
        .rules = {.entries = now[3] == 'e' ? naming_it : naming_others,
                  .profile = now[2] == 'p' ? profile_naming_it : profile_naming_others,
                  .then = &then,
                  .destructive = now[6] == 'D',
                  .after_output = now[7] == 'O'},
        .mode = now[11] == 'a'   ? approval_mode::all
                : now[11] == 'k' ? approval_mode::ask
                                 : approval_mode::none,
        .reachable = now[12] == 'r',
        .ending = now[10] == 'x',
        .approved = [&](const raw_json&) { return now[9] == 'a'; },
    };
    return decide(run, tool, raw_json::literal("{}"));
  });
}

TEST_CASE("G38 G42: a call by a caller itself is made or refused as the table says, for every combination of inputs") {
  // w: withheld; h: a human being; then as above. Nobody can be asked, so that what would be asked is refused.
  const std::vector<std::string_view> inputs{"w.", "h.", "e.", "d.", "D."};
  const std::vector<table_row> table{
      {"w- ---", deny, rule::withheld},      {".h ---", allow, rule::by_a_person},
      {".. e--", deny, rule::entry_approve}, {".. .dD", deny, rule::approve_destructive},
      {".. ---", allow, rule::none},
  };
  check_table(inputs, table, [](std::string_view now) {
    auto tool = push();
    tool.withheld = now[0] == 'w' ? &held : nullptr;
    tool.may_destroy = now[3] == 'd';
    return decide(direct_caller{{.entries = now[2] == 'e' ? naming_it : naming_others, .destructive = now[4] == 'D'},
                                now[1] == 'h'},
                  tool);
  });
}

TEST_CASE("G42: a process that is not known, or of a tool server that may not call, is no caller") {
  // k: known; o: below this daemon; m: mayCall.
  const std::vector<table_row> table{
      {".--", deny, rule::unknown_process},
      {"ko.", deny, rule::may_not_call},
      {"k--", allow, rule::none},
  };
  check_table({"k.", "o.", "m."}, table, [](std::string_view now) {
    return decide(calling_process{now[0] == 'k', now[1] == 'o', now[2] == 'm'});
  });
  CHECK(decide(calling_process{}).denies());
}

TEST_CASE("L19: `approve` of a profile finds a tool by every name that it has, or may have had when the run began") {
  const past_names::names then{"git__send", "", {"git__send", "git__transmit"}, false};
  auto tool = push();
  tool.names = {"push", "git__push", "plain", "git__push_1a2b3c"};
  tool.then = &then;
  const auto asked_by = [&](std::string glob) {
    const std::vector<std::string> globs{"unrelated", std::move(glob)};
    const calling_run run{.rules = {.profile = globs}, .mode = approval_mode::ask, .reachable = true};
    const auto d = decide(run, tool, {});
    CHECK((d.says == ask) == (d.by == rule::profile_approve));
    CHECK((d.says != ask || d.text == globs[1]));
    return d.says == ask;
  };
  for (const std::string glob : {"push", "git__push", "plain", "git__push_*", "git__send", "*transmit"})
    CHECK_MESSAGE(asked_by(glob), glob);
  for (const std::string glob : {"pus", "git__pull", "git", ""}) CHECK_MESSAGE(!asked_by(glob), glob);
}

TEST_CASE("L19: `approve` of a server's entry finds only that server's tools, by the server's own names") {
  auto tool = push();
  const calling_run run{.rules = {.entries = naming_it}, .mode = approval_mode::ask, .reachable = true};
  CHECK(decide(run, tool, {}).text == "pu*");
  tool.own = "pull";
  CHECK(decide(run, tool, {}).text == "pu*");
  tool.own = "fetch";
  CHECK(decide(run, tool, {}).by == rule::none);
  tool = push();
  tool.server = "unheard_of";
  CHECK(decide(run, tool, {}).by == rule::none);
}

TEST_CASE("G39: whether a call was approved is asked with its very arguments, and only where an approval is needed") {
  std::vector<std::string> asked_with;
  calling_run run{.rules = {.destructive = true},
                  .mode = approval_mode::ask,
                  .reachable = true,
                  .approved = [&](const raw_json& arguments) {
                    asked_with.emplace_back(arguments.text());
                    return true;
                  }};
  auto tool = push();
  CHECK(decide(run, tool, raw_json::literal(R"({"a":1})")).by == rule::approved);
  CHECK(asked_with == std::vector<std::string>{R"({"a":1})"});
  tool.may_destroy = false;
  CHECK(decide(run, tool, raw_json::literal("{}")).allows());
  tool = push();
  tool.changed = true;
  CHECK(decide(run, tool, raw_json::literal("{}")).by == rule::changed);
  CHECK(asked_with.size() == 1);
  run.approved = {};
  tool.changed = false;
  CHECK(decide(run, tool, raw_json::literal("{}")).says == ask);
}

TEST_CASE("L19 G42: what nobody has filled in denies") {
  CHECK(decision{}.denies());
  CHECK(decide(calling_run{.rules = {.destructive = true}}, push(), {}).denies());
  CHECK(decide(direct_caller{{.destructive = true}}, push()).denies());
}

TEST_CASE("G37: the decision about a withheld tool has the clause that says why") {
  auto tool = facts_of("git__push", held);
  CHECK(decide(direct_caller{{}, true}, tool).text == "its definition changed");
  CHECK(decide(calling_run{}, tool, {}).text == "its definition changed");
}

TEST_CASE("L19 G41: a tool server reads no prompt or resource that its entry wants approved, a person reads all") {
  const direct_caller server{{.entries = approving({"sum*", "file:///secret/*"}), .destructive = true}};
  direct_caller person = server;
  person.is_person = true;
  const auto prompt = [](std::string_view name) { return read_facts{"git", name}; };
  const auto resource = [](std::string_view uri) { return read_facts{"git", uri, true}; };
  CHECK(decide(server, prompt("review")).allows());
  CHECK(decide(server, prompt("summary")).by == rule::entry_approve);
  CHECK(decide(server, resource("file:///open/a")).allows());
  for (const char* uri : {"file:///secret/a", "FILE:///secret/a", "file:///open/../secret/a", "file:///%73ecret/a"})
    CHECK_MESSAGE(decide(server, resource(uri)).denies(), uri);
  CHECK(decide(person, resource("file:///secret/a")).by == rule::by_a_person);
  CHECK(decide(server, read_facts{"unknown", "summary"}).allows());
  CHECK(decide(server, read_facts{"other", "x:1", true}).denies());
}
