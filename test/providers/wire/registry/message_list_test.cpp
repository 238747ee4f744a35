// Tests of the order of messages: models' templates refuse some sequences of roles.
#include "providers/wire/registry/registry.hpp"
#include "test/providers/wire/apis.hpp"

namespace message_list_tests {

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::providers;
using namespace mcpbx::providers::registry;
using namespace mcpbx::providers::wire;
using namespace mcpbx::test;

message_ptr user_of(std::vector<block> blocks) {
  auto m = std::make_shared<message>();
  m->blocks = std::move(blocks);
  return m;
}

// The list of messages as it is sent.
std::string messages_of(std::string_view api, const model_request& r, const wire_options& o = options()) {
  return std::string(find_member(raw_json::own(body_as(api, r, o)), "messages").text());
}

constexpr std::string_view picture = R"({"content":[{"type":"image","data":"QQ==","mimeType":"image/png"}]})";

TEST_CASE("L12: users' messages that meet behind a run that broke are one, for the APIs whose templates refuse two") {
  for (const std::string_view api : {"openai-chat", "azure", "dial", "ollama"}) {
    CAPTURE(api);
    model_request r;
    r.messages = {system_message("s"), user_message("one"), user_message(""), user_message("two \"three\"")};
    CHECK(messages_of(api, r) ==
          R"([{"role":"system","content":"s"},{"role":"user","content":"one\n\ntwo \"three\""}])");
    r.note = "round 1";
    CHECK(messages_of(api, r).ends_with(R"({"role":"user","content":"one\n\ntwo \"three\"\n\nround 1"}])"));
    r.note = "";
    r.messages = {user_message("one"), assistant_of("", {}), user_message("two"), assistant_of("yes", {}),
                  user_message("three")};
    CHECK(
        messages_of(api, r) ==
        R"([{"role":"user","content":"one\n\ntwo"},{"role":"assistant","content":"yes"},{"role":"user","content":"three"}])");
    r.messages = {user_message(""), user_message("")};
    CHECK(messages_of(api, r) == R"([{"role":"user","content":""}])");
  }
}

TEST_CASE("openai-chat, images in: parts of users' messages that meet stand in one list, texts among them as parts") {
  const auto image = [](std::string data) { return image_block{"image/png", std::move(data), ""}; };
  model_request r;
  r.messages = {user_message("one"), user_of({text_block{"two"}, image("QQ==")}), user_message(""),
                user_of({image("Qg==")})};
  CHECK(messages_of("openai-chat", r) ==
        R"([{"role":"user","content":[{"type":"text","text":"one"},{"type":"text","text":"two"},)"
        R"({"type":"image_url","image_url":{"url":"data:image/png;base64,QQ=="}},)"
        R"({"type":"image_url","image_url":{"url":"data:image/png;base64,Qg=="}}]}])");
  CHECK(messages_of("ollama", r) == R"([{"role":"user","content":"one\n\ntwo","images":["QQ==","Qg=="]}])");
}

TEST_CASE("openai-chat, images in results: they and the question behind a run that broke are one message") {
  model_request r;
  r.messages = {user_message("q"), assistant_of("", {call_of("a", "pic", "{}")}),
                results_of({result_of("a", "pic", picture)}), user_message("again")};
  CHECK(messages_of("openai-chat", r)
            .ends_with(
                R"({"role":"user","content":[{"type":"text","text":"Images of the tool results above: 1 from pic"},)"
                R"({"type":"image_url","image_url":{"url":"data:image/png;base64,QQ=="}},)"
                R"({"type":"text","text":"again"}]}])"));
  CHECK(
      messages_of("ollama", r)
          .ends_with(
              R"({"role":"user","content":"Images of the tool results above: 1 from pic\n\nagain","images":["QQ=="]}])"));
}

TEST_CASE("L12: openai-chat: a message of the assistant stands between tool and user where the server demands one") {
  constexpr std::string_view bridge = R"(,{"role":"assistant","content":"I have the results of the tools."},)";
  auto strict = options();
  strict.user_after_tool = false;
  const auto first = assistant_of("", {call_of("a", "pic", "{}"), call_of("b", "add", "{}")});
  const auto results = results_of({result_of("a", "pic", picture), result_of("b", "add", "{}")});
  const auto plain = results_of({result_of("a", "pic", "{}"), result_of("b", "add", "{}")});
  model_request r;
  r.messages = {user_message("q"), first, plain, assistant_of("done", {}), user_message("more")};
  CHECK(messages_of("openai-chat", r, strict) == messages_of("openai-chat", r));
  // A run that broke behind its results.
  r.messages = {user_message("q"), first, plain, user_message("again"), assistant_of("done", {})};
  CHECK(messages_of("openai-chat", r, strict).find(std::string(bridge) + R"({"role":"user","content":"again"},)") !=
        std::string::npos);
  CHECK(messages_of("openai-chat", r).find(bridge) == std::string::npos);
  // Images of results, alone and with the question behind a run that broke there.
  r.messages = {user_message("q"), first, results};
  auto before = messages_of("openai-chat", r, strict);
  CHECK(before.find(R"("tool_call_id":"b","content":""})" + std::string(bridge) + R"({"role":"user","content":[)") !=
        std::string::npos);
  r.messages.push_back(user_message("again"));
  const auto broken = messages_of("openai-chat", r, strict);
  CHECK(broken.find(bridge) == broken.rfind(bridge));
  CHECK(broken.starts_with(before.substr(0, before.size() - 3)));
  // Beginning of the next requests.
  before = broken;
  for (const auto& next : {assistant_of("", {call_of("c", "add", "{}")}), results_of({result_of("c", "add", "{}")}),
                           user_message("and now"), assistant_of("done", {})}) {
    r.messages.push_back(next);
    const auto now = messages_of("openai-chat", r, strict);
    before.pop_back();
    CHECK(now.starts_with(before));
    before = now;
  }
}

TEST_CASE("openai-chat, caching: users' messages that meet keep their bytes in all requests behind them") {
  for (const std::string_view api : {"openai-chat", "ollama"}) {
    CAPTURE(api);
    model_request r;
    r.messages = {system_message("s"), user_message("one")};
    const auto broken = messages_of(api, r);
    r.messages.push_back(user_message("two"));
    auto before = messages_of(api, r);
    CHECK(before.starts_with(broken.substr(0, broken.rfind("\"}]"))));
    for (const auto& next :
         {assistant_of("", {call_of("a", "pic", "{}")}), results_of({result_of("a", "pic", picture)}),
          assistant_of("done", {}), user_message("three"), assistant_of("yes", {})}) {
      r.messages.push_back(next);
      const auto now = messages_of(api, r);
      before.pop_back();
      CHECK(now.starts_with(before));
      before = now;
    }
    // Not only equal: the messages are not encoded again.
    const auto first = find_codec(api)->encode(r, options()).body, second = find_codec(api)->encode(r, options()).body;
    for (const std::string_view text : {"one", "two", "Images of", "QQ=="}) {
      const auto place = [&](const segments& body) -> const char* {
        for (const auto& piece : body.pieces())
          if (piece.text().find(text) != std::string_view::npos) return piece.text().data();
        return nullptr;
      };
      CHECK(place(first) == place(second));
    }
  }
}

}  // namespace message_list_tests
