// Shared parts of the tests of single APIs: checks of every split and prefix, and messages to encode.
#pragma once
#include "providers/wire/registry/registry.hpp"
#include "test/providers/wire/decode.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::test {

/// Checks that a transcript gives the same events in one piece, in pieces of many sizes and cut at each place, with
/// exactly one end.
inline void check_splits(std::string_view api, std::string_view transcript,
                         const providers::wire::wire_options& o = options()) {
  CAPTURE(transcript);
  CHECK(differing_split(api, transcript, o) == "");
}

inline std::string body_as(std::string_view api, const providers::model_request& r,
                           const providers::wire::wire_options& o = options()) {
  auto text = providers::registry::find_codec(api)->encode(r, o).body.str();
  CHECK(json::raw_json::parse(text).has_value());
  return text;
}

/// A request's body without the marks of Anthropic's prompt cache, which move with the newest messages.
inline constexpr std::string_view cache_mark = R"(,"cache_control":{"type":"ephemeral"})";
inline std::string unmarked(std::string body) {
  for (std::size_t at; (at = body.find(cache_mark)) != std::string::npos;) body.erase(at, cache_mark.size());
  return body;
}

inline providers::tool_call_block call_of(std::string id, std::string name, std::string_view arguments,
                                          std::string provider_id = "") {
  return {std::move(id),          std::move(provider_id),
          std::move(name),        json::raw_json::literal(arguments),
          std::string(arguments), ""};
}

inline providers::message_ptr assistant_of(std::string text, std::vector<providers::tool_call_block> calls,
                                           providers::origin from = {}, std::string_view raw = {}) {
  auto m = std::make_shared<providers::message>();
  m->role = providers::role::assistant;
  m->blocks.emplace_back(providers::reasoning_block{"secret thoughts", json::raw_json::literal("{\"x\":1}")});
  if (!text.empty()) m->blocks.emplace_back(providers::text_block{std::move(text)});
  for (auto& c : calls) m->blocks.emplace_back(std::move(c));
  m->origin = std::move(from);
  if (!raw.empty()) m->raw = json::raw_json::own(raw);
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
  return {std::move(id), std::move(name), json::raw_json::own(result), is_error};
}

inline std::shared_ptr<providers::tool_set> tools_of(std::vector<providers::tool_definition> list) {
  auto set = std::make_shared<providers::tool_set>();
  set->tools = std::move(list);
  return set;
}

/// Checks that the second round of a conversation is sent with the first round's bytes in front, shared where a message
/// is, and that a note is at the end of one request only.
inline void check_prefix(std::string_view api, const providers::wire::wire_options& o, std::string_view tail) {
  using namespace providers;
  providers::model_request r;
  r.tools = tools_of({{"add", "d", {}}});
  r.messages = {providers::system_message("s"), providers::user_message("q")};
  const auto first = providers::registry::find_codec(api)->encode(r, o).body;
  r.messages.push_back(assistant_of("", {call_of("a", "add", "{}")}));
  r.messages.push_back(results_of({result_of("a", "add", R"({"content":[{"type":"text","text":"1"}]})")}));
  const auto second = providers::registry::find_codec(api)->encode(r, o).body;
  auto before = first.str();
  REQUIRE(before.ends_with(tail));
  before.resize(before.size() - tail.size());
  CHECK(second.str().starts_with(before));
  r.note = "round 2";
  const auto noted = providers::registry::find_codec(api)->encode(r, o).body.str();
  r.note = "";
  CHECK(noted.find("round 2") != std::string::npos);
  CHECK(providers::registry::find_codec(api)->encode(r, o).body.str() == second.str());
  std::size_t shared = 0;
  for (const auto& piece : second.pieces())
    for (const auto& other : first.pieces())
      if (piece.text().size() > 20 && piece.text().data() == other.text().data()) ++shared;
  CHECK(shared >= 2);
}

}  // namespace mcpbx::test
