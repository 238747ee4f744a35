// Resources that a model reads because a result links to them: only where the rules of the run allow it.
#include "daemon/loop/results/read_result.hpp"
#include "test/daemon/loop/loop_fixture.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::test;
using namespace mcpbx::json;

namespace {

/// A tool whose result links to two resources, and the servers that have them.
struct linked : fixture {
  linked() {
    server->tools["lookup"] = [](const mcp::clients::server_call&) {
      return mcp::rpc::call_outcome{
          mcp::rpc::call_outcome::kind::result,
          raw_json::literal(
              R"({"content":[{"type":"resource_link","uri":"x://open","name":"a"},{"type":"resource_link","uri":"x://secret","name":"b"}]})"),
          {}};
    };
    offer({"lookup"});
    const auto resource = [](const std::shared_ptr<scripted_client>& owner, const std::string& uri) {
      auto e = std::make_shared<mcp::catalogs::feature_entry>();
      e->key = e->own_key = uri;
      e->server = owner->name();
      e->owner = owner;
      return e;
    };
    auto entries = std::make_shared<mcp::catalogs::feature_entries>(
        mcp::protocol::resource_kind(),
        std::vector<mcp::catalogs::feature_entry_ptr>{resource(far, "x://open"), resource(far, "x://secret")});
    auto none = std::make_shared<mcp::catalogs::feature_entries>(mcp::protocol::template_kind(),
                                                                 std::vector<mcp::catalogs::feature_entry_ptr>());
    auto prompts = std::make_shared<mcp::catalogs::feature_entries>(mcp::protocol::prompt_kind(),
                                                                    std::vector<mcp::catalogs::feature_entry_ptr>());
    mcp::catalogs::catalog_rest rest{.others = {prompts, entries, none}};
    rest.routes = std::make_shared<mcp::catalogs::resource_routes>(
        std::vector<mcp::catalogs::resource_server>{{"far", "far", far, nullptr}}, entries, none,
        std::make_shared<mcp::catalogs::seen_uris>());
    const auto had = tools.catalog->entries();
    tools.catalog = std::make_shared<mcp::catalogs::catalog>(
        std::vector<mcp::catalogs::entry_ptr>(had.begin(), had.end()), tools.catalog->revision() + 1,
        mcp::catalogs::withheld_tools(), std::vector<mcp::catalogs::dropped_item>(), std::move(rest));
  }
  /// Lets the model follow a link; returns the text of the result that it got.
  std::string read(const std::string& uri, daemon::stored::record::link_rules rules = {}) {
    auto follows = lookup("b", R"({"uri":")" + uri + "\"}");
    follows.name = daemon::results::read_result::name;
    model->script = {calls({lookup("a")}), calls({follows}), says("done")};
    auto r = ask();
    r.links = std::move(rules);
    run(std::move(r));
    std::string got;
    for (const auto& one : written())
      if (const auto* result = std::get_if<daemon::stored::record::call_result>(&one); result && result->call_id == "b")
        got = result->result.text();
    return got;
  }
  std::shared_ptr<scripted_client> far = std::make_shared<scripted_client>(context, "far", [](const std::string&) {});
};

}  // namespace

TEST_CASE("L19: a linked resource is read at its server if the rules of the run allow it") {
  for (const auto& rules : {daemon::stored::record::link_rules{},
                            daemon::stored::record::link_rules{{"x://o*"}, {}},
                            {{}, {"x://secret"}}}) {
    linked f;
    CHECK(f.read("x://open", rules).find("Not read") == std::string::npos);
    CHECK(f.far->params == lines{R"({"uri":"x://open"})"});
  }
}

TEST_CASE("L19: a linked resource that the rules of the run deny is read at no server and the model is told so") {
  for (const auto& rules : {daemon::stored::record::link_rules{{"x://o*"}, {}}, {{}, {"x://secret"}}, {{}, {"*"}}}) {
    linked f;
    // The model has no tool for it if nothing may be read.
    CHECK(f.read("x://secret", rules).find(rules.none() ? "mcpbx__read_result" : "Not read: ") != std::string::npos);
    CHECK(f.far->params.empty());
  }
}

TEST_CASE("L19: a resource that no result links to is not read whatever the rules are") {
  linked f;
  CHECK(f.read("x://other").find("Not read: no result that is still kept in this conversation links to") !=
        std::string::npos);
  CHECK(f.far->params.empty());
}
