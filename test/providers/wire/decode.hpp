// Running the chat-completions decoder over a transcript and keeping what it told.
#pragma once
#include "providers/wire/openai_chat.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::test {

struct decoded : providers::decoder_sink {
  std::vector<std::string> texts, thoughts;
  std::optional<providers::model_reply> reply;
  std::optional<providers::model_error> error;
  int ends = 0;

  void on_text(std::string_view d) override { texts.emplace_back(d); }
  void on_reasoning(std::string_view d) override { thoughts.emplace_back(d); }
  void on_end(providers::model_reply r) override {
    ++ends;
    reply = std::move(r);
  }
  void on_error(providers::model_error e) override {
    ++ends;
    error = std::move(e);
  }
  std::string text() const {
    std::string all;
    for (const auto& t : texts) all += t;
    return all;
  }
  const providers::tool_call_block& call(std::size_t n) const { return *reply->message->calls().at(n); }
  std::size_t calls() const { return reply ? reply->message->calls().size() : 0; }
};

inline providers::wire_options options() {
  providers::wire_options o;
  o.model = "m";
  o.base_url = "https://api.example.com/v1";
  return o;
}

inline decoded decode(std::string_view bytes, std::size_t step = std::string_view::npos,
                      const providers::wire_options& o = options(), const providers::model_request* request = nullptr) {
  decoded d;
  const auto decoder = providers::find_codec("openai-chat")->make_decoder("text/event-stream", o, request);
  for (std::size_t at = 0; at < bytes.size() && !decoder->done(); at += std::min(step, bytes.size() - at))
    decoder->feed(bytes.substr(at, step), d);
  if (!decoder->done()) decoder->finish(d);
  return d;
}

/// A stream of these data payloads.
inline std::string stream(const std::vector<std::string>& payloads, bool done = true) {
  std::string all;
  for (const auto& p : payloads) all += "data: " + p + "\n\n";
  return done ? all + "data: [DONE]\n\n" : all;
}
inline std::string delta(std::string_view d) {
  return R"({"choices":[{"index":0,"delta":)" + std::string(d) + "}]}";
}
inline std::string calls(std::string_view list) {
  return delta(R"({"tool_calls":)" + std::string(list) + "}");
}
inline std::string finish(std::string_view reason) {
  return R"({"choices":[{"index":0,"delta":{},"finish_reason":")" + std::string(reason) + "\"}]}";
}

}  // namespace mcpbx::test
