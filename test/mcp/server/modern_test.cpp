// Modern requests: the members of `_meta`, discovery, lists, and the form of answers and errors.
#include "mcp/protocol/revisions.hpp"
#include "mcp/server/base/modern_request.hpp"
#include "test/mcp/server/fake_host.hpp"

#include <string>
#include <string_view>

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::test;

namespace {

constexpr std::string_view own_meta =
    R"("_meta":{"io.modelcontextprotocol/serverInfo":{"name":"mcpbx","version":"1.2.3"}})";

struct modern_caller {
  explicit modern_caller(mcp::clients::era era = mcp::clients::era::legacy,
                         mcp::callers::caller_session::options o = {.version = "1.2.3"})
      : server(std::make_shared<fake_client>("s", era)), caller(std::move(o)) {
    caller.host.catalog = make_catalog({.tools = {make_tool(server, "s__t", "t")},
                                        .prompts = {make_feature(server, "s__p", "p")},
                                        .resources = {make_feature(server, "file:///r", "file:///r")}});
  }
  std::string ask(const std::string& method, const std::string& params) {
    return caller.ask(request("1", method, params));
  }
  std::string listed(const std::string& method, const std::string& params) {
    ask(method, params);
    caller.host.settle();
    return caller.host.sent.at(0);
  }
  std::shared_ptr<fake_client> server;
  fake_caller caller;
};

}  // namespace

TEST_CASE("server/discover is answered without a handshake with versions and capabilities and hints") {
  modern_caller m;
  m.server->instructed = "Use it.";
  mcp::catalogs::catalog_offers offers;
  offers.prompts = offers.resources = offers.subscribe = offers.completions = offers.logging = true;
  offers.tasks = raw_json::literal(R"({"list":{},"cancel":{}})");
  offers.extensions = raw_json::literal(R"({"io.modelcontextprotocol/ui":{},"io.modelcontextprotocol/tasks":{}})");
  m.caller.host.catalog = make_catalog({.offers = offers});
  CHECK(
      m.ask("server/discover", modern_params()) ==
      R"({"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true},"prompts":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"completions":{},"logging":{},"extensions":{"io.modelcontextprotocol/ui":{},"io.modelcontextprotocol/tasks":{}}},"resultType":"complete","ttlMs":0,"cacheScope":"private",)" +
          std::string(own_meta) + "}}");
  // A legacy caller on the same connection is told of the tasks of its era and of no others.
  const std::string legacy = m.caller.ask(
      R"({"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}})");
  CHECK(
      at(legacy, {"result", "capabilities"}) ==
      R"({"tools":{"listChanged":true},"prompts":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"completions":{},"logging":{},"tasks":{"list":{},"cancel":{}},"extensions":{"io.modelcontextprotocol/ui":{}}})");
  CHECK_FALSE(m.ask("server/discover", modern_params()).empty());
}

TEST_CASE("a caller that may use no methods of extensions is told of those that need none") {
  modern_caller m;
  mcp::catalogs::catalog_offers offers;
  offers.extensions = raw_json::literal(R"({"io.modelcontextprotocol/ui":{},"com.example/find":{}})");
  offers.experimental = raw_json::literal(R"({"x":{}})");
  offers.bare_extensions = raw_json::literal(R"({"io.modelcontextprotocol/ui":{}})");
  m.caller.host.catalog = make_catalog({.offers = offers});
  m.caller.host.may_use_extensions = false;
  const auto told = m.ask("server/discover", modern_params());
  CHECK(at(told, {"result", "capabilities", "extensions"}) == R"({"io.modelcontextprotocol/ui":{}})");
  CHECK(at(told, {"result", "capabilities", "experimental"}).empty());
  const std::string legacy = m.caller.ask(
      R"({"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}})");
  CHECK(at(legacy, {"result", "capabilities", "extensions"}) == R"({"io.modelcontextprotocol/ui":{}})");
}

TEST_CASE("server/discover waits for servers that are starting") {
  modern_caller m;
  m.caller.host.starting = true;
  CHECK(m.ask("server/discover", modern_params()).empty());
  m.caller.host.settle();
  CHECK(m.caller.host.sent.size() == 1);
}

