// A caller's request through the daemon to a tool server and back: bytes, ids, progress, lists.
#include "test/e2e/harness/harness.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace mcpbx::e2e;

namespace {

/// The line that must come back for a call of `raw`, whose answer is its arguments.
std::string raw_answer(std::string_view id, std::string_view arguments) {
  return R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"result":{"content":[],"structuredContent":)" +
         std::string(arguments) + "}}";
}

std::string nested(std::size_t depth) {
  return R"({"deep":)" + std::string(depth, '[') + std::string(depth, ']') + "}";
}

const config echo_server = config().server("s");

}  // namespace

TEST_CASE("M6: arguments and results pass byte for byte") {
  daemon_under_test d(echo_server);
  caller c = d.session();
  // Texts that a parser might change: numbers beyond double, spellings, blanks, escapes, duplicates, order.
  const std::string_view corpus[] = {
      R"({})",
      R"({ "a" : 1 ,	"b":[ ] })",
      R"({"n":9007199254740993,"m":-9223372036854775808,"u":18446744073709551615})",
      R"({"n":123456789012345678901234567890123456789012345678901234567890})",
      R"({"n":1.0,"m":-0,"z":-0.0,"e":1e400,"f":1E-400,"g":1.10,"h":0.1e+01})",
      R"({"a":1,"a":2,"b":{"x":null,"x":null}})",
      R"({"unknown":{"$ref":"http://127.0.0.1:1/"},"name":"other","arguments":{},"_meta":{"progressToken":7}})",
      R"({"s":"\u0041\/\b\f\n\r\t\"\\","é":"\u00e9é","\u0061":"key with an escape"})",
      R"({"lone":"\ud800","low":"\udc00x","pair":"\ud83d\ude00","raw":"😀"})",
      R"({"empty":"","":"empty key"," ":[[],{},"",0,false,true,null]})",
      R"({"id":5,"method":"x","jsonrpc":"1.0","result":{"error":{}}})",
  };
  for (const auto arguments : corpus) {
    CAPTURE(arguments);
    // Read as a line: not everything here is taken by the parser of the tests.
    const auto id = c.start_call("s__raw", arguments);
    CHECK(c.line() == raw_answer(std::to_string(id), arguments));
  }
}

TEST_CASE("bytes: nesting passes up to the configured depth, and one level more is an error that keeps the session") {
  daemon_under_test d(config().server("s").top("limits", R"({"maxJsonDepth":1000})"));
  caller c = d.session();
  // Envelope, params and the arguments themselves are three levels.
  for (const std::size_t depth : {std::size_t{1}, std::size_t{253}, std::size_t{996}, std::size_t{997}}) {
    CAPTURE(depth);
    const auto id = c.start_call("s__raw", nested(depth));
    CHECK(c.wait(id).line == raw_answer(std::to_string(id), nested(depth)));
  }
  c.send(R"({"jsonrpc":"2.0","id":"deep","method":"tools/call","params":{"name":"s__raw","arguments":)" + nested(998) +
         "}}");
  const auto refused = parse(c.line());
  CHECK(at(refused, "error.code").is_int64());
  CHECK_MESSAGE(
      text_at(refused, "error.message").find("deeper than 1000 levels (limits.maxJsonDepth)") != std::string::npos,
      json::serialize(refused));
  CHECK(c.call("s__echo", R"({"text":"still here"})").text() == "still here");
}

TEST_CASE("bytes: members of the envelope and of params may stand in every order, unknown ones among them") {
  daemon_under_test d(echo_server);
  caller c = d.session();
  std::vector<std::string> members{R"("jsonrpc":"2.0")", R"("id":77)", R"("method":"tools/call")", "@",
                                   R"("extra":[1])"};
  std::vector<std::string> params{R"("name":"s__raw")", R"("arguments":{"b":1,"a":2.50})", R"("more":{"x":1e400})",
                                  R"("_meta":{"traceparent":"t"})"};
  std::ranges::sort(members);
  std::size_t turn = 0;
  do {
    std::string inner, line;
    for (const auto& p : params) inner += (inner.empty() ? "" : ", ") + p;
    for (const auto& m : members) line += (line.empty() ? "" : ",") + (m == "@" ? R"("params":{)" + inner + "}" : m);
    c.send("{" + line + "}");
    CHECK_MESSAGE(c.line() == raw_answer("77", R"({"b":1,"a":2.50})"), line);
    std::ranges::next_permutation(params);
    ++turn;
  } while (std::ranges::next_permutation(members).found);
  CHECK(turn == 120);
}

TEST_CASE("bytes: 16 MiB of text pass in both directions, and the memory comes back (G11)") {
  daemon_under_test d(echo_server);
  caller c = d.session();
  CHECK(c.call("s__echo", R"({"text":"warm"})").text() == "warm");
  const growth g(d);
  for (int i = 0; i < 3; ++i) {
    const std::string arguments = R"({"text":")" + std::string(16u << 20, 'a' + static_cast<char>(i)) + "\"}";
    const auto id = c.start_call("s__raw", arguments);
    // Not compared by CHECK, which would print both.
    const bool same = c.wait(id).line == raw_answer(std::to_string(id), arguments);
    CHECK(same);
  }
  CHECK(g.peak_mib() <= 64);
  CHECK(eventually([&] { return g.now_mib() <= 8; }));
}

