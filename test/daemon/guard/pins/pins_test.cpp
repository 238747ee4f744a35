// The book of pins: what is pinned of a definition, how a list compares with it, and its text.
#include "daemon/guard/pins/pins.hpp"

#include "daemon/guard/pins/pin_words.hpp"
#include "test/daemon/guard/pins/pinned_tools.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::pins;
using namespace mcpbx::json;
using namespace mcpbx::test;

namespace {

const std::string here = origin_text({"run-it", {"--flag"}, ""});

std::string hash_of(const std::string& definition, const std::string& origin = here) {
  return pin_hash(pinned_part(raw_json::own(definition)), origin);
}

server_pins pins_of(const std::vector<mcp::protocol::feature_item>& tools) {
  server_pins pins;
  approve(pins, tools, here, "2026-01-01T00:00:00.000Z");
  return pins;
}

std::string states(const std::vector<compared_tool>& tools) {
  std::string out;
  for (const auto& t : tools)
    out += (out.empty() ? "" : " ") + t.tool + ":" + std::string(daemon::pins::to_string(t.state)) +
           (t.origin_only ? "*" : "");
  return out;
}

}  // namespace

TEST_CASE(
    "G37: a pin covers the whole definition, whatever it has, and command, arguments, names of variables, folder and "
    "address of its server") {
  const std::string before =
      R"({"name":"a","title":"A","description":"d","inputSchema":{"type":"object"},"outputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}})";
  const auto with = [&](std::string_view from, std::string_view to) {
    std::string after = before;
    after.replace(after.find(from), from.size(), to);
    return hash_of(after);
  };
  const std::string hash = hash_of(before);
  CHECK(hash.size() == 64);
  CHECK(with(R"("name":"a")", R"("name":"b")") != hash);
  CHECK(with(R"("description":"d")", R"("description":"D")") != hash);
  CHECK(with(R"("inputSchema":{"type")", R"("inputSchema":{"x":1,"type")") != hash);
  CHECK(with(R"("outputSchema":{"type")", R"("outputSchema":{"x":1,"type")") != hash);
  CHECK(with(R"("readOnlyHint":true)", R"("readOnlyHint":false)") != hash);
  CHECK(with(R"(,"annotations":{"readOnlyHint":true})", "") != hash);
  CHECK(with(R"("title":"A")", R"("title":"B")") != hash);
  for (const std::string_view more : {R"("icons":[{"src":"https://a.example"}],)", R"("_meta":{"x":1},)",
                                      R"("execution":{"taskSupport":"required"},)", R"("something new":1,)"})
    CHECK(with(R"("title":"A",)", R"("title":"A",)" + std::string(more)) != hash);
  CHECK(with(R"("name":"a","title":"A","description":"d")", R"( "description" : "\u0064", "title":"A", "name":"a")") ==
        hash);
  CHECK(hash_of(before, origin_text({"other", {"--flag"}, ""})) != hash);
  CHECK(hash_of(before, origin_text({"run-it", {"--flag", ""}, ""})) != hash);
  CHECK(hash_of(before, origin_text({"run-it", {"--flag"}, "https://a.example"})) != hash);
  CHECK(hash_of(before, origin_text({"run-it", {"--flag"}, "", {"TOKEN"}})) != hash);
  CHECK(hash_of(before, origin_text({"run-it", {"--flag"}, "", {}, "~/.env"})) != hash);
  CHECK(hash_of(before, origin_text({"run-it", {"--flag"}, "", {}, "", "/srv"})) != hash);
  CHECK(origin_text({"a b", {}, ""}) != origin_text({"a", {"b"}, ""}));
  CHECK(origin_text({"a", {}, "", {"X", "Y", "X"}}) == origin_text({"a", {}, "", {"Y", "X"}}));
}

TEST_CASE("G37: a list compares with its pins tool by tool, and a rename is a new tool") {
  const auto pins = pins_of({tool_of("a"), tool_of("b"), tool_of("c")});
  CHECK(states(compare(pins, {tool_of("a"), tool_of("b"), tool_of("c")}, here)) == "a:ok b:ok c:ok");
  CHECK(states(compare(pins, {tool_of("c", "other"), tool_of("renamed"), tool_of("a")}, here)) ==
        "c:changed renamed:new a:ok b:gone");
  CHECK(states(compare(pins, {}, here)) == "a:gone b:gone c:gone");
  const auto moved = origin_text({"elsewhere", {}, ""});
  CHECK(states(compare(pins, {tool_of("a"), tool_of("b", "other")}, moved)) == "a:changed* b:changed c:gone");
}

