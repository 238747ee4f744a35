// Tools that a round offers: filters, shared objects, names, and room for them.
#include "daemon/loop/tools/round_tools.hpp"

#include "daemon/loop/tools/caller_tools.hpp"
#include "mcp/support/log.hpp"
#include "mcp/support/text.hpp"
#include "providers/wire/registry/registry.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::stored;
using namespace mcpbx::daemon::tools;
using namespace mcpbx::json;

namespace {

mcp::catalogs::entry_ptr entry(const std::string& name) {
  auto e = std::make_shared<mcp::catalogs::catalog_entry>();
  e->name = "s__" + name;
  e->server = "s";
  e->tool = name;
  e->definition = raw_json::own(R"({"name":")" + name + R"(","inputSchema":{"type":"object"}})");
  return e;
}

mcp::catalogs::entry_ptr defined(const std::string& name, const raw_json& definition) {
  auto e = std::make_shared<mcp::catalogs::catalog_entry>(*entry(name));
  e->definition = definition;
  e->hash = stable_hash(definition.text());
  return e;
}

mcp::catalogs::entry_ptr described(const std::string& name, const std::string& words) {
  return defined(name, raw_json::own(R"({"name":")" + name +
                                     R"(","inputSchema":{"type":"object","$id":"x","properties":{"a":)"
                                     R"({"default":")" +
                                     words + R"("}}}})"));
}

mcp::catalogs::catalog_ptr catalog_of(std::vector<mcp::catalogs::entry_ptr> entries, std::uint64_t revision) {
  return std::make_shared<mcp::catalogs::catalog>(std::move(entries), revision);
}

struct counted_adapter {
  int calls = 0;
  tool_adapter adapter() {
    return [this](std::span<const mcp::catalogs::entry_ptr> entries, std::string_view api) {
      ++calls;
      std::vector<adapted_tool> all;
      for (std::size_t i = 0; i < entries.size(); ++i)
        if (entries[i]->tool != "odd") all.push_back({i, {std::string(api) + "_" + entries[i]->tool, "", {}}});
      return all;
    };
  }
};

}  // namespace

TEST_CASE("round_tools: the same snapshot gives the same object") {
  counted_adapter c;
  round_tools tools(c.adapter());
  const auto catalog = catalog_of({entry("a"), entry("b")}, 1);
  const auto first = tools.offer(catalog, {}, "x");
  CHECK(tools.offer(catalog, {}, "x") == first);
  CHECK(c.calls == 1);
  CHECK(tools.offer(catalog, {}, "y") != first);
  CHECK(c.calls == 2);
}

TEST_CASE("round_tools: a new snapshot keeps the set of a filter that it does not touch") {
  counted_adapter c;
  round_tools tools(c.adapter());
  const auto a = entry("a"), b = entry("b");
  const auto first = tools.offer(catalog_of({a, b}, 1), {{"*a"}, {}, {}, {}}, "x");
  const auto second = tools.offer(catalog_of({a, entry("b"), entry("d")}, 2), {{"*a"}, {}, {}, {}}, "x");
  CHECK(second != first);
  CHECK(second->set == first->set);
  CHECK(second->find("x_a") == a.get());
  const auto third = tools.offer(catalog_of({entry("a")}, 3), {{"*a"}, {}, {}, {}}, "x");
  CHECK(third->set != first->set);
}

TEST_CASE("M4 F1: tools are offered by name, so another order of a server's list gives the very same bytes") {
  counted_adapter c;
  round_tools tools(c.adapter());
  const auto a = entry("a"), b = entry("b"), d = entry("d");
  const auto first = tools.offer(catalog_of({b, d, a}, 1), {}, "x");
  CHECK(first->names == std::vector<std::string>{"x_a", "x_b", "x_d"});
  const auto second = tools.offer(catalog_of({d, a, b}, 2), {}, "x");
  CHECK(second->set == first->set);
  CHECK(c.calls == 1);
  round_tools after_a_restart(c.adapter());
  CHECK(after_a_restart.offer(catalog_of({a, d, b}, 1), {}, "x")->names == first->names);
}

