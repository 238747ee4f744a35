// Subscriptions, logs and roots of legacy callers, and subscriptions/listen of modern ones.
#include "test/mcp/server/fake_host.hpp"

#include <string>

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::test;

namespace {

struct watched {
  explicit watched(mcp::callers::caller_session::options o = {.version = "1.2.3"}, std::string_view capabilities = "{}")
      : server(std::make_shared<fake_client>("s")), caller(std::move(o)) {
    caller.host.catalog =
        make_catalog({.tools = {make_tool(server, "s__t", "t")},
                      .resources = {make_feature(server, "mcpbx://s/a:1", "a:1"), make_feature(server, "a:2", "a:2")}});
    caller.initialize("2025-11-25", capabilities);
  }
  std::string ask(const std::string& method, const std::string& params, const std::string& id = "1") {
    return caller.ask(request(id, method, params));
  }
  std::string listen(const std::string& filter, const std::string& id = "\"l\"") {
    return ask("subscriptions/listen", modern_params(R"("notifications":)" + filter + ","), id);
  }
  std::shared_ptr<fake_client> server;
  fake_caller caller;
};
using lines = std::vector<std::string>;

std::string acknowledged(const std::string& id, const std::string& filter) {
  return R"({"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":)" +
         id + R"(},"notifications":)" + filter + "}}";
}

}  // namespace

