// Rows about lists, definitions, completions and caching.
#include "test/mcp/bridging/scene.hpp"

namespace {

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::test;
using way = bridge_step::way;

std::vector<std::string> names_in(const std::string& list, std::string_view member, std::string_view key) {
  std::vector<std::string> out;
  if (list.empty()) return out;
  for_each_element(find_member(raw_json::own(list), member), [&](const raw_json& one) {
    out.push_back(member_text(one, key));
    return true;
  });
  return out;
}

void lists(bridge& b) {
  auto& other = b.add_server("srv");
  for (const std::string tool : {"two", "three", "four", "five"}) other.add_tool(tool);
  other.page = 2;
  auto& second = b.add_server("b");
  second.list_hints = R"("ttlMs":9000,"cacheScope":"private")";
  second.resources.clear();
  second.templates.clear();
  b.record();
  b.remark("Each list is fetched page by page, once.");
  b.start();
  auto& c = b.add_caller("caller", "uid:1");
  c.open();
  b.pass();
  CHECK(other.got("tools/list").size() == 3);
  b.remark("A caller gets the lists of both servers in one, with no cursor, always in the same order.");
  for (int probe = 0; probe < 3; ++probe) {
    const auto id = c.ask("tools/list");
    b.pass();
    CHECK(names_in(c.result(id), "tools", "name") ==
          std::vector<std::string>{"echo", "two", "three", "four", "five", "b__echo"});
    CHECK(member_at(c.result(id), {"nextCursor"}).empty());
    if (!b.era.new_caller) continue;
    CHECK(member_at(c.result(id), {"ttlMs"}) == (b.era.new_server ? "9000" : "0"));
    CHECK(member_at(c.result(id), {"cacheScope"}) == R"("private")");
  }
  const auto prompts = c.ask("prompts/list"), resources = c.ask("resources/list"),
             templates = c.ask("resources/templates/list");
  b.pass();
  CHECK(names_in(c.result(prompts), "prompts", "name") == std::vector<std::string>{"greet", "b__greet"});
  CHECK(names_in(c.result(resources), "resources", "uri") == std::vector<std::string>{"note://a", "note://b"});
  CHECK(names_in(c.result(templates), "resourceTemplates", "uriTemplate") == std::vector<std::string>{"page://{n}"});
  if (b.era.new_caller) CHECK(member_at(c.result(prompts), {"cacheScope"}) == R"("private")");
  b.remark("A cursor is none of mcpbx's.");
  const auto wrong = c.ask("tools/list", R"("cursor":"2")");
  b.pass();
  CHECK(c.error_code(wrong) == "-32602");
  CHECK(other.got("tools/list").size() == 3);
}

constexpr std::string_view rich_schema =
    R"({"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","$defs":{"a":{"$anchor":"here","type":"string"}},)"
    R"("properties":{"p":{"$ref":"#here"}},"allOf":[{"if":{"required":["p"]},"then":{"minProperties":1},"else":true}],"additionalProperties":false})";

void schemas(bridge& b) {
  const auto [_, srv, c] = begin(
      b, {.server = [](bridge_server& s) {
        s.tools = {
            R"({"name":"rich","inputSchema":)" + std::string(rich_schema) +
                R"(,"outputSchema":{"type":"object","properties":{"n":{"type":"number"}}}})",
            R"({"name":"list","inputSchema":{"type":"object"},"outputSchema":{"type":"array","items":{"type":"number"}}})"};
        s.first = [](server_life& l, const mcp::rpc::message& m) {
          if (m.method() != "tools/call") return false;
          const bool rich = member_text(m.params, "name") == "rich";
          l.answer(m.id, R"("content":[{"type":"text","text":"as text"}],"structuredContent":)" +
                             std::string(rich ? R"({"n" : 1.50})" : "[1,2]"));
          return true;
        };
      }});
  const auto listed = c.ask("tools/list"), rich = c.call("rich"), list = c.call("list");
  b.pass();
  b.remark("Only an old caller of a new server does without what its revision does not know.");
  const bool cut = !b.era.new_caller && b.era.new_server;
  CHECK(contains(c.result(listed), rich_schema));
  CHECK(contains(c.result(listed), R"("outputSchema":{"type":"object")"));
  CHECK(contains(c.result(rich), R"("structuredContent":{"n" : 1.50})"));
  CHECK(contains(c.result(list), R"("text":"as text")"));
  if (b.era.new_server) {
    CHECK(contains(c.result(listed), R"("outputSchema":{"type":"array")") == !cut);
    CHECK(contains(c.result(list), R"("structuredContent":[1,2])") == !cut);
  }
}

void header_params(bridge& b) {
  const std::string schema =
      R"({"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"n":{"type":"number"}}})";
  const auto [_, srv, c] =
      begin(b, {.server = [&](bridge_server& s) { s.tools = {R"({"name":"echo","inputSchema":)" + schema + "}"}; }});
  b.remark("The annotation stays in the schema for all callers, and the arguments stay in the call.");
  b.remark(
      "Over HTTP the front checks the headers of callers (test/daemon/front/mcp), and the connection to a server at an "
      "address makes them anew (test/mcp/client/remote).");
  const auto listed = c.ask("tools/list"), called = c.call("echo", R"({"region":"north","n":1.0})");
  b.pass();
  CHECK(contains(c.result(listed), schema));
  CHECK_FALSE(c.result(called).empty());
  CHECK(contains(srv.got("tools/call").at(0), R"("arguments":{"region":"north","n":1.0})"));
}

