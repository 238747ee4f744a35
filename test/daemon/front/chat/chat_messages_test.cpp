// Tests of a chat's messages: a conversation that every provider takes, or the results of a parked run's calls.
#include "daemon/front/chat/chat_params.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using namespace mcpbx;
using namespace mcpbx::daemon::chat;
using namespace mcpbx::daemon::run;
using namespace mcpbx::json;

namespace {

struct said_result {
  run_request request;
  std::string wrong;
};

said_result said(std::string_view json) {
  mcp::server::param_reader in(raw_json::own(json));
  said_result r{read_chat(in, chat_defaults()), ""};
  if (auto ok = in.finish(); !ok) r.wrong = ok.error().message;
  return r;
}

}  // namespace

TEST_CASE("E1: what is wrong in a conversation is told by the path of the message, the block and the member") {
  struct row {
    const char* params;
    const char* says;
  };
  const row rows[] = {
      {R"({"messages":[{"role":"user","content":""}]})",
       "params.messages[0].content: expected a text that is not blank, an image or a file, got \"\""},
      {R"({"messages":[{"role":"user","content":[{"type":"image","data":"!!!","mimeType":"image/png"}]}]})",
       "params.messages[0].content[0].data: expected base64 (A-Z, a-z, 0-9, + and /, = at its end, no line breaks), "
       "got \"!!!\""},
      {R"({"messages":[{"role":"assistant","content":[{"type":"tool_call","id":"x","name":"a","arguments":{}}]},{"role":"user","content":"a"}]})",
       R"(params.messages[1].role: expected "tool", with the tool_result of the call "x" of messages[0], because)"},
      {R"({"messages":[{"role":"tool","content":[{"type":"tool_result","id":"x","result":{}}]},{"role":"user","content":"a"}]})",
       "params.messages[0].content[0].id: expected the id of a call in the assistant message before it that has no"},
  };
  for (const auto& r : rows) {
    CAPTURE(r.params);
    const std::string wrong = said(r.params).wrong;
    CAPTURE(wrong);
    CHECK(wrong.starts_with(r.says));
  }
}

TEST_CASE("E1: a conversation with calls and their results is taken, also with the name of a new run") {
  const auto r = said(
      R"({"run":"new","messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_call","id":"x","name":"a","arguments":{}}]},)"
      R"({"role":"tool","content":[{"type":"tool_result","id":"x","result":{"content":[]}}]},{"role":"user","content":"b"}]})");
  CHECK(r.wrong == "");
  CHECK(r.request.messages.size() == 4);
  CHECK(r.request.results.empty());
}

TEST_CASE("L21: messages of tool results alone, with the name of a run, are results for that run") {
  const auto r = said(
      R"({"run":"talk","messages":[{"role":"tool","content":[{"type":"tool_result","id":"c","result":{"content":[]}}]}]})");
  CHECK(r.wrong == "");
  REQUIRE(r.request.results.size() == 1);
  CHECK(r.request.results[0].call_id == "c");
  CHECK(r.request.results[0].result.text() == R"({"content":[]})");
  CHECK(r.request.messages.empty());
}

TEST_CASE("L21: a result is an error when the block or the result itself says so") {
  const auto given = [](std::string_view members) {
    const auto r = said(R"({"run":"talk","messages":[{"role":"tool","content":[{"type":"tool_result","id":"c",)" +
                        std::string(members) + "}]}]}");
    REQUIRE(r.wrong == "");
    return find_member(r.request.results.at(0).result, "isError").is_true();
  };
  CHECK(given(R"("isError":true,"result":{"content":[]})"));
  CHECK(given(R"("isError":true,"result":{"content":[],"isError":false})"));
  CHECK(given(R"("isError":false,"result":{"content":[],"isError":true})"));
  CHECK(given(R"("result":{"content":[],"isError":true})"));
  CHECK_FALSE(given(R"("isError":false,"result":{"content":[]})"));
}

TEST_CASE("L21: what stands beside the results of a parked run is refused by its name, for it would have no effect") {
  const std::string results =
      R"({"run":"talk","messages":[{"role":"tool","content":[{"type":"tool_result","id":"c","result":{"content":[]}}]}])";
  for (const auto* member :
       {R"("model":"m")", R"("profile":"p")", R"("session":"ses_1")", R"("system":"s")", R"("tools":["x"])",
        R"("limits":{"maxRounds":0})", R"("status":"off")", R"("approve":"all")",
        R"("responseFormat":{"type":"json_object"})", R"("clientTools":[])"}) {
    CAPTURE(member);
    const auto wrong = said(results + "," + member + "}").wrong;
    CAPTURE(wrong);
    const std::string name(member, std::string_view(member).find(':'));
    CHECK(wrong ==
          "params." + name.substr(1, name.size() - 2) +
              ": expected nothing here, because these are results for the run \"talk\", which goes on as it was "
              "begun; leave out " +
              name);
  }
  CHECK(said(results + R"(,"stream":false,"detach":false,"_meta":{}})").wrong == "");
}