TEST_CASE("a subscription tells updates under the caller's URI until it is given back") {
  watched w;
  CHECK(w.ask("resources/subscribe", R"({"uri":"mcpbx://s/a:1"})") == R"({"jsonrpc":"2.0","id":1,"result":{}})");
  CHECK(w.ask("resources/subscribe", R"({"uri":"mcpbx://s/a:1"})") == R"({"jsonrpc":"2.0","id":1,"result":{}})");
  CHECK(fake_client::held(w.server->watching, "a:1") == 1);
  w.caller.host.take();
  fake_client::tell(w.server->watching, "a:1", R"({"uri":"a:1","title":"x"})");
  CHECK(
      w.caller.host.take() ==
      lines{
          R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"mcpbx://s/a:1","title":"x"}})"});
  CHECK(w.caller.host.notes.back().same == "mcpbx://s/a:1");
  CHECK_FALSE(w.caller.host.notes.back().droppable);
  CHECK(w.ask("resources/unsubscribe", R"({"uri":"mcpbx://s/a:1"})") == R"({"jsonrpc":"2.0","id":1,"result":{}})");
  CHECK(fake_client::held(w.server->watching, "a:1") == 0);
  CHECK(w.ask("resources/unsubscribe", R"({"uri":"never"})") == R"({"jsonrpc":"2.0","id":1,"result":{}})");
  w.ask("resources/subscribe", R"({"uri":"a:2"})");
  w.caller.session.close();
  CHECK(fake_client::held(w.server->watching, "a:2") == 0);
}

TEST_CASE("G41: a subscription is silent while the configuration keeps its resource from the caller") {
  watched w;
  const auto listened = [&] { return fake_client::held(w.server->watching, "a:2"); };
  w.ask("resources/subscribe", R"({"uri":"mcpbx://s/a:1"})");
  w.listen(R"({"resourceSubscriptions":["a:2"]})");
  const auto all = w.caller.host.catalog;
  const auto told = [&] {
    w.caller.host.take();
    fake_client::tell(w.server->watching, "a:1", R"({"uri":"a:1"})");
    fake_client::tell(w.server->watching, "a:2", R"({"uri":"a:2"})");
    return w.caller.host.take().size();
  };
  CHECK(told() == 2);
  w.caller.host.catalog = make_catalog({.tools = {make_tool(w.server, "s__t", "t")}});
  w.caller.session.list_changed(mcp::protocol::resource_kind());
  CHECK(told() == 0);
  CHECK(listened() == 1);
  w.caller.host.catalog = all;
  CHECK(told() == 2);
  // A profile that denies one of them.
  const auto denies = std::make_shared<mcp::catalogs::uri_filter>(mcp::catalogs::item_filter{{}, {"a:2"}});
  mcp::catalogs::catalog_rest rest;
  rest.routes = all->rest().routes->narrowed(denies);
  w.caller.host.catalog = std::make_shared<mcp::catalogs::catalog>(
      std::vector<mcp::catalogs::entry_ptr>(), 1, mcp::catalogs::withheld_tools(),
      std::vector<mcp::catalogs::dropped_item>(), std::move(rest));
  CHECK(told() == 1);
}

TEST_CASE("a subscription follows its resource to the server that has it now") {
  watched w;
  w.ask("resources/subscribe", R"({"uri":"a:2"})");
  w.listen(R"({"resourceSubscriptions":["a:2"]})");
  const auto next = std::make_shared<fake_client>("s");
  w.caller.host.catalog = make_catalog({.resources = {make_feature(next, "a:2", "a:2")}});
  w.caller.session.list_changed(mcp::protocol::resource_kind());
  CHECK(fake_client::held(next->watching, "a:2") == 2);
  CHECK(fake_client::held(w.server->watching, "a:2") == 0);
  w.caller.host.take();
  fake_client::tell(next->watching, "a:2", R"({"uri":"a:2"})");
  CHECK(w.caller.host.take().size() == 2);
}

TEST_CASE("resources of a server that is starting are looked for when it has had its time") {
  watched w;
  const auto all = w.caller.host.catalog;
  w.caller.host.catalog = make_catalog({.resources = {make_feature(w.server, "mcpbx://s/a:1", "a:1")}});
  w.caller.host.starting = true;
  CHECK(w.ask("resources/subscribe", R"({"uri":"a:2"})", "5").empty());
  CHECK(w.listen(R"({"resourceSubscriptions":["a:2","mcpbx://s/a:1","nobody:has"]})").empty());
  CHECK(w.listen(R"({"resourceSubscriptions":["a:2"]})", "9").empty());
  w.caller.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}})");
  // A listen that waits for nobody is answered at once.
  CHECK(w.listen(R"({"resourceSubscriptions":["mcpbx://s/a:1"]})", "7") ==
        acknowledged("7", R"({"resourceSubscriptions":["mcpbx://s/a:1"]})"));
  w.caller.host.take();
  w.caller.host.catalog = all;
  w.caller.host.starting = false;
  w.caller.host.settle();
  CHECK(w.caller.host.take() == lines{R"({"jsonrpc":"2.0","id":5,"result":{}})",
                                      acknowledged("\"l\"", R"({"resourceSubscriptions":["a:2","mcpbx://s/a:1"]})")});
  CHECK(fake_client::held(w.server->watching, "a:2") == 2);
  fake_client::tell(w.server->watching, "a:2", R"({"uri":"a:2"})");
  CHECK(w.caller.host.take().size() == 2);
  w.caller.host.starting = true;
  CHECK(w.ask("resources/subscribe", R"({"uri":"nobody:has"})", "6").empty());
  w.caller.host.settle();
  CHECK(code_of(w.caller.host.take().at(0)) == -32002);
}

TEST_CASE("a resource of subscriptions/listen whose server comes later is watched from then on") {
  watched w;
  const auto late = std::make_shared<fake_client>("late");
  CHECK(w.listen(R"({"resourceSubscriptions":["a:2","late:1"]})") ==
        acknowledged("\"l\"", R"({"resourceSubscriptions":["a:2"]})"));
  w.caller.host.catalog =
      make_catalog({.resources = {make_feature(w.server, "a:2", "a:2"), make_feature(late, "late:1", "late:1")}});
  w.caller.session.list_changed(mcp::protocol::resource_kind());
  CHECK(fake_client::held(late->watching, "late:1") == 1);
  CHECK(fake_client::held(w.server->watching, "a:2") == 1);
  w.caller.host.take();
  fake_client::tell(late->watching, "late:1", R"({"uri":"late:1"})");
  CHECK(w.caller.host.take().size() == 1);
  w.caller.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"l"}})");
  CHECK(fake_client::held(late->watching, "late:1") == 0);
}

TEST_CASE("an update of a part of a resource keeps the URI of the part in the form that the caller asked in") {
  watched w;
  const auto denies = std::make_shared<mcp::catalogs::uri_filter>(mcp::catalogs::item_filter{{}, {"a:2/secret"}});
  w.ask("resources/subscribe", R"({"uri":"a:2"})");
  w.ask("resources/subscribe", R"({"uri":"mcpbx://s/a:1"})");
  w.listen(R"({"resourceSubscriptions":["a:2","mcpbx://s/a:1"]})");
  const auto told = [&](const std::string& watched_uri, const std::string& part) {
    w.caller.host.take();
    fake_client::tell(w.server->watching, watched_uri, R"({"uri":")" + part + "\"}");
    const auto got = w.caller.host.take();
    REQUIRE(got.size() == 2);
    const std::string uri = at(got[0], {"params", "uri"});
    CHECK(at(got[1], {"params", "uri"}) == uri);
    CHECK("\"" + w.caller.host.notes.back().same + "\"" == uri);
    return uri;
  };
  CHECK(told("a:2", "a:2/child") == "\"a:2/child\"");
  CHECK(told("a:1", "a:1/child") == "\"mcpbx://s/a:1/child\"");
  CHECK(told("a:1", "a:1") == "\"mcpbx://s/a:1\"");
  // A part that the caller may not read is not named.
  mcp::catalogs::catalog_rest rest;
  rest.routes = w.caller.host.catalog->rest().routes->narrowed(denies);
  w.caller.host.catalog = std::make_shared<mcp::catalogs::catalog>(
      std::vector<mcp::catalogs::entry_ptr>(), 1, mcp::catalogs::withheld_tools(),
      std::vector<mcp::catalogs::dropped_item>(), std::move(rest));
  CHECK(told("a:2", "a:2/secret") == "\"a:2\"");
}

TEST_CASE("G41: logs of a server that is not offered any more are not told") {
  watched w;
  w.ask("logging/setLevel", R"({"level":"debug"})");
  const auto other = std::make_shared<fake_client>("other");
  w.caller.host.catalog = make_catalog({.tools = {make_tool(other, "other__t", "t")}});
  w.caller.session.list_changed(mcp::protocol::tool_kind());
  CHECK(fake_client::held(w.server->logging, "debug") == 0);
  CHECK(fake_client::held(other->logging, "debug") == 1);
}

TEST_CASE("a subscription that cannot be is refused with the reason") {
  watched w;
  CHECK(code_of(w.ask("resources/subscribe", "{}")) == -32602);
  CHECK(code_of(w.ask("resources/subscribe", R"({"uri":"a:1","uri":"a:2"})")) == -32602);
  CHECK(code_of(w.ask("resources/unsubscribe", R"({"uri":7})")) == -32602);
  CHECK(code_of(w.ask("resources/subscribe", R"({"uri":"nobody:has"})")) == -32002);
  w.server->subscribes = false;
  CHECK(text_of(w.ask("resources/subscribe", R"({"uri":"a:2"})")).find("takes no subscriptions") != std::string::npos);
}

TEST_CASE("a subscription is answered when the server has answered and its refusal is told") {
  using mcpbx::mcp::rpc::call_outcome;
  watched w;
  w.server->decides = false;
  const auto refusal = [](std::string_view e) { return call_outcome{call_outcome::kind::error, raw_json::own(e), {}}; };
  const std::string subscribe = R"({"uri":"a:2"})";
  CHECK(w.ask("resources/subscribe", subscribe, "1").empty());
  CHECK(w.ask("resources/subscribe", subscribe, "2").empty());
  CHECK(w.server->undecided.size() == 1);
  SUBCASE("accepted") {
    w.server->decide({call_outcome::kind::result, raw_json::literal("{}"), {}});
    CHECK(w.caller.host.take() ==
          lines{R"({"jsonrpc":"2.0","id":1,"result":{}})", R"({"jsonrpc":"2.0","id":2,"result":{}})"});
    CHECK(fake_client::held(w.server->watching, "a:2") == 1);
  }
  SUBCASE("refused with the server's own error") {
    w.server->decide(refusal(R"({"code":-32002,"message":"not this one","data":{"uri":"a:2"}})"));
    CHECK(w.caller.host.take().at(1) ==
          R"({"jsonrpc":"2.0","id":2,"error":{"code":-32002,"message":"not this one","data":{"uri":"a:2"}}})");
    CHECK(fake_client::held(w.server->watching, "a:2") == 0);
    CHECK(w.ask("resources/subscribe", subscribe, "3").empty());
    CHECK(w.server->undecided.size() == 1);
  }
  SUBCASE("left out of an acknowledgement") {
    w.server->decide(call_outcome::failed(errc::unavailable, "accepts no subscription to the resource"));
    const auto got = w.caller.host.take();
    REQUIRE(got.size() == 2);
    CHECK(text_of(got[0]) == R"(the tool server "s" accepts no subscription to the resource: "a:2")");
    CHECK(fake_client::held(w.server->watching, "a:2") == 0);
  }
  SUBCASE("given back before") {
    CHECK(w.caller.host.take().empty());
    w.caller.say(request("3", "resources/unsubscribe", subscribe));
    CHECK(w.caller.host.take().size() == 3);
    CHECK(fake_client::held(w.server->watching, "a:2") == 0);
    CHECK(w.caller.session.open() == 0);
  }
  SUBCASE("of a caller that is gone before") {
    w.caller.session.close();
    w.server->decide(refusal(R"({"code":-32002,"message":"no"})"));
    CHECK(w.caller.host.take().empty());
  }
}

TEST_CASE("a modern server's refusal of a subscription reaches a legacy caller in the words of its era") {
  const auto modern = std::make_shared<fake_client>("m", mcp::clients::era::modern);
  watched w;
  w.caller.host.catalog = make_catalog({.resources = {make_feature(modern, "m:1", "m:1")}});
  modern->decides = false;
  CHECK(w.ask("resources/subscribe", R"({"uri":"m:1"})").empty());
  modern->decide({mcp::rpc::call_outcome::kind::error,
                  raw_json::own(R"({"code":-32602,"message":"no such resource","data":{"uri":"m:1"}})"),
                  {}});
  CHECK(code_of(w.caller.host.take().at(0)) == -32002);
}

TEST_CASE("an acknowledgement waits for the servers and leaves out what they refuse") {
  using mcpbx::mcp::rpc::call_outcome;
  watched w;
  w.server->decides = false;
  CHECK(w.listen(R"({"toolsListChanged":true,"resourceSubscriptions":["a:2","mcpbx://s/a:1"]})").empty());
  REQUIRE(w.server->undecided.size() == 2);
  const auto both =
      acknowledged("\"l\"", R"({"toolsListChanged":true,"resourceSubscriptions":["a:2","mcpbx://s/a:1"]})");
  SUBCASE("one is refused") {
    w.server->undecided[0].second(call_outcome::failed(errc::unavailable, "no"));
    CHECK(w.caller.host.take().empty());
    w.server->undecided[1].second({call_outcome::kind::result, raw_json::literal("{}"), {}});
    CHECK(w.caller.host.take() ==
          lines{acknowledged("\"l\"", R"({"toolsListChanged":true,"resourceSubscriptions":["mcpbx://s/a:1"]})")});
    CHECK(fake_client::held(w.server->watching, "a:2") == 0);
    CHECK(fake_client::held(w.server->watching, "a:1") == 1);
    w.server->undecided.clear();
    w.caller.session.list_changed(mcp::protocol::resource_kind());  // it is not asked again for a change of the list
    CHECK(w.server->undecided.empty());
  }
  SUBCASE("a server that does not answer is waited for five seconds") {
    w.caller.host.clock.advance(milliseconds(4'999));
    CHECK(w.caller.host.take().empty());
    w.caller.host.clock.advance(milliseconds(1));
    CHECK(w.caller.host.take() == lines{both});
    w.server->decide({call_outcome::kind::result, raw_json::literal("{}"), {}});
    CHECK(w.caller.host.take().empty());
  }
  SUBCASE("a cancelled one leaves nothing") {
    w.caller.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"l"}})");
    w.server->decide(call_outcome::failed(errc::unavailable, "no"));
    w.caller.host.clock.advance(milliseconds(10'000));
    CHECK(w.caller.host.take().empty());
    CHECK(fake_client::held(w.server->watching, "a:1") == 0);
  }
}

TEST_CASE("subscriptions/listen tells of tasks that the caller has made") {
  const auto modern = std::make_shared<fake_client>("m", mcp::clients::era::modern);
  watched w;
  for (const char* id : {"T1", "T2"}) w.caller.host.task_table.add("uid:1000", id, {modern, "m", true});
  w.caller.host.task_table.add("uid:7", "theirs", {modern, "m", true});
  const auto listen = [&](const std::string& filter, const std::string& capabilities) {
    return w.ask("subscriptions/listen", modern_params(R"("notifications":)" + filter + ",", capabilities), "\"l\"");
  };
  const std::string tasks = R"({"extensions":{"io.modelcontextprotocol/tasks":{}}})";
  CHECK(code_of(listen(R"({"taskIds":["T1"]})", "{}")) == -32021);
  CHECK(code_of(listen(R"({"taskIds":"T1"})", tasks)) == -32602);
  CHECK(listen(R"({"taskIds":["T1","theirs","nobody"],"toolsListChanged":true})", tasks) ==
        acknowledged("\"l\"", R"({"toolsListChanged":true,"taskIds":["T1"]})"));
  CHECK(fake_client::held(modern->watching, "task:theirs") == 0);
  w.caller.host.take();
  fake_client::tell(modern->watching, "task:T1", R"({"taskId":"T1","status":"working","_meta":{"v":1}})");
  CHECK(
      w.caller.host.take() ==
      lines{
          R"({"jsonrpc":"2.0","method":"notifications/tasks","params":{"taskId":"T1","status":"working","_meta":{"v":1,"io.modelcontextprotocol/subscriptionId":"l"}}})"});
  CHECK(w.caller.host.notes.back().same.empty());
  w.caller.session.list_changed(mcp::protocol::resource_kind());
  CHECK(fake_client::held(modern->watching, "task:T1") == 1);
  w.caller.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"l"}})");
  CHECK(fake_client::held(modern->watching, "task:T1") == 0);
  modern->decides = false;
  CHECK(listen(R"({"taskIds":["T1","T2"]})", tasks).empty());
  REQUIRE(modern->undecided.size() == 2);
  modern->undecided[0].second(mcp::rpc::call_outcome::failed(errc::unavailable, "no"));
  modern->undecided[1].second({mcp::rpc::call_outcome::kind::result, raw_json::literal("{}"), {}});
  const auto got = w.caller.host.take();
  REQUIRE(got.size() == 1);
  CHECK(at(got[0], {"params", "notifications", "taskIds"}).size() == 6);
}

TEST_CASE("subscriptions of one caller are bounded and room comes back") {
  watched w;
  std::vector<mcp::catalogs::feature_entry_ptr> many;
  for (std::size_t i = 0; i <= mcp::watches::caller_watches::most_subscriptions; ++i)
    many.push_back(make_feature(w.server, "n:" + std::to_string(i), "n:" + std::to_string(i)));
  w.caller.host.catalog = make_catalog({.resources = many});
  const auto subscribe = [&](std::size_t i) {
    return code_of(w.ask("resources/subscribe", R"({"uri":"n:)" + std::to_string(i) + "\"}"));
  };
  for (std::size_t i = 0; i < mcp::watches::caller_watches::most_subscriptions; ++i) REQUIRE(subscribe(i) == 0);
  CHECK(subscribe(mcp::watches::caller_watches::most_subscriptions) == -32001);
  w.ask("resources/unsubscribe", R"({"uri":"n:5"})");
  CHECK(subscribe(mcp::watches::caller_watches::most_subscriptions) == 0);
}

TEST_CASE("logging/setLevel asks each server for the caller's level and filters what comes") {
  watched w;
  CHECK(code_of(w.ask("logging/setLevel", R"({"level":"loud"})")) == -32602);
  CHECK(code_of(w.ask("logging/setLevel", "{}")) == -32602);
  CHECK(w.ask("logging/setLevel", R"({"level":"warning"})") == R"({"jsonrpc":"2.0","id":1,"result":{}})");
  CHECK(fake_client::held(w.server->logging, "warning") == 1);
  w.caller.host.take();
  fake_client::tell(w.server->logging, "warning", R"({"level":"info","data":1})");
  fake_client::tell(w.server->logging, "warning", R"({"level":"error","data":2})");
  CHECK(w.caller.host.take() ==
        lines{R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":2}})"});
  CHECK(w.caller.host.notes.back().droppable);
  CHECK(w.caller.host.notes.back().about == 0);
  w.ask("logging/setLevel", R"({"level":"debug"})");
  CHECK(fake_client::held(w.server->logging, "warning") == 0);
  CHECK(fake_client::held(w.server->logging, "debug") == 1);
  // A server that comes later is asked too.
  const auto late = std::make_shared<fake_client>("late");
  w.caller.host.catalog = make_catalog({.tools = {make_tool(w.server, "s__t", "t"), make_tool(late, "late__t", "t")}});
  w.caller.session.list_changed(mcp::protocol::tool_kind());
  CHECK(fake_client::held(late->logging, "debug") == 1);
  CHECK(fake_client::held(w.server->logging, "debug") == 1);
}

TEST_CASE("a program hears of calls of its own only, and a person of all") {
  watched w;
  w.caller.host.who = "server:mail";
  w.caller.host.person = false;
  w.ask("logging/setLevel", R"({"level":"debug"})");
  const auto heard = [&](const std::string& subject) {
    w.caller.host.take();
    w.server->subject = subject;
    fake_client::tell(w.server->logging, "debug", R"({"level":"error","data":"secret"})");
    return !w.caller.host.take().empty();
  };
  CHECK_FALSE(heard("uid:1000"));
  CHECK_FALSE(heard(""));
  CHECK(heard("server:mail"));
  w.caller.host.who = "";
  CHECK_FALSE(heard(""));
  w.caller.host.person = true;
  CHECK(heard(""));
  CHECK(heard("uid:1000"));
}

TEST_CASE("many resources are looked for in several turns and the acknowledgement has all of them") {
  watched w;
  std::vector<mcp::catalogs::feature_entry_ptr> many;
  std::string wanted;
  for (int i = 100; i < 200; ++i) {
    const std::string uri = "n:" + std::to_string(i);
    many.push_back(make_feature(w.server, uri, uri));
    wanted += (wanted.empty() ? "\"" : ",\"") + uri + '"';
  }
  const auto held = [&](const std::shared_ptr<fake_client>& server) {
    std::size_t n = 0;
    for (const auto& e : many) n += fake_client::held(server->watching, e->key);
    return n;
  };
  w.caller.host.catalog = make_catalog({.resources = many});
  CHECK(w.listen(R"({"resourcesListChanged":true,"resourceSubscriptions":[)" + wanted + "]}").empty());
  CHECK(held(w.server) == mcp::watches::paced_searches::most);
  // Nothing comes before the acknowledgement, and others are answered meanwhile.
  w.caller.session.list_changed(mcp::protocol::resource_kind());
  w.caller.host.take();
  fake_client::tell(w.server->watching, "n:100", R"({"uri":"n:100"})");
  CHECK(w.caller.host.take().empty());
  CHECK_FALSE(w.ask("ping", "{}", "\"p\"").empty());
  w.caller.host.take();
  w.caller.host.clock.advance(milliseconds(0));
  CHECK(w.caller.host.take() ==
        lines{acknowledged("\"l\"", R"({"resourcesListChanged":true,"resourceSubscriptions":[)" + wanted + "]}")});
  CHECK(held(w.server) == 100);
  fake_client::tell(w.server->watching, "n:100", R"({"uri":"n:100"})");
  CHECK(w.caller.host.take().size() == 1);
  // So are those of a changed catalog, of subscriptions too.
  for (const auto& e : many) w.ask("resources/subscribe", R"({"uri":")" + e->key + "\"}");
  CHECK(held(w.server) == 200);
  const auto next = std::make_shared<fake_client>("s");
  std::vector<mcp::catalogs::feature_entry_ptr> moved;
  for (const auto& e : many) moved.push_back(make_feature(next, e->key, e->key));
  w.caller.host.catalog = make_catalog({.resources = moved});
  w.caller.session.list_changed(mcp::protocol::resource_kind());
  w.caller.session.list_changed(mcp::protocol::resource_kind());
  CHECK(held(next) == 2 * mcp::watches::paced_searches::most);
  w.caller.host.clock.advance(milliseconds(0));
  CHECK(held(next) == 200);
  CHECK(held(w.server) == 0);
}

TEST_CASE("a subscriptions/listen that ends while its resources are looked for leaves nothing behind") {
  for (const bool closes : {false, true}) {
    watched w;
    std::vector<mcp::catalogs::feature_entry_ptr> many;
    std::string wanted;
    for (int i = 100; i < 200; ++i) {
      const std::string uri = "n:" + std::to_string(i);
      many.push_back(make_feature(w.server, uri, uri));
      wanted += (wanted.empty() ? "\"" : ",\"") + uri + '"';
    }
    w.caller.host.catalog = make_catalog({.resources = many});
    w.listen(R"({"resourceSubscriptions":[)" + wanted + "]}");
    w.caller.host.take();
    if (closes)
      w.caller.session.close();
    else
      w.caller.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"l"}})");
    w.caller.host.clock.advance(milliseconds(0));
    CHECK(w.caller.host.take().empty());
    for (const auto& e : many) CHECK(fake_client::held(w.server->watching, e->key) == 0);
  }
}

TEST_CASE("the bytes of the URIs that one caller watches are bounded and room comes back") {
  watched w;
  std::vector<mcp::catalogs::feature_entry_ptr> many;
  const auto uri = [](int i) { return "n:" + std::to_string(i) + std::string(8000, 'u'); };
  for (int i = 100; i < 140; ++i) many.push_back(make_feature(w.server, uri(i), uri(i)));
  w.caller.host.catalog = make_catalog({.resources = many});
  const auto list = [&](int from, int to) {
    std::string all;
    for (int i = from; i < to; ++i) all += (all.empty() ? "\"" : ",\"") + uri(i) + '"';
    return R"({"resourceSubscriptions":[)" + all + "]}";
  };
  const auto before = byte_account::total();
  const auto listen = [&](int from, int to, const std::string& id) {
    w.listen(list(from, to), id);
    w.caller.host.clock.advance(milliseconds(0));
    return code_of(w.caller.host.sent.back());
  };
  CHECK(listen(100, 133, "1") == -32001);
  CHECK(listen(100, 130, "2") == 0);
  CHECK(byte_account::total() > before + 30 * 8000 * 2);
  CHECK(listen(130, 133, "3") == -32001);
  w.caller.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}})");
  // URIs that nobody has keep their room, since their server may come.
  CHECK(listen(200, 230, "4") == 0);
  CHECK(listen(100, 130, "5") == -32001);
  w.caller.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}})");
  CHECK(listen(100, 130, "5") == 0);
  const auto subscribe = [&](int i) { return code_of(w.ask("resources/subscribe", R"({"uri":")" + uri(i) + "\"}")); };
  for (int i = 100; i < 132; ++i) REQUIRE(subscribe(i) == 0);
  CHECK(subscribe(132) == -32001);
  w.ask("resources/unsubscribe", R"({"uri":")" + uri(100) + "\"}");
  CHECK(subscribe(132) == 0);
  w.caller.session.close();
  w.caller.host.sent.clear();
  w.server->watching.clear();  // it keeps the handlers of ended watches
  CHECK(byte_account::total() < before + 100'000);
}

TEST_CASE("logs of a call reach its caller at the level of its era") {
  watched w;
  const auto logged = [&](std::size_t call, std::string_view level) {
    w.caller.host.sent.clear();
    if (!w.server->calls.at(call).log) return std::string("no handler");
    w.server->calls.at(call).log(raw_json::own(R"({"level":")" + std::string(level) + R"(","data":1})"));
    return w.caller.host.sent.empty() ? std::string() : w.caller.host.sent.at(0);
  };
  w.ask("tools/call", R"({"name":"s__t"})", "1");
  CHECK(logged(0, "debug") ==
        R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"debug","data":1}})");
  CHECK(w.caller.host.notes.back().about != 0);
  w.ask("logging/setLevel", R"({"level":"error"})", "2");
  CHECK(logged(0, "warning").empty());
  CHECK_FALSE(logged(0, "critical").empty());
  w.ask("tools/call", R"({"name":"s__t"})", "3");
  CHECK(w.server->calls.at(1).log_level == "error");
  w.ask("tools/call", modern_params(R"("name":"s__t",)"), "4");
  CHECK(logged(2, "emergency") == "no handler");
  w.ask("tools/call", modern_params(R"("name":"s__t",)", "{}", R"(,"io.modelcontextprotocol/logLevel":"notice")"), "5");
  CHECK(w.server->calls.at(3).log_level == "notice");
  CHECK(logged(3, "info").empty());
  CHECK_FALSE(logged(3, "notice").empty());
}

