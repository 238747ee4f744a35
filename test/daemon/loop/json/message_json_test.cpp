// The neutral shape of messages, there and back.
#include "daemon/loop/json/message_json.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace mcpbx;
using namespace mcpbx::daemon::event_json;
using namespace mcpbx::json;

namespace {

std::string again(std::string_view json) {
  auto m = read_message(raw_json::own(json));
  REQUIRE(m.has_value());
  std::string out;
  json_writer w(out);
  append_message(w, **m);
  return out;
}

std::string wrong(std::string_view json) {
  auto m = read_message(raw_json::own(json));
  REQUIRE_FALSE(m.has_value());
  return m.error().place + ": " + m.error().expected;
}

}  // namespace

TEST_CASE("L16: messages of every kind come back as they were") {
  for (
      const auto* json :
      {R"({"role":"system","content":[{"type":"text","text":"be \"brief\""}]})",
       R"({"role":"user","content":[{"type":"text","text":"a"},{"type":"image","mimeType":"image/png","data":"AA=="}]})",
       R"({"role":"user","content":[{"type":"image","url":"https://x/y.png"}]})",
       R"({"role":"user","content":[{"type":"file","mimeType":"application/pdf","name":"a.pdf","data":"AA=="}]})",
       R"({"role":"user","content":[{"type":"file","url":"https://x/y.pdf"}]})",
       R"({"role":"assistant","content":[{"type":"reasoning","text":"hm"},{"type":"tool_call","id":"a","name":"n","arguments":{"x":1.0,"x":2}}]})",
       R"({"role":"assistant","content":[{"type":"tool_call","id":"a","name":"n","argumentsText":"{","problem":"cut"}]})",
       R"({"role":"assistant","content":[{"type":"refusal","text":"no"}]})",
       R"({"role":"tool","content":[{"type":"tool_result","id":"a","name":"n","isError":true,"result":{"content":[]}}]})"})
    CHECK(again(json) == json);
  CHECK(again(R"({"role":"user","content":"plain"})") ==
        R"({"role":"user","content":[{"type":"text","text":"plain"}]})");
}

TEST_CASE("L16: what only a provider understands stays out of the neutral shape") {
  providers::message m;
  m.role = providers::role::assistant;
  m.blocks = {providers::opaque_block{raw_json::literal("{}")}, providers::text_block{"x"},
              providers::reasoning_block{"", raw_json::literal("\"sig\"")}};
  std::string out;
  json_writer w(out);
  append_message(w, m);
  CHECK(out == R"({"role":"assistant","content":[{"type":"text","text":"x"}]})");
}

TEST_CASE("L13 L16: an assistant message tells which model made it, and is read back without") {
  providers::message m;
  m.role = providers::role::assistant;
  m.origin = {"openai-chat", "https://x", "gpt-\"x\""};
  m.blocks = {providers::text_block{"a"}};
  std::string out;
  json_writer w(out);
  append_message(w, m);
  CHECK(out == R"({"role":"assistant","model":"gpt-\"x\"","content":[{"type":"text","text":"a"}]})");
  CHECK(again(out) == R"({"role":"assistant","content":[{"type":"text","text":"a"}]})");
}

TEST_CASE("L16: a message of another shape is refused with what is wrong") {
  CHECK(wrong("1") == ": an object with role and content");
  CHECK(wrong(R"({"role":"boss","content":"x"})") == R"(.role: "system", "user", "assistant" or "tool")");
  CHECK(wrong(R"({"role":"user"})") == ".content: a string or an array of blocks");
  CHECK(wrong(R"({"role":"user","content":[5]})") == ".content[0]: an object with type");
  CHECK(wrong(R"({"role":"user","content":[{"type":"text"}]})") == ".content[0].text: a string");
  CHECK(wrong(R"({"role":"user","content":[{"type":"text","text":"a"},{"type":"film"}]})")
            .starts_with(R"(.content[1].type: "text", "image" or "file" in a message of role "user")"));
  CHECK(wrong(R"({"role":"assistant","content":[{"type":"tool_call","id":"a","name":"n"}]})") ==
        ".content[0].arguments: an object");
  CHECK(wrong(R"({"role":"assistant","content":[{"type":"tool_call","id":"","name":"n"}]})") ==
        ".content[0].id: the id of the call, a string");
  CHECK(wrong(R"({"role":"tool","content":[{"type":"tool_result","id":"a"}]})") ==
        ".content[0].result: an object with content");
  CHECK(wrong(R"({"role":"user","content":[{"type":"image"}]})") ==
        ".content[0]: data (base64) or url, which are strings");
  CHECK(wrong(R"({"role":"user","content":[{"type":"image","data":"AA==","url":"u"}]})") ==
        ".content[0]: either data or url, not both");
  CHECK(wrong(R"({"role":"user","content":[{"type":"file","mimeType":"a/b"}]})") ==
        ".content[0]: data (base64) or url, which are strings");
  CHECK(wrong(R"({"role":"user","content":[{"type":"file","data":"AA=="}]})") ==
        ".content[0].mimeType: a media type, because there is data");
}

