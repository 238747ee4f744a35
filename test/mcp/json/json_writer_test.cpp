// Writing JSON of our own, and walking over it again.
#include "mcp/json/json_writer.hpp"

#include "mcp/json/json_reader.hpp"
#include "mcp/json/json_walk.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::json;

TEST_CASE("json_writer: commas stand between members and values, however they nest") {
  std::string out = "data: ";
  json_writer w(out);
  w.begin_object().member("a\"b", "x").key("list").begin_array().begin_object().end_object().value(1).value(true);
  w.begin_array().end_array().end_array().list("texts", std::vector<std::string>{"p", "q"});
  w.list("none", std::vector<int>{}).member("absent", raw_json()).key("raw").token(R"({"k": 1.0})").end_object();
  CHECK(out ==
        R"(data: {"a\"b":"x","list":[{},1,true,[]],"texts":["p","q"],"none":[],"absent":null,"raw":{"k": 1.0}})");
}

TEST_CASE("json_writer: what is empty is left out where that is asked for") {
  byte_buffer out;
  basic_json_writer<byte_buffer> w(out);
  w.begin_object().filled("text", "").given("json", raw_json()).set("yes", false);
  w.filled("text", "t").given("json", raw_json::literal("[]")).set("yes", true);
  w.given("n", std::optional<int>()).given("b", std::optional(false)).end_object();
  CHECK(out.view() == R"({"text":"t","json":[],"yes":true,"b":false})");
}

TEST_CASE("json_writer: a value begun as it stands is continued without a comma") {
  std::string out;
  json_writer w(out);
  w.begin_array().token("{\"a\":1").more(",\"b\":").more(raw_json::literal("2")).more("}").value(3).end_array();
  CHECK(w.json().text() == R"([{"a":1,"b":2},3])");
}

TEST_CASE("segment_builder: values are taken without a copy, and the text between them is one block") {
  const auto held = raw_json::string("held"), last = raw_json::integer(7);
  segment_builder out;
  segment_writer w(out);
  w.begin_object().member("a\"b", "x").member("held", held).key("list").begin_array().value(held).value(last);
  w.token("[1").more(last).more("]").end_array().member("absent", raw_json()).end_object();
  const auto all = out.take();
  CHECK(all.str() == R"({"a\"b":"x","held":"held","list":["held",7,[17]],"absent":null})");
  REQUIRE(all.pieces().size() == 9);
  for (const std::size_t at : {1, 3}) CHECK(all.pieces()[at].text().data() == held.text().data());
  const auto block = all.pieces()[0].owner().view();
  for (const std::size_t at : {2, 4, 6, 8}) CHECK(all.pieces()[at].owner().view().data() == block.data());
  CHECK(out.take().empty());
}

TEST_CASE("json_object: takes names and values in turn, in any kinds that the writer takes") {
  const std::string text = "a\"b";
  CHECK(json_object("text", text) == R"({"text":"a\"b"})");
  CHECK(json_object("word", "w", "n", -1, "yes", true, "json", raw_json::literal("[]"), "absent", raw_json()) ==
        R"({"word":"w","n":-1,"yes":true,"json":[],"absent":null})");
}

TEST_CASE("walk: of members with one key the last one is found, by whatever escapes") {
  CHECK(walk::find(R"({"a":1,"b":2,"\u0061":3})", "a") == "3");
  std::string wrong;
  const json_reader r(raw_json::literal(R"({"n":1,"\u006e":2})"), "it", wrong);
  int n = 0;
  r.number("n", n);
  CHECK(n == 2);
  CHECK(find_member(raw_json::literal(R"({"n":1,"\u006e":2})"), "n").text() == "2");
}

TEST_CASE("walk: text that is not whole ends the walk") {
  for (const auto* broken : {"", "[", "[1", "[1,", "{", R"({"a)", R"({"a":)", R"({"a":1)", "7"}) {
    std::size_t seen = 0;
    walk::members(broken, [&](std::string_view, std::string_view) { ++seen; });
    walk::elements(broken, [&](std::string_view) { ++seen; });
    CHECK_MESSAGE(seen <= 1, broken);
  }
}
