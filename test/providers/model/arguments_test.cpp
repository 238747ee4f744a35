// The arguments of a call: JSON, JSON in a string, repaired, refused.
#include "providers/model/arguments.hpp"

#include "mcp/support/log.hpp"

#include <doctest/doctest.h>

#include <string>

namespace {

using namespace mcpbx;
using namespace mcpbx::providers;

tool_call_block read(std::string text) {
  tool_call_block call;
  call.name = "t";
  call.arguments_text = std::move(text);
  read_arguments(call);
  return call;
}

TEST_CASE("F6: JSON comes first and stays byte for byte, nothing means no arguments") {
  CHECK(read(R"( {"a": 1.0, "a":2} )").arguments.text() == R"({"a": 1.0, "a":2})");
  CHECK_FALSE(read(R"({"a":1})").repaired);
  for (const auto* none : {"", "  \n", "null", " null "}) CHECK(read(none).arguments.text() == "{}");
  CHECK(read(R"("{\"a\": 1}")").arguments.text() == R"({"a": 1})");
}

TEST_CASE("F6: a name that the arguments have more than once is said in the log, and they stay byte for byte") {
  const auto said = [](std::string_view text) {
    std::string lines;
    log::install(log::level::warn, [&](log::level, std::string_view line) { (lines += line) += '\n'; });
    CHECK(read(std::string(text)).arguments.text() == text);
    log::install(log::level::off, {});
    return lines;
  };
  CHECK(said(R"({"a": 1, "b": 2, "a": 3, "a": 4})") ==
        "The arguments of a call of \"t\" name \"a\" more than once; most tools take the last one.\n");
  CHECK(said(R"({"\u0061": 1, "a": 1})").find("name \"a\" more than once") != std::string::npos);
  CHECK(said(R"({"a": {"b": 1}, "b": 1})") == "");
  CHECK(said("{}") == "");
}

TEST_CASE("F6: what is no JSON is repaired, also inside of a string, and says so") {
  CHECK(read(R"({'a': 1})").arguments.text() == R"({"a":1})");
  CHECK(read(R"({'a': 1})").repaired);
  CHECK(read(R"("{'a': True,}")").arguments.text() == R"({"a":true})");
  CHECK(read(R"("{'a': True,}")").repaired);
}

TEST_CASE("F6: arguments that were written over several lines leave on one, with their strings as they are") {
  CHECK(read("{\n  \"a\": [1,\r\n 2],\n  \"b\": \"x\\ny\"\n}").arguments.text() ==
        "{   \"a\": [1,   2],   \"b\": \"x\\ny\" }");
  CHECK(read("\"{\\n\\\"a\\\": 1}\"").arguments.text() == "{ \"a\": 1}");
  for (const auto* text : {"{'a':\n1,\n}", "{\n'a': [\n]}"})
    CHECK(read(text).arguments.text().find('\n') == std::string_view::npos);
}

TEST_CASE("G29: arguments that cannot be read are a problem for the model, never {}") {
  for (const auto* text : {R"({"a": "x)", "[1]", "hello", "12", "\"text\"", R"("{'a': ")", R"({"a":1}{"b":2})"}) {
    CAPTURE(text);
    const auto call = read(text);
    CHECK(call.arguments.empty());
    CHECK_FALSE(call.repaired);
    CHECK(call.problem.find("one JSON object") != std::string::npos);
    CHECK(call.arguments_text == text);
  }
}

}  // namespace