TEST_CASE("round_tools: globs choose by exposed name and the model's name finds the entry") {
  counted_adapter c;
  round_tools tools(c.adapter());
  const auto offered =
      tools.offer(catalog_of({entry("read"), entry("write"), entry("odd")}, 1), {{"s__r*", "*odd"}, {}, {}, {}}, "x");
  CHECK(offered->entries.size() == 2);
  CHECK(offered->names == std::vector<std::string>{"x_read"});
  REQUIRE(offered->find("x_read"));
  CHECK(offered->find("x_read")->name == "s__read");
  CHECK(offered->find("s__read") == nullptr);
  CHECK(offered->similar("x_raed", 3) == std::vector<std::string>{"x_read"});
  CHECK(offered->similar("read", 3).front() == "x_read");
}

TEST_CASE("G24: what holds beside a choice makes another offer, also where all else is the same") {
  counted_adapter c;
  round_tools tools(c.adapter());
  const auto catalog = catalog_of({entry("read"), entry("write")}, 1);
  const auto names_under = [&](std::vector<server_terms> servers, std::vector<std::string> deny = {}) {
    kept_terms kept{{}, std::move(deny), std::make_shared<const std::vector<server_terms>>(std::move(servers))};
    return tools.offer(catalog, {{}, {}, {}, {}, std::make_shared<const kept_terms>(std::move(kept))}, "x")->names;
  };
  using names = std::vector<std::string>;
  CHECK(tools.offer(catalog, {}, "x")->names == names{"x_read", "x_write"});
  CHECK(names_under({{"s", {}, {}, {}}}) == names{"x_read", "x_write"});
  CHECK(names_under({{"s", {"read"}, {}, {}}}) == names{"x_read"});
  CHECK(names_under({{"s", {}, {"read"}, {}}}) == names{"x_write"});
  CHECK(names_under({{"s", {}, {}, {}}}, {"*read"}) == names{"x_write"});
  CHECK(names_under({}).empty());
}

TEST_CASE("round_tools: the cache is bounded") {
  counted_adapter c;
  round_tools tools(c.adapter());
  const auto catalog = catalog_of({entry("a")}, 1);
  for (int i = 0; i < 100; ++i) tools.offer(catalog, {{"*" + std::to_string(i)}, {}, {}, {}}, "x");
  CHECK(c.calls == 100);
  tools.offer(catalog, {{"*99"}, {}, {}, {}}, "x");
  CHECK(c.calls == 100);
  tools.offer(catalog, {{"*1"}, {}, {}, {}}, "x");
  CHECK(c.calls == 101);
}

TEST_CASE("F8: the schema adapter gives names that models take and leaves unusable tools out") {
  round_tools tools;
  auto dotted = std::make_shared<mcp::catalogs::catalog_entry>(*entry("a.b"));
  auto broken = std::make_shared<mcp::catalogs::catalog_entry>(*entry("broken"));
  broken->definition = raw_json::literal(R"({"name":"broken","inputSchema":{"type":"array"}})");
  const auto offered = tools.offer(catalog_of({dotted, entry("plain"), broken}, 1), {}, "openai-chat");
  REQUIRE(offered->set->tools.size() == offered->names.size());
  CHECK(offered->find("s__plain"));
  REQUIRE(offered->find("s__a_b"));
  CHECK(offered->find("s__a_b")->name == "s__a.b");
  CHECK(offered->guidance.find("s__a_b, s__plain") != std::string::npos);
}

TEST_CASE("F8: what a definition becomes is kept per API: a changed catalog converts only what changed") {
  round_tools tools;
  const auto wide = [](const std::string& name) {
    auto e = std::make_shared<mcp::catalogs::catalog_entry>(*entry(name));
    e->definition = raw_json::own(
        R"({"name":")" + name + R"(","inputSchema":{"type":"object","$schema":"x","properties":{"$odd":{},"a":{}}}})");
    return e;
  };
  const auto schema_of = [](const offered_ptr& offered, std::string_view name) {
    for (const auto& t : offered->set->tools)
      if (t.name == name) return t.schema.text();
    return std::string_view();
  };
  const auto first = tools.offer(catalog_of({wide("a"), wide("b")}, 1), {}, "openai-chat");
  const auto second = tools.offer(catalog_of({wide("a"), entry("b"), wide("c")}, 2), {}, "openai-chat");
  CHECK(first->set != second->set);
  CHECK(schema_of(first, "s__a").data() == schema_of(second, "s__a").data());  // the same bytes in memory
  CHECK(schema_of(first, "s__b") != schema_of(second, "s__b"));
  const auto other = tools.offer(catalog_of({wide("a")}, 3), {}, "anthropic");
  CHECK(schema_of(first, "s__a").find("$odd") != std::string_view::npos);
  CHECK(schema_of(other, "s__a").find("$odd") == std::string_view::npos);
}

