// Tests of params: every error has its path, the expected and the found value.
#include "mcp/server/base/param_reader.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>

using namespace mcpbx;
using namespace mcpbx::json;
using mcpbx::mcp::server::param_reader;

namespace {

std::string first_error(std::string_view json) {
  const raw_json params = raw_json::own(json);
  param_reader in(params);
  in.text("name", 10);
  in.integer("count", 1, 9);
  in.boolean("fast");
  static constexpr std::array<std::string_view, 3> colours{"red", "green", "blue"};
  in.word("colour", colours);
  in.texts("tags");
  const raw_json inner = in.object("inner");
  if (!inner.empty()) {
    param_reader deeper = in.inside(inner, ".inner");
    deeper.integer("depth", 0, 3);
    (void)deeper.finish();
  }
  auto ok = in.finish();
  return ok ? "" : ok.error().message;
}

}  // namespace

TEST_CASE("E1: wrong params are told by path with what was expected and what was found") {
  CHECK(first_error(R"({})").empty());
  CHECK(first_error(R"({"name":"a","count":3,"fast":false,"colour":"red","tags":["x"],"inner":{"depth":2},"_meta":{}})")
            .empty());
  CHECK(first_error(R"({"name":7})") == "params.name: expected a string, got 7");
  CHECK(first_error(R"({"name":null})") == "params.name: expected a string, got null");
  CHECK(first_error(R"({"name":"01234567890"})") == "params.name: expected a string of at most 10 bytes, got 11");
  CHECK(first_error(R"({"count":0})") == "params.count: expected an integer from 1 to 9, got 0");
  CHECK(first_error(R"({"count":"ten"})") == "params.count: expected an integer from 1 to 9, got \"ten\"");
  CHECK(first_error(R"({"count":2.5})") == "params.count: expected an integer from 1 to 9, got 2.5");
  CHECK(first_error(R"({"count":99999999999999999999})") ==
        "params.count: expected an integer from 1 to 9, got 99999999999999999999");
  CHECK(first_error(R"({"fast":1})") == "params.fast: expected true or false, got 1");
  CHECK(first_error(R"({"colour":"gren"})") ==
        R"(params.colour: expected "red", "green" or "blue", got "gren" (did you mean "green"?))");
  CHECK(first_error(R"({"colour":[]})") == R"(params.colour: expected "red", "green" or "blue", got an array)");
  CHECK(first_error(R"({"tags":["x",{}]})") == "params.tags[1]: expected a string, got an object");
  CHECK(first_error(R"({"inner":3})") == "params.inner: expected an object, got 3");
  CHECK(first_error(R"({"inner":{"depth":4}})") == "params.inner.depth: expected an integer from 0 to 3, got 4");
  CHECK(first_error(R"({"inner":{"dept":4}})") == R"(params.inner: unknown member "dept" (did you mean "depth"?))");
  CHECK(first_error(R"({"coutn":4})") == R"(params: unknown member "coutn" (did you mean "count"?))");
  CHECK(first_error(R"({"count":4,"\u0063ount":5})") == "params.count: the member occurs twice");
}
