// Messages between the eras, member by member.
#include "mcp/protocol/eras.hpp"

#include "mcp/protocol/revisions.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::mcp::protocol;

namespace {

raw_json as_json(std::string_view text) {
  return raw_json::literal(text);
}

std::string edited(std::string_view params, const request_meta& meta) {
  const auto out = with_request_meta(params.empty() ? raw_json() : as_json(params), meta);
  REQUIRE(out.has_value());
  CHECK((out->empty() || raw_json::parse(out->str()).has_value()));
  return out->str();
}

request_meta modern() {
  request_meta m;
  m.revision = revision::modern;
  m.own_info = as_json(R"({"name":"mcpbx","version":"1"})");
  return m;
}

constexpr std::string_view modern_members =
    R"("io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"mcpbx","version":"1"},"io.modelcontextprotocol/clientCapabilities":{})";

}  // namespace

TEST_CASE("a legacy request without progress passes byte for byte") {
  CHECK(edited("", {}).empty());
  CHECK(edited(R"({"name":"echo","arguments":{"a":1.0,"a":1e400}})", {}) ==
        R"({"name":"echo","arguments":{"a":1.0,"a":1e400}})");
  CHECK(edited(R"({"_meta":{"vendor/x":1},"name":"echo"})", {}) == R"({"_meta":{"vendor/x":1},"name":"echo"})");
}

TEST_CASE("a progress token is ours and nobody else's") {
  request_meta m;
  m.progress_token = 7;
  CHECK(edited("", m) == R"({"_meta":{"progressToken":7}})");
  CHECK(edited("{}", m) == R"({"_meta":{"progressToken":7}})");
  CHECK(edited("{ }", m) == R"({"_meta":{"progressToken":7} })");
  CHECK(edited(R"({"name":"echo"})", m) == R"({"_meta":{"progressToken":7},"name":"echo"})");
  SUBCASE("params that are known to have no _meta come to the same") {
    request_meta known = m;
    known.old = raw_json();
    for (const auto* params : {"{}", "{ }", "{\t\"name\":\"echo\"}", R"({"name":"echo","arguments":{"_meta":{}}})"})
      CHECK(edited(params, known) == edited(params, m));
    CHECK_FALSE(with_request_meta(as_json("[]"), known));
  }
  CHECK(edited(R"({"_meta":{"progressToken":"theirs","traceparent":"00-1"},"name":"echo"})", m) ==
        R"({"_meta":{"progressToken":7,"traceparent":"00-1"},"name":"echo"})");
  SUBCASE("a caller's token does not pass when it wants no progress") {
    CHECK(edited(R"({"_meta":{"progressToken":"theirs"},"name":"echo"})", {}) == R"({"_meta":{},"name":"echo"})");
  }
}

TEST_CASE("a _meta whose place is known comes to the same as one that is looked for") {
  auto m = modern();
  m.progress_token = 7;
  const std::string_view meta = R"({"traceparent":"00-1","progressToken":"theirs"})";
  const raw_json params = raw_json::own(R"({"name":"echo","_meta":)" + std::string(meta) + "}");
  auto known = m;
  known.old = find_member(params, "_meta");
  CHECK(with_request_meta(params, known)->str() == with_request_meta(params, m)->str());
  SUBCASE("what is known of other params does not count") {
    const raw_json others = as_json(R"({"name":"other","_meta":{"vendor/x":1}})");
    CHECK(with_request_meta(others, known)->str() == with_request_meta(others, m)->str());
  }
}

