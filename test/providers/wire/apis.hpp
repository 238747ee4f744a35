// What the tests of the single APIs share: decoding for any of them, at every split, and messages to encode.
#pragma once
#include "test/providers/wire/decode.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::test {

inline decoded decode_as(std::string_view api, std::string_view bytes, std::size_t step = std::string_view::npos,
                         const providers::wire_options& o = options(),
                         const providers::model_request* request = nullptr) {
  decoded d;
  const auto decoder = providers::find_codec(api)->make_decoder("", o, request);
  for (std::size_t at = 0; at < bytes.size() && !decoder->done(); at += std::min(step, bytes.size() - at))
    decoder->feed(bytes.substr(at, step), d);
  if (!decoder->done()) decoder->finish(d);
  return d;
}

/// All that one run told, in one line that can be compared.
inline std::string told(const decoded& d) {
  std::string all = "text=" + d.text() + " thoughts=";
  for (const auto& t : d.thoughts) all += t;
  all += " ends=" + std::to_string(d.ends);
  if (d.reply) {
    all += " " + std::string(to_string(d.reply->reason)) + " raw=" + std::string(d.reply->message->raw.text());
    for (const auto* c : d.reply->message->calls()) all += " call=" + c->id + c->name + c->arguments_text + c->problem;
    all += " usage=" + std::to_string(d.reply->usage.input) + "/" + std::to_string(d.reply->usage.output);
  }
  if (d.error) all += " error=" + d.error->message + " partial=" + d.error->partial_text;
  return all;
}

/// That a transcript tells the same in one piece, in pieces of many sizes and cut at each place, with exactly one end.
inline void check_splits(std::string_view api, std::string_view transcript,
                         const providers::wire_options& o = options()) {
  CAPTURE(transcript);
  const auto whole = told(decode_as(api, transcript, std::string_view::npos, o));
  CHECK(decode_as(api, transcript, std::string_view::npos, o).ends == 1);
  for (const std::size_t step : {1, 2, 3, 5, 7, 11, 64}) CHECK(told(decode_as(api, transcript, step, o)) == whole);
  for (std::size_t cut = 1; cut < transcript.size(); ++cut) {
    decoded d;
    const auto decoder = providers::find_codec(api)->make_decoder("", o);
    decoder->feed(transcript.substr(0, cut), d);
    if (!decoder->done()) decoder->feed(transcript.substr(cut), d);
    if (!decoder->done()) decoder->finish(d);
    CHECK(told(d) == whole);
  }
}

inline std::string body_as(std::string_view api, const providers::model_request& r,
                           const providers::wire_options& o = options()) {
  auto text = providers::find_codec(api)->encode(r, o).body.str();
  CHECK(raw_json::parse(text).has_value());
  return text;
}

inline providers::tool_call_block call_of(std::string id, std::string name, std::string_view arguments,
                                          std::string provider_id = "") {
  return {
      std::move(id), std::move(provider_id), std::move(name), raw_json::literal(arguments), std::string(arguments), ""};
}

inline providers::message_ptr assistant_of(std::string text, std::vector<providers::tool_call_block> calls,
                                           providers::origin from = {}, std::string_view raw = {}) {
  auto m = std::make_shared<providers::message>();
  m->role = providers::role::assistant;
  m->blocks.emplace_back(providers::reasoning_block{"secret thoughts", raw_json::literal("{\"x\":1}")});
  if (!text.empty()) m->blocks.emplace_back(providers::text_block{std::move(text)});
  for (auto& c : calls) m->blocks.emplace_back(std::move(c));
  m->origin = std::move(from);
  if (!raw.empty()) m->raw = raw_json::own(raw);
  return m;
}

inline providers::message_ptr results_of(std::vector<providers::tool_result_block> list) {
  auto m = std::make_shared<providers::message>();
  m->role = providers::role::tool_results;
  for (auto& r : list) m->blocks.emplace_back(std::move(r));
  return m;
}

inline providers::tool_result_block result_of(std::string id, std::string name, std::string_view result,
                                              bool is_error = false) {
  return {std::move(id), std::move(name), raw_json::own(result), is_error};
}

inline std::shared_ptr<providers::tool_set> tools_of(std::vector<providers::tool_definition> list) {
  auto set = std::make_shared<providers::tool_set>();
  set->tools = std::move(list);
  return set;
}

/// That a conversation of two rounds is sent with the first round's bytes in front of the second's, which are the very
/// same where a message is, and that a note is at the end of one request only.
inline void check_prefix(std::string_view api, const providers::wire_options& o, std::string_view tail) {
  using namespace providers;
  model_request r;
  r.tools = tools_of({{"add", "d", {}}});
  r.messages = {system_message("s"), user_message("q")};
  const auto first = find_codec(api)->encode(r, o).body;
  r.messages.push_back(assistant_of("", {call_of("a", "add", "{}")}));
  r.messages.push_back(results_of({result_of("a", "add", R"({"content":[{"type":"text","text":"1"}]})")}));
  const auto second = find_codec(api)->encode(r, o).body;
  auto before = first.str();
  REQUIRE(before.ends_with(tail));
  before.resize(before.size() - tail.size());
  CHECK(second.str().starts_with(before));
  r.note = "round 2";
  const auto noted = find_codec(api)->encode(r, o).body.str();
  r.note = "";
  CHECK(noted.find("round 2") != std::string::npos);
  CHECK(find_codec(api)->encode(r, o).body.str() == second.str());
  std::size_t shared = 0;
  for (const auto& piece : second.pieces())
    for (const auto& other : first.pieces())
      if (piece.text().size() > 20 && piece.text().data() == other.text().data()) ++shared;
  CHECK(shared >= 2);
}

}  // namespace mcpbx::test