TEST_CASE("roots that have changed are told to the servers by a caller that has roots") {
  watched with({.version = "1"}, R"({"roots":{"listChanged":true}})"), without;
  for (watched* w : {&with, &without})
    w->caller.say(R"({"jsonrpc":"2.0","method":"notifications/roots/list_changed"})");
  CHECK(with.server->roots_changes == 1);
  CHECK(without.server->roots_changes == 0);
}

TEST_CASE("subscriptions/listen is acknowledged first and tells only what was asked for with its own id") {
  watched w;
  CHECK(
      w.listen(
          R"({"toolsListChanged":true,"promptsListChanged":false,"resourceSubscriptions":["mcpbx://s/a:1","a:1","nobody:has"],"later":1})") ==
      acknowledged("\"l\"", R"({"toolsListChanged":true,"resourceSubscriptions":["mcpbx://s/a:1"]})"));
  const auto serial = w.caller.host.notes.back().about;
  CHECK(serial != 0);
  CHECK(w.listen(R"({"resourcesListChanged":true})", "7") == acknowledged("7", R"({"resourcesListChanged":true})"));
  CHECK(w.listen("{}", "8") == acknowledged("8", "{}"));
  CHECK(w.caller.session.listens() == 3);
  w.caller.host.take();
  for (const auto& kind : mcp::protocol::feature_kinds()) w.caller.session.list_changed(kind);
  lines got;
  for (const auto& line : w.caller.host.take())
    if (line.find("subscriptionId") != std::string::npos) got.push_back(line);
  const auto changed = [](const std::string& what, const std::string& id) {
    return R"({"jsonrpc":"2.0","method":"notifications/)" + what +
           R"(/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":)" + id + "}}}";
  };
  // Resources and their templates change with one notification, which a queue sends once.
  CHECK(got == lines{changed("tools", "\"l\""), changed("resources", "7"), changed("resources", "7")});
  fake_client::tell(w.server->watching, "a:1", R"({"uri":"a:1","_meta":{"vendor":1}})");
  CHECK(
      w.caller.host.take() ==
      lines{
          R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"mcpbx://s/a:1","_meta":{"vendor":1,"io.modelcontextprotocol/subscriptionId":"l"}}})"});
  CHECK(w.caller.host.notes.back().about == serial);
  CHECK(w.caller.host.notes.back().same == "mcpbx://s/a:1");
}

