// Prompts and resources of several servers in the catalog: names, filters, the way of a URI to its server, hints for
// caching.
#include "mcp/protocol/resources.hpp"

#include "mcp/client/catalog/catalog_builder.hpp"
#include "mcp/client/views/narrowed.hpp"
#include "mcp/protocol/tools.hpp"
#include "mcp/support/shared_bytes.hpp"
#include "test/mcp/client/supervisor_rig.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::mcp::catalogs;
using namespace mcpbx::mcp::protocol;
using namespace mcpbx::mcp::views;
using namespace mcpbx::test;

namespace {

feature_list items(const feature_kind& kind, const std::vector<std::string>& definitions) {
  auto list = std::make_shared<std::vector<feature_item>>();
  for (const auto& d : definitions) list->push_back(kind.read(raw_json::own(d)).value());
  return list;
}

feature_list prompts(const std::vector<std::string>& names) {
  std::vector<std::string> all;
  for (const auto& n : names) all.push_back("{\"name\":\"" + n + "\"}");
  return items(prompt_kind(), all);
}
feature_list resources(const std::vector<std::string>& uris) {
  std::vector<std::string> all;
  for (const auto& u : uris) all.push_back("{\"uri\":\"" + u + R"(","name":"n"})");
  return items(resource_kind(), all);
}
feature_list templates(const std::vector<std::string>& uris) {
  std::vector<std::string> all;
  for (const auto& u : uris) all.push_back("{\"uriTemplate\":\"" + u + R"(","name":"n"})");
  return items(template_kind(), all);
}

catalog_server named(std::string name) {
  return {.name = std::move(name), .tools = {}, .owner = {}};
}

std::vector<std::string> keys_of(const catalog_ptr& c, const feature_kind& kind) {
  std::vector<std::string> out;
  for (const auto& e : c->rest().others.at(kind.index() - 1)->entries()) out.push_back(e->key);
  return out;
}

/// Returns "server uri" of the route, or "".
std::string route(const catalog& c, std::string_view uri) {
  const auto found = c.route_resource(uri);
  return found ? found->server + " " + found->uri : "";
}
std::string route(const catalog_ptr& c, std::string_view uri) {
  return route(*c, uri);
}

using names = std::vector<std::string>;

}  // namespace

TEST_CASE("the templates of all servers share the work of one search equally") {
  const auto with = [](int servers) {
    std::vector<catalog_server> all;
    for (int i = 0; i < servers; ++i) all.push_back(named("s" + std::to_string(i)));
    catalog_builder builder(all);
    std::string hostile = "x:";
    for (int i = 0; i < 16; ++i) hostile += "{+a}b";
    for (int i = 0; i < servers - 1; ++i)
      builder.set_list(static_cast<std::size_t>(i), template_kind(), templates({hostile + std::to_string(i)}));
    builder.set_list(static_cast<std::size_t>(servers - 1), template_kind(), templates({"x:{+rest}"}));
    return builder.build();
  };
  const std::string uri = "x:" + std::string(4000, 'b');
  // One server's work leaves that of the others alone, and all of it is bounded.
  CHECK(route(with(2), uri) == "s1 " + uri);
  CHECK(route(with(20), uri) == "s19 " + uri);
  CHECK(route(with(200), uri).empty());
  CHECK(route(with(200), "x:short") == "s199 x:short");
}

TEST_CASE("prompts are named filtered and renamed as tools are") {
  auto a = named("a"), b = named("b"), c = named("c");
  a.prompts = {.allow = {}, .deny = {"secret*"}, .rename = {{"sum", "add"}}};
  b.plain_names = c.plain_names = true;
  catalog_builder builder({a, b, c});
  builder.set_list(0, prompt_kind(), prompts({"sum", "secret_one", "b c"}));
  builder.set_list(1, prompt_kind(), prompts({"sum", "a__x"}));
  builder.set_list(2, prompt_kind(), prompts({"sum"}));
  const auto all = builder.build();
  CHECK(keys_of(all, prompt_kind()) == names{"a__add", "a__b_c", "sum", "b__a__x", "c__sum"});
  CHECK(all->find(prompt_kind(), "a__add")->own_key == "sum");
  CHECK(all->find(prompt_kind(), "a__add")->exposed.text() == R"({"name":"a__add"})");
  CHECK_FALSE(all->find(prompt_kind(), "a__secret_one"));
}

