// Rows about things that servers tell without being asked: logs, changed lists, updated resources.
#include "test/mcp/bridging/scene.hpp"

namespace {

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::test;
using way = bridge_step::way;

constexpr std::string_view subscription_key = "io.modelcontextprotocol/subscriptionId";

std::string log_of(const std::string& level) {
  return R"({"level":")" + level + R"(","logger":"l","data":{"a" : 1}})";
}

void logging(bridge& b) {
  const auto [_, srv, c] = begin(b, {.server = [](bridge_server& s) {
                                   s.add_tool("log");
                                   s.add_tool("hold");
                                 }});
  auto& second = b.add_caller("second", "uid:2");
  second.open();
  b.pass();
  if (!b.era.new_caller) {
    b.remark("One caller wants warnings, the other one everything.");
    c.ask("logging/setLevel", R"("level":"warning")");
    second.ask("logging/setLevel", R"("level":"debug")");
    b.pass();
    if (!b.era.new_server) {
      std::vector<std::string> levels;
      for (const auto& line : srv.got("logging/setLevel")) levels.push_back(member_at(line, {"params", "level"}));
      CHECK(levels == std::vector<std::string>{R"("warning")", R"("debug")"});  // the lowest that anybody wants
      b.remark("Logs of no call go to each caller from its level on.");
      srv.life().notify("notifications/message", log_of("info"));
      srv.life().notify("notifications/message", log_of("error"));
      b.pass();
      CHECK(c.got("notifications/message").size() == 1);
      CHECK(second.got("notifications/message").size() == 2);
      CHECK(contains(c.got("notifications/message").at(0), log_of("error")));
    }
  } else {
    b.remark("Each request says what it wants; the first one wants nothing.");
  }
  const auto told = [](const bridge_caller& who) { return who.got("notifications/message").size(); };
  const auto before = told(c), before_second = told(second);
  if (b.era.new_caller) {
    c.call("log");
    b.pass();
    CHECK(told(c) == before);
    c.level = "warning";
  }
  c.call("log");
  b.pass();
  CHECK(told(c) == before + 1);
  if (b.era.new_server)
    CHECK(member_at(srv.got("tools/call").back(), {"params", "_meta", "io.modelcontextprotocol/logLevel"}) ==
          R"("warning")");
  if (b.era.new_caller || b.era.new_server) CHECK(told(second) == before_second);
  if (b.era.new_caller) {
    b.remark("With calls of two callers open, a log of a server that names no call belongs to neither.");
    second.level = "debug";
    const auto before_both = told(c) + told(second);
    c.call("hold");
    second.call("hold");
    b.pass();
    srv.life().notify("notifications/message", log_of("error"));
    b.pass();
    CHECK(told(c) + told(second) == before_both);
    b.remark("A log while no call is open has nobody either.");
    c.leave();
    b.pass();
    second.leave();
    b.pass();
    srv.life().notify("notifications/message", log_of("error"));
    b.pass();
  }
}

void list_changed(bridge& b) {
  const auto [_, srv, c] = begin(b);
  auto& second = b.add_caller("second", "uid:2");
  second.open();
  b.pass();
  const std::string all =
      R"("notifications":{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true})";
  if (b.era.new_caller) {
    b.remark("One caller listens to everything, the other one to prompts.");
    c.ask_as("\"all\"", "subscriptions/listen", all);
    second.ask_as("\"some\"", "subscriptions/listen", R"("notifications":{"promptsListChanged":true})");
    b.pass();
    for (const auto* one : {&c, &second}) {
      REQUIRE(one->received().size() == 1);  // the acknowledgement comes first
      CHECK(one->got("notifications/subscriptions/acknowledged").size() == 1);
    }
  }
  srv.add_tool("more");
  srv.prompts.push_back(R"({"name":"more"})");
  srv.resources.push_back(R"({"uri":"note://c","name":"c"})");
  for (const std::string kind : {"tools", "prompts", "resources"}) {
    b.remark("The " + kind + " change.");
    srv.change(kind);
    b.pass(300);
    const std::string method = "notifications/" + kind + "/list_changed";
    const auto told = c.got(method), told_second = second.got(method);
    INFO(written(b.recorded()));
    REQUIRE(told.size() == 1);
    CHECK(told_second.size() == (!b.era.new_caller || kind == "prompts" ? 1 : 0));
    CHECK(member_at(told[0], {"params", "_meta", subscription_key}) == (b.era.new_caller ? R"("all")" : ""));
    if (b.era.new_caller && kind == "prompts")
      CHECK(member_at(told_second[0], {"params", "_meta", subscription_key}) == R"("some")");
  }
  CHECK(srv.got("subscriptions/listen").size() == (b.era.new_server ? 1 : 0));
  if (!b.era.new_caller) return;
  b.remark("A cancelled subscription gets no answer, and hears nothing more.");
  c.cancel("\"all\"");
  b.pass();
  srv.add_tool("last");
  srv.change("tools");
  b.pass(1'200);
  CHECK(c.got("notifications/tools/list_changed").size() == 1);
  CHECK(c.requests().at("\"all\"").answers.empty());
}

void subscriptions(bridge& b) {
  const auto [_, srv, c] = begin(b);
  auto& second = b.add_caller("second", "uid:2");
  second.open();
  b.pass();
  const auto uris = [&]() -> std::string {
    if (b.era.new_server) return member_at(srv.life().listens.rbegin()->second, {"resourceSubscriptions"});
    std::string out;
    for (const auto& uri : srv.life().subscribed) out += (out.empty() ? "[\"" : ",\"") + uri + "\"";
    return out.empty() ? out : out + "]";
  };
  const auto watch = [&](bridge_caller& who, const std::string& list) {
    if (b.era.new_caller) {
      who.ask_as("\"l\"", "subscriptions/listen", R"("notifications":{"resourceSubscriptions":[)" + list + "]}");
    } else {
      for_each_element(raw_json::own("[" + list + "]"), [&](const raw_json& uri) {
        who.ask("resources/subscribe", R"("uri":)" + std::string(uri.text()));
        return true;
      });
    }
    b.pass(100);
  };
  b.remark("Both callers watch one resource, and one of them another one as well.");
  watch(c, R"("note://a")");
  watch(second, R"("note://a","note://b")");
  CHECK(uris() == R"(["note://a","note://b"])");
  if (b.era.new_server)
    CHECK(srv.life().listens.size() == 1);
  else
    CHECK(srv.got("resources/subscribe").size() == 2);
  b.remark("An update reaches both.");
  srv.life().tell("notifications/resources/updated", R"("uri":"note://a")");
  b.pass();
  srv.life().tell("notifications/resources/updated", R"("uri":"note://b")");
  b.pass();
  const auto told = c.got("notifications/resources/updated"),
             told_second = second.got("notifications/resources/updated");
  REQUIRE(told.size() == 1);
  CHECK(told_second.size() == 2);
  CHECK(member_at(told[0], {"params", "uri"}) == R"("note://a")");
  CHECK(member_at(told[0], {"params", "_meta", subscription_key}) == (b.era.new_caller ? R"("l")" : ""));
  b.remark("One caller watches no more: the server still tells the other one.");
  if (b.era.new_caller)
    second.cancel("\"l\"");
  else
    for (const std::string uri : {"note://a", "note://b"})
      second.ask("resources/unsubscribe", R"("uri":")" + uri + "\"");
  b.pass(200);
  CHECK(uris() == R"(["note://a"])");
  b.remark("The last one leaves.");
  c.leave();
  b.pass(200);
  CHECK(uris().empty());
}

}  // namespace

TEST_CASE("M4: logs reach the callers that want their level and a log that could be anybody's reaches nobody") {
  play_row("logging", "Logging: levels of callers, levels of requests.", logging);
}
TEST_CASE("M4: a changed list is told once to each caller that wants to hear of it") {
  play_row("list_changed", "Changed lists: plain notifications for old callers, streams for new ones.", list_changed);
}
TEST_CASE("M4: a resource is watched once at its server for all callers and no longer than they want") {
  play_row("subscriptions", "Watched resources: counted, once at the server.", subscriptions);
}
