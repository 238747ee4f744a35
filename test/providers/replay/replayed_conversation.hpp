// Short ways to write a conversation and an exchange of it.
#pragma once
#include "providers/replay/canonical.hpp"
#include "providers/replay/recording.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace mcpbx::test {

using namespace mcpbx::json;
using namespace mcpbx::providers;
using namespace mcpbx::providers::replay;

inline message_ptr says(std::string text) {
  auto m = std::make_shared<message>();
  m->role = role::assistant;
  m->blocks.emplace_back(text_block{std::move(text)});
  return m;
}
inline tool_call_block call_of(std::string id, std::string name, std::string_view arguments) {
  return {std::move(id), "p", std::move(name), raw_json::own(arguments), std::string(arguments), ""};
}
inline message_ptr calls(std::vector<tool_call_block> all) {
  auto m = std::make_shared<message>();
  m->role = role::assistant;
  for (auto& c : all) m->blocks.emplace_back(std::move(c));
  return m;
}
inline message_ptr results(std::vector<tool_result_block> all) {
  auto m = std::make_shared<message>();
  m->role = role::tool_results;
  for (auto& r : all) m->blocks.emplace_back(std::move(r));
  return m;
}
inline tool_result_block result_of(std::string id, std::string_view text, std::string_view more = {}) {
  return {std::move(id), "s__echo",
          raw_json::own(R"({"content":[{"type":"text","text":)" + json_quoted(text) + "}]" + std::string(more) + "}"),
          false};
}
inline model_request asked(std::vector<message_ptr> messages, const std::vector<std::string>& tools = {}) {
  model_request r;
  r.messages = std::move(messages);
  if (tools.empty()) return r;
  auto set = std::make_shared<tool_set>();
  for (const auto& t : tools) set->tools.push_back({t, "about " + t, raw_json::literal("{}")});
  r.tools = std::move(set);
  return r;
}
inline model_reply reply_of(message_ptr m) {
  model_reply r;
  r.reason = m->calls().empty() ? end_reason::stop : end_reason::tool_calls;
  r.raw_reason = "raw";
  r.usage = {1, 2, 3, 4, 5, false};
  r.message = std::move(m);
  return r;
}

/// The text of a recording, made as the recorder makes it.
struct recorded {
  explicit recorded(replay::header h = {"openai-chat", "", ""}) : text(to_line(h)) {}
  recorded& add(const model_request& request, const message_ptr& answer, std::vector<replay::piece> stream = {}) {
    const auto entry = writer.make(request, reply_of(answer), std::move(stream));
    text += entry.line;
    writer.written(entry);
    return *this;
  }
  recorded& fails(const model_request& request, model_error error, std::vector<replay::piece> stream = {}) {
    const auto entry = writer.make(request, std::move(error), std::move(stream));
    text += entry.line;
    writer.written(entry);
    return *this;
  }
  replay::recording read() const {
    auto r = replay::recording::read(text);
    REQUIRE_MESSAGE(r.has_value(), (r ? "" : r.error().message));
    return std::move(*r);
  }
  std::string text;
  replay::exchange_writer writer;
};

/// The texts of the answers to a conversation, or the sentence about the difference.
inline std::string answers(const replay::recording& r, const model_request& request) {
  const auto found = r.find(request);
  if (!found) return found.error().message;
  std::string all;
  for (const auto* e : found->answers)
    all += (all.empty() ? "" : "|") + (e->error ? e->error->message : e->reply.message->text());
  return all;
}

}  // namespace mcpbx::test
