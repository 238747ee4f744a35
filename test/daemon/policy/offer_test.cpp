// Every combination of what the offer of a tool depends on, against the outcomes written down as tables.
#include "daemon/policy/policy.hpp"
#include "test/daemon/policy/decision_table.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::policy;
using namespace mcpbx::daemon::stored;
using namespace mcpbx::daemon::test;
using namespace mcpbx::json;

namespace {

using enum verdict;

// A tool that is listed as git__push now and was git__send when the run began.
tool_facts listed() {
  return {.server = "git", .own = "push", .names = {"git__push"}};
}

std::vector<std::string> patterns(char which) {
  switch (which) {
    case 'n':  // the name of now
      return {"unrelated", "git__push"};
    case 't':  // the name of then
      return {"git__send"};
    case 'o':  // those of others
      return {"unrelated"};
    default:
      return {};
  }
}

terms_ptr entries_then(char which) {
  std::vector<server_terms> all{{"other", {}, {"*"}, {}}};
  if (which == 'p') all.push_back({"git", {"p*"}, {"pull"}, {}});
  if (which == 'd') all.push_back({"git", {"p*"}, {"push"}, {}});
  if (which == 'a') all.push_back({"git", {"pull"}, {}, {}});
  return which == '.' ? nullptr : std::make_shared<const std::vector<server_terms>>(std::move(all));
}

}  // namespace

TEST_CASE("G24 G38: a tool is offered or not as the table says, for every combination of inputs") {
  // deny and allow of the choice, then of the profile now: n(ow's name), t(hen's name), o(thers), . (empty);
  // resumed: r; entries then: p(ass), d(enied), a(llow others), g(one: no such server), . (not known);
  // h: what the tool was called then is known.
  const std::vector<std::string_view> inputs{"nto.", "nto.", "r.", "nto.", "nto.", "pdag.", "h."};
  const std::vector<table_row> table{
      {"n- - -- - -", deny, rule::denied},      {"-- r n- - -", deny, rule::denied},
      {"-- r -t - -", deny, rule::not_allowed}, {"-- r -o - -", deny, rule::not_allowed},
      {"-- r -- d -", deny, rule::entry_then},  {"-- r -- a -", deny, rule::entry_then},
      {"-- r -- g -", deny, rule::new_server},  {"t- - -- - h", deny, rule::denied},
      {"-. - -- - -", allow, rule::none},       {"-t - -- - h", allow, rule::none},
      {"-n - -- - .", allow, rule::none},       {"-- - -- - -", deny, rule::not_allowed},
  };
  const past_names::names then{"git__send", "", {"git__send"}, false};
  check_table(inputs, table, [&](std::string_view now) {
    tool_choice choice{{}, patterns(now[1]), patterns(now[0])};
    if (now[2] == 'r')
      choice.beside =
          std::make_shared<const kept_terms>(kept_terms{patterns(now[4]), patterns(now[3]), entries_then(now[5])});
    auto tool = listed();
    if (now[6] == 'h') tool.then = &then;
    return decide_offer(choice, tool);
  });
}

TEST_CASE("G38: `deny` finds a tool by every name that it has, `allow` by the listed and the prefixed one") {
  auto tool = listed();
  tool.names = {"push", "git__push", "shove", "git__push_1a2b3c"};
  for (const std::string name : {"push", "git__push", "shove", "git__push_1a2b3c"}) {
    CHECK_MESSAGE(decide_offer({{}, {}, {name}}, tool).by == rule::denied, name);
    CHECK_MESSAGE(decide_offer({{}, {"*"}, {"x", name}}, tool).text == name, name);
    const bool certain = name == "push" || name == "git__push";
    CHECK_MESSAGE(decide_offer({{}, {"x", name}, {}}, tool).allows() == certain, name);
  }
  CHECK(decide_offer({{}, {"push"}, {"git__*"}}, tool).denies());
}

TEST_CASE("G24: a plain name of then that is not certain restricts, and allows nothing") {
  const past_names::names then{"", "git__send", {"send", "git__send"}, false};
  auto tool = listed();
  tool.then = &then;
  CHECK(decide_offer({{}, {}, {"send"}}, tool).by == rule::denied);
  CHECK(decide_offer({{}, {"send"}, {}}, tool).by == rule::not_allowed);
  CHECK(decide_offer({{}, {"git__send"}, {}}, tool).allows());
}

TEST_CASE("L21: a request that names tools gets those, and one that names none gets all") {
  CHECK(decide_request({}, "git__push").allows());
  CHECK(decide_request({{"git__p*"}, {}, {}}, "git__push").text == "git__p*");
  CHECK(decide_request({{"git__pull"}, {}, {}}, "git__push").by == rule::not_asked_for);
  CHECK(decide_request({{""}, {}, {}}, "git__push").denies());  // an empty list of a request
}

TEST_CASE("G38: facts of an entry under a profile's name have the name of the whole catalog") {
  mcp::catalogs::catalog_entry entry;
  entry.name = "git__push";
  entry.server = "git";
  entry.tool = "push";
  entry.rules = {"a", "b", "c"};
  entry.annotations.read_only = true;
  entry.definition = raw_json::literal("{}");
  const auto renamed = mcp::catalogs::renamed(entry, "send");
  const auto facts = facts_of(*renamed);
  CHECK(facts.names.name == "git__push");
  CHECK(facts.names.prefixed == "a");
  CHECK(facts.names.plain == "b");
  CHECK(facts.names.other == "c");
  CHECK(facts.server == "git");
  CHECK(facts.own == "push");
  CHECK_FALSE(facts.may_destroy);
}