TEST_CASE("a listed URI leads to the server that lists it and a doubled one to the first in file order") {
  catalog_builder b({named("a"), named("b")});
  b.set_list(0, resource_kind(), resources({"x:1", "mcpbx://b/x:1"}));
  b.set_list(1, resource_kind(), resources({"x:1", "x:2"}));
  auto c = b.build();
  CHECK(keys_of(c, resource_kind()) == names{"x:1", "mcpbx://a/mcpbx://b/x:1", "mcpbx://b/x:1", "x:2"});
  CHECK(route(c, "x:1") == "a x:1");
  CHECK(route(c, "mcpbx://b/x:1") == "b x:1");
  CHECK(route(c, "mcpbx://a/x:1") == "a x:1");
  CHECK(route(c, "mcpbx://b/x:2") == "b x:2");
  CHECK(route(c, "mcpbx://a/mcpbx://b/x:1") == "a mcpbx://b/x:1");
  CHECK(route(c, "mcpbx://a/x:2").empty());
  CHECK(route(c, "mcpbx://none/x:2").empty());
  CHECK(route(c, "x:3").empty());
  CHECK(route(c, "").empty());
  CHECK(c->list(resource_kind()).text().starts_with(R"({"resources":[{"uri":"x:1","name":"n"},)"));
  // The URI that names its server stays the way to it, whoever else has the same.
  b.set_list(0, resource_kind(), resources({}));
  c = b.build();
  CHECK(route(c, "x:1") == "b x:1");
  CHECK(route(c, "mcpbx://b/x:1") == "b x:1");
}

TEST_CASE("a URI that nobody lists leads to a matching template and then to whoever said it") {
  catalog_builder b({named("a"), named("b"), named("c")});
  b.set_list(0, template_kind(), templates({"{+any}", "a://{x}"}));
  b.set_list(1, template_kind(), templates({"b://{x}", "a://{x}"}));
  b.set_list(2, resource_kind(), resources({"b://listed"}));
  const auto c = b.build();
  CHECK(keys_of(c, template_kind()) == names{"{+any}", "a://{x}", "b://{x}", "mcpbx://b/a://{x}"});
  CHECK(route(c, "b://listed") == "c b://listed");
  CHECK(route(c, "b://1") == "b b://1");
  CHECK(route(c, "a://1") == "a a://1");
  CHECK(route(c, "mcpbx://b/a://1") == "b a://1");
  // A template that matches everything comes after what servers have said.
  CHECK(route(c, "z:1") == "a z:1");
  c->saw_uri("c", "z:1");
  c->saw_uri("c", "b://2");
  CHECK(route(c, "z:1") == "c z:1");
  CHECK(route(c, "b://2") == "b b://2");
  CHECK(route(c, "mcpbx://c/z:1") == "c z:1");
  CHECK(route(c, "mcpbx://c/z:2").empty());
  CHECK(route(c, "mcpbx://none/z:2") == "a mcpbx://none/z:2");
  // Later snapshots know what was seen before, and servers that are gone do not.
  b.set_list(0, template_kind(), templates({}));
  CHECK(route(b.build(), "z:1") == "c z:1");
  b.set_servers({named("a"), named("b")});
  CHECK(route(b.build(), "z:1").empty());
}

TEST_CASE("a denied URI is neither listed nor led anywhere by a template or a result") {
  auto a = named("a"), b = named("b");
  a.resources = {.allow = {}, .deny = {"f:///secret/*"}};
  b.resources = {.allow = {"g:*"}, .deny = {}};
  catalog_builder builder({a, b});
  builder.set_list(0, resource_kind(), resources({"f:///secret/1", "f:///open/1"}));
  builder.set_list(0, template_kind(), templates({"f:///{+path}", "f:///secret/{x}"}));
  builder.set_list(1, resource_kind(), resources({"f:///open/1", "g:1"}));
  builder.set_list(1, template_kind(), templates({"{+any}"}));
  const auto c = builder.build();
  CHECK(keys_of(c, resource_kind()) == names{"f:///open/1", "g:1"});
  CHECK(keys_of(c, template_kind()) == names{"f:///{+path}"});
  for (const auto* uri :
       {"f:///secret/1", "f:///open/../secret/1", "F:///SECRET/1", "f:///%73ecret/1", "f:////secret/1"}) {
    CAPTURE(uri);
    c->saw_uri("a", uri);
    c->saw_uri("b", uri);
    CHECK(route(c, uri).empty());
    CHECK(route(c, "mcpbx://a/" + std::string(uri)).empty());
    CHECK(route(c, "mcpbx://b/" + std::string(uri)).empty());
  }
  CHECK(route(c, "f:///open/2") == "a f:///open/2");
  CHECK(route(c, "g:2").empty());
  c->saw_uri("b", "g:2");
  CHECK(route(c, "g:2") == "b g:2");
}

