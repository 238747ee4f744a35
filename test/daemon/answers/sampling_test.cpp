// Tests of the conversion between sampling requests of servers and requests to models.
#include "daemon/answers/sampling.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using namespace mcpbx;
using namespace mcpbx::daemon::answers;
using namespace mcpbx::json;

namespace {

result<sampling_request> read(std::string_view params, std::int64_t most = 100) {
  auto made = raw_json::parse(params);
  REQUIRE_MESSAGE(made, std::string(params));
  return read_sampling(*made, most, "openai-chat");
}

std::string clause(std::string_view params) {
  const auto made = read(params);
  return made ? "read" : made.error().message;
}

// Returns params with these messages.
std::string with(std::string_view messages, std::string_view more = "") {
  return "{\"messages\":[" + std::string(messages) + "]" + std::string(more) + "}";
}

constexpr std::string_view hello = R"({"role":"user","content":{"type":"text","text":"hello"}})";
constexpr std::string_view use =
    R"({"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"find it","input":{"a":1}}]})";

providers::model_reply reply_of(std::vector<providers::block> blocks,
                                providers::end_reason reason = providers::end_reason::stop) {
  auto message = std::make_shared<providers::message>();
  message->role = providers::role::assistant;
  message->blocks = std::move(blocks);
  return {std::move(message), reason, {}, {}};
}

}  // namespace

TEST_CASE("a sampling request becomes a request to the model with its settings cut to the entry's") {
  const auto made =
      read(with(hello, R"(,"systemPrompt":"be brief","maxTokens":5000,"temperature":0.5,"stopSequences":["x",""])"));
  REQUIRE(made);
  const auto& ask = made->ask;
  REQUIRE(ask.messages.size() == 2);
  CHECK((ask.messages[0]->role == providers::role::system && ask.messages[0]->text() == "be brief"));
  CHECK((ask.messages[1]->role == providers::role::user && ask.messages[1]->text() == "hello"));
  CHECK(ask.settings.max_output_tokens == 100);
  CHECK(ask.settings.temperature == "0.5");
  CHECK(ask.settings.stop == std::vector<std::string>{"x"});
  CHECK(!ask.tools);
  CHECK(read(with(hello, R"(,"maxTokens":7)"))->ask.settings.max_output_tokens == 7);
  CHECK(read(with(hello))->ask.settings.max_output_tokens == 100);
}

TEST_CASE("images and audio and tool results of a sampling request reach the model") {
  const auto made = read(with(
      R"({"role":"user","content":[{"type":"text","text":"t"},{"type":"image","data":"aW1n","mimeType":"image/png"},
         {"type":"audio","data":"YXVk","mimeType":"audio/wav"}]},)" +
          std::string(use) +
          R"(,{"role":"user","content":[{"type":"tool_result","toolUseId":"c1","content":[{"type":"text","text":"r"}],"isError":true}]})",
      R"(,"tools":[{"name":"find it","description":"d","inputSchema":{"type":"object"}}],"toolChoice":{"mode":"required"})"));
  REQUIRE_MESSAGE(made, made.error().message);
  const auto& all = made->ask.messages;
  REQUIRE(all.size() == 3);
  CHECK(std::get<providers::image_block>(all[0]->blocks[1]).mime == "image/png");
  CHECK(std::get<providers::file_block>(all[0]->blocks[2]).data == "YXVk");
  REQUIRE(made->shown.size() == 1);
  CHECK(made->shown[0] != "find it");  // no API takes a blank in a name
  const auto& call = std::get<providers::tool_call_block>(all[1]->blocks[0]);
  CHECK((call.id == "c1" && call.name == made->shown[0] && call.arguments.text() == "{\"a\":1}"));
  CHECK(all[2]->role == providers::role::tool_results);
  const auto& result = std::get<providers::tool_result_block>(all[2]->blocks[0]);
  CHECK((result.call_id == "c1" && result.is_error));
  CHECK(result.result.text() == R"({"content":[{"type":"text","text":"r"}],"isError":true})");
  REQUIRE(made->ask.tools);
  CHECK(made->ask.tools->tools[0].name == made->shown[0]);
  CHECK(made->ask.tool_mode == providers::tool_mode::required);
}

