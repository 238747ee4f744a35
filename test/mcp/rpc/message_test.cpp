// The rules of the envelope, ids, and building.
#include "mcp/rpc/rpc_message.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>

namespace {

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::mcp::rpc;

auto parsed(std::string_view text) {
  return parse_message(raw_json::own(text));
}

std::string key(std::string_view token) {
  const auto id = rpc_id::from(raw_json::own(token));
  return id ? id->key() : "none";
}

TEST_CASE("each kind of message is told by its members in any order") {
  const auto request = parsed(R"( {"params":{"a":1.0},"method":"tools/call","id":"x","jsonrpc":"2.0","more":1} )");
  REQUIRE(request);
  CHECK(request->type == message::kind::request);
  CHECK(request->id.token() == "\"x\"");
  CHECK(request->method() == "tools/call");
  CHECK(request->params.text() == "{\"a\":1.0}");
  CHECK(request->whole.text().front() == '{');

  const auto notification = parsed(R"({"jsonrpc":"2.0","method":"a\/b"})");
  REQUIRE(notification);
  CHECK(notification->type == message::kind::notification);
  CHECK(notification->method() == "a/b");
  CHECK(notification->params.empty());

  const auto result = parsed(R"({"result":{"x":[]},"id":-5,"jsonrpc":"2\u002e0"})");
  REQUIRE(result);
  CHECK(result->type == message::kind::response);
  CHECK(result->result.text() == "{\"x\":[]}");
  CHECK(result->error.empty());

  const auto error = parsed(R"({"jsonrpc":"2.0","id":1,"error":{"data":{},"code":-1,"message":"no"}})");
  REQUIRE(error);
  CHECK(error->error.text() == R"({"data":{},"code":-1,"message":"no"})");

  const auto batch = parsed("[1]");
  REQUIRE(batch);
  CHECK(batch->type == message::kind::batch);
}

TEST_CASE("a moved or copied message keeps its method") {
  for (const std::string_view text : {R"({"jsonrpc":"2.0","method":"a\/b"})", R"({"jsonrpc":"2.0","method":"a/b"})"}) {
    auto first = parsed(text);
    REQUIRE(first);
    const message copy = *first;
    const message moved = std::move(*first);
    first = parsed(R"({"jsonrpc":"2.0","method":"other"})");
    CHECK(copy.method() == "a/b");
    CHECK(moved.method() == "a/b");
  }
}

TEST_CASE("G14: every broken envelope is refused with its id and with whose id it is") {
  struct row {
    std::string_view text, id;
    bool is_response;
    std::string_view what;
  };
  for (const row& r : {
           row{R"({"id":1,"method":"m"})", "n1", false, "member \"jsonrpc\" is missing"},
           row{R"({"id":1,"result":{}})", "n1", true, "member \"jsonrpc\" is missing"},
           row{R"({"jsonrpc":"1.0","id":1,"method":"m"})", "n1", false, "member \"jsonrpc\" must be \"2.0\""},
           row{R"({"jsonrpc":2.0,"id":1,"method":"m"})", "n1", false, "member \"jsonrpc\" must be \"2.0\""},
           row{R"({"jsonrpc":"2.0","id":null,"method":"m"})", "", false,
               "member \"id\" must be a string of at most 256 bytes or an integer"},
           row{R"({"jsonrpc":"2.0","id":1.0,"method":"m"})", "", false,
               "member \"id\" must be a string of at most 256 bytes or an integer"},
           row{R"({"jsonrpc":"2.0","id":1,"method":5})", "n1", false, "member \"method\" must be a string"},
           row{R"({"jsonrpc":"2.0","id":1,"method":"m","params":[]})", "n1", false,
               "member \"params\" must be an object"},
           row{R"({"jsonrpc":"2.0","method":"m","params":null})", "", false, "member \"params\" must be an object"},
           row{R"({"jsonrpc":"2.0","id":1,"method":"m","result":{}})", "n1", true,
               "a message has either a \"method\" or a \"result\" or \"error\""},
           row{R"({"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}})", "n1", true,
               "a response has either a \"result\" or an \"error\", not both"},
           row{R"({"jsonrpc":"2.0","id":1})", "n1", true, "a message needs a \"method\", a \"result\" or an \"error\""},
           row{R"({"jsonrpc":"2.0"})", "", false, "a message needs a \"method\", a \"result\" or an \"error\""},
           row{R"({"jsonrpc":"2.0","result":{}})", "", true, "a response needs an \"id\""},
           row{R"({"jsonrpc":"2.0","id":1,"error":"no"})", "n1", true,
               "member \"error\" is wrong: an object is expected here"},
           row{R"({"jsonrpc":"2.0","id":1,"error":{"message":"no"}})", "n1", true,
               "member \"error\" has no integer \"code\""},
           row{R"({"jsonrpc":"2.0","id":1,"error":{"code":"1","message":"no"}})", "n1", true,
               "member \"error\" has no integer \"code\""},
           row{R"({"jsonrpc":"2.0","id":1,"error":{"code":1.5,"message":"no"}})", "n1", true,
               "member \"error\" has no integer \"code\""},
           row{R"({"jsonrpc":"2.0","id":1,"error":{"code":1}})", "n1", true,
               "member \"error\" has no string \"message\""},
           row{R"({"jsonrpc":"2.0","id":1,"error":{"code":1,"message":2}})", "n1", true,
               "member \"error\" has no string \"message\""},
           row{R"({"jsonrpc":"2.0","id":1,"error":{"code":1,"code":2,"message":""}})", "n1", true,
               "member \"error\" is wrong: duplicate member \"code\""},
           row{R"({"jsonrpc":"2.0","id":1,"id":2,"method":"m"})", "", false, "member \"id\" occurs twice"},
           row{R"({"jsonrpc":"2.0","id":1,"method":"m","meth\u006fd":"n"})", "n1", false,
               "member \"method\" occurs twice"},
           row{R"({"jsonrpc":"2.0","id":1,"result":{},"result":{}})", "n1", true, "member \"result\" occurs twice"},
           row{R"("text")", "", false, "a message must be an object"},
       }) {
    CAPTURE(r.text);
    const auto m = parsed(r.text);
    REQUIRE_FALSE(m);
    CHECK(m.error().code == code::invalid_request);
    CHECK(m.error().id.key() == r.id);
    CHECK(m.error().is_response == r.is_response);
    CHECK(m.error().what == r.what);
  }
}

