// The caller's own tools at a shell: definitions, calls and results (L21).
#include "daemon/cli/input/client_tools.hpp"

#include "daemon/cli/input/input_files.hpp"
#include "test/support/contains.hpp"
#include "test/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>

using namespace mcpbx;
using namespace mcpbx::cli::input;
using namespace mcpbx::json;
using mcpbx::test::contains;

TEST_CASE("L21: results are texts or results in MCP's shape, each under the id of its call") {
  const auto made = results_message(raw_json::literal(
      "{\"a\":\"two\\nlines\",\"b\":{\"content\":[],\n\"isError\":true},\"c\":{\"structuredContent\":{\"n\":1}}}"));
  REQUIRE(made);
  CHECK(
      *made ==
      R"({"role":"tool","content":[{"type":"tool_result","id":"a","result":{"content":[{"type":"text","text":"two\nlines"}]}},)"
      R"({"type":"tool_result","id":"b","result":{"content":[], "isError":true}},)"
      R"({"type":"tool_result","id":"c","result":{"structuredContent":{"n":1}}}]})");
}

TEST_CASE("L21: results of another form are refused with the member and the form") {
  const std::pair<const char*, const char*> table[] = {
      {"[]", "expected an object with a result for every call"},
      {"{}", "there is no result in it"},
      {R"({"a":1})", R"(expected "a" to be a text or a result)"},
      {R"({"a":{"n":1}})", R"(expected "a" to be a text or a result)"},
      {R"({"a":"1","a":"2"})", R"("a" is there twice)"},
  };
  for (const auto& [text, why] : table) {
    CAPTURE(text);
    const auto made = results_message(raw_json::literal(text));
    REQUIRE_FALSE(made);
    CHECK(made.error().code == errc::invalid_argument);
    CHECK_MESSAGE(contains(made.error().message, why), made.error().message);
  }
}

TEST_CASE("L21: the calls of a run that waits are those without a result, as the model wrote them") {
  const auto calls = handed_calls_of(
      raw_json::literal(R"({"run":"talk","toolCalls":[{"id":"a","name":"s__echo","arguments":{}},)"
                        R"({"id":"b","name":"mine","server":"","arguments":{"n":1.0},"pending":true}]})"));
  REQUIRE(calls.size() == 1);
  CHECK(calls.front() == R"({"run":"talk","id":"b","name":"mine","arguments":{"n":1.0}})");
  CHECK_FALSE(client_tools_of(raw_json::literal("[]")));
  CHECK_FALSE(client_tools_of(raw_json::literal("{}")));
  CHECK(*client_tools_of(raw_json::literal("[\n{}]")) == "[ {}]");
}

TEST_CASE("L21: definitions in OpenAI's form, nested or flat, become MCP's, beside those that are") {
  CHECK(
      *client_tools_of(raw_json::literal(
          R"([{"type":"function","function":{"name":"dim","description":"Dims.","strict":true,"parameters":)"
          "{\n"
          R"("type":"object"}}},{"type":"function","name":"flat","parameters":{"type":"object"}},)"
          R"({"type":"function","function":{"name":"bare"}},{"name":"own","inputSchema":{"type":"object"},"x":1}])")) ==
      R"([{"name":"dim","description":"Dims.","inputSchema":{ "type":"object"}},)"
      R"({"name":"flat","inputSchema":{"type":"object"}},)"
      R"({"name":"bare","inputSchema":{"type":"object","properties":{}}},)"
      R"({"name":"own","inputSchema":{"type":"object"},"x":1}])");
}

TEST_CASE("JSON for an option stands in the command line or in a file, and what is wrong names the option") {
  const test::temporary_directory f;
  CHECK(json_or_file(" {\"a\":1}", "--schema")->text() == "{\"a\":1}");
  CHECK(json_or_file(f.write("a.json", "[1]\n"), "--schema")->is_array());
  CHECK(json_or_file("{\"a\"", "--schema").error().message.starts_with("--schema: what stands there is no JSON: "));
  CHECK(contains(read_json(f.write("b.json", "no"), "--results").error().message, "b.json is no JSON: "));
  CHECK(read_json(f / "none", "--results").error().code == errc::io);
  CHECK(read_json(f.path(), "--results").error().message == f.path() + " is a folder; --results takes one file");
  CHECK(read_file(f.write("c", "1234"), 3, "--file").error().code == errc::limit);
}