TEST_CASE("a member of _meta that is missing or wrong is invalid params that name it") {
  const std::string version = R"("io.modelcontextprotocol/protocolVersion":"2026-07-28")";
  const std::string able = R"("io.modelcontextprotocol/clientCapabilities":{})";
  struct row {
    std::string meta;
    std::string_view named;
  };
  const row rows[] = {
      {"{" + version + "}", "clientCapabilities"},
      {"{" + able + "}", "protocolVersion"},
      {R"({"io.modelcontextprotocol/clientInfo":{"name":"x","version":"1"}})", "protocolVersion"},
      {R"({"io.modelcontextprotocol/protocolVersion":7,)" + able + "}", "protocolVersion"},
      {R"({"io.modelcontextprotocol/protocolVersion":null,)" + able + "}", "protocolVersion"},
      {"{" + version + R"(,"io.modelcontextprotocol/clientCapabilities":[]})", "clientCapabilities"},
      {"{" + version + "," + able + R"(,"io.modelcontextprotocol/clientInfo":"me"})", "clientInfo"},
      {"{" + version + "," + able + R"(,"io.modelcontextprotocol/logLevel":"loud"})", "logLevel"},
      {"{" + version + "," + able + R"(,"io.modelcontextprotocol/logLevel":3})", "logLevel"},
      {"{" + version + "," + version + "," + able + "}", "protocolVersion"},
      {"{" + version + "," + able + "," + able + "}", "clientCapabilities"},
  };
  modern_caller m;
  for (const auto& r : rows) {
    CAPTURE(r.meta);
    for (const std::string method : {"tools/list", "tools/call", "server/discover", "subscriptions/listen"}) {
      const std::string got = m.ask(method, R"({"name":"s__t","_meta":)" + r.meta + "}");
      CHECK(code_of(got) == -32602);
      CHECK(text_of(got).find(r.named) != std::string::npos);
    }
  }
  CHECK(code_of(m.ask("server/discover", R"({"_meta":{},"_meta":{}})")) == -32602);
  CHECK(code_of(m.ask("server/discover", R"({"_meta":[]})")) == -32602);
  CHECK(m.server->calls.empty());
}

TEST_CASE("a revision that _meta cannot name is refused with those that it can") {
  modern_caller m;
  for (const std::string version : {"1900-01-01", "2025-11-25", "", "2026-07-28 "}) {
    const std::string got = m.ask("tools/list", R"({"_meta":{"io.modelcontextprotocol/protocolVersion":")" + version +
                                                    R"(","io.modelcontextprotocol/clientCapabilities":{}}})");
    CHECK(code_of(got) == -32022);
    CHECK(at(got, {"error", "data"}) == R"({"supported":["2026-07-28"],"requested":")" + version + "\"}");
  }
  const std::string got =
      m.ask("tools/list", R"({"_meta":{"io.modelcontextprotocol/protocolVersion":")" + std::string(100'000, 'v') +
                              R"(","io.modelcontextprotocol/clientCapabilities":{}}})");
  CHECK(code_of(got) == -32022);
  CHECK(got.size() < 1000);
}

TEST_CASE("methods that the modern era has not are unknown to its requests only") {
  modern_caller m;
  for (const std::string method :
       {"initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "tasks/list"}) {
    CAPTURE(method);
    CHECK(code_of(m.ask(method, modern_params(R"("uri":"file:///r","level":"info",)"))) == -32601);
  }
  m.caller.initialize();
  CHECK(m.ask("ping", "{}") == R"({"jsonrpc":"2.0","id":1,"result":{}})");
  for (const std::string method : {"server/discover", "subscriptions/listen"})
    CHECK(code_of(m.ask(method, "{}")) == -32602);
}

TEST_CASE("a session of modern requests only refuses others") {
  modern_caller m(mcp::clients::era::legacy, {.version = "1.2.3", .only_modern = true});
  for (const std::string params : {"{}", R"({"_meta":{}})", R"({"_meta":7})"})
    for (const std::string method : {"initialize", "tools/list", "ping", "tools/call"})
      CHECK(code_of(m.ask(method, params)) == -32602);
  CHECK(m.listed("tools/list", modern_params()).find("resultType") != std::string::npos);
}

TEST_CASE("lists have hints and the form of the era of each request") {
  modern_caller m;
  for (const auto& [method, member, item] :
       {std::tuple{"tools/list", "tools", R"({"name":"s__t","inputSchema":{"type":"object"}})"},
        std::tuple{"prompts/list", "prompts", R"({"name":"s__p"})"},
        std::tuple{"resources/list", "resources", R"({"name":"file:///r"})"}}) {
    CHECK(m.listed(method, modern_params()) ==
          R"({"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private",)" +
              std::string(own_meta) + ",\"" + member + "\":[" + item + "]}}");
    m.caller.host.sent.clear();
  }
  m.caller.initialize();
  CHECK(m.listed("tools/list", "{}") ==
        R"({"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"s__t","inputSchema":{"type":"object"}}]}})");
}

TEST_CASE("a modern caller gets the output schemas that a legacy one must not see") {
  modern_caller m;
  auto tool = std::make_shared<mcp::catalogs::catalog_entry>(*make_tool(m.server, "s__t", "t"));
  tool->exposed = raw_json::literal(R"({"name":"s__t","inputSchema":{"x-mcp-header":"A"},"outputSchema":true})");
  m.caller.host.catalog = make_catalog({.tools = {tool}});
  CHECK(m.listed("tools/list", modern_params()).find(tool->exposed.text()) != std::string::npos);
}

TEST_CASE("a result of a legacy server gets the members of the modern era and one of a modern server keeps its own") {
  modern_caller m;
  const std::string params = modern_params(R"("name":"s__t",)");
  m.ask("tools/call", params);
  m.server->answer(0, R"({"content":[],"_meta":{"vendor":1}})");
  CHECK(
      at(m.caller.host.sent.at(0), {"result"}) ==
      R"({"content":[],"_meta":{"vendor":1,"io.modelcontextprotocol/serverInfo":{"name":"mcpbx","version":"1.2.3"}},"resultType":"complete"})");
  modern_caller n(mcp::clients::era::modern);
  const std::string whole =
      R"({"content":[],"structuredContent":[1],"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"own","version":"2"}}})";
  n.ask("tools/call", params);
  CHECK(n.server->calls.at(0).takes_input_required);
  n.server->answer(0, whole);
  CHECK(at(n.caller.host.sent.at(0), {"result"}) == whole);
  n.ask("tools/call", params);
  const std::string asks = R"({"resultType":"input_required","requestState":"theirs","_meta":{}})";
  n.server->answer(1, asks);
  CHECK(at(n.caller.host.sent.at(0), {"result", "requestState"}) == R"("theirs")");
  CHECK(at(n.caller.host.sent.at(0), {"result", "ttlMs"}) == "");
}

