// Tests that every API's stream gives the same events in pieces of any size.
#include "mcp/support/text.hpp"
#include "providers/wire/registry/registry.hpp"
#include "providers/wire/thought_splitter.hpp"
#include "test/providers/wire/decode.hpp"
#include "test/support/in_pieces.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

namespace wire_pieces {

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::test;

// Texts whose events end beside the sizes of reads and buffers.
const std::vector<std::string>& texts() {
  static const auto all = [] {
    std::vector<std::string> made;
    for (const std::size_t size : awkward_sizes)
      if (size < 9'000) made.push_back(json_quoted(filler_words(size) + "\xC3\xA4\xF0\x9F\x98\x80\n\"\\"));
    return made;
  }();
  return all;
}

std::string event(std::string_view data, std::string_view name = "") {
  return (name.empty() ? std::string() : "event: " + std::string(name) + "\n") + "data: " + std::string(data) + "\n\n";
}

std::string transcript_of(std::string_view api) {
  std::string all;
  if (api == "openai-chat") {
    for (const auto& t : texts()) all += event(delta(R"({"content":)" + t + "}"));
    for (const auto& t : texts())
      all += event(calls(R"([{"index":0,"id":"c1","function":{"name":"echo","arguments":)" +
                         json_quoted(&t == &texts().front() ? R"({"a":[)" + t : "," + t) + "}}]"));
    all += event(calls(R"([{"index":0,"function":{"arguments":"]}"}}])"));
    return all + event(finish("tool_calls")) + "data: [DONE]\n\n";
  }
  if (api == "anthropic") {
    all = event(
        R"({"type":"message_start","message":{"id":"m","role":"assistant","content":[],"model":"m","usage":{"input_tokens":1,"output_tokens":1}}})",
        "message_start");
    all += event(R"({"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}})");
    for (const auto& t : texts())
      all += event(R"({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":)" + t + "}}");
    all += event(R"({"type":"content_block_stop","index":0})");
    all += event(
        R"({"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_1","name":"echo","input":{}}})");
    for (const auto& t : texts())
      all += event(R"({"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":)" +
                   json_quoted((&t == &texts().front() ? R"({"a":[)" : ",") + t) + "}}");
    all += event(R"({"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"]}"}})");
    all += event(R"({"type":"content_block_stop","index":1})");
    all += event(R"({"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":5}})");
    return all + event(R"({"type":"message_stop"})", "message_stop");
  }
  if (api == "openai-responses") {
    std::string said;
    for (const auto& t : texts()) said += t.substr(1, t.size() - 2);
    const std::string item = R"({"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[)";
    all = event(R"({"type":"response.output_item.added","output_index":0,"item":)" + item + "]}}");
    for (const auto& t : texts())
      all += event(
          R"({"type":"response.output_text.delta","item_id":"msg_1","output_index":0,"content_index":0,"delta":)" + t +
          "}");
    const auto done = item + R"({"type":"output_text","annotations":[],"text":")" + said + "\"}]}";
    all += event(R"({"type":"response.output_item.done","output_index":0,"item":)" + done + "}");
    return all + event(R"({"type":"response.completed","response":{"id":"r","status":"completed","output":[)" + done +
                       R"(],"usage":{"input_tokens":1,"output_tokens":2}}})");
  }
  if (api == "gemini") {
    for (const auto& t : texts())
      all += event(R"({"candidates":[{"index":0,"content":{"role":"model","parts":[{"text":)" + t + "}]}}]}");
    all += event(
        R"({"candidates":[{"index":0,"content":{"role":"model","parts":[{"functionCall":{"name":"echo","args":{"a":)" +
        texts().back() + "}}}]}}]}");
    return all +
           event(
               R"({"candidates":[{"index":0,"content":{"role":"model","parts":[{"text":""}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":2}})");
  }
  for (const auto& t : texts())
    all += R"({"model":"m","message":{"role":"assistant","content":)" + t + "},\"done\":false}\n";
  all +=
      R"({"model":"m","message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"echo","arguments":{"a":)" +
      texts().back() + "}}}]},\"done\":false}\n";
  return all +
         R"({"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":1,"eval_count":2})" +
         "\n";
}

decoded decoded_in_pieces(std::string_view api, std::string_view bytes, std::size_t size) {
  decoded d;
  const auto decoder = providers::registry::find_codec(api)->make_decoder(
      api == "ollama" ? "application/x-ndjson" : "text/event-stream", options(), nullptr);
  in_pieces(bytes, size, [&](std::string_view piece) {
    if (!decoder->done()) decoder->feed(piece, d);
  });
  if (!decoder->done()) decoder->finish(d);
  return d;
}

TEST_CASE("decoders: a stream of every API is decoded to the same in pieces of any size, also one that is cut off") {
  for (const std::string api : {"openai-chat", "openai-responses", "anthropic", "gemini", "ollama"}) {
    CAPTURE(api);
    const auto transcript = transcript_of(api);
    const auto whole = decoded_in_pieces(api, transcript, std::string_view::npos);
    CHECK(whole.ends == 1);
    REQUIRE(whole.reply);
    CHECK(whole.text().size() > 20'000);
    CHECK(whole.calls() == (api == "openai-responses" ? 0 : 1));
    for (const auto part : {std::string_view(transcript), std::string_view(transcript).substr(0, 30'003)})
      check_in_any_pieces(
          part, [&](std::string_view bytes, std::size_t size) { return told(decoded_in_pieces(api, bytes, size)); });
  }
}

TEST_CASE("thought_splitter: thought and text are told apart the same in pieces of any size") {
  const auto words = filler_words(9'000);
  for (const auto& content : {" \n<think>" + words + "</th" + words + "</think>\r\n\n" + words + "<think>x</think>",
                              "<think>" + words + "</think", words + "<think>" + words, "\r\n <thin" + words})
    check_in_any_pieces(content, [](std::string_view bytes, std::size_t size) {
      providers::wire::thought_splitter splitter;
      std::string thought, text;
      const auto keep = [&](const providers::wire::thought_splitter::pieces& p) {
        thought += p.thought;
        text += p.text;
      };
      in_pieces(bytes, size, [&](std::string_view piece) { keep(splitter.take(piece)); });
      keep(splitter.finish());
      return thought + "|" + text;
    });
}

}  // namespace wire_pieces
