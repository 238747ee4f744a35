// Running a decoder over a transcript and keeping what it told.
#pragma once
#include "mcp/json/raw_json.hpp"
#include "providers/wire/openai/openai_chat.hpp"
#include "providers/wire/registry/registry.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::test {

struct decoded : providers::wire::decoder_sink {
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

inline providers::wire::wire_options options() {
  providers::wire::wire_options o;
  o.model = "m";
  o.base_url = "https://api.example.com/v1";
  return o;
}

inline decoded decode_as(std::string_view api, std::string_view bytes, std::size_t step = std::string_view::npos,
                         const providers::wire::wire_options& o = options(),
                         const providers::model_request* request = nullptr) {
  decoded d;
  const auto decoder = providers::registry::find_codec(api)->make_decoder("text/event-stream", o, request);
  for (std::size_t at = 0; at < bytes.size() && !decoder->done(); at += std::min(step, bytes.size() - at))
    decoder->feed(bytes.substr(at, step), d);
  if (!decoder->done()) decoder->finish(d);
  return d;
}
inline decoded decode(std::string_view bytes, std::size_t step = std::string_view::npos,
                      const providers::wire::wire_options& o = options(),
                      const providers::model_request* request = nullptr) {
  return decode_as("openai-chat", bytes, step, o, request);
}

/// Returns the events of one run on one line, for comparison.
inline std::string told(const decoded& d) {
  std::string all = "text=" + d.text() + " thoughts=";
  for (const auto& t : d.thoughts) all += t;
  all += " ends=" + std::to_string(d.ends);
  if (d.reply) {
    all +=
        " " + std::string(providers::to_string(d.reply->reason)) + " raw=" + std::string(d.reply->message->raw.text());
    for (const auto* c : d.reply->message->calls()) all += " call=" + c->id + c->name + c->arguments_text + c->problem;
    all += " usage=" + std::to_string(d.reply->usage.input) + "/" + std::to_string(d.reply->usage.output);
  }
  if (d.error) all += " error=" + d.error->message + " partial=" + d.error->partial_text;
  return all;
}

/// Returns the difference if `bytes` come in steps of several sizes, or with one cut at every place; "" if there is
/// none and exactly one end.
inline std::string differing_split(std::string_view api, std::string_view bytes,
                                   const providers::wire::wire_options& o = options()) {
  const auto whole = decode_as(api, bytes, std::string_view::npos, o);
  if (whole.ends != 1) return "ends " + std::to_string(whole.ends) + " times";
  for (const std::size_t step : {1, 2, 3, 5, 7, 11, 64})
    if (told(decode_as(api, bytes, step, o)) != told(whole)) return "steps of " + std::to_string(step);
  for (std::size_t cut = 1; cut < bytes.size(); ++cut) {
    decoded d;
    const auto decoder = providers::registry::find_codec(api)->make_decoder("text/event-stream", o);
    decoder->feed(bytes.substr(0, cut), d);
    if (!decoder->done()) decoder->feed(bytes.substr(cut), d);
    if (!decoder->done()) decoder->finish(d);
    if (told(d) != told(whole)) return "a cut at " + std::to_string(cut);
  }
  return {};
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
