// Tests of the headers of modern requests against their bodies.
#include "daemon/front/mcp/modern_headers.hpp"

#include "test/support/contains.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace mcpbx;
using namespace mcpbx::daemon::mcp_door;
using namespace mcpbx::json;
using mcpbx::test::contains;

namespace {

mcp::rpc::message calling(const std::string& arguments, const std::string& name = "t") {
  return *mcp::rpc::parse_message(raw_json::own(
      R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":)" + json_quoted(name) + R"(,"arguments":)" +
      arguments + R"(,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}})"));
}

std::vector<http::header> headers(std::vector<http::header> more, const std::string& name = "t") {
  more.push_back({"MCP-Protocol-Version", "2026-07-28"});
  more.push_back({"mcp-method", "tools/call"});
  more.push_back({"MCP-NAME", name});
  return more;
}

const auto definition = [](std::string_view) {
  return raw_json::own(
      R"({"name":"t","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},)"
      R"("n":{"type":"integer","x-mcp-header":"Count"},"deep":{"type":"object","properties":)"
      R"({"on":{"type":"boolean","x-mcp-header":"On"}}},"free":{"type":"string"}}}})");
};

const raw_json revision = raw_json::literal("\"2026-07-28\"");

std::string error_for(const std::string& arguments, std::vector<http::header> more) {
  const auto e = check_modern_headers(headers(std::move(more)), calling(arguments), revision, definition);
  if (!e) return "";
  CHECK(e->code == -32020);
  return e->message;
}

}  // namespace