TEST_CASE("a _meta that was written before comes to the same as one that is written anew, whatever changes between") {
  const std::string long_meta = R"({"vendor/long":")" + std::string(written_meta::longest, 'x') + R"("})";
  std::vector<std::string> metas{R"({"traceparent":"00-1"})",
                                 R"({"traceparent":"00-2"})",
                                 R"({"traceparent":"00-1","progressToken":"theirs"})",
                                 R"({"progressToken":"theirs","traceparent":"00-1"})",
                                 R"({"progress\u0054oken":1,"a":2})",
                                 "{}",
                                 "{ }",
                                 R"({"io.modelcontextprotocol/clientInfo":{"name":"x","version":"2"},"b":1})",
                                 R"({"io.modelcontextprotocol/logLevel":"error"})",
                                 R"({"a":1,"progressToken":1,"progressToken":2})",
                                 "[]",
                                 long_meta};
  std::vector<request_meta> asked{request_meta{}, modern(), modern(), modern(), modern(), modern()};
  asked[2].client_info = as_json(R"({"name":"caller","version":"3"})");
  asked[3].client_info = as_json(R"({"name":"mcpbx","version":"1"})");
  asked[4].capabilities = as_json(R"({"sampling":{}})");
  const std::string large = R"({"experimental":{"x":")" + std::string(2 * written_meta::longest, 'x') + R"("}})";
  asked.push_back(modern());
  asked.back().capabilities = raw_json::own(large);
  asked[5].log_level = "info";
  const auto text_of = [](const result<segments>& out) { return out ? out->str() : "refused: " + out.error().message; };
  written_meta known;
  std::int64_t token = 0;
  // Each pair of a `_meta` and a request follows itself and each of the others.
  for (std::size_t step = 1; step <= metas.size() * asked.size(); ++step)
    for (std::size_t i = 0; i < metas.size() * asked.size(); ++i) {
      const auto at = i * step % (metas.size() * asked.size());
      const raw_json params =
          raw_json::own(R"({"name":"echo","_meta":)" + metas[at % metas.size()] + R"(,"arguments":{}})");
      request_meta meta = asked[at / metas.size()];
      if (i % 5 != 4) meta.progress_token = ++token;
      const auto expected = text_of(with_request_meta(params, meta));
      if (text_of(with_request_meta(params, meta, &known)) != expected) FAIL(expected);
      CHECK(text_of(with_request_meta(params, meta, &known)) == expected);
      CHECK(known.text.size() <= 2 * written_meta::longest);
    }
}

TEST_CASE("a modern server is told who asks with each request") {
  const std::string members(modern_members);
  CHECK(edited("", modern()) == "{\"_meta\":{" + members + "}}");
  CHECK(edited(R"({"name":"echo"})", modern()) == "{\"_meta\":{" + members + R"(},"name":"echo"})");
  SUBCASE("with progress") {
    auto m = modern();
    m.progress_token = 3;
    CHECK(edited(R"({"name":"echo"})", m) == "{\"_meta\":{" + members + R"(,"progressToken":3},"name":"echo"})");
  }
  SUBCASE("with logs from a level on") {
    auto m = modern();
    m.log_level = "info";
    const auto wanted = members + R"(,"io.modelcontextprotocol/logLevel":"info")";
    CHECK(edited(R"({"name":"echo"})", m) == "{\"_meta\":{" + wanted + R"(},"name":"echo"})");
    CHECK(edited(R"({"_meta":{},"name":"echo"})", m) == "{\"_meta\":{" + wanted + R"(},"name":"echo"})");
  }
  SUBCASE("the caller's identity and capabilities stand in for ours") {
    auto m = modern();
    m.client_info = as_json(R"({"name":"host"})");
    m.capabilities = as_json(R"({"elicitation":{}})");
    CHECK(
        edited("{}", m) ==
        R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"host"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}})");
  }
  SUBCASE("other members of _meta stay where they are") {
    CHECK(
        edited(R"({"_meta":{"traceparent":"00-1","io.modelcontextprotocol/clientInfo":{"name":"host"}},"name":"e"})",
               modern()) ==
        R"({"_meta":{"traceparent":"00-1","io.modelcontextprotocol/clientInfo":{"name":"host"},"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}},"name":"e"})");
  }
}

TEST_CASE("a legacy server is spared the modern keys and keeps the others") {
  CHECK(
      edited(
          R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{},"io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/logLevel":"debug","vendor/x":1}})",
          {}) == R"({"_meta":{"vendor/x":1}})");
}

TEST_CASE("a doubled or wrong _meta is refused") {
  for (const auto* text : {R"({"_meta":{},"_meta":{}})", R"({"_meta":{},"\u005fmeta":{}})", R"({"_meta":3})",
                           R"({"_meta":{"progressToken":1,"progressToken":2}})"}) {
    const auto out = with_request_meta(as_json(text), modern());
    REQUIRE_FALSE(out.has_value());
    CHECK(out.error().code == errc::invalid_argument);
  }
}

