// Results, errors and questions on their way to callers of the modern era.
#include "mcp/protocol/modern_answers.hpp"

#include "mcp/protocol/questions/questions.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace modern_answers_test {

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::mcp::protocol;
using namespace mcpbx::mcp::questions;

const raw_json info = raw_json::literal(R"({"name":"n","version":"1"})");

std::string made(std::string_view result, const modern_form& form) {
  return modern_result(raw_json::own(result), form).str();
}

TEST_CASE("modern_result: a result that has all members keeps its bytes") {
  for (
      const std::string_view whole :
      {R"({ "resultType" : "complete", "ttlMs":5,"cacheScope":"public","_meta":{"io.modelcontextprotocol/serverInfo":{}} })",
       R"({"resultType":"task","ttlMs":99999999999,"_meta":{"io.modelcontextprotocol/serverInfo":1}})"})
    CHECK(made(whole, {.cache = cache_hints{7, true}, .server_info = info}) == whole);
  CHECK(made(R"({"resultType":"other"})", {}) == R"({"resultType":"other"})");
}

TEST_CASE("modern_result: members that are missing come behind those that are there") {
  CHECK(made("{}", {}) == R"({"resultType":"complete"})");
  CHECK(made(R"({"a":[1.0],"a":2})", {.cache = cache_hints{7, false}}) ==
        R"({"a":[1.0],"a":2,"resultType":"complete","ttlMs":7,"cacheScope":"public"})");
  CHECK(made(R"({"resultType":7,"_meta":null})", {.server_info = info}) == R"({"resultType":"complete","_meta":null})");
  CHECK(made(R"({"_meta":{"a":1}})", {.server_info = info}) ==
        R"({"_meta":{"a":1,"io.modelcontextprotocol/serverInfo":{"name":"n","version":"1"}},"resultType":"complete"})");
}

TEST_CASE("modern_result: an interim result has no hints") {
  CHECK(made(R"({"resultType":"input_required","ttlMs":5,"requestState":"s","cacheScope":"public"})",
             {.cache = cache_hints()}) == R"({"resultType":"input_required","requestState":"s"})");
}

TEST_CASE("modern_result: a result with more members than are searched still has its type first") {
  std::string many = "{\"k\":0";
  for (std::size_t i = 0; i < most_members; ++i) many += ",\"k\":0";
  many += "}";
  CHECK(made(many, {}) == R"({"resultType":"complete",)" + many.substr(1));
}

TEST_CASE("modern_own_result: puts the members in front without looking into the result") {
  const modern_form form{.cache = cache_hints{999'999'999'999, true}, .server_info = info};
  const std::string head =
      R"({"resultType":"complete","ttlMs":86400000,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"n","version":"1"}})";
  CHECK(modern_own_result(raw_json::literal(R"({"tools":[]})"), form).str() == head + R"(,"tools":[]})");
  CHECK(modern_own_result(raw_json::literal("{}"), form).str() == head + "}");
  CHECK(modern_own_result(raw_json::literal("{ }"), {}).str() == R"({"resultType":"complete"})");
}

TEST_CASE("modern_error: a capability that is declared only in part is lacking") {
  const auto error =
      raw_json::literal(R"({"code":-32021,"message":"m","data":{"requiredCapabilities":{"elicitation":{"url":{}}}}})");
  const auto code = [&](std::string_view capabilities) {
    return find_member(modern_error(error, {.from_modern = true, .capabilities = raw_json::own(capabilities)}), "code")
        .as_integer();
  };
  CHECK(code("{}") == -32021);
  CHECK(code(R"({"elicitation":{}})") == -32021);
  CHECK(code(R"({"elicitation":{"url":{}}})") == -32603);
  CHECK(code(R"({"elicitation":{"url":true}})") == -32021);
}

TEST_CASE("modern_error: what is no error object passes") {
  for (const std::string_view text : {"7", "[]", R"({"code":"x"})", R"({"code":-32600,"message":"m"})"})
    CHECK(modern_error(raw_json::own(text), {}).text() == text);
}

TEST_CASE("url_elicitations: only of that error and only a list") {
  CHECK(url_elicitations(raw_json::literal(R"({"code":-32042,"data":{"elicitations":[1]}})")).text() == "[1]");
  CHECK(url_elicitations(raw_json::literal(R"({"code":-32041,"data":{"elicitations":[1]}})")).empty());
  CHECK(url_elicitations(raw_json::literal(R"({"code":-32042,"data":{"elicitations":{}}})")).empty());
  CHECK(url_elicitations(raw_json::literal(R"({"code":-32042})")).empty());
}

TEST_CASE("question_params: the server's name replaces one that the server claims") {
  const auto params = raw_json::literal(R"({"_meta":{"mcpbx/server":"another","progressToken":1},"task":{}})");
  CHECK(question_params(params, "s", false, "id").value().text() == R"({"_meta":{"mcpbx/server":"s"},"task":{}})");
  CHECK(question_params(params, "s", true, "id").value().text() == R"({"_meta":{"mcpbx/server":"s"}})");
  CHECK(question_params({}, "s", true, "id").value().text() == R"({"_meta":{"mcpbx/server":"s"}})");
  CHECK(question_params(raw_json::literal(R"({"mode":"url","elicitationId":"e"})"), "s", false, "id").value().text() ==
        R"({"mode":"url","elicitationId":"e","_meta":{"mcpbx/server":"s"}})");
}

}  // namespace modern_answers_test