TEST_CASE("G37: a pin of an older version holds, and is taken over once with all of the definition") {
  auto with = tool_of("a");
  with.definition = raw_json::own(R"({"name":"a","title":"A","description":"d","inputSchema":{"type":"object"}})");
  auto other = with;
  other.definition = raw_json::own(R"({"name":"a","title":"B","description":"d","inputSchema":{"type":"object"}})");
  auto changed = with;
  changed.definition = raw_json::own(R"({"name":"a","title":"A","description":"D","inputSchema":{"type":"object"}})");
  pin old{pin_hash(first_pinned_part(with.definition), here), "then", raw_json::own(first_pinned_part(with.definition)),
          false};
  server_pins pins{{"a", old}};
  CHECK(states(compare(pins, {with}, here)) == "a:ok");
  CHECK(states(compare(pins, {changed}, here)) == "a:changed");
  CHECK(states(compare(pins, {with}, origin_text({"elsewhere", {}, ""}))) == "a:changed*");
  CHECK(take_over(pins, {changed}, here) == 0);
  CHECK(take_over(pins, {with}, here) == 1);
  CHECK(take_over(pins, {with}, here) == 0);
  CHECK(pins.at("a").whole);
  CHECK(pins.at("a").pinned_at == "then");
  CHECK(states(compare(pins, {with}, here)) == "a:ok");
  CHECK(states(compare(pins, {other}, here)) == "a:changed");
}

TEST_CASE("G37: approving pins what is listed, takes out what is gone and leaves the rest alone") {
  auto pins = pins_of({tool_of("a"), tool_of("b"), tool_of("c")});
  const std::vector<mcp::protocol::feature_item> now{tool_of("a"), tool_of("b", "other"), tool_of("d")};
  auto one = pins;
  CHECK(approve(one, now, here, "later", "b") == 1);
  CHECK(states(compare(one, now, here)) == "a:ok b:ok d:new c:gone");
  CHECK(one.at("b").pinned_at == "later");
  CHECK(approve(pins, now, here, "later") == 3);
  CHECK(states(compare(pins, now, here)) == "a:ok b:ok d:ok");
  CHECK(pins.at("a").pinned_at == "2026-01-01T00:00:00.000Z");
  CHECK(approve(pins, now, here, "still later") == 0);
}

TEST_CASE("G37: definitions that are too long are pinned by their hash alone") {
  const auto large = tool_of("large", std::string(300'000, 'x'));
  auto pins = pins_of({large, tool_of("small")});
  CHECK_FALSE(pins.at("large").definition);
  CHECK(pins.at("small").definition);
  CHECK(states(compare(pins, {large, tool_of("small")}, here)) == "large:ok small:ok");
  std::vector<mcp::protocol::feature_item> many;
  for (int i = 0; i < 30; ++i) many.push_back(tool_of("t" + std::to_string(i), std::string(200'000, 'x')));
  std::size_t kept = 0;
  for (const auto& [name, p] : pins_of(many)) kept += p.definition.text().size();
  CHECK(kept > 3u << 20);
  CHECK(kept <= 4u << 20);
}

TEST_CASE("G37: the book's text comes back as it was") {
  pin_file file;
  pin_book& book = file.pins;
  book["s"] = pins_of({tool_of("a"), tool_of("a \"b\" \\ c")});
  book["an empty one"] = {};
  file.names["echo"] = {{"s", "a"}, {"b \"c\"", "x"}};
  file.names["odd \n"] = {{"s", "b"}};
  const std::string text = to_text(file);
  const auto back = read_pins(text);
  REQUIRE(back);
  CHECK(to_text(*back) == text);
  CHECK(back->names == file.names);
  CHECK(back->pins.at("s").at("a").sha256 == book["s"].at("a").sha256);
  CHECK(back->pins.at("s").at("a").definition.text() == book["s"].at("a").definition.text());
  CHECK(back->pins.contains("an empty one"));
  CHECK(to_text({}) == to_text(*read_pins(to_text({}))));
}

TEST_CASE("G37: a text that is not wholly right is not taken") {
  const std::string good(64, 'a');
  const auto error_of = [](const std::string& text) {
    const auto read = read_pins(text);
    return read ? std::string("taken") : read.error().message;
  };
  CHECK(error_of(R"({"version":1,"servers":{"s":{"t":{"sha256":")" + good + R"(","pinnedAt":""}}}})") == "taken");
  const std::vector<std::string> wrong{
      "",
      "[]",
      "{}",
      R"({"version":0,"servers":{}})",
      R"({"version":"1","servers":{}})",
      R"({"version":1})",
      R"({"version":1,"servers":[]})",
      R"({"version":1,"servers":{}} x)",
      R"({"version":1,"version":1,"servers":{}})",
      R"({"version":1,"servers":{"s":[]}})",
      R"({"version":1,"servers":{"s":{"t":5}}})",
      R"({"version":1,"servers":{"s":{"t":{"pinnedAt":""}}}})",
      R"({"version":1,"servers":{"s":{"t":{"sha256":"abc","pinnedAt":""}}}})",
      R"({"version":1,"servers":{"s":{"t":{"sha256":")" + std::string(64, 'A') + R"(","pinnedAt":""}}}})",
      R"({"version":1,"servers":{"s":{"t":{"sha256":")" + good + R"("}}}})",
      R"({"version":1,"servers":{"s":{"t":{"sha256":")" + good + R"(","pinnedAt":"","definition":5}}}})",
      R"({"version":1,"servers":{"s":{},"\u0073":{}}})",
      R"({"version":2,"servers":{"s":{"t":{"sha256":")" + good + R"(","pinnedAt":"","whole":false}}}})",
      R"({"version":2,"servers":{},"names":[]})",
      R"({"version":2,"servers":{},"names":{"a":[]}})",
      R"({"version":2,"servers":{},"names":{"a":{"server":"s","tool":"a"}}})",
      R"({"version":2,"servers":{},"names":{"a":[{"server":"s"}]}})",
      R"({"version":2,"servers":{},"names":{"a":[{"server":"s","tool":""}]}})",
      R"({"version":2,"servers":{},"names":{"a":[5]}})",
      R"({"version":2,"servers":{},"names":{"a":[{"server":"s","tool":"a"}],"\u0061":[{"server":"s","tool":"a"}]}})",
      R"({"version":1,"servers":{"s":{"t":{"sha256":")" + good + R"(","pinnedAt":""},"t":{"sha256":")" + good +
          R"(","pinnedAt":""}}}})"};
  for (const auto& text : wrong) {
    CAPTURE(text);
    CHECK(error_of(text) != "taken");
  }
  // Cut anywhere, it is no book any more.
  const std::string whole = to_text({{{"s", pins_of({tool_of("a")})}}, {{"a", {{"s", "a"}}}}});
  for (std::size_t n = 0; n + 2 < whole.size(); ++n) CHECK_FALSE(read_pins(whole.substr(0, n)));
  const auto newer = read_pins(R"({"version":3,"servers":{}})");
  REQUIRE_FALSE(newer);
  CHECK(newer.error().code == errc::config);
}