TEST_CASE("a cancelled subscriptions/listen is over and gets no answer") {
  watched w;
  w.listen(R"({"toolsListChanged":true,"resourceSubscriptions":["a:2"]})");
  CHECK(w.caller.session.open() == 1);
  w.caller.host.take();
  w.caller.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"l"}})");
  CHECK(w.caller.session.open() == 0);
  CHECK(w.caller.session.listens() == 0);
  CHECK(fake_client::held(w.server->watching, "a:2") == 0);
  w.caller.session.list_changed(mcp::protocol::tool_kind());
  CHECK(w.caller.host.take() == lines{R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})"});
}

TEST_CASE("mcpbx ends subscriptions/listen with results and cancellations where one stream carries everything") {
  for (const bool tell : {true, false}) {
    watched w;
    w.listen("{}", "7");
    w.listen(R"({"resourceSubscriptions":["a:2"]})", "\"x\"");
    w.caller.host.take();
    w.caller.session.end_listens(tell);
    const auto result = [](const std::string& id) {
      return R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":{"_meta":{"io.modelcontextprotocol/subscriptionId":)" +
             id +
             R"(,"io.modelcontextprotocol/serverInfo":{"name":"mcpbx","version":"1.2.3"}},"resultType":"complete"}})";
    };
    const auto cancelled = [](const std::string& id) {
      return R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" + id +
             R"(,"reason":"mcpbx ends the subscription"}})";
    };
    CHECK(w.caller.host.take() == (tell ? lines{result("7"), cancelled("7"), result("\"x\""), cancelled("\"x\"")}
                                        : lines{result("7"), result("\"x\"")}));
    CHECK(w.caller.session.open() == 0);
    CHECK(fake_client::held(w.server->watching, "a:2") == 0);
  }
}

