// mcpbx/why: which rule offers or hides a tool, for each rule.
#include "daemon/front/rpc/tool_reasons.hpp"
#include "test/mcp/server/fake_host.hpp"
#include "test/support/contains.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::chat;
using namespace mcpbx::daemon::policy;
using namespace mcpbx::daemon::rpc_door;
using namespace mcpbx::daemon::stored;
using mcpbx::test::contains;

namespace {

struct setting {
  setting() {
    add("git", mcp::clients::server_state::ready, {"log", "push", "commit", "a b"});
    add("web", mcp::clients::server_state::crash_loop, {});
    lists.erase("web");
    entries[0].deny = {"pu*"};
    entries[0].approve = {"com*"};
    entries[0].naming.rename = {{"log", "history"}};
    offer("git__history", "log");
    offer("git__commit", "commit");
    offer("git__a_b", "a b");
  }
  void add(const std::string& name, mcp::clients::server_state state, const std::vector<std::string>& tools) {
    mcp::clients::server_status s;
    s.name = name;
    s.state = state;
    if (state != mcp::clients::server_state::ready) s.last_error = "it exited with status 1";
    servers.push_back(s);
    entries.push_back({name, {}, {}, {}, {name, false, {}, {}}});
    std::vector<mcp::protocol::feature_item> items;
    for (const auto& tool : tools) {
      mcp::protocol::feature_item item;
      item.key = tool;
      items.push_back(item);
    }
    lists[name] = std::make_shared<const std::vector<mcp::protocol::feature_item>>(std::move(items));
  }
  void offer(const std::string& name, const std::string& own) { tools.push_back(test::make_tool(client, name, own)); }

  tool_reasons why(std::string_view name, const chat_base* base = nullptr) {
    const mcp::catalogs::catalog whole(tools, 1, withheld, dropped);
    approval_rules rules;
    rules.entries = std::make_shared<const std::vector<server_terms>>(entries);
    if (base != nullptr) rules.profile = base->approve;
    const tool_question q{.name = name,
                          .profile = base != nullptr ? "p" : "",
                          .whole = whole,
                          .base = base,
                          .usual_profile = "",
                          .servers = servers,
                          .rules = rules,
                          .listed = [this](std::string_view server) {
                            const auto found = lists.find(std::string(server));
                            return found == lists.end() ? nullptr : found->second;
                          }};
    auto r = explain(q);
    json = std::string(to_json(q, r).text());
    return r;
  }

  std::shared_ptr<test::fake_client> client = std::make_shared<test::fake_client>("git");
  std::vector<mcp::clients::server_status> servers;
  std::vector<server_terms> entries;
  std::map<std::string, mcp::protocol::feature_list> lists;
  std::vector<mcp::catalogs::entry_ptr> tools;
  mcp::catalogs::withheld_tools withheld;
  std::vector<mcp::catalogs::dropped_item> dropped;
  std::string json;
};

const tool_step& step(const tool_reasons& r, std::string_view check) {
  const auto found = std::ranges::find(r.steps, check, &tool_step::check);
  REQUIRE(found != r.steps.end());
  return *found;
}

using outcome = tool_reasons::outcome;

}  // namespace

TEST_CASE("why: a tool that is offered has every step ok, and says where its name comes from") {
  setting s;
  const auto r = s.why("git__history");
  CHECK(r.is == outcome::offered);
  CHECK(r.server == "git");
  CHECK(r.own == "log");
  CHECK(contains(step(r, "name").text, "tools.rename of its entry"));
  CHECK_FALSE(r.needs_approval);
  CHECK(contains(step(s.why("git__commit"), "name").text, "made of the server's name"));
  CHECK(contains(step(s.why("git__a_b"), "name").text, "too long"));
  CHECK(s.why("commit").name == "git__commit");  // the server's own name
}

TEST_CASE("why: a filter of the entry hides a tool, by its pattern and with its mend") {
  setting s;
  for (const auto* name : {"git__push", "push"}) {
    const auto r = s.why(name);
    CHECK(r.is == outcome::hidden);
    CHECK(step(r, "filter").pattern == "pu*");
    CHECK(contains(step(r, "filter").mend, "tools.deny"));
    CHECK(r.steps.back().check == "filter");
  }
  s.entries[0].deny.clear();
  s.entries[0].allow = {"log"};
  const auto r = s.why("git__push");
  CHECK(r.is == outcome::hidden);
  CHECK(contains(step(r, "filter").text, "names other tools only"));
  CHECK(contains(s.json, R"("outcome":"hidden")"));
}

TEST_CASE("why: pins and profiles hide a tool, and a profile's name for it is known") {
  setting s;
  s.tools.erase(s.tools.begin() + 1);
  s.withheld.emplace(
      "git__commit",
      mcp::catalogs::withheld_tool{"git", "commit", std::make_shared<const std::string>("its definition changed")});
  const auto pinned = s.why("git__commit");
  CHECK(pinned.is == outcome::hidden);
  CHECK(step(pinned, "pins").text == "its definition changed");
  CHECK(step(pinned, "pins").mend == "mcpbx pins show git__commit");
  CHECK(pinned.needs_approval);

  chat_base profile;
  profile.deny = {"git__h*"};
  const auto denied = s.why("git__history", &profile);
  CHECK(denied.is == outcome::hidden);
  CHECK(step(denied, "profile").pattern == "git__h*");
  profile.deny.clear();
  profile.allow = {"other"};
  CHECK(contains(step(s.why("git__history", &profile), "profile").text, "names other tools only"));
  profile.allow.clear();
  profile.rename = {{"git__history", "past"}};
  const auto renamed = s.why("past", &profile);
  CHECK(renamed.is == outcome::offered);
  CHECK(renamed.name == "past");
  CHECK(renamed.own == "log");
}

TEST_CASE("why: the rule that asks a person is named") {
  setting s;
  const auto entry = s.why("git__commit");
  CHECK(entry.is == outcome::offered);
  CHECK(entry.needs_approval);
  CHECK(entry.approval_pattern == "com*");
  chat_base profile;
  profile.approve = {"git__hist*"};
  CHECK(s.why("git__history", &profile).approval_pattern == "git__hist*");
}

TEST_CASE("why: a server that is down, a tool that it does not list, and a name that nobody has") {
  setting s;
  const auto down = s.why("web__get");
  CHECK(down.is == outcome::unknown);
  CHECK(down.server == "web");
  CHECK(contains(step(down, "server").text, "in a crash loop: it exited"));
  CHECK(step(down, "server").mend == "mcpbx doctor web");
  CHECK(contains(step(s.why("git__none"), "list").text, "no tool of this name"));
  const auto near = s.why("git__histroy");
  CHECK(near.is == outcome::unknown);
  CHECK(std::ranges::find(near.near, "git__history") != near.near.end());
  CHECK(contains(s.json, R"("near":["git__history")"));
}

TEST_CASE("why: a tool without a name says which clash took it, and an own name of two servers names both") {
  setting s;
  s.tools.pop_back();
  s.dropped.push_back({"git", "tool server \"git\": tool \"a b\" is left out: every name for it is taken"});
  const auto r = s.why("git__a_b");
  CHECK(r.is == outcome::hidden);
  CHECK(contains(step(r, "name").text, "every name for it is taken"));

  s.add("other", mcp::clients::server_state::ready, {"commit"});
  const auto both = s.why("commit");
  CHECK(both.is == outcome::unknown);
  CHECK(both.near == std::vector<std::string>{"git__commit", "other__commit"});
}