TEST_CASE("G37: the notice of a server says in one sentence what differs and what to do") {
  const auto pins = pins_of({tool_of("a"), tool_of("b")});
  const std::vector<mcp::protocol::feature_item> now{tool_of("a", "other"), tool_of("b"), tool_of("c")};
  CHECK(pin_words::notice("s", pin_mode::warn, compare(pins, {tool_of("a")}, here)) == "");
  CHECK(pin_words::notice("s", pin_mode::warn, compare(pins, now, here)) ==
        "tool server \"s\": 1 definition is not as pinned (a), and 1 tool is new (c); look with `mcpbx pins show s`, "
        "approve with `mcpbx pins accept s`");
  CHECK(pin_words::notice("s", pin_mode::block, compare(pins, now, here)) ==
        "tool server \"s\": 1 definition is not as pinned (a), and 1 tool is new (c); they are not offered until "
        "`mcpbx pins accept s` approves them (`mcpbx pins show` tells what differs)");
  CHECK(pin_words::notice("s", pin_mode::warn, compare(pins, {tool_of("a"), tool_of("b")}, "{}")) ==
        "tool server \"s\": its command, arguments, environment or address is not the one its tools were pinned with; "
        "look with "
        "`mcpbx pins show s`, approve with `mcpbx pins accept s`");
  // The commands may be pasted, and the name may come from a file of another program.
  for (const auto mode : {pin_mode::warn, pin_mode::block}) {
    const auto pasted = pin_words::notice("$(id); x", mode, compare(pins, now, here));
    CHECK(pasted.contains("mcpbx pins accept '$(id); x'`"));
    CHECK_FALSE(pasted.contains("accept $(id)"));
  }
  std::vector<mcp::protocol::feature_item> many;
  for (int i = 0; i < 9; ++i) many.push_back(tool_of("n" + std::to_string(i) + "\u202e"));
  CHECK(pin_words::notice("s", pin_mode::warn, compare(pins, many, here)) ==
        "tool server \"s\": 9 tools are new (n0\\u{202e}, n1\\u{202e}, n2\\u{202e}, n3\\u{202e}, n4\\u{202e}, …); look "
        "with "
        "`mcpbx pins show s`, approve with `mcpbx pins accept s`");
}