void completions(bridge& b) {
  auto& first = b.add_server("srv");
  auto& second = b.add_server("b");
  second.templates = {R"({"uriTemplate":"book://{n}","name":"book"})"};
  second.resources.clear();
  b.start();
  auto& c = b.add_caller("caller", "uid:1");
  c.open();
  b.pass();
  b.record();
  b.remark("The prompt or the template says which server is asked, by its own name for it.");
  const std::string argument = R"(,"argument":{"name":"who","value":"An"},"context":{"arguments":{"x":"y"}})";
  const auto prompt = c.ask("completion/complete", R"("ref":{"type":"ref/prompt","name":"b__greet"})" + argument);
  b.pass();
  CHECK(contains(second.got("completion/complete").at(0), R"("ref":{"type":"ref/prompt","name":"greet"})" + argument));
  const auto book = c.ask("completion/complete", R"("ref":{"type":"ref/resource","uri":"book://{n}"})" + argument);
  b.pass();
  CHECK(second.got("completion/complete").size() == 2);
  CHECK(first.got("completion/complete").empty());
  for (const auto& id : {prompt, book})
    CHECK(contains(c.result(id), R"("completion":{"values":["Ann","Anton"],"hasMore":false})"));
}

void caching(bridge& b) {
  const auto [_, srv, c] = begin(b);
  b.remark("Lists come from mcpbx's own copy.");
  for (int n = 0; n < 2; ++n) {
    c.ask("tools/list");
    b.pass();
  }
  CHECK(srv.got("tools/list").size() == 1);
  b.remark("A change makes the copy old.");
  srv.add_tool("more");
  srv.change("tools");
  b.pass(200);
  const auto again = c.ask("tools/list");
  b.pass();
  CHECK(srv.got("tools/list").size() == 2);
  CHECK(names_in(c.result(again), "tools", "name") == std::vector<std::string>{"echo", "more"});
  b.remark("Only results of new servers may be kept by callers, for as long as the server says.");
  const auto read = c.ask("resources/read", R"("uri":"note://a")"),
             read_again = c.ask("resources/read", R"("uri":"note://a")");
  b.pass();
  CHECK(srv.got("resources/read").size() == 2);  // mcpbx keeps none itself
  if (b.era.new_caller)
    for (const auto& id : {read, read_again})
      CHECK(member_at(c.result(id), {"ttlMs"}) == (b.era.new_server ? "60000" : "0"));
  b.remark("A result that asks for input carries no hints, and nobody keeps one.");
  srv.add_tool("ask");
  srv.change("tools");
  b.pass(1'200);
  c.capabilities = answers_all;
  if (!b.era.new_caller) return;
  for (int n = 0; n < 2; ++n) {
    const auto asked = c.call("ask");
    b.pass(100);
    CHECK(member_at(c.requests().at(asked).answers.at(0), {"result", "resultType"}) == R"("input_required")");
    CHECK(member_at(c.requests().at(asked).answers.at(0), {"result", "ttlMs"}).empty());
    CHECK(member_at(c.result(asked), {"resultType"}) == R"("complete")");
  }
  CHECK(srv.got("tools/call").size() == (b.era.new_server ? 4 : 2));
}

}  // namespace

TEST_CASE("M4: lists of all servers come in one page and in one order with the strictest hints") {
  play_row("lists", "Lists: all pages of all servers in one list, with the strictest hints of them.", lists);
}
TEST_CASE("M4: schemas pass whole and old callers get no output that their revision does not know") {
  play_row("schemas", "Schemas and structured content: byte for byte, but for old callers of new servers.", schemas);
}
TEST_CASE("M4: x-mcp-header stays in the schema and the argument stays in the call") {
  play_row("header_params", "Arguments that HTTP repeats in headers.", header_params);
}
TEST_CASE("M4: a completion goes to the server of its prompt or template") {
  play_row("completions", "Completions: the reference says which server is asked.", completions);
}
TEST_CASE("M4: lists are kept until they change and what asks for input is never kept") {
  play_row("caching", "Caching: own copies of lists, hints for callers.", caching);
}
