// A caller's session with more kinds than tools: capabilities, lists and changes come from the table.
#include "test/mcp/server/fake_host.hpp"
#include "test/support/more_kinds.hpp"

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::test;

namespace {

mcp::callers::caller_session::options with_more_kinds() {
  mcp::callers::caller_session::options o;
  o.version = "1.2.3";
  o.kinds = more_kinds();
  return o;
}

}  // namespace

TEST_CASE("capabilities are those of the table, one for kinds that share one") {
  fake_caller caller(with_more_kinds());
  CHECK(
      caller.ask(R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}})") ==
      R"({"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"notes":{"listChanged":true},"pages":{"listChanged":true}},"serverInfo":{"name":"mcpbx","version":"1.2.3"}}})");
}

TEST_CASE("the list of each kind is answered with what the catalog has of it") {
  fake_caller caller(with_more_kinds());
  auto note = std::make_shared<mcp::catalogs::feature_entry>();
  note->key = "s__n";
  note->exposed = raw_json::literal(R"({"name":"s__n"})");
  caller.host.catalog = std::make_shared<mcp::catalogs::catalog>(
      std::vector<mcp::catalogs::entry_ptr>(), 1, mcp::catalogs::withheld_tools(),
      std::vector<mcp::catalogs::dropped_item>(),
      mcp::catalogs::catalog_rest{.others = {std::make_shared<mcp::catalogs::feature_entries>(
                                      notes_kind(), std::vector<mcp::catalogs::feature_entry_ptr>{note})}});
  CHECK(code_of(caller.ask(R"({"jsonrpc":"2.0","id":1,"method":"notes/list"})")) == -32600);
  caller.initialize();
  const auto list = [&](const std::string& method) {
    CHECK(caller.ask(R"({"jsonrpc":"2.0","id":2,"method":")" + method + "\"}").empty());
    caller.host.settle();
    return caller.host.sent.at(0);
  };
  CHECK(list("notes/list") == R"({"jsonrpc":"2.0","id":2,"result":{"notes":[{"name":"s__n"}]}})");
  CHECK(list("tools/list") == R"({"jsonrpc":"2.0","id":2,"result":{"tools":[]}})");
  CHECK(list("pages/templates/list") == R"({"jsonrpc":"2.0","id":2,"result":{"pageTemplates":[]}})");
  CHECK(text_of(caller.ask(R"({"jsonrpc":"2.0","id":3,"method":"notes/list","params":{"cursor":"x"}})"))
            .starts_with("params.cursor: unknown cursor "));
}

TEST_CASE("a method of a kind that the table lacks is unknown") {
  fake_caller caller;
  caller.initialize();
  CHECK(code_of(caller.ask(R"({"jsonrpc":"2.0","id":1,"method":"notes/list"})")) == -32601);
}

TEST_CASE("a change is told with the notification of its kind") {
  fake_caller caller(with_more_kinds());
  caller.initialize();
  caller.session.list_changed(notes_kind());
  CHECK(caller.host.sent ==
        std::vector<std::string>{R"({"jsonrpc":"2.0","method":"notifications/notes/list_changed"})"});
}