TEST_CASE("a modern result loses what a legacy caller does not know") {
  CHECK(strip_modern_result(as_json(R"({"resultType":"complete","content":[],"ttlMs":0,"cacheScope":"private","x":1})"))
            .text() == R"({"content":[],"x":1})");
  CHECK(strip_modern_result(as_json(R"({"content":[],"structuredContent":{"a":1}})")).text() ==
        R"({"content":[],"structuredContent":{"a":1}})");
  const auto untouched = as_json(R"({"content":[]})");
  CHECK(strip_modern_result(untouched).text().data() == untouched.text().data());
}

TEST_CASE("M6: what a modern server says in structuredContent alone reaches a legacy caller as text") {
  const auto stripped = [](std::string_view result) {
    return std::string(strip_modern_result(as_json(result)).text());
  };
  CHECK(stripped(R"({"resultType":"complete","structuredContent":[1,{"a":"b"}]})") ==
        R"({"content":[{"type":"text","text":"[1,{\"a\":\"b\"}]"}]})");
  CHECK(stripped(R"({"content":[],"structuredContent":1.50})") == R"({"content":[{"type":"text","text":"1.50"}]})");
  CHECK(stripped(R"({"structuredContent":{"a":1}})") ==
        R"({"structuredContent":{"a":1},"content":[{"type":"text","text":"{\"a\":1}"}]})");
  CHECK(stripped(R"({"content":[{"type":"text","text":"one"}],"structuredContent":[1]})") ==
        R"({"content":[{"type":"text","text":"one"}]})");
}

TEST_CASE("a definition loses an outputSchema that is not for an object") {
  const auto kept = as_json(R"({"name":"a","inputSchema":{},"outputSchema":{"type":"object"}})");
  CHECK(legacy_definition(kept).text().data() == kept.text().data());
  for (const auto* schema : {"{\"type\":\"array\"}", "true", "{}", "{\"type\":[\"object\",\"null\"]}"})
    CHECK(legacy_definition(
              raw_json::own(R"({"name":"a","inputSchema":{},"outputSchema":)" + std::string(schema) + R"(,"x":1})"))
              .text() == R"({"name":"a","inputSchema":{},"x":1})");
}

TEST_CASE(
    "F8: a definition without a schema of its arguments gets an empty one for legacy callers, who refuse a whole list "
    "for it") {
  CHECK(legacy_definition(as_json(R"({"name":"a"})")).text() == R"({"name":"a","inputSchema":{"type":"object"}})");
  for (const auto* schema : {"null", "true"})
    CHECK(legacy_definition(
              raw_json::own(R"({"name":"a","inputSchema":)" + std::string(schema) + R"(,"outputSchema":true})"))
              .text() == R"({"name":"a","inputSchema":{"type":"object"}})");
}

TEST_CASE("errors between neighbours do not travel on") {
  CHECK(legacy_error(as_json(R"({"code":-32022,"message":"no","data":{"supported":[]}})"), false).text() ==
        R"({"code":-32603,"message":"the tool server refused how mcpbx asked: no"})");
  CHECK(find_member(legacy_error(as_json(R"({"code":-32020,"message":"no"})"), false), "code").as_integer() == -32603);
  const auto missing = legacy_error(
      as_json(R"({"code":-32021,"message":"no","data":{"requiredCapabilities":{"elicitation":{},"roots":{}}}})"),
      false);
  CHECK(find_member(missing, "code").as_integer() == -32602);
  CHECK(find_member(missing, "message").as_string()->find("(elicitation, roots): no") != std::string::npos);
  const auto gone = as_json(R"({"code":-32602,"message":"gone","data":{"uri":"file:///x"}})");
  CHECK(legacy_error(gone, true).text() == R"({"code":-32002,"message":"gone","data":{"uri":"file:///x"}})");
  CHECK(legacy_error(gone, false).text().data() == gone.text().data());
  const auto own = as_json(R"({"code":-32602,"message":"bad","data":{"odd":1}})");
  CHECK(legacy_error(own, true).text().data() == own.text().data());
}