TEST_CASE("a profile narrows prompts and resources under every name that they have") {
  auto a = named("a"), b = named("b");
  b.plain_names = true;
  catalog_builder builder({a, b});
  builder.set_list(0, prompt_kind(), prompts({"p", "q"}));
  builder.set_list(1, prompt_kind(), prompts({"p", "q"}));
  builder.set_list(0, resource_kind(), resources({"x:1", "x:2"}));
  builder.set_list(1, resource_kind(), resources({"x:1"}));
  builder.set_list(1, template_kind(), templates({"t:{x}"}));
  const auto whole = builder.build();
  const auto seen_by = [&](item_filter prompt, item_filter resource) {
    return std::make_shared<const catalog>(std::vector<entry_ptr>(), 1, withheld_tools(), std::vector<dropped_item>(),
                                           narrowed(whole->rest(), prompt, resource));
  };
  CHECK(seen_by({}, {})->rest().routes == whole->rest().routes);
  CHECK(keys_of(seen_by({.allow = {"a__*"}, .deny = {}}, {}), prompt_kind()) == names{"a__p", "a__q"});
  CHECK(keys_of(seen_by({.allow = {}, .deny = {"b__p"}}, {}), prompt_kind()) == names{"a__p", "a__q", "q"});
  CHECK(keys_of(seen_by({.allow = {"b__q"}, .deny = {}}, {}), prompt_kind()) == names{"q"});

  const auto denied = seen_by({}, {.allow = {}, .deny = {"x:1"}});
  CHECK(keys_of(denied, resource_kind()) == names{"x:2"});
  CHECK(route(denied, "x:1").empty());
  CHECK(route(denied, "mcpbx://b/x:1").empty());
  CHECK(route(denied, "t:1") == "b t:1");
  const auto by_server = seen_by({}, {.allow = {}, .deny = {"mcpbx://b/*"}});
  CHECK(keys_of(by_server, resource_kind()) == names{"x:1", "x:2"});
  CHECK(keys_of(by_server, template_kind()).empty());
  CHECK(route(by_server, "t:1").empty());
  CHECK(route(by_server, "mcpbx://b/x:1").empty());
  const auto allowed = seen_by({}, {.allow = {"mcpbx://b/*"}, .deny = {}});
  CHECK(keys_of(allowed, resource_kind()) == names{"mcpbx://b/x:1"});
  CHECK(route(allowed, "x:2").empty());
  CHECK(route(allowed, "mcpbx://b/x:1") == "b x:1");
  CHECK(route(allowed, "t:1") == "b t:1");
  whole->saw_uri("a", "s:1");
  whole->saw_uri("b", "s:1");
  CHECK(route(whole, "s:1") == "a s:1");
  CHECK(route(allowed, "s:1") == "b s:1");
  const auto nothing = seen_by({.allow = {}, .deny = {"*"}}, {.allow = {}, .deny = {"*"}});
  CHECK(keys_of(nothing, prompt_kind()).empty());
  CHECK(keys_of(nothing, resource_kind()).empty());
  CHECK(route(nothing, "x:2").empty());
  CHECK(route(nothing, "t:1").empty());
  CHECK(route(nothing, "s:1").empty());
}