TEST_CASE("bytes: sizes around every power of two pass whole") {
  daemon_under_test d(echo_server);
  caller c = d.session();
  for (std::size_t size = 1024; size <= (4u << 20); size *= 2)
    for (const std::size_t n : {size - 1, size, size + 1}) {
      const auto r = c.call("s__big", "{\"n\":" + std::to_string(n) + "}");
      CHECK(r.line.size() == r.line.find(R"("}]}})") + 5);
      CHECK(r.text().size() == n);
    }
}

TEST_CASE("G13: ids are echoed as they were written and keep their type") {
  daemon_under_test d(echo_server);
  caller c = d.session();
  const std::string_view ids[] = {"0", "-1", "9223372036854775807", R"("2")", R"("\u0061")", R"("")", R"("é")"};
  for (const auto id : ids) {
    c.send(R"({"jsonrpc":"2.0","id":)" + std::string(id) +
           R"(,"method":"tools/call","params":{"name":"s__raw","arguments":{}}})");
    CHECK(c.line() == raw_answer(id, "{}"));
  }
  // 2 and "2" at the same time are two requests.
  c.send(R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"s__wait_for_file","arguments":{"path":")" +
         d.file("two") + R"("}}})");
  c.send(R"({"jsonrpc":"2.0","id":"2","method":"tools/call","params":{"name":"s__echo","arguments":{"text":"text"}}})");
  CHECK(c.line() == R"({"jsonrpc":"2.0","id":"2","result":{"content":[{"type":"text","text":"text"}]}})");
  d.write("two", "");
  CHECK(c.line().starts_with(R"({"jsonrpc":"2.0","id":2,"result")"));
}

TEST_CASE("G13: interleaved calls of many callers with equal ids reach only their own") {
  daemon_under_test d(config().server("a").server("b"));
  // In waves, which the servers' queues have room for: 10,000 calls.
  constexpr int callers = 50, rounds = 20, waves = 10;
  std::vector<caller> all;
  for (int i = 0; i < callers; ++i) all.push_back(d.session());
  int crossed = 0;
  for (int w = 0; w < waves; ++w) {
    for (int r = w * rounds; r < (w + 1) * rounds; ++r)
      for (int i = 0; i < callers; ++i)
        all[static_cast<std::size_t>(i)].send(R"({"jsonrpc":"2.0","id":)" + std::to_string(100 + r) +
                                              R"(,"method":"tools/call","params":{"name":")" + (r % 2 ? "a" : "b") +
                                              R"(__echo","arguments":{"text":"canary )" + std::to_string(i) + " " +
                                              std::to_string(r) + R"("}}})");
    for (int i = 0; i < callers; ++i)
      for (int r = 0; r < rounds; ++r) {
        const auto v = parse(all[static_cast<std::size_t>(i)].line());
        const auto expected = "canary " + std::to_string(i) + " " + std::to_string(at(v, "id").as_int64() - 100);
        if (text_at(v, "result.content.0.text") != expected) ++crossed;
      }
  }
  CHECK(crossed == 0);
}

TEST_CASE("M6: errors of a tool pass as the server wrote them") {
  daemon_under_test d(echo_server);
  caller c = d.session();
  const auto error = c.call("s__error", R"({"code":-32050})");
  CHECK(
      error.line.find(R"("error":{"code":-32050,"message":"This tool answers an error.","data":{"hint":[1,2.50]}})") !=
      std::string::npos);
  const auto failed = c.call("s__fail");
  CHECK_FALSE(failed.failed());
  CHECK(failed.get("result.isError") == json::value(true));
  const auto unknown = c.call("s__ecko");
  CHECK(unknown.code() == -32602);
  CHECK(unknown.message().find("s__echo") != std::string::npos);
}

TEST_CASE("L20 M5: progress reaches its caller under the caller's own token, before the answer") {
  daemon_under_test d(echo_server);
  caller first = d.session(), second = d.session();
  for (caller* c : {&first, &second})
    c->send(R"({"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"s__progress","arguments":{"n":4},)"
            R"("_meta":{"progressToken":"same \u0061"}}})");
  for (caller* c : {&first, &second}) {
    for (int i = 1; i <= 4; ++i) {
      const auto line = c->line();
      CHECK(line.find(R"("progressToken":"same \u0061")") != std::string::npos);
      CHECK(at(parse(line), "params.progress") == json::value(i));
    }
    CHECK(text_at(parse(c->line()), "result.content.0.text") == "4 steps");
  }
}

TEST_CASE("M4: pages are joined, and a change of the list reaches the callers") {
  daemon_under_test d(config().server("s", {"--tools", "25", "--page", "4"}));
  d.wait_ready({"s"});
  caller c = d.session();
  auto names = c.tool_names();
  CHECK(std::ranges::count(names, "s__tool_0025") == 1);
  CHECK(std::ranges::count(names, "s__added_0001") == 0);
  CHECK(std::ranges::count(names, "s__echo") == 1);
  c.call("s__change_tools");
  c.wait_notification("notifications/tools/list_changed");
  names = c.tool_names();
  CHECK(std::ranges::count(names, "s__added_0001") == 1);
}
