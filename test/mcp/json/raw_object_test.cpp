// Editing one level of an object: what is not touched keeps its bytes.
#include "mcp/json/json_scanner.hpp"
#include "mcp/json/raw_json.hpp"
#include "test/mcp/json/random_json.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

namespace {

using mcpbx::errc;
using mcpbx::json::raw_json;
using mcpbx::json::raw_object;

/// Opens `text`, applies the edits ("-key" erases, "key=value" sets) and returns the result.
std::string edited(std::string_view text, const std::vector<std::string_view>& edits) {
  auto o = raw_object::open(raw_json::own(text));
  REQUIRE(o);
  for (const std::string_view e : edits) {
    if (e.starts_with('-'))
      o->erase(e.substr(1));
    else
      o->set(e.substr(0, e.find('=')), raw_json::own(e.substr(e.find('=') + 1)));
  }
  CHECK(o->build().str() == o->json().text());
  return o->build().str();
}

TEST_CASE("members are erased with exactly one comma") {
  CHECK(edited(R"({"a":1})", {"-a"}) == "{}");
  CHECK(edited(R"({"a":1,"b":2})", {"-a"}) == R"({"b":2})");
  CHECK(edited(R"({"a":1,"b":2})", {"-b"}) == R"({"a":1})");
  CHECK(edited(R"({"a":1,"b":2,"c":3})", {"-b"}) == R"({"a":1,"c":3})");
  CHECK(edited(R"({"a":1,"b":2,"c":3})", {"-a", "-b"}) == R"({"c":3})");
  CHECK(edited(R"({"a":1,"b":2,"c":3})", {"-b", "-c"}) == R"({"a":1})");
  CHECK(edited(R"({"a":1,"b":2,"c":3})", {"-a", "-c"}) == R"({"b":2})");
  CHECK(edited(R"({"a":1,"b":2,"c":3})", {"-a", "-b", "-c"}) == "{}");
  CHECK(edited(R"({"a":1,"b":2,"a":3})", {"-a"}) == R"({"b":2})");
  CHECK(edited(R"({"a":1,"b":2})", {"-x"}) == R"({"a":1,"b":2})");
}

TEST_CASE("values are replaced in place") {
  CHECK(edited(R"({"a":1,"b":2})", {"a=[9]"}) == R"({"a":[9],"b":2})");
  CHECK(edited(R"({ "a" : 1 , "b" : 2 })", {"b=null"}) == R"({ "a" : 1 , "b" : null })");
  CHECK(edited(R"({"a":1,"b":2})", {"a=3", "b=4", "a=5"}) == R"({"a":5,"b":4})");
  CHECK(edited(R"({"\u0061":1})", {"a=2"}) == R"({"\u0061":2})");
}

TEST_CASE("new members come last") {
  CHECK(edited("{}", {"a=1"}) == R"({"a":1})");
  CHECK(edited("{ }", {"a=1"}) == R"({"a":1 })");
  CHECK(edited(R"({"a":1})", {"b=2", "c=3"}) == R"({"a":1,"b":2,"c":3})");
  CHECK(edited("{ \"a\" : 1.0\n}", {"b\n=2"}) == "{ \"a\" : 1.0,\"b\\n\":2\n}");
  CHECK(edited("{}", {"a=1", "a=2"}) == R"({"a":2})");
  CHECK(edited("{}", {"a=1", "-a"}) == "{}");
  CHECK(edited("{}", {"a=1", "b=2", "-a"}) == R"({"b":2})");
  CHECK(edited(R"({"a":1})", {"-a", "b=2"}) == R"({"b":2})");
  CHECK(edited(R"({"a":1,"c":3})", {"-a", "a=2"}) == R"({"c":3,"a":2})");
}

TEST_CASE("a key that stands several times is set once") {
  CHECK(edited(R"({"a":1,"b":2,"a":3})", {"a=9"}) == R"({"b":2,"a":9})");
}

TEST_CASE("an unedited object is the original and an edited one shares its bytes") {
  const auto json = raw_json::parse(R"({"a":1, "b":[1,2,3], "c":"x"})");
  REQUIRE(json);
  auto o = raw_object::open(*json);
  REQUIRE(o);
  CHECK(o->json().text().data() == json->text().data());
  o->set("b", raw_json::literal("0"));
  const auto built = o->build();
  CHECK(built.str() == R"({"a":1, "b":0, "c":"x"})");
  REQUIRE(built.pieces().size() == 3);
  CHECK(built.pieces()[0].text().data() == json->text().data());
  CHECK(built.pieces()[2].owner().data() == json->owner().data());
  CHECK(o->find("b").text() == "0");
  CHECK(o->find("c").text() == "\"x\"");
}

TEST_CASE("members are read by unescaped key in their order") {
  const auto o = raw_object::open(raw_json::literal(R"({"a":1,"\u0062":{"a":2},"a":[3]})"));
  REQUIRE(o);
  CHECK(o->size() == 3);
  CHECK(o->find("a").text() == "[3]");
  CHECK(o->find("b").text() == "{\"a\":2}");
  CHECK_FALSE(o->contains("c"));
  std::string seen;
  o->for_each([&](std::string_view key, const raw_json& value) {
    seen += std::string(key) + "=" + std::string(value.text()) + " ";
  });
  CHECK(seen == "a=1 b={\"a\":2} a=[3] ");
}

TEST_CASE("a duplicate of a key that must be unique is refused and of any other kept") {
  const raw_json json = raw_json::literal(R"({"a":1,"b":2,"\u0061":3})");
  CHECK(raw_object::open(json));
  CHECK(raw_object::open(json, {"b", "c"}));
  const auto bad = raw_object::open(json, {"b", "a"});
  REQUIRE_FALSE(bad);
  CHECK(bad.error().code == errc::invalid_argument);
  CHECK(bad.error().message == "duplicate member \"a\"");
}

TEST_CASE("only objects can be opened") {
  for (const std::string_view text : {"", "1", "[]", "\"{}\"", "null"}) {
    const auto o = raw_object::open(raw_json::literal(text));
    REQUIRE_FALSE(o);
    CHECK(o.error().code == errc::invalid_argument);
  }
}

TEST_CASE("G12: opening text that nobody checked is safe") {
  for (const std::string_view text :
       {"{",         "{\"",         "{\"a",      "{\"a\"",   "{\"a\":",          "{\"a\":1",
        "{\"a\":1,", "{\"a\":1,}",  "{\"a\":\"", "{\"a\":{", "{\"a\":[}",        "{,}",
        "{\"a\\",    "{\"a\\\":1}", "{}}",       "{} ",      "{\"a\":,\"b\":1}", "{\"a\":1 2}",
        "{]",        "{\"a\":]}"}) {
    CAPTURE(text);
    const auto o = raw_object::open(raw_json::own(text));
    if (o) CHECK(o->build().str() == text);
  }
  mcpbx::test::random_json random(4);
  for (int i = 0; i < 5000; ++i) {
    const std::string text = random.damaged("{" + random.value(2) + "}");
    auto o = raw_object::open(raw_json::own(text));
    if (!o) continue;
    o->set("a", raw_json::literal("1"));
    (void)o->build().str();
    (void)mcpbx::json::find_member(raw_json::own(text), "a");
  }
}

TEST_CASE("members that are only read are found and refused as when the object is opened") {
  const auto json = raw_json::own(R"({"a":1, "\u0062" : {"a":2},"c\\":[3],"d":null})");
  const auto found = mcpbx::json::read_members(json, {"b", "a", "c\\", "e"});
  REQUIRE(found);
  CHECK((*found)[0].text() == "{\"a\":2}");
  CHECK((*found)[1].text() == "1");
  CHECK((*found)[2].text() == "[3]");
  CHECK((*found)[3].empty());
  // Views, without a share in the bytes.
  CHECK((*found)[0].owner().empty());
  CHECK((*found)[0].text().data() > json.text().data());

  const auto twice = mcpbx::json::read_members(raw_json::own(R"({"x":1,"y":2,"\u0078":3})"), {"x", "y"});
  REQUIRE_FALSE(twice);
  CHECK(twice.error().message == "duplicate member \"x\"");
  CHECK(mcpbx::json::read_members(raw_json::own(R"({"x":1,"x":2,"y":3})"), {"y"}));
  for (const std::string_view text : {"", "1", "[]", "null"})
    CHECK(mcpbx::json::read_members(raw_json::literal(text), {"a"}).error().code == errc::invalid_argument);

  mcpbx::test::random_json random(6);
  for (int i = 0; i < 5000; ++i) {
    std::string text =
        R"({"x":)" + random.value(2) + R"(, "y" :)" + random.value(2) + R"(,"x\n":)" + random.value(1) + "}";
    if (i % 2 == 0) text = random.damaged(text);
    CAPTURE(text);
    const auto value = raw_json::own(text);
    const auto opened = raw_object::open(value, {"x", "y", "x\n"});
    const auto read = mcpbx::json::read_members(value, {"x", "y", "x\n"});
    REQUIRE(opened.has_value() == read.has_value());
    if (!read) continue;
    CHECK((*read)[0].text() == opened->find("x").text());
    CHECK((*read)[1].text() == opened->find("y").text());
    CHECK((*read)[2].text() == opened->find("x\n").text());
  }
}

TEST_CASE("a value is replaced in a copy of its object") {
  const auto json = raw_json::own(R"({"a":1,"b":"x"})");
  const auto found = mcpbx::json::read_members(json, {"a", "b"});
  REQUIRE(found);
  CHECK(mcpbx::json::with_replaced(json, (*found)[0].text(), "[2]").text() == R"({"a":[2],"b":"x"})");
  CHECK(mcpbx::json::with_replaced(json, (*found)[1].text(), "\"longer\"").text() == R"({"a":1,"b":"longer"})");
  CHECK(json.text() == R"({"a":1,"b":"x"})");
}

TEST_CASE("random edits give well-formed objects whose other members are unchanged") {
  mcpbx::test::random_json random(5);
  for (int i = 0; i < 3000; ++i) {
    const auto json = raw_json::parse(R"({"x":)" + random.value(2) + R"(, "y" :)" + random.value(2) +
                                      "\t,\"z\":" + random.value(1) + "}");
    REQUIRE(json);
    auto o = raw_object::open(*json);
    REQUIRE(o);
    const std::string_view key = std::vector<std::string_view>{"x", "y", "z", "w"}[random.below(4)];
    if (random.below(2) == 0)
      o->erase(key);
    else
      o->set(key, raw_json::literal("true"));
    const std::string text = o->build().str();
    CAPTURE(text);
    REQUIRE(mcpbx::json::check_json(text, 256) == mcpbx::json::json_scanner::fault::none);
    for (const std::string_view other : {"x", "y", "z"})
      if (other != key)
        CHECK(mcpbx::json::find_member(raw_json::own(text), other).text() ==
              mcpbx::json::find_member(*json, other).text());
    CHECK(mcpbx::json::find_member(raw_json::own(text), key).text() == o->find(key).text());
  }
}

TEST_CASE("many edits of an object give what each of them gives alone") {
  const std::string text = R"({"x":0,"a0":0,"x":1,"a1":1,"y":0,"x":2,"y":1,"a2":2,"z":0,"a3":3})";
  auto alone = text;
  const std::vector<std::string_view> edits{"a0=9", "-none", "a1=8", "new=1",   "-a2", "new=2", "a2=7",
                                            "-a3",  "a3=6",  "-a3",  "other=1", "x=3", "-y",    "y=4",
                                            "x=5",  "-x",    "x=6",  "-z",      "z=0", "z=1"};
  for (const auto e : edits) alone = edited(alone, {e});
  CHECK(edited(text, edits) == alone);
}

TEST_CASE("any number of members is set and erased in linear time") {
  // With all of them looked through for each, this would take minutes.
  constexpr int many = 300'000;
  auto o = raw_object::open(raw_json::literal("{}"));
  REQUIRE(o);
  for (int i = 0; i < many; ++i) o->set("m" + std::to_string(i), raw_json::literal("1"));
  for (int i = 0; i < many; i += 2) CHECK_UNARY(o->erase("m" + std::to_string(i)));
  CHECK(o->size() == many / 2);
}

TEST_CASE("G18: a level of more members than are opened is refused with a sentence, and looked through no further") {
  const auto members = [](std::size_t n) {
    std::string text = "{\"last\":1";
    for (std::size_t i = 1; i < n; ++i) text += R"(,"":0)";
    return raw_json::own(text + "}");
  };
  const raw_json most = members(mcpbx::json::most_members), more = members(mcpbx::json::most_members + 1);
  CHECK(raw_object::open(most)->size() == mcpbx::json::most_members);
  const auto refused = raw_object::open(more);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == errc::limit);
  CHECK(refused.error().message == "an object of more than 10000 members is too large here");
  CHECK(raw_object::open(more, {}, mcpbx::json::any_number_of_members)->size() == mcpbx::json::most_members + 1);
  CHECK(mcpbx::json::find_member(most, "last").text() == "1");
  CHECK(mcpbx::json::find_member(more, "last").empty());
  CHECK(mcpbx::json::read_members(most, {"last"}));
  CHECK(mcpbx::json::read_members(more, {"last"}).error().code == errc::limit);
  // A key that is used is not taken from a second one behind the bound.
  CHECK(raw_object::open(raw_json::own(R"({"a":1,"a":2})"), {"a"}).error().message == "duplicate member \"a\"");
}

}  // namespace