TEST_CASE("a server with hostile templates costs a bounded search and hides no other server") {
  catalog_builder b({named("loud"), named("quiet")});
  names hostile;
  for (int i = 0; i < 2'000; ++i)
    hostile.push_back("a:" + std::to_string(i % 10) + "{+x}" + std::string(50, 'a') + "{+y}" + std::to_string(i) + "z");
  for (auto& h : hostile) h.replace(2, 1, "{x}");
  b.set_list(0, template_kind(), templates(hostile));
  b.set_list(1, template_kind(), templates({"a:{+rest}"}));
  CHECK(route(b.build(), "a:" + std::string(8'000, 'a')).starts_with("quiet "));
}

TEST_CASE("URIs that are longer than any that is listed lead nowhere") {
  catalog_builder b({named("a")});
  b.set_list(0, template_kind(), templates({"a:{+rest}"}));
  const auto c = b.build();
  CHECK(route(c, "a:" + std::string(8190, 'x')).starts_with("a a:x"));
  CHECK(route(c, "a:" + std::string(8191, 'x')).empty());
  CHECK(route(c, "mcpbx://a/a:" + std::string(8190, 'x')).starts_with("a a:x"));
  CHECK(route(c, "mcpbx://a/a:" + std::string(8191, 'x')).empty());
}

TEST_CASE("hints for caching are the least time of all servers and private if one of them is") {
  catalog_builder b({named("a"), named("b")});
  const auto c = b.build();
  const time_point now{milliseconds(1'000'000)};
  const auto hints = [&](const feature_kind& kind) {
    const auto h = c->hints(kind, now);
    return std::to_string(h.ttl.count()) + (h.is_private ? " private" : " public");
  };
  CHECK(hints(prompt_kind()) == "0 private");
  b.set_hints(0, prompt_kind(), told_hints{milliseconds(5000), false});
  CHECK(hints(prompt_kind()) == "5000 public");
  b.set_hints(1, prompt_kind(), told_hints{milliseconds(9000), true, now + milliseconds(3000)});
  CHECK(hints(prompt_kind()) == "3000 private");
  b.set_hints(1, prompt_kind(), told_hints{milliseconds(9000), false, now - milliseconds(1)});
  CHECK(hints(prompt_kind()) == "0 public");
  CHECK(hints(resource_kind()) == "0 private");
  b.set_hints(1, prompt_kind(), std::nullopt);
  CHECK(hints(prompt_kind()) == "5000 public");
  b.set_list(0, prompt_kind(), prompts({"p"}));
  const auto next = b.build();
  CHECK(next->modern_list(prompt_kind(), now).str() ==
        R"({"resultType":"complete","ttlMs":5000,"cacheScope":"public","prompts":[{"name":"a__p"}]})");
  CHECK(next->modern_list(tool_kind(), now).str() ==
        R"({"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[]})");
  // The list itself is not copied.
  CHECK(next->modern_list(prompt_kind(), now).pieces().back().text().data() ==
        next->list(prompt_kind()).text().data() + 1);
  b.set_servers({named("b")});
  CHECK(hints(prompt_kind()) == "0 private");
}

namespace {

/// Returns a list whose definitions lie in one page, as they come from a server.
feature_list in_one_page(const std::vector<std::string>& definitions) {
  std::string page = "[";
  for (const auto& d : definitions) page += (page.size() == 1 ? "" : ",") + d;
  const raw_json all = raw_json::own(page + "]");
  auto list = std::make_shared<std::vector<feature_item>>();
  for_each_element(all, [&](const raw_json& d) {
    const bool tool = d.text().starts_with("{\"name\"");
    list->push_back((tool ? read_tool(d) : read_resource(d)).value());
    return true;
  });
  return list;
}

}  // namespace

TEST_CASE("entries of lists that change again and again do not hold all old pages in memory") {
  const std::string text(1'000, 'd');
  names tools, uris;
  const auto tool = [&](int i, int version) {
    return R"({"name":"t)" + std::to_string(i) + R"(","description":")" + std::to_string(version) + text + "\"}";
  };
  const auto page = [&](int i, int version) {
    return R"({"uri":"u:)" + std::to_string(i) + R"(","name":"n","description":")" + std::to_string(version) + text +
           "\"}";
  };
  constexpr int count = 100;
  for (int i = 0; i < count; ++i) {
    tools.push_back(tool(i, 0));
    uris.push_back(page(i, 0));
  }
  catalog_builder b({named("s")});
  const auto publish = [&] {
    b.set_list(0, tool_kind(), in_one_page(tools));
    b.set_list(0, resource_kind(), in_one_page(uris));
    return b.build();
  };
  auto c = publish();
  for (int i = 0; i < count; ++i) {
    tools[static_cast<std::size_t>(i)] = tool(i, 1);
    uris[static_cast<std::size_t>(i)] = page(i, 1);
    c = publish();
  }
  std::vector<const char*> blocks;
  std::size_t bytes = 0;
  const auto count_block = [&](const raw_json& definition) {
    const auto* data = definition.owner().data();
    if (std::ranges::find(blocks, data) != blocks.end()) return;
    blocks.push_back(data);
    bytes += definition.owner().size();
  };
  for (const auto& e : c->entries()) count_block(e->definition);
  for (const auto& e : c->rest().others.at(resource_kind().index() - 1)->entries()) count_block(e->definition);
  // Without copies there would be 200 pages of 100 KiB.
  CHECK(bytes < 3 * 2 * count * text.size());
  CHECK(c->find("s__t7")->definition.text() == tool(7, 1));
}
