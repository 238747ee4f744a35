// The toolbox as a client sees it: lines in, lines out.
#include "daemon/toolbox/server.hpp"

#include "test/daemon/toolbox/protocol_fixture.hpp"
#include "test/support/in_pieces.hpp"

#include <boost/json.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>

using namespace mcpbx::toolbox;

namespace {

int code_of(const boost::json::value& answer) {
  return static_cast<int>(answer.at("error").at("code").as_int64());
}

}  // namespace

TEST_CASE("toolbox: initialize answers the revision asked for if it is a known one") {
  for (const auto* revision : {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}) {
    client c;
    const auto r = c.request("initialize", boost::json::value{{"protocolVersion", revision}}).at("result");
    CHECK(r.at("protocolVersion") == revision);
  }
  client c;
  const auto r = c.request("initialize", boost::json::value{{"protocolVersion", "2026-07-28"}}).at("result");
  CHECK(r.at("protocolVersion") == "2025-11-25");
  CHECK(r.at("serverInfo").at("name") == "mcpbx-toolbox");
  CHECK(r.at("serverInfo").at("version") == "9.9.9");
  CHECK(r.at("capabilities").at("tools").is_object());
  CHECK(code_of(client().request("initialize", boost::json::object())) == -32602);
}

TEST_CASE("toolbox: the new era and unknown methods are refused") {
  client c;
  CHECK(code_of(c.request("server/discover", boost::json::object())) == -32601);
  c.open();
  CHECK(code_of(c.request("resources/list", boost::json::object())) == -32601);
}

TEST_CASE("toolbox: tools wait for initialize, ping does not") {
  client c;
  CHECK(c.request("ping", {}).at("result") == boost::json::object());
  CHECK(code_of(c.request("tools/list", {})) == -32600);
  CHECK(code_of(c.request("tools/call", boost::json::value{{"name", "calculate"}})) == -32600);
}

TEST_CASE("toolbox: notifications and responses are not answered") {
  client c;
  c.open();
  CHECK(c.feed(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})") == "");
  CHECK(c.feed(R"({"jsonrpc":"2.0","method":"notifications/unknown"})") == "");
  CHECK(c.feed(R"({"jsonrpc":"2.0","id":5,"result":{}})") == "");
  CHECK(c.feed(R"({"jsonrpc":"2.0","id":5,"result":[1]})") == "");
  CHECK(c.feed("   ") == "");
}

TEST_CASE("toolbox: malformed lines get the error of JSON-RPC and the next line works") {
  client c;
  c.open();
  CHECK(code_of(c.line("garbage")) == -32700);
  CHECK(code_of(c.line(R"({"jsonrpc":"2.0","id":1,"method":)")) == -32700);
  CHECK(code_of(c.line("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xFF\"}")) == -32700);
  CHECK(code_of(c.line(R"({"jsonrpc":"1.0","id":1,"method":"ping"})")) == -32600);
  CHECK(code_of(c.line(R"({"jsonrpc":"2.0","id":null,"method":"ping"})")) == -32600);
  CHECK(code_of(c.line(R"({"jsonrpc":"2.0","id":1.5,"method":"ping"})")) == -32600);
  const auto wrong = c.line(R"({"jsonrpc":"2.0","id":7,"method":"ping","params":[1]})");
  CHECK(code_of(wrong) == -32600);
  CHECK(wrong.at("id") == 7);
  CHECK(code_of(c.line("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"a\":" + std::string(100, '[') +
                       std::string(100, ']') + "}}")) == -32600);
  CHECK(code_of(c.line("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"a\":\"" +
                       std::string(5 << 20, 'x') + "\"}}")) == -32600);
  CHECK(c.line(R"({"jsonrpc":"2.0","id":"s","method":"ping"})").at("id") == "s");
}

TEST_CASE("toolbox: half a line at the end is an error, an empty end is silent") {
  client c;
  CHECK(c.core.finish() == "");
  CHECK(c.core.feed(R"({"jsonrpc":"2.0",)") == "");
  CHECK(code_of(boost::json::parse(c.core.finish())) == -32700);
}

TEST_CASE("toolbox: lines may arrive in pieces and several at once") {
  client c;
  const std::string ping = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r\n";
  std::string out;
  for (const char byte : ping) out += c.core.feed({&byte, 1});
  CHECK(out == "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
  const auto both = c.core.feed(ping + ping);
  CHECK(std::count(both.begin(), both.end(), '\n') == 2);
}

TEST_CASE("toolbox: batches belong to one revision") {
  const std::string batch =
      R"([{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/x"},{"id":2},5])";
  client old;
  old.request("initialize", boost::json::value{{"protocolVersion", "2025-03-26"}});
  const auto answers = old.line(batch).as_array();
  REQUIRE(answers.size() >= 2);
  CHECK(answers[0].at("id") == 1);
  CHECK(code_of(answers[answers.size() - 1]) == -32600);
  CHECK(code_of(old.line("[]")) == -32600);
  CHECK(old.feed(R"([{"jsonrpc":"2.0","method":"notifications/x"}])") == "");
  std::string many = "[";
  for (int i = 0; i < 64; ++i) many += std::string(i ? "," : "") + R"({"jsonrpc":"2.0","id":1,"method":"ping"})";
  CHECK(old.line(many + "]").as_array().size() == 64);
  CHECK(code_of(old.line(many + ",5]")) == -32600);  // refused whole, so that no element has been handled
  client c;
  c.open();
  CHECK(code_of(c.line(batch)) == -32600);
}

