// Reading of a conversation, or of tool results for a parked run.
#include "daemon/front/chat/chat_messages.hpp"

#include "daemon/front/chat/request_bounds.hpp"
#include "daemon/loop/json/caller_history.hpp"
#include "daemon/loop/json/message_json.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace mcpbx::daemon::chat {
namespace {

void expect(mcp::server::param_reader& in, const std::string& place, const event_json::message_fault& fault) {
  in.expected("messages" + place + fault.place, fault.expected, fault.found);
}

// Copies `isError` into the result, where the run's state machine reads it.
json::raw_json result_of(const providers::tool_result_block& b) {
  if (!b.is_error || json::find_member(b.result, "isError").is_true()) return b.result;
  auto result = json::raw_object::open(b.result);
  if (!result) return b.result;
  result->set("isError", json::raw_json::literal("true"));
  return result->json();
}

// Takes messages that hold only results as results of the caller's own tools. The run keeps its original settings.
void take_results(mcp::server::param_reader& in, run::run_request& r,
                  const std::vector<providers::message_ptr>& messages) {
  static constexpr std::array<std::string_view, 12> begun_with{"model",       "profile", "session", "system",
                                                               "tools",       "limits",  "status",  "responseFormat",
                                                               "clientTools", "approve", "prompt",  "resources"};
  for (const auto key : begun_with)
    if (in.has(key))
      in.wrong(key, "expected nothing here, because these are results for the run " + json::json_quoted(r.run) +
                        ", which goes on as it was begun; leave out " + json::json_quoted(key));
  for (const auto& m : messages)
    for (const auto& b : m->blocks)
      if (const auto* one = std::get_if<providers::tool_result_block>(&b))
        r.results.push_back({one->call_id, result_of(*one)});
}

}  // namespace

void read_chat_messages(mcp::server::param_reader& in, run::run_request& r) {
  const bool has_input = in.has("input"), has_messages = in.has("messages");
  if (auto text = in.text("input")) {
    if (text->find_first_not_of(" \t\r\n") == std::string::npos)
      in.wrong("input", "expected a question, got blanks only");
    r.messages.push_back(providers::user_message(std::move(*text)));
  }
  const json::raw_json list = in.array("messages");
  // The words of a prompt may be the question.
  if (!has_input && !has_messages && in.has("prompt")) return;
  // A session alone continues with a question that waits for an answer there.
  if (!has_input && !has_messages && in.has("session")) return;
  if (has_input == has_messages)
    return in.wrong("", has_input ? "expected either input or messages, got both"
                                  : "expected input (a string), messages (an array) or prompt (an object)");
  std::vector<providers::message_ptr> said;
  json::for_each_element(list, [&](const json::raw_json& element) {
    if (said.size() == most_messages) {
      in.wrong("messages", "expected at most " + std::to_string(most_messages) + " messages, got more");
      return false;
    }
    if (auto m = event_json::read_message(element))
      said.push_back(std::move(*m));
    else
      expect(in, "[" + std::to_string(said.size()) + "]", m.error());
    return !in.failed();
  });
  if (!has_messages || in.failed()) return;
  if (in.has("run") && !said.empty() &&
      std::ranges::all_of(said, [](const auto& m) { return m->role == providers::role::tool_results; }))
    return take_results(in, r, said);
  if (said.empty() || said.back()->role != providers::role::user)
    return in.wrong("messages",
                    "expected the last one to be of role user (or, with run, only those of role tool, for a run that "
                    "handed calls to its caller)");
  if (auto history = event_json::history_from(said))
    r.messages = std::move(*history);
  else
    expect(in, "", history.error());
}

}  // namespace mcpbx::daemon::chat
