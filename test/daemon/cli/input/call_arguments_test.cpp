// Arguments of `mcpbx call`: typed by the tool's schema.
#include "daemon/cli/input/call_arguments.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::cli::input;
using namespace mcpbx::json;

namespace {

const raw_json schema = raw_json::literal(
    R"({"type":"object","properties":{"text":{"type":"string"},"n":{"type":"integer"},"x":{"type":"number"},)"
    R"("on":{"type":"boolean"},"list":{"type":"array"},"o":{"type":"object"},"either":{"type":["integer","string"]},)"
    R"("maybe":{"type":["number","null"]},"any":{}}})");

std::string typed(const std::string& key, const std::string& value) {
  auto made = typed_value(schema, key, value);
  return made ? *made : "error: " + made.error().message;
}

std::string words(const std::vector<std::string>& list) {
  auto made = arguments_of_words(list, schema);
  return made ? *made : "error: " + made.error().message;
}

std::string as_json(std::string_view text) {
  auto made = arguments_of_json(text);
  return made ? *made : "error: " + made.error().message;
}

}  // namespace

TEST_CASE("call arguments: the schema's type decides") {
  CHECK(typed("text", "42") == R"("42")");
  CHECK(typed("text", "true") == R"("true")");
  CHECK(typed("text", "say \"hi\"\n") == R"("say \"hi\"\n")");
  CHECK(typed("text", "") == R"("")");
  CHECK(typed("n", "42") == "42");
  CHECK(typed("n", "12345678901234567890123") == "12345678901234567890123");
  CHECK(typed("x", "1.50") == "1.50");
  CHECK(typed("x", "7") == "7");
  CHECK(typed("on", "false") == "false");
  CHECK(typed("list", R"(["a",1])") == R"(["a",1])");
  CHECK(typed("o", R"({"a":{}})") == R"({"a":{}})");
  CHECK(typed("either", "5") == "5");
  CHECK(typed("either", "five") == R"("five")");
  CHECK(typed("maybe", "null") == "null");
}

TEST_CASE("call arguments: a value of another type is refused with the key and the type") {
  CHECK(typed("n", "1.5") == "error: the argument n must be of type integer, but `1.5` is not");
  CHECK(typed("n", "many") == "error: the argument n must be of type integer, but `many` is not");
  CHECK(typed("on", "yes") == "error: the argument on must be of type boolean, but `yes` is not");
  CHECK(typed("o", "[1]") == "error: the argument o must be of type object, but `[1]` is not");
  CHECK(typed("maybe", "x") == "error: the argument maybe must be of type number or null, but `x` is not");
  CHECK(typed("n", std::string(500, 'x')).size() < 200);
}

TEST_CASE("call arguments: without a type literals and numbers stay and the rest is text") {
  for (const char* key : {"any", "unknown"}) {
    CAPTURE(key);
    CHECK(typed(key, "1e3") == "1e3");
    CHECK(typed(key, "null") == "null");
    CHECK(typed(key, "plain") == R"("plain")");
    CHECK(typed(key, "{}") == R"("{}")");
    CHECK(typed(key, "\"x\"") == R"("\"x\"")");
  }
}

TEST_CASE("call arguments: words become one object in their order") {
  CHECK(words({}) == "{}");
  CHECK(words({"n=1", "text=a=b", "an\"y="}) == R"({"n":1,"text":"a=b","an\"y":""})");
  CHECK(words({"plain"}) == "error: `plain` is no argument; write key=value, or --args with a JSON object");
  CHECK(words({"=x"}).starts_with("error: `=x` is no argument"));
  CHECK(words({"n=1", "n=2"}) == "error: the argument n is given twice");
}

TEST_CASE("call arguments: JSON must be an object and goes out on one line") {
  CHECK(as_json(R"( {"a": 1} )") == R"({"a": 1})");
  CHECK(as_json("{\n  \"a\":\r\n1}") == R"({   "a":  1})");
  CHECK(as_json("[1]").starts_with("error: --args must be a JSON object"));
  CHECK(as_json("{\"a\":}").starts_with("error: --args is no JSON: "));
}