TEST_CASE("F8: one changed tool of many is converted and encoded alone, and the request is what it would be anew") {
  constexpr std::size_t count = 200, changed = 77;
  std::vector<mcp::catalogs::entry_ptr> entries;
  for (std::size_t i = 0; i < count; ++i) entries.push_back(described("t" + std::to_string(i), "before"));
  const auto before = catalog_of(entries, 1);
  entries[changed] = described("t" + std::to_string(changed), "after");
  const auto after = catalog_of(entries, 2);
  providers::wire::wire_options options;
  options.base_url = "http://127.0.0.1/v1";
  for (const std::string api : {"openai-chat", "openai-responses", "anthropic", "gemini", "ollama", "azure", "dial"}) {
    CAPTURE(api);
    round_tools tools;
    const auto ask = [&](round_tools& from, const mcp::catalogs::catalog_ptr& catalog) {
      providers::model_request request;
      request.tools = from.offer(catalog, {}, api)->set;
      return std::pair(request.tools, providers::registry::find_codec(api)->encode(request, options).body.str());
    };
    const auto [first, first_body] = ask(tools, before);
    // Remembers the encoded form of each tool, by the codec's key.
    std::vector<const char*> encoded;
    std::string key(providers::registry::find_api(api)->tools.name);
    if (api == "openai-responses" || api == "anthropic") key += "/lax";
    for (const auto& t : first->tools) encoded.push_back(t.encoded->remembered(key).text().data());
    const auto [second, second_body] = ask(tools, after);
    REQUIRE(second->tools.size() == count);
    std::size_t converted = 0, written = 0;
    for (std::size_t i = 0; i < count; ++i) {
      REQUIRE(encoded[i] != nullptr);
      converted += second->tools[i].schema.text().data() == first->tools[i].schema.text().data() ? 0 : 1;
      written += second->tools[i].encoded->remembered(key).text().data() == encoded[i] ? 0 : 1;
    }
    CHECK(converted == 1);
    CHECK(written == 1);
    CHECK(second_body != first_body);
    round_tools anew;
    CHECK(ask(anew, after).second == second_body);
  }
}

TEST_CASE(
    "F8 L13: offered tools know their forms for other APIs, made from the server's definition and shared with runs") {
  round_tools tools;
  const auto listed = catalog_of(
      {described("a", "A."), entry("b"),
       defined("c", raw_json::literal(R"({"name":"c","inputSchema":{"type":"object","required":["x y"],"properties":)"
                                      R"({"x y":{"type":"string","pattern":"^x"}}}})"))},
      1);
  const auto for_gemini = tools.offer(listed, {}, "gemini");
  const auto forms = for_gemini->set->forms_for("openai-chat");
  const auto direct = tools.offer(listed, {}, "openai-chat");
  REQUIRE(forms.size() == 3);
  for (std::size_t i = 0; i < forms.size(); ++i) {
    REQUIRE(forms[i].has_value());
    const auto& same = direct->set->tools[i];
    CHECK(forms[i]->schema.text().data() == same.schema.text().data());
    CHECK(forms[i]->encoded == same.encoded);
  }
  CHECK(forms[2]->schema.text().find("\"pattern\"") != std::string_view::npos);
  CHECK(for_gemini->set->tools[2].schema.text().find("\"pattern\"") == std::string_view::npos);
  const auto for_anthropic = for_gemini->set->forms_for("anthropic");
  CHECK(for_anthropic[1].has_value());
  CHECK_FALSE(for_anthropic[2].has_value());
  // A tool that did not fit has no parser; the run's own tools have one.
  const auto own = tools.with_own(*tools.offer(listed, {}, "gemini", 1), {entry("mine")}, "gemini");
  const auto few = own->set->forms_for("ollama");
  REQUIRE(few.size() == 2);
  CHECK(few[0]->name == "s__a");
  CHECK(few[1]->name == "s__mine");
}

