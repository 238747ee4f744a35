// Subscriptions of a conversation: updates of resources, changes that a server tells, levels of logs.
#include "test/mcp/client/session_rig.hpp"
#include "test/support/contains.hpp"
#include "test/support/more_kinds.hpp"

#include <set>

using namespace mcpbx;
using namespace mcpbx::json;
using mcpbx::test::contains;
using mcpbx::test::session_rig;

namespace {

using uris = std::set<std::string, std::less<>>;

void acknowledge(session_rig& s, std::string_view id) {
  s.say(R"({"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":)"
        R"({"io.modelcontextprotocol/subscriptionId":)" +
        std::string(id) + "}}}");
}
void update(session_rig& s, std::string_view uri, std::string_view id = {}) {
  s.say(
      R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{)" +
      (id.empty() ? std::string() : R"("_meta":{"io.modelcontextprotocol/subscriptionId":)" + std::string(id) + "},") +
      "\"uri\":\"" + std::string(uri) + "\"}}");
}
std::string wanted(session_rig& s) {
  for (auto line = s.sent.rbegin(); line != s.sent.rend(); ++line)
    if (session_rig::method_of(*line) == "subscriptions/listen")
      return std::string(find_member(find_member(raw_json::own(*line), "params"), "notifications").text());
  return {};
}
std::string cancelled(session_rig& s) {
  std::string ids;
  for (const auto& line : s.sent)
    if (session_rig::method_of(line) == "notifications/cancelled")
      ids += "," + std::string(find_member(find_member(raw_json::own(line), "params"), "requestId").text());
  return ids;
}
void turn(session_rig& s) {
  s.advance(milliseconds(0));
}

}  // namespace

TEST_CASE("a legacy server is subscribed to what is watched, once for each resource") {
  session_rig s;
  s.open_legacy();
  s.core.watch(uris{"a:1", "a:2"}, s.now);
  CHECK(s.count("resources/subscribe") == 2);
  s.core.watch(uris{"a:2", "a:3"}, s.now);
  CHECK(s.count("resources/subscribe") == 3);
  CHECK(s.count("resources/unsubscribe") == 1);
  CHECK(contains(s.sent[s.sent.size() - 2], R"("method":"resources/unsubscribe","params":{"uri":"a:1"})"));
  CHECK(contains(s.sent.back(), R"("method":"resources/subscribe","params":{"uri":"a:3"})"));
  s.core.watch(uris{"a:2", "a:3"}, s.now);
  CHECK(s.count("resources/subscribe") == 3);
  update(s, "a:2");
  CHECK(s.updates == std::vector<std::string>{R"({"uri":"a:2"})"});
  s.refuse("resources/subscribe", -32002);
  CHECK(s.core.ready());
}