TEST_CASE("a caller that sends no more has its subscriptions/listen ended since it could not end them") {
  watched w;
  w.listen("{}");
  w.caller.session.end_input();
  CHECK(w.caller.session.open() == 0);
  watched v;
  v.listen(R"({"resourceSubscriptions":["a:2"]})");
  v.caller.session.close();
  CHECK(fake_client::held(v.server->watching, "a:2") == 0);
}

TEST_CASE("a wrong filter of subscriptions/listen is named") {
  watched w;
  for (const std::string filter :
       {"7", "null", "[]", R"({"toolsListChanged":1})", R"({"resourceSubscriptions":{}})",
        R"({"resourceSubscriptions":[1]})", R"({"resourceSubscriptions":[],"resourceSubscriptions":[]})"}) {
    CAPTURE(filter);
    const std::string got = w.listen(filter);
    CHECK(code_of(got) == -32602);
    CHECK(text_of(got).starts_with("params.notifications"));
  }
  CHECK(code_of(w.listen(R"({"resourceSubscriptions":[")" + std::string(9000, 'u') + "\"]}")) == -32602);
  CHECK(code_of(w.ask("subscriptions/listen", modern_params())) == -32602);
  CHECK(w.caller.session.open() == 0);
}

TEST_CASE("subscriptions/listen are bounded in number and in resources and room comes back") {
  watched w({.version = "1", .listens = {.max_open = 3, .max_uris = 2}});
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 3; ++i) CHECK(code_of(w.listen("{}", std::to_string(i))) == 0);
    CHECK(code_of(w.listen("{}", "9")) == -32001);
    for (int i = 0; i < 3; ++i)
      w.caller.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" + std::to_string(i) +
                   "}}");
  }
  CHECK(code_of(w.listen(R"({"resourceSubscriptions":["a:2","mcpbx://s/a:1","a:3"]})", "1")) == -32001);
  CHECK(code_of(w.listen(R"({"resourceSubscriptions":["a:2","a:2"]})", "2")) == 0);
  CHECK(code_of(w.listen(R"({"resourceSubscriptions":["a:2","mcpbx://s/a:1"]})", "3")) == -32001);
}
