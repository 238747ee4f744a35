// Tests of reading JSON into a tree.
#include "providers/schema/validator/json_tree.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <string>

using namespace mcpbx;
namespace tree = mcpbx::providers::schema::tree;

namespace {

struct tree_of {
  explicit tree_of(std::string text, int max_depth = 256)
      : json(std::move(text)), root(providers::schema::tree::read(json, max_depth, memory)) {}
  std::string why() const { return root ? "" : root.error().message; }
  std::string json;
  std::pmr::monotonic_buffer_resource memory;
  result<providers::schema::tree::value> root;
};

// The same value, as another library reads it.
boost::json::value as_boost(const providers::schema::tree::value& v) {
  switch (v.kind()) {
    case providers::schema::tree::kind::null:
      return nullptr;
    case providers::schema::tree::kind::bool_:
      return v.get_bool();
    case providers::schema::tree::kind::int64:
      return v.get_int64();
    case providers::schema::tree::kind::uint64:
      return v.get_uint64();
    case providers::schema::tree::kind::double_:
      return v.get_double();
    case providers::schema::tree::kind::string:
      return boost::json::string(v.get_string());
    case providers::schema::tree::kind::array: {
      boost::json::array a;
      for (const auto& e : v.get_array()) a.push_back(as_boost(e));
      return a;
    }
    case providers::schema::tree::kind::object: {
      boost::json::object o;
      for (const auto& m : v.get_object()) {
        CHECK_FALSE(o.contains(m.key()));
        CHECK(v.get_object().if_contains(m.key()) == &m.value());
        o.emplace(m.key(), as_boost(m.value()));
      }
      CHECK_FALSE(v.get_object().contains("no such name"));
      return o;
    }
  }
  return nullptr;
}

}  // namespace

TEST_CASE("json_tree: a text is read as another library reads it") {
  std::string many = "{";
  for (int i = 0; i < 100; ++i) many += "\"k" + std::to_string(i % 40) + "\":" + std::to_string(i) + ",";
  for (const std::string& text : std::initializer_list<std::string>{
           "{}", "[]", std::string(R"( { "a" : [ 1 , -2 , "x" , null , true , false ] } )"),
           std::string(R"({"a":{"b":[[],{},[{}]]},"":""})"), std::string(R"({"a":1,"b":2,"a":3})"),
           std::string(R"(["\u0041\n\"\\\/\ud83d\ude00",18446744073709551615,-9223372036854775808,1.5,0.5])"),
           many + "\"last\":[1]}"}) {
    CAPTURE(text);
    const tree_of read(text);
    REQUIRE(read.root);
    CHECK(boost::json::serialize(as_boost(*read.root)) == boost::json::serialize(boost::json::parse(text)));
  }
}

TEST_CASE("json_tree: numbers that no double holds are infinite or nothing") {
  const auto number = [](const std::string& text) { return tree_of(text).root->get_double(); };
  CHECK(std::isinf(number("1e400")));
  CHECK(number("-1e999999999999999999") < 0);
  CHECK(std::isinf(number("-1e999999999999999999")));
  CHECK(number("1e-400") == 0);
  CHECK(number("0." + std::string(400, '0') + "1") == 0);
  CHECK(number("0." + std::string(400, '0') + "1e401") == doctest::Approx(1));
  CHECK(std::isinf(number("1" + std::string(400, '0'))));
  CHECK(number("123456789012345678901234567890") == doctest::Approx(1.2345678901234568e29));
}

TEST_CASE("json_tree: what a tree cannot hold has its words") {
  for (const auto* half : {R"("\ud800")", R"("\udc00")", R"("a\ud800\n")", R"("\ud800\ud800")", R"({"\ud800x":1})"})
    CHECK(tree_of(half).why() == providers::schema::tree::half_pair);
  CHECK(tree_of(R"("\\ud800")").why().empty());
  CHECK(tree_of("[[[1]]]", 3).why().empty());
  CHECK(tree_of("[[[1]]]", 2).why() == providers::schema::tree::too_deep);
  for (const auto* broken : {"", "{", "[", "[1", "{\"a\"", "{\"a\":", "\"", "{1:2}", "[1 2]", "[,]"})
    CHECK(tree_of(broken).why() == providers::schema::tree::no_json);
}