TEST_CASE("a modern server gets one subscription for its lists and all watched resources") {
  session_rig s;
  s.open_modern();
  const auto first = s.id_of("subscriptions/listen");
  acknowledge(s, first);
  s.core.watch(uris{"a:1", "a:2"}, s.now);
  // It is sent at once: before any call that may be about these resources.
  CHECK(s.count("subscriptions/listen") == 2);
  CHECK(wanted(s) == R"({"toolsListChanged":true,"resourceSubscriptions":["a:1","a:2"]})");
  const auto second = s.id_of("subscriptions/listen");
  // Until the new one is acknowledged the old one stays, and what it brings counts.
  CHECK(cancelled(s).empty());
  update(s, "a:1", first);
  CHECK(s.updates == std::vector<std::string>{R"({"uri":"a:1"})"});
  acknowledge(s, second);
  CHECK(cancelled(s) == "," + first);
  update(s, "a:1", first);
  CHECK(s.updates.size() == 1);
  update(s, "a:1", second);
  CHECK(s.updates.size() == 2);
  // No list is fetched again: nothing was missed.
  s.advance(milliseconds(60'000));
  CHECK(s.count("tools/list") == 1);
  SUBCASE("and one without resources when nobody watches any more") {
    s.core.watch({}, s.now);
    turn(s);
    CHECK(wanted(s) == R"({"toolsListChanged":true})");
  }
  SUBCASE("and another one after it has ended") {
    s.answer("subscriptions/listen", "{}");
    s.advance(milliseconds(1'000));
    CHECK(s.count("subscriptions/listen") == 3);
    CHECK(wanted(s) == R"({"toolsListChanged":true,"resourceSubscriptions":["a:1","a:2"]})");
  }
}

TEST_CASE("what is watched while a subscription is being opened follows when it is acknowledged") {
  session_rig s;
  s.open_modern();
  acknowledge(s, s.id_of("subscriptions/listen"));
  s.core.watch(uris{"a:1"}, s.now);
  turn(s);
  for (int i = 0; i < 100; ++i) s.core.watch(uris{"a:1", "b:" + std::to_string(i)}, s.now);
  turn(s);
  CHECK(s.count("subscriptions/listen") == 2);
  acknowledge(s, s.id_of("subscriptions/listen"));
  turn(s);
  CHECK(s.count("subscriptions/listen") == 3);
  CHECK(wanted(s) == R"({"toolsListChanged":true,"resourceSubscriptions":["a:1","b:99"]})");
}

TEST_CASE("a server that never acknowledges gets its former subscription ended after five seconds") {
  session_rig s;
  s.open_modern();
  const auto first = s.id_of("subscriptions/listen");
  s.core.watch(uris{"a:1"}, s.now);
  turn(s);
  s.advance(milliseconds(4'999));
  CHECK(cancelled(s).empty());
  s.advance(milliseconds(1));
  CHECK(cancelled(s) == "," + first);
}

TEST_CASE("a server that refuses the resources keeps the subscription to its lists") {
  session_rig s;
  s.open_modern();
  const auto first = s.id_of("subscriptions/listen");
  acknowledge(s, first);
  s.core.watch(uris{"a:1"}, s.now);
  turn(s);
  s.refuse("subscriptions/listen", -32602);
  CHECK(cancelled(s).empty());
  s.advance(milliseconds(60'000));
  CHECK(s.count("subscriptions/listen") == 2);
  s.say(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":)"
        R"({"io.modelcontextprotocol/subscriptionId":)" +
        first + "}}}");
  CHECK(s.count("tools/list") == 2);
  SUBCASE("and is asked again for other resources") {
    s.core.watch(uris{"a:2"}, s.now);
    turn(s);
    CHECK(s.count("subscriptions/listen") == 3);
  }
}

TEST_CASE("the answer of a server to a subscription is reported") {
  const auto ack = [](session_rig& s, std::string_view agreed) {
    s.say(R"({"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":)"
          R"({"io.modelcontextprotocol/subscriptionId":)" +
          s.id_of("subscriptions/listen") + "}" + std::string(agreed) + "}}");
  };
  using texts = std::vector<std::string>;
  session_rig s;
  SUBCASE("of a legacy one, which gets no unsubscription for what it has refused") {
    s.open_legacy();
    s.core.watch(uris{"a:1"}, s.now);
    CHECK(s.answers.empty());
    s.answer("resources/subscribe", "{}");
    s.core.watch(uris{"a:1", "a:2"}, s.now);
    s.refuse("resources/subscribe", -32002);
    CHECK(s.answers == texts{"a:1 yes", R"(a:2 {"code":-32002,"message":"no","data":null})"});
    s.core.watch(uris{"a:1"}, s.now);
    CHECK(s.count("resources/unsubscribe") == 0);
    s.core.watch(uris{"a:1", "a:2"}, s.now);
    CHECK(s.count("resources/subscribe") == 3);
    s.answer("resources/subscribe", "{}");
    s.core.watch({}, s.now);
    CHECK(s.count("resources/unsubscribe") == 2);
  }
  SUBCASE("of a legacy one that does not answer") {
    s.open_legacy();
    s.core.watch(uris{"a:1"}, s.now);
    s.advance(milliseconds(60'000));
    CHECK(s.answers == texts{"a:1 no"});
  }
  SUBCASE("of a modern one that leaves a resource out") {
    s.open_modern();
    s.core.watch(uris{"a:1", "a:2"}, s.now);
    ack(s, R"(,"notifications":{"resourceSubscriptions":["a:2","later"]})");
    CHECK(s.answers == texts{"a:1 no", "a:2 yes"});
    ack(s, R"(,"notifications":{})");
    CHECK(s.answers.size() == 2);
  }
  SUBCASE("of a modern one that does not say what it agrees to") {
    s.open_modern();
    s.core.watch(uris{"a:1"}, s.now);
    ack(s, "");
    CHECK(s.answers == texts{"a:1 yes"});
  }
  SUBCASE("of a modern one that never acknowledges") {
    s.open_modern();
    s.core.watch(uris{"a:1"}, s.now);
    s.advance(milliseconds(5'000));
    CHECK(s.answers == texts{"a:1 yes"});
  }
  SUBCASE("of a modern one that refuses the whole subscription") {
    s.open_modern();
    ack(s, "");
    s.core.watch(uris{"a:1"}, s.now);
    s.refuse("subscriptions/listen", -32602);
    CHECK(s.answers == texts{R"(a:1 {"code":-32602,"message":"no","data":null})"});
  }
  SUBCASE("of a modern one that ends it, since it is opened again") {
    s.open_modern();
    s.core.watch(uris{"a:1"}, s.now);
    s.answer("subscriptions/listen", "{}");
    CHECK(s.answers == texts{"a:1 yes"});
  }
}

TEST_CASE("a modern server is asked to tell of tasks and its notifications are passed on") {
  session_rig s;
  s.open_modern();
  s.core.watch(uris{"a:1"}, s.now, uris{"T1", "T2"});
  CHECK(wanted(s) == R"({"toolsListChanged":true,"resourceSubscriptions":["a:1"],"taskIds":["T1","T2"]})");
  CHECK(contains(s.sent.back(), R"(clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}})"));
  const std::string id = s.id_of("subscriptions/listen");
  s.say(R"({"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":)"
        R"({"io.modelcontextprotocol/subscriptionId":)" +
        id + R"(},"notifications":{"toolsListChanged":true,"resourceSubscriptions":["a:1"],"taskIds":["T2"]}}})");
  CHECK(s.answers == std::vector<std::string>{"a:1 yes", "task T1 no", "task T2 yes"});
  const auto tell = [&](const std::string& mark) {
    s.say(R"({"jsonrpc":"2.0","method":"notifications/tasks","params":{"taskId":"T2","_meta":{)"
          R"("io.modelcontextprotocol/subscriptionId":)" +
          mark + "}}}");
  };
  tell(id);
  tell("4711");
  CHECK(s.updates == std::vector<std::string>{R"(task {"taskId":"T2"})"});
  s.core.watch(uris{"a:1"}, s.now);
  CHECK(wanted(s) == R"({"toolsListChanged":true,"resourceSubscriptions":["a:1"]})");
  session_rig old;
  old.open_legacy();
  old.core.watch({}, old.now, uris{"T1"});
  CHECK(old.count("subscriptions/listen") == 0);
  old.say(R"({"jsonrpc":"2.0","method":"notifications/tasks","params":{"taskId":"T1"}})");
  CHECK(old.updates.empty());
}

TEST_CASE("an update keeps its meta but for the mark of our subscription") {
  session_rig s;
  s.open_modern();
  const auto id = s.id_of("subscriptions/listen");
  s.say(R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:1","_meta":{"x":1.0,)"
        R"("io.modelcontextprotocol/subscriptionId":)" +
        id + "}}}");
  CHECK(s.updates == std::vector<std::string>{R"({"uri":"a:1","_meta":{"x":1.0}})"});
}

TEST_CASE("updates of a subscription that is not open are not passed on") {
  session_rig s;
  s.open_modern();
  update(s, "a:1", "4711");
  update(s, "a:1", "\"1\"");
  CHECK(s.updates.empty());
}

TEST_CASE("a legacy server is set to the level that is wanted, once for each change") {
  session_rig s;
  s.open_legacy();
  s.core.set_log_level("", s.now);
  CHECK(s.count("logging/setLevel") == 0);
  s.core.set_log_level("warning", s.now);
  s.core.set_log_level("warning", s.now);
  CHECK(s.count("logging/setLevel") == 1);
  CHECK(contains(s.sent.back(), R"("params":{"level":"warning"})"));
  s.core.set_log_level("debug", s.now);
  CHECK(s.count("logging/setLevel") == 2);
}

TEST_CASE("a change that a server tells is reported once its list is here, also if it is equal") {
  session_rig s;
  s.open_legacy();
  s.advance(milliseconds(20'000));
  const std::string tell = R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})";
  constexpr std::string_view equal = R"({"tools":[{"name":"echo","inputSchema":{}}]})";
  s.say(tell);
  CHECK(s.told_changes.empty());
  SUBCASE("equal") {
    s.answer("tools/list", equal);
    CHECK(s.lists.size() == 1);
  }
  SUBCASE("different") {
    s.answer("tools/list", R"({"tools":[{"name":"other","inputSchema":{}}]})");
    CHECK(s.lists.size() == 2);
  }
  SUBCASE("refused") {
    s.refuse("tools/list", -32603);
  }
  CHECK(s.told_changes == std::vector<std::string_view>{"tools/list"});
}

TEST_CASE("a storm of told changes is reported once for each list that was fetched") {
  session_rig s;
  s.open_legacy();
  s.advance(milliseconds(20'000));
  for (int i = 0; i < 1000; ++i) s.say(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})");
  s.answer("tools/list", R"({"tools":[{"name":"echo","inputSchema":{}}]})");
  CHECK(s.told_changes.size() == 1);
  s.advance(milliseconds(20'000));
  s.answer("tools/list", R"({"tools":[{"name":"echo","inputSchema":{}}]})");
  CHECK(s.told_changes.size() == 2);
  s.advance(milliseconds(60'000));
  CHECK(s.count("tools/list") == 3);
}

TEST_CASE("lists that share a notification are reported together") {
  session_rig s("auto", false, milliseconds(30'000), test::more_kinds());
  s.begin();
  s.refuse("server/discover", -32601);
  s.answer("initialize", R"({"protocolVersion":"2025-11-25","capabilities":{"pages":{}}})");
  s.answer("pages/list", R"({"pages":[]})");
  s.answer("pages/templates/list", R"({"pageTemplates":[]})");
  REQUIRE(s.core.ready());
  s.advance(milliseconds(20'000));
  s.lists_of_others.clear();
  s.say(R"({"jsonrpc":"2.0","method":"notifications/pages/list_changed"})");
  s.answer("pages/list", R"({"pages":[{"uri":"p:1"}]})");
  CHECK(s.lists_of_others.empty());
  CHECK(s.told_changes.empty());
  SUBCASE("answered") {
    s.answer("pages/templates/list", R"({"pageTemplates":[]})");
  }
  SUBCASE("refused") {
    s.refuse("pages/templates/list", -32601);
  }
  CHECK(s.lists_of_others.size() == 1);
  CHECK(s.told_changes == std::vector<std::string_view>{"pages/list", "pages/templates/list"});
}