TEST_CASE("Mcp-Param: headers say what the arguments say, absent and null ones have none, unknown ones pass") {
  CHECK(error_for(R"({"region":"us-west1"})", {{"mcp-param-region", " us-west1 "}}).empty());
  CHECK(error_for(R"({"region":null,"free":"x"})", {{"Mcp-Param-Other", "y"}}).empty());
  CHECK(error_for("{}", {}).empty());
  CHECK(error_for(R"({"n":42})", {{"Mcp-Param-Count", "42.0"}}).empty());
  CHECK(error_for(R"({"n":-7})", {{"Mcp-Param-Count", "-7"}}).empty());
  CHECK(error_for(R"({"deep":{"on":true}})", {{"Mcp-Param-On", "true"}}).empty());
  CHECK(error_for(R"({"region":"Hello, 世界"})", {{"Mcp-Param-Region", "=?base64?SGVsbG8sIOS4lueVjA==?="}}).empty());
  CHECK(error_for(R"({"region":"=?base64?literal?="})", {{"Mcp-Param-Region", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="}})
            .empty());
  CHECK(error_for(R"({"region":"SGVsbG8="})", {{"Mcp-Param-Region", "SGVsbG8="}}).empty());

  for (const auto& [arguments, value] :
       std::vector<std::pair<std::string, std::string>>{{R"({"region":"a"})", "b"},
                                                        {R"({"region":"true"})", "TRUE"},
                                                        {R"({})", "b"},
                                                        {R"({"region":null})", "null"},
                                                        {R"({"region":"Hello"})", "=?base64?SGVsbG8?="},
                                                        {R"({"region":"Hello"})", "=?base64?SGVs!!!bG8=?="},
                                                        {R"({"region":"世"})", "世"},
                                                        {R"({"region":"a"})", "a\x01"}})
    CHECK_FALSE(error_for(arguments, {{"Mcp-Param-Region", value}}).empty());
  CHECK_FALSE(error_for(R"({"region":"a"})", {}).empty());
  CHECK_FALSE(error_for(R"({"region":"a"})", {{"Mcp-Param-Region", "a"}, {"mcp-param-region", "a"}}).empty());
  CHECK_FALSE(error_for(R"({"n":42})", {{"Mcp-Param-Count", "43"}}).empty());
  CHECK_FALSE(error_for(R"({"n":42})", {{"Mcp-Param-Count", "x"}}).empty());
  CHECK_FALSE(error_for(R"({"deep":{"on":true}})", {{"Mcp-Param-On", "false"}}).empty());
}

TEST_CASE("Mcp-Param: numbers are compared exactly, in whatever form they are written") {
  const auto differ = [](const std::string& body, const std::string& header) {
    return !error_for(R"({"n":)" + body + "}", {{"Mcp-Param-Count", header}}).empty();
  };
  CHECK_FALSE(differ("42", "42.0"));
  CHECK_FALSE(differ("4.20e1", "42"));
  CHECK_FALSE(differ("0.042E+3", "42"));
  CHECK_FALSE(differ("-0", "0"));
  CHECK_FALSE(differ("1200", "12e2"));
  CHECK_FALSE(differ("9007199254740993", "9007199254740993.000"));
  CHECK(differ("9007199254740993", "9007199254740992"));
  CHECK(differ("9007199254740993", "9007199254740992.0"));
  CHECK(differ("18446744073709551617", "18446744073709551616"));
  CHECK(differ("42", "-42"));
  CHECK(differ("1e999999999999", "1e999999999998"));
  for (const std::string bad : {"", ".", "e1", "4.2.0", "0x2a", "inf", "42 1", "4e", "+42"}) CHECK(differ("42", bad));
}

TEST_CASE("Mcp-Param: an argument that servers may read in two ways is no match") {
  for (const std::string sent : {"a", "b"})
    CHECK(contains(error_for(R"({"region":"a","region":"b"})", {{"Mcp-Param-Region", sent}}), "more than once"));
  std::string many = R"({"region":"a")";
  for (int i = 0; i < 10'001; ++i) many += ",\"k" + std::to_string(i) + "\":0";
  CHECK_FALSE(error_for(many + "}", {}).empty());
}

TEST_CASE("Mcp-Name: names that headers cannot hold come in base64, and are compared after decoding") {
  const auto none = [](std::string_view) { return raw_json(); };
  CHECK_FALSE(check_modern_headers(headers({}, "=?base64?5LiW?="), calling("{}", "世"), revision, none));
  CHECK(check_modern_headers(headers({}, "5LiW"), calling("{}", "世"), revision, none));
  CHECK(check_modern_headers(headers({}, "世"), calling("{}", "世"), revision, none));
}

TEST_CASE("Mcp-Name: that of a task is its taskId where it is given") {
  const auto task =
      *mcp::rpc::parse_message(raw_json::own(R"({"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"a",)"
                                             R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}})"));
  const auto none = [](std::string_view) { return raw_json(); };
  const std::vector<http::header> without{{"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Method", "tasks/get"}};
  auto right = without, wrong = without;
  right.push_back({"Mcp-Name", "a"});
  wrong.push_back({"Mcp-Name", "b"});
  CHECK_FALSE(check_modern_headers(without, task, revision, none));
  CHECK_FALSE(check_modern_headers(right, task, revision, none));
  CHECK(check_modern_headers(wrong, task, revision, none));
}

TEST_CASE("Mcp-Name: params that name their tool twice are refused whatever the header says") {
  const auto twice = *mcp::rpc::parse_message(
      raw_json::own(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","name":"other"}})"));
  for (const std::string name : {"t", "other"}) {
    const auto e = check_modern_headers(headers({}, name), twice, revision, definition);
    REQUIRE(e);
    CHECK(e->code == -32602);
    CHECK(contains(e->message, "duplicate member"));
  }
}

TEST_CASE("base64 in headers has its padding, its alphabet and no bits left over") {
  CHECK(header_meaning("=?base64?"
                       "?=") == "");
  CHECK(header_meaning("=?base64?QQ==?=") == "A");
  CHECK(header_meaning("=?base64?QUI=?=") == "AB");
  CHECK(header_meaning("=?base64?QUJD?=") == "ABC");
  CHECK(header_meaning("=?base64?=") == "=?base64?=");
  CHECK(header_meaning("=?BASE64?QUJD?=") == "=?BASE64?QUJD?=");
  for (const char* wrong : {"QR==", "QUJ=", "QUI", "Q===", "====", "QU=I", "Q=I=", "QU I"})
    CHECK_MESSAGE(!header_meaning("=?base64?" + std::string(wrong) + "?="), wrong);
}
