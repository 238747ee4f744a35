// Questions of a legacy server as its conversation sees them: bounds, ids, answers.
#include "test/mcp/client/session_rig.hpp"
#include "test/support/contains.hpp"

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::mcp::rpc;
using mcpbx::test::contains;
using mcpbx::test::session_rig;

namespace {

void ask(session_rig& s, std::string_view id, std::string_view params = "{}") {
  s.say(R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"method":"elicitation/create","params":)" +
        std::string(params) + "}");
}

void answer(session_rig& s, const rpc_id& id, std::string_view result = "{}") {
  s.core.answer(id, {call_outcome::kind::result, raw_json::own(result), {}});
}

std::string declared(std::string protocol) {
  session_rig s(std::move(protocol));
  s.begin();
  return std::string(find_member(find_member(raw_json::own(s.sent.back()), "params"), "capabilities").text());
}

}  // namespace

TEST_CASE("each legacy revision is told the capabilities that it knows") {
  CHECK(declared("2024-11-05") == R"({"roots":{"listChanged":true},"sampling":{}})");
  CHECK(declared("2025-03-26") == R"({"roots":{"listChanged":true},"sampling":{}})");
  CHECK(declared("2025-06-18") == R"({"roots":{"listChanged":true},"sampling":{},"elicitation":{}})");
  CHECK(
      declared("2025-11-25") ==
      R"({"roots":{"listChanged":true},"sampling":{"context":{},"tools":{}},"elicitation":{"form":{},"url":{}},"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}})");
}

TEST_CASE("G10: a server may have 16 open questions, and as many again once they are answered") {
  session_rig s;
  s.open_legacy();
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 16; ++i) ask(s, std::to_string(100 * round + i));
    REQUIRE(s.questions.size() == static_cast<std::size_t>(16 * (round + 1)));
    ask(s, "99");
    CHECK(s.questions.size() == static_cast<std::size_t>(16 * (round + 1)));
    CHECK(contains(s.sent.back(), R"("id":99,"error":{"code":-32001)"));
    CHECK(contains(s.sent.back(), "no more than 16 questions"));
    for (const auto& q : s.questions) answer(s, q.id);
    s.advance(milliseconds(10'000));
  }
}

TEST_CASE("G10: the bytes of open questions are bounded") {
  session_rig s;
  s.open_legacy();
  const std::string big = "{\"m\":\"" + std::string(std::size_t{10} << 20, 'x') + "\"}";
  ask(s, "1", big);
  ask(s, "2", big);
  CHECK(s.questions.size() == 1);
  CHECK(contains(s.sent.back(), R"("id":2,"error":{"code":-32001)"));
  ask(s, "3");
  CHECK(s.questions.size() == 2);
  answer(s, s.questions[0].id);
  ask(s, "4", big);
  CHECK(s.questions.size() == 3);
}

TEST_CASE("G13: a question is answered once and by its own id") {
  session_rig s;
  s.open_legacy();
  ask(s, "7");
  ask(s, R"("7")");
  ask(s, "7");  // its answer could be taken for that of the open one
  REQUIRE(s.questions.size() == 2);
  const auto before = s.sent.size();
  answer(s, s.questions[1].id);
  CHECK(s.sent.back() == R"({"jsonrpc":"2.0","id":"7","result":{}})");
  answer(s, s.questions[1].id);
  CHECK(s.sent.size() == before + 1);
  answer(s, rpc_id::number(8));
  CHECK(s.sent.size() == before + 1);
  answer(s, s.questions[0].id);
  CHECK(s.sent.back() == R"({"jsonrpc":"2.0","id":7,"result":{}})");
}

TEST_CASE("a cancelled question is reported, and one that is not open is not") {
  session_rig s;
  s.open_legacy();
  ask(s, "7");
  s.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"7"}})");
  s.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{}})");
  CHECK(s.cancelled_questions.empty());
  s.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}})");
  CHECK(s.cancelled_questions == std::vector<rpc_id>{rpc_id::number(7)});
  s.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}})");
  CHECK(s.cancelled_questions.size() == 1);
}

TEST_CASE("questions of a modern server are not heard") {
  session_rig s;
  s.open_modern();
  const auto before = s.sent.size();
  ask(s, "7");
  CHECK(s.questions.empty());
  CHECK(s.sent.size() == before);
  CHECK(s.core.dropped_requests() == 1);
}

TEST_CASE("G10: a server that asks too fast or does not read is not answered") {
  session_rig s;
  s.open_legacy();
  s.unsent = std::size_t{1} << 20;
  ask(s, "1");
  CHECK(s.questions.empty());
  s.unsent = 0;
  int heard = 0;
  for (int i = 0; i < 1000; ++i) {
    ask(s, std::to_string(i));
    if (!s.questions.empty()) {
      ++heard;
      answer(s, s.questions.back().id);
      s.questions.clear();
    }
  }
  CHECK(heard == 64);
}

TEST_CASE("a server hears of changed roots if it has asked for them") {
  session_rig s;
  s.open_legacy();
  s.core.tell_roots_changed();
  CHECK(s.count("notifications/roots/list_changed") == 0);
  s.say(R"({"jsonrpc":"2.0","id":1,"method":"roots/list"})");
  s.core.tell_roots_changed();
  CHECK(s.count("notifications/roots/list_changed") == 1);
  // It knows that its roots are old until it asks again, so that a caller cannot flood it.
  for (int i = 0; i < 100; ++i) s.core.tell_roots_changed();
  CHECK(s.count("notifications/roots/list_changed") == 1);
  s.say(R"({"jsonrpc":"2.0","id":2,"method":"roots/list"})");
  s.core.tell_roots_changed();
  CHECK(s.count("notifications/roots/list_changed") == 2);
}