TEST_CASE("L16: each role takes only the blocks that have a place there with every API") {
  const auto within = [](std::string_view role, std::string_view block) {
    return wrong(R"({"role":")" + std::string(role) + R"(","content":[)" + std::string(block) + "]}");
  };
  const std::string call = R"({"type":"tool_call","id":"a","name":"n","arguments":{}})",
                    result = R"({"type":"tool_result","id":"a","name":"n","result":{"content":[]}})",
                    text = R"({"type":"text","text":"a"})";
  for (const auto& block : {call, result})
    CHECK(within("user", block) == R"(.content[0].type: "text", "image" or "file" in a message of role "user")");
  CHECK(within("system", result) == R"(.content[0].type: "text" in a message of role "system")");
  CHECK(within("assistant", result) ==
        R"(.content[0].type: "text", "reasoning", "refusal" or "tool_call" in a message of role "assistant")");
  CHECK(within("tool", text) == R"(.content[0].type: "tool_result" in a message of role "tool")");
  CHECK(wrong(R"({"role":"tool","content":"hello"})") == ".content: an array of tool_result blocks");
  CHECK(within("tool", "") == ".content: at least one tool_result block");
}

TEST_CASE("L16: a user's message says something") {
  for (const auto* content : {R"("")", R"(" \n")", "[]", R"([{"type":"text","text":""}])"}) {
    CAPTURE(content);
    CHECK(wrong(R"({"role":"user","content":)" + std::string(content) + "}") ==
          ".content: a text that is not blank, an image or a file");
  }
  CHECK(
      again(
          R"({"role":"user","content":[{"type":"text","text":""},{"type":"image","mimeType":"image/png","data":"AAAA"}]})") !=
      "");
}

TEST_CASE("L16: what a block has is of its form: base64, an address, a string, true or false") {
  const auto block = [](std::string_view members, std::string_view role = "user") {
    return wrong(R"({"role":")" + std::string(role) + R"(","content":[{)" + std::string(members) + "}]}");
  };
  for (const auto* data : {"!!!", "AAA", "A===", "====", "AA=A", "AAA\\n", "AA-_"}) {
    CAPTURE(data);
    CHECK(block(R"("type":"image","mimeType":"image/png","data":")" + std::string(data) + "\"")
              .starts_with(".content[0].data: base64 (A-Z,"));
    CHECK(block(R"("type":"file","mimeType":"a/b","data":")" + std::string(data) + "\"")
              .starts_with(".content[0].data: base64 (A-Z,"));
  }
  for (const auto* url : {"zzz", "file:///etc/passwd", "data:image/png;base64,AAAA"}) {
    CAPTURE(url);
    CHECK(block(R"("type":"image","url":")" + std::string(url) + "\"")
              .starts_with(".content[0].url: an address that begins with https:// or http://"));
  }
  CHECK(block(R"("type":"image","mimeType":5,"data":"AAAA")") == ".content[0].mimeType: a string");
  CHECK(block(R"("type":"tool_result","id":"a","isError":"yes","result":{})", "tool") ==
        ".content[0].isError: true or false");
  CHECK(is_base64("AB+/"));
  CHECK(is_base64("AA=="));
  CHECK_FALSE(is_base64(""));
}