TEST_CASE("toolbox: the list of tools is complete and well-formed") {
  client without;
  without.open();
  const auto few = without.request("tools/list", {}).at("result").at("tools").as_array();
  CHECK(few.size() == 3);
  const temporary_folder t;
  client with({t.path()});
  with.open();
  const auto list = with.request("tools/list", {}).at("result").at("tools").as_array();
  CHECK(list.size() == 7);
  for (const auto& tool : list) {
    CAPTURE(boost::json::serialize(tool.at("name")));
    CHECK_FALSE(tool.at("title").as_string().empty());
    CHECK_FALSE(tool.at("description").as_string().empty());
    CHECK(tool.at("inputSchema").at("type") == "object");
    CHECK(tool.at("inputSchema").at("additionalProperties") == false);
    CHECK(tool.at("annotations").at("readOnlyHint") == true);
    CHECK(tool.at("annotations").at("openWorldHint") == false);
    if (const auto* required = tool.at("inputSchema").as_object().if_contains("required"))
      for (const auto& name : required->as_array())
        CHECK(tool.at("inputSchema").at("properties").as_object().contains(name.as_string()));
  }
  CHECK(code_of(with.request("tools/list", boost::json::value{{"cursor", "x"}})) == -32602);
}

TEST_CASE("toolbox: the clock tools answer in text and structure") {
  client c;
  c.open();
  const auto now = c.call("current_time", boost::json::value{{"timeZone", "UTC"}});
  CHECK(now.text == "2026-07-28T07:30:15+00:00 (Tuesday, UTC)");
  CHECK(now.structured.at("unixSeconds") == 1785223815);
  CHECK(now.structured.at("weekday") == "Tuesday");
  const auto there = c.call("convert_time", boost::json::value{{"time", "09:00+02:00"}, {"toTimeZone", "UTC"}});
  CHECK(there.structured.at("time") == "2026-07-28T07:00:00+00:00");
  CHECK(c.call("current_time", boost::json::value{{"timeZone", "Nowhere"}}).failed);
  CHECK(c.call("convert_time", boost::json::value{{"time", "09:00"}}).text ==
        "The argument \"toTimeZone\" is missing or empty.");
}

TEST_CASE("toolbox: the calculator answers a JSON number") {
  client c;
  c.open();
  const auto r = c.call("calculate", boost::json::value{{"expression", "6 * 7"}});
  CHECK(r.text == "42");
  CHECK(r.structured.at("result") == 42);
  CHECK(r.structured.at("exact") == true);
  const auto wrong = c.call("calculate", boost::json::value{{"expression", "6 *"}});
  CHECK(wrong.failed);
  CHECK(wrong.structured.is_null());
}

TEST_CASE("toolbox: wrong arguments come back as sentences") {
  client c;
  c.open();
  CHECK(c.call("calculate", boost::json::object()).text == "The argument \"expression\" is missing or empty.");
  CHECK(c.call("calculate", boost::json::value{{"expression", 42}}).text ==
        "\"expression\" must be a text, not a number.");
  CHECK(c.call("calculate", boost::json::value{{"expresion", "1"}}).text ==
        "There is no argument \"expresion\" (did you mean \"expression\"?). There are: expression.");
  const auto twice = c.line(
      R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"calculate","arguments":{"expression":"1","expression":"2"}}})");
  CHECK(twice.at("result").at("isError") == true);
}

TEST_CASE("toolbox: calls that are none are protocol errors") {
  client c;
  c.open();
  CHECK(code_of(c.request("tools/call", {})) == -32602);
  CHECK(code_of(c.request("tools/call", boost::json::value{{"name", 5}})) == -32602);
  CHECK(code_of(c.request("tools/call", boost::json::value{{"name", "calculate"}, {"arguments", "x"}})) == -32602);
  const auto unknown = c.request("tools/call", boost::json::value{{"name", "calculat"}});
  CHECK(code_of(unknown) == -32602);
  CHECK(std::string(unknown.at("error").at("message").as_string()).find("did you mean \"calculate\"?") !=
        std::string::npos);
  CHECK(code_of(c.line(
            R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"calculate","name":"current_time"}})")) ==
        -32602);
  CHECK(code_of(c.request("tools/call", boost::json::value{{"name", "read_file"}})) ==
        -32602);  // no folder, no file tools
}

TEST_CASE("toolbox: a conversation is answered the same in pieces of any size") {
  std::string said = R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}})"
                     "\n";
  for (const std::size_t size : mcpbx::test::awkward_sizes)
    said += R"({"jsonrpc":"2.0","id":")" + std::to_string(size) +
            R"(","method":"tools/call","params":{"name":"calculate","arguments":{"expression":"1)" +
            std::string(std::min<std::size_t>(size, 8'193), ' ') + "+1\"}}}\r\nno message\n";
  said += R"([{"jsonrpc":"2.0","id":5,"method":"ping"},{"jsonrpc":"2.0","id":6,"method":"none"}])"
          "\n{\"half\":";
  std::string whole;
  mcpbx::test::check_in_any_pieces(said, [&](std::string_view bytes, std::size_t size) {
    client c;
    std::string all;
    mcpbx::test::in_pieces(bytes, size, [&](std::string_view piece) { all += c.core.feed(piece); });
    return whole = all + c.core.finish();
  });
  CHECK(std::ranges::count(whole, '\n') == static_cast<std::ptrdiff_t>(3 + 2 * mcpbx::test::awkward_sizes.size()));
}