TEST_CASE("hints of a resource are passed on within bounds") {
  modern_caller m(mcp::clients::era::modern);
  const std::string params = modern_params(R"("uri":"file:///r",)");
  struct row {
    std::string_view sent, ttl, scope;
  };
  const row rows[] = {{R"("ttlMs":5,"cacheScope":"public")", "5", R"("public")"},
                      {R"("ttlMs":-5,"cacheScope":"private")", "0", R"("private")"},
                      {R"("ttlMs":99999999999999,"cacheScope":"all")", "86400000", R"("private")"},
                      {R"("ttlMs":"soon","cacheScope":1)", "0", R"("private")"},
                      {R"("ttlMs":1.5)", "0", R"("private")"},
                      {R"("x":1)", "0", R"("private")"}};
  std::size_t n = 0;
  for (const row& r : rows) {
    CAPTURE(r.sent);
    m.ask("resources/read", params);
    m.server->answer(n++, R"({"resultType":"complete","contents":[],)" + std::string(r.sent) + "}");
    CHECK(at(m.caller.host.sent.at(0), {"result", "ttlMs"}) == r.ttl);
    CHECK(at(m.caller.host.sent.at(0), {"result", "cacheScope"}) == r.scope);
  }
}

TEST_CASE("errors reach a modern caller with codes of its era") {
  struct row {
    mcp::clients::era server;
    std::string_view sent;
    int code;
    std::string_view data;
  };
  const std::string_view needs = R"({"requiredCapabilities":{"sampling":{}}})";
  const row rows[] = {
      {mcp::clients::era::legacy, R"({"code":-32002,"message":"m"})", -32602, R"({"uri":"file:///r"})"},
      {mcp::clients::era::legacy, R"({"code":-32002,"message":"m","data":{"uri":"x","more":1}})", -32602,
       R"({"uri":"x","more":1})"},
      {mcp::clients::era::legacy, R"({"code":-32050,"message":"m","data":1})", -32603, ""},
      {mcp::clients::era::legacy, R"({"code":-32021,"message":"m","data":1})", -32603, ""},
      {mcp::clients::era::legacy, R"({"code":-32010,"message":"m","data":[1.0]})", -32010, "[1.0]"},
      {mcp::clients::era::legacy, R"({"code":7,"message":"m"})", 7, ""},
      {mcp::clients::era::modern, R"({"code":-32602,"message":"m","data":{"uri":"y"}})", -32602, R"({"uri":"y"})"},
      {mcp::clients::era::modern, R"({"code":-32020,"message":"m","data":1})", -32603, ""},
      {mcp::clients::era::modern, R"({"code":-32022,"message":"m","data":1})", -32603, ""},
      {mcp::clients::era::modern, R"({"code":-32021,"message":"m","data":{"requiredCapabilities":{"sampling":{}}}})",
       -32021, needs},
      {mcp::clients::era::modern, R"({"code":-32021,"message":"m","data":{"requiredCapabilities":{"roots":{}}}})",
       -32603, ""},
  };
  for (const row& r : rows) {
    CAPTURE(r.sent);
    modern_caller m(r.server);
    m.ask("resources/read", modern_params(R"("uri":"file:///r",)", R"({"roots":{}})"));
    m.server->answer_error(0, r.sent);
    CHECK(code_of(m.caller.host.sent.at(0)) == r.code);
    CHECK(at(m.caller.host.sent.at(0), {"error", "data"}) == r.data);
  }
}

TEST_CASE("an unknown resource is not found in the words of each era") {
  modern_caller m;
  m.caller.initialize();
  const auto error_for = [&](const std::string& params) {
    CHECK(m.ask("resources/read", params).empty());
    m.caller.host.settle();
    return m.caller.host.sent.at(0);
  };
  const std::string legacy = error_for(R"({"uri":"no:such"})");
  CHECK(code_of(legacy) == -32002);
  CHECK(at(legacy, {"error", "data"}) == R"({"uri":"no:such"})");
  const std::string modern = error_for(modern_params(R"("uri":"no:such",)"));
  CHECK(code_of(modern) == -32602);
  CHECK(at(modern, {"error", "data"}) == R"({"uri":"no:such"})");
}

TEST_CASE("params with a million members are refused in both eras") {
  std::string members;
  for (int i = 0; i < 1'000'000; ++i) members += "\"k\":1,";
  modern_caller m;
  m.caller.initialize();
  CHECK(code_of(m.ask("tools/call", modern_params(members))) == -32602);
  CHECK(code_of(m.ask("tools/call", "{" + members + R"("name":"s__t"})")) == -32602);
  CHECK(code_of(m.ask("subscriptions/listen", modern_params(R"("notifications":{)" + members + R"("x":1},)"))) ==
        -32602);
  CHECK(m.server->calls.empty());
}

TEST_CASE("a repeated _meta is read as the first time, and each change in it counts") {
  using mcpbx::mcp::protocol::meta_key::progress_token;
  const auto params = [](std::string_view version, std::string_view able, std::string_view more) {
    return raw_json::own(R"({"_meta":{"io.modelcontextprotocol/protocolVersion":")" + std::string(version) +
                         R"(","io.modelcontextprotocol/clientCapabilities":)" + std::string(able) + std::string(more) +
                         R"(},"name":"t"})");
  };
  struct row {
    raw_json sent;
    std::string_view able, level, token;
    bool refused = false;
  };
  const std::string long_able =
      R"({"experimental":{"x":")" + std::string(mcp::server::known_meta::longest, 'x') + R"("}})";
  const std::string token = ",\"" + std::string(progress_token) + R"(":7)";
  const std::string level = R"(,"io.modelcontextprotocol/logLevel":"info")";
  const row rows[] = {{params("2026-07-28", R"({"sampling":{}})", ""), R"({"sampling":{}})", "", ""},
                      {params("2026-07-28", R"({"sampling":{}})", token), R"({"sampling":{}})", "", "7"},
                      {params("2026-07-28", R"({"sampling":{}})", ""), R"({"sampling":{}})", "", ""},
                      {params("2026-07-28", "{}", level), "{}", "info", ""},
                      {params("2026-07-28", "{}", level), "{}", "info", ""},
                      {params("2026-07-28", "{}", ""), "{}", "", ""},
                      {params("1999-01-01", "{}", ""), "", "", "", true},
                      {params("2026-07-28", "[]", ""), "", "", "", true},
                      {params("2026-07-28", long_able, ""), long_able, "", ""},
                      {params("2026-07-28", "{}", ""), "{}", "", ""}};
  mcp::server::known_meta known;
  for (int round = 0; round < 3; ++round)
    for (const auto& r : rows) {
      CAPTURE(r.sent.text());
      const auto read = mcp::server::read_modern_request(raw_json::own(r.sent.text()), true, &known);
      REQUIRE(read.has_value() == !r.refused);
      CHECK(known.text.text().size() <= mcp::server::known_meta::longest);
      if (r.refused) continue;
      const auto& m = **read;
      CHECK(m.capabilities.text() == r.able);
      CHECK(m.able.sampling == r.able.contains("sampling"));
      CHECK(m.log_level == r.level);
      CHECK(m.token.text() == r.token);
      CHECK_FALSE(m.form.server_info);
    }
}