TEST_CASE("F8: what a definition lost on its way to an API is logged once for each API") {
  std::vector<std::string> lines;
  log::install(log::level::warn, [&](log::level, std::string_view line) { lines.emplace_back(line); });
  const auto adapt = schema_adapter();
  const std::vector lossy{
      defined("a", raw_json::literal(R"({"name":"a","inputSchema":{"properties":{"b":1,"c":{"$ref":"#/d"}}}})"))};
  adapt(lossy, "openai-chat");
  REQUIRE(lines.size() == 1);
  CHECK(
      lines[0] ==
      R"(tool "s__a" is offered to models with changes: inputSchema.properties.b is no schema and goes; )"
      R"(inputSchema.properties.c.$ref: expected a reference to a schema in the same document, found the string "#/d")");
  adapt(lossy, "openai-chat");
  CHECK(lines.size() == 1);
  adapt(lossy, "anthropic");
  CHECK(lines.size() == 2);
  log::install(log::level::off, {});
}

TEST_CASE("F8: what is kept of definitions is bounded in number and in bytes") {
  const auto adapt = schema_adapter();
  const auto kept_after = [&](std::size_t others, const std::string& words) {
    const std::vector first{described("first", "")};
    const std::weak_ptr<const providers::fragment_cache> one = adapt(first, "openai-chat")[0].definition.encoded;
    CHECK(adapt(first, "openai-chat")[0].definition.encoded == one.lock());
    for (std::size_t i = 0; i < others; ++i)
      adapt(std::vector{described("t" + std::to_string(i), words)}, "openai-chat");
    return !one.expired();
  };
  CHECK(kept_after(100, ""));
  CHECK_FALSE(kept_after(16'384, ""));
  CHECK_FALSE(kept_after(64, std::string(std::size_t{1} << 20, 'w')));
}

TEST_CASE("F8: what is kept of a definition does not keep the list that it came in") {
  const auto list = raw_json::own(R"([{"name":"a","inputSchema":{"type":"object","properties":{}}},"and much more"])");
  raw_json definition;
  for_each_element(list, [&](raw_json e) {
    definition = std::move(e);
    return false;
  });
  const auto tools = schema_adapter()(std::vector{defined("a", definition)}, "openai-chat");
  const auto& schema = tools.at(0).definition.schema;
  CHECK(schema.text() == R"({"type":"object","properties":{}})");
  CHECK(schema.owner().size() == schema.text().size());
}

TEST_CASE(
    "F8: of more tools than there is room for the first of each server are offered, and the others are told once") {
  std::vector<std::string> lines;
  log::install(log::level::warn, [&](log::level, std::string_view line) { lines.emplace_back(line); });
  counted_adapter c;
  round_tools tools(c.adapter());
  const auto a = entry("a"), b = entry("b"), d = entry("d"), odd = entry("odd"), z = entry("z");
  const auto first = tools.offer(catalog_of({z, d, odd, b, a}, 1), {}, "x", 3);
  CHECK(first->names == std::vector<std::string>{"x_a", "x_b", "x_d"});
  CHECK(first->left_out == std::vector<std::string>{"s__z"});  // "odd", which the API cannot take, needs no room
  CHECK(first->set->tools.size() == 3);
  CHECK(first->find("x_z") == nullptr);
  REQUIRE(lines.size() == 1);
  CHECK(lines[0] ==
        "1 of 4 tools are not offered to a model that has room for 3 (maxTools): s__z; choose with "
        "tools.allow or tools.deny of their servers or of a profile, or raise maxTools of the model");
  // The same tools are not reported again, in any order or after other lists; less room is.
  CHECK(tools.offer(catalog_of({a, z, b, odd, d}, 2), {}, "x", 3)->left_out == first->left_out);
  CHECK(tools.offer(catalog_of({a, b}, 3), {}, "x", 3)->left_out.empty());
  CHECK(tools.offer(catalog_of({a, b, d, z}, 4), {}, "x", 3)->left_out == first->left_out);
  CHECK(lines.size() == 1);
  CHECK(tools.offer(catalog_of({a, b, d, z}, 4), {}, "x")->names.size() == 4);
  CHECK(tools.offer(catalog_of({a, b, d, z}, 4), {}, "x", 0)->names.empty());
  CHECK(lines.size() == 2);
  std::vector<mcp::catalogs::entry_ptr> many;
  for (int i = 100; i < 200; ++i) many.push_back(entry(std::to_string(i)));
  CHECK(tools.offer(catalog_of(many, 5), {}, "x", 10)->left_out.size() == 90);
  CHECK(lines.back().find("s__159 and 40 more; choose") != std::string::npos);
  log::install(log::level::off, {});
}

TEST_CASE("F8: the caller's own tools are never left out") {
  counted_adapter c;
  round_tools tools(c.adapter());
  const auto base = tools.offer(catalog_of({entry("a"), entry("b"), entry("d")}, 1), {}, "x", 1);
  auto mine = std::make_shared<mcp::catalogs::catalog_entry>(*entry("mine"));
  auto hides = std::make_shared<mcp::catalogs::catalog_entry>(*entry("a"));
  const auto all = tools.with_own(*base, {mine, hides}, "x");
  CHECK(all->names == std::vector<std::string>{"x_b", "x_mine", "x_a"});
  CHECK(all->find("x_a") == hides.get());
  CHECK(all->set->own == 2);
  CHECK(all->left_out == std::vector<std::string>{"s__d"});
  CHECK(catalog_room(0, 5) == any_number);
  CHECK(catalog_room(128) == 127);  // one place is kept for mcpbx__read_result
  CHECK(catalog_room(128, 5) == 122);
  CHECK(catalog_room(5, 5) == 0);
}

TEST_CASE("L21: a caller's tool that it wants strict is told so to the API, a server's word of it says nothing") {
  const auto strict = [](const std::string& name) {
    return raw_json::own(R"({"name":")" + name +
                         R"(","inputSchema":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],)"
                         R"("additionalProperties":false},"strict":true})");
  };
  round_tools tools;
  const auto base = tools.offer(catalog_of({defined("listed", strict("listed"))}, 1), {}, "anthropic");
  const auto all = tools.with_own(*base, caller_entries({strict("mine"), entry("loose")->definition}), "anthropic");
  REQUIRE(all->set->tools.size() == 3);
  CHECK_FALSE(all->set->tools[0].strict);
  CHECK(all->set->tools[1].strict);
  CHECK_FALSE(all->set->tools[2].strict);
}

namespace {

std::vector<mcp::catalogs::entry_ptr> entries_of(const std::vector<std::string>& servers, int each) {
  std::vector<mcp::catalogs::entry_ptr> all;
  for (const auto& server : servers)
    for (int i = 0; i < each; ++i) {
      auto e = std::make_shared<mcp::catalogs::catalog_entry>(*entry("t" + std::to_string(i)));
      e->server = server;
      e->name = server + "__" + e->tool;
      all.push_back(e);
    }
  return all;
}

}  // namespace

TEST_CASE(
    "F8: where there is no room for all tools each server has its share and those named in the question go along") {
  round_tools tools([](std::span<const mcp::catalogs::entry_ptr> entries, std::string_view) {
    std::vector<adapted_tool> all;
    for (std::size_t n = 0; n < entries.size(); ++n) {
      adapted_tool tool;
      tool.entry = n;
      tool.definition.name = entries[n]->name;
      all.push_back(std::move(tool));
    }
    return all;
  });
  const auto catalog = catalog_of(entries_of({"a", "m", "z"}, 5), 1);
  const auto names = [](const offered_ptr& offered) { return offered->names; };
  using list = std::vector<std::string>;
  const auto fair = tools.offer(catalog, {}, "x", 7);
  CHECK(names(fair) == list{"a__t0", "a__t1", "a__t2", "m__t0", "m__t1", "z__t0", "z__t1"});
  CHECK(fair->left_out.size() == 8);
  CHECK(left_out_text(*fair).starts_with("8 tools of 15 not offered: the model has room for 7; "));
  const question_words question("please use z__t4, then `m__t3`. Not xa__t4.");
  const auto asked = tools.offer(catalog, {}, "x", 4, question);
  CHECK(names(asked) == list{"a__t0", "m__t0", "m__t3", "z__t4"});
  // The same question and catalog give the same object, so that a prompt cache stays valid.
  CHECK(tools.offer(catalog, {}, "x", 4, question) == asked);
  CHECK(names(tools.offer(catalog, {}, "x", 4)) == list{"a__t0", "a__t1", "m__t0", "z__t0"});
  // The server's own name of a tool counts too. With room for all tools the question changes nothing.
  CHECK(names(tools.offer(catalog, {}, "x", 3, question_words("t2"))) == list{"a__t2", "m__t2", "z__t2"});
  CHECK(tools.offer(catalog, {}, "x", 15, question) == tools.offer(catalog, {}, "x", 15));
  CHECK(names(tools.offer(catalog, {}, "x", 0, question)).empty());
}

TEST_CASE("F8: a question is looked through for names of tools up to a bound") {
  const auto tool = entry("t");
  CHECK(question_words("s__t").name(*tool));
  CHECK(question_words("call t.").name(*tool));
  CHECK_FALSE(question_words("tt").name(*tool));
  CHECK_FALSE(question_words(std::string(64u << 10, ' ') + "t").name(*tool));
  CHECK(question_words("").empty());
}