TEST_CASE("a sampling request that no model could answer is refused with a clause") {
  CHECK(clause("{}") == "messages is no array");
  CHECK(clause(with("")) == "messages is empty");
  CHECK(clause(with(R"({"role":"system","content":{"type":"text","text":"x"}})")) ==
        "messages[0].role is neither user nor assistant");
  CHECK(clause(with(R"({"role":"user","content":[]})")) == "messages[0].content is empty");
  CHECK(clause(with(R"({"role":"user","content":{"type":"video"}})")) ==
        "messages[0].content has a type that cannot be passed on: \"video\"");
  CHECK(clause(with(R"({"role":"user","content":{"type":"image","data":"x"}})")) ==
        "messages[0]: image without data or mimeType");
  CHECK(clause(with(hello, R"(,"maxTokens":0)")) == "maxTokens is no positive number");
  CHECK(clause(with(use)) == "a tool_use has no tool_result");
  CHECK(clause(with(std::string(use) + "," + std::string(hello))) ==
        "messages[1] does not have the results of the calls before it");
  CHECK(clause(with(R"({"role":"user","content":{"type":"tool_result","toolUseId":"c9","content":[]}})")) ==
        "messages[0]: a tool_result without its tool_use");
  CHECK(
      clause(with(
          std::string(use) +
          R"(,{"role":"user","content":[{"type":"tool_result","toolUseId":"c1","content":[]},{"type":"text","text":"x"}]})")) ==
      "messages[1] has a tool_result beside other content");
  CHECK(clause(with(R"({"role":"assistant","content":{"type":"tool_use","id":"c","name":"n"}})")) ==
        "messages[0]: tool_use without id, name or input");
  CHECK(clause(with(hello, R"(,"tools":[{"name":"a"},{"name":"a"}])")) == "tools has a name twice, or none");
}

TEST_CASE("a sampling request is bounded in bytes and messages and tools") {
  CHECK(clause(with(R"({"role":"user","content":{"type":"text","text":")" + std::string(most_sampling_bytes, 'x') +
                    "\"}}")) == "the request has more than 8 MiB");
  std::string many, tools;
  for (std::size_t i = 0; i <= most_sampling_messages; ++i) many += (i > 0 ? "," : "") + std::string(hello);
  CHECK(clause(with(many)) == "there are more than 1000 messages");
  for (std::size_t i = 0; i <= most_sampling_tools; ++i)
    tools += (i > 0 ? ",{\"name\":\"t" : "{\"name\":\"t") + std::to_string(i) + "\"}";
  CHECK(clause(with(hello, ",\"tools\":[" + tools + "]")) == "there are more than 128 tools");
}

TEST_CASE("a reply of a model becomes the result of a sampling request") {
  const auto asked = *read(with(hello, R"(,"tools":[{"name":"find it","inputSchema":{"type":"object"}}])"));
  const auto text = sampling_result(reply_of({providers::text_block{.text = "hi"}}), asked, "m-1");
  REQUIRE(text);
  CHECK(text->text() ==
        R"({"role":"assistant","content":{"type":"text","text":"hi"},"model":"m-1","stopReason":"endTurn"})");

  providers::tool_call_block call;
  call.id = "c";
  call.name = asked.shown[0];
  call.arguments = raw_json::literal("{\"a\":1}");
  const auto calls = sampling_result(
      reply_of({providers::text_block{.text = "t"}, call}, providers::end_reason::tool_calls), asked, "m");
  REQUIRE(calls);
  CHECK(
      calls->text() ==
      R"({"role":"assistant","content":[{"type":"text","text":"t"},{"type":"tool_use","id":"c","name":"find it","input":{"a":1}}],"model":"m","stopReason":"toolUse"})");

  const auto cut =
      sampling_result(reply_of({providers::text_block{.text = "t"}, call}, providers::end_reason::length), asked, "m");
  REQUIRE(cut);
  CHECK(cut->text() ==
        R"({"role":"assistant","content":{"type":"text","text":"t"},"model":"m","stopReason":"maxTokens"})");

  const auto refused = sampling_result(reply_of({providers::refusal_block{"no"}}), asked, "m");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message == "the model refused to answer");
}