TEST_CASE("text that is no JSON is a parse error with the id read so far") {
  const auto m = parsed(R"({"jsonrpc":"2.0","id":"q","method":"m",})");
  REQUIRE_FALSE(m);
  CHECK(m.error().code == code::parse_error);
  CHECK(m.error().id.key() == "sq");
  CHECK_FALSE(m.error().is_response);
  CHECK(parsed("").error().code == code::parse_error);
  CHECK(parse_message(raw_json::own("[[]]"), 1).error().code == code::invalid_request);
}

TEST_CASE("raw line breaks between tokens become blanks and nothing else changes") {
  const auto m = parsed("\n{\"jsonrpc\":\"2.0\",\r\n \"method\":\"a\\nb\",\n\"params\":{\"x\":\n1}}\n");
  REQUIRE(m);
  CHECK(m->whole.text() == "{\"jsonrpc\":\"2.0\",   \"method\":\"a\\nb\", \"params\":{\"x\": 1}}");
  CHECK(m->params.text() == "{\"x\": 1}");
}

TEST_CASE("G13: ids are compared by type and value") {
  CHECK(key("2") == "n2");
  CHECK(key("\"2\"") == "s2");
  CHECK(key("\"a\"") == key("\"\\u0061\""));
  CHECK(key("-0") == key("0"));
  CHECK(key("123456789012345678901234567890") == "n123456789012345678901234567890");
  CHECK(key("\"\"") == "s");
  CHECK(key("\"\\ud800\"") != key("\"\\ud801\""));
  CHECK(key("\"\\ud800\"") != key("\"\\ufffd\""));
  for (const std::string_view bad : {"null", "1.0", "1e2", "{}", "[]", "true", "-"}) {
    CAPTURE(bad);
    CHECK(key(bad) == "none");
  }
  CHECK(rpc_id::from(raw_json::literal("7")) == rpc_id::number(7));
  CHECK(rpc_id::number(-7).token() == "-7");
  CHECK(rpc_id().empty());
}

TEST_CASE("an id has at most 256 bytes") {
  CHECK(key("\"" + std::string(256, 'x') + "\"") != "none");
  CHECK(key("\"" + std::string(257, 'x') + "\"") == "none");
  std::string escaped;
  for (int i = 0; i < 256; ++i) escaped += "\\u0078";
  CHECK(key("\"" + escaped + "\"") == "s" + std::string(256, 'x'));
  CHECK(key(std::string(256, '1')) != "none");
  CHECK(key(std::string(257, '1')) == "none");
}

TEST_CASE("an id echoes its own bytes and does not pin a large message") {
  auto m = parsed(R"({"jsonrpc":"2.0","id":"\u0061","method":"m","params":{"x":")" + std::string(10'000, 'x') + "\"}}");
  REQUIRE(m);
  CHECK(m->id.token() == "\"\\u0061\"");
  const auto held = byte_account::total();
  m->whole = m->params = raw_json();
  CHECK(byte_account::total() < held - 10'000);
  CHECK(m->id.token() == "\"\\u0061\"");
}

TEST_CASE("envelopes are built around raw parts") {
  segments params;
  params.append_literal("{\"n\":");
  params.append_copy("1.0");
  params.append_literal("}");
  CHECK(make_request(3, "tools/call", params).str() ==
        R"({"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"n":1.0}})");
  CHECK(make_request(3, "a\"b", raw_json()).str() == R"({"jsonrpc":"2.0","id":3,"method":"a\"b"})");
  CHECK(make_notification("n", params).str() == R"({"jsonrpc":"2.0","method":"n","params":{"n":1.0}})");
  CHECK(make_notification("n", raw_json()).str() == R"({"jsonrpc":"2.0","method":"n"})");
  CHECK(make_notification("n", raw_json::literal("{}")).str() == R"({"jsonrpc":"2.0","method":"n","params":{}})");
  const auto id = rpc_id::from(raw_json::literal("\"\\u0061\""));
  REQUIRE(id);
  CHECK(make_result(*id, raw_json::literal("{}")).str() == R"({"jsonrpc":"2.0","id":"\u0061","result":{}})");
  CHECK(make_result(*id, params).str() == R"({"jsonrpc":"2.0","id":"\u0061","result":{"n":1.0}})");
  CHECK(make_error({}, rpc_error{code::parse_error, "bad \"x\"", {}}).str() ==
        R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"bad \"x\""}})");
  CHECK(make_error(rpc_id::number(1), rpc_error{code::overloaded, "full", raw_json::literal(R"({"retryable":true})")})
            .str() == R"({"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"full","data":{"retryable":true}}})");
  CHECK(make_error(rpc_id::number(1), raw_json::literal(R"({"code":1,"message":"m"})")).str() ==
        R"({"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}})");
}

TEST_CASE("what is built can be read") {
  const auto m = parsed(make_request(12, "tools/call", raw_json()).str());
  REQUIRE(m);
  CHECK(m->id == rpc_id::number(12));
  CHECK(parsed(make_error(rpc_id::number(1), rpc_error{}).str()));
}

}  // namespace
