// Reading of a request of the Responses API, member by member.
#include "daemon/front/responses/response_request.hpp"

#include "daemon/front/dialects/dialect_reader.hpp"
#include "daemon/front/dialects/message_builder.hpp"
#include "daemon/front/responses/response_items.hpp"
#include "mcp/json/json_writer.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::daemon::responses {
namespace {

using providers::role;
using providers::tool_mode;

class response_reader : dialects::dialect_reader {
 public:
  response_reader(const json::raw_json& body, const chat::chat_defaults& defaults, const item_source& items)
      : dialects::dialect_reader(body, defaults), items_(items) {}

  std::expected<response_request, dialects::request_fault> read() {
    if (!body_.is_object()) return std::unexpected(dialects::wrong_member("body", "a JSON object", body_));
    read_model();
    read_what_is_missing();
    read_previous();
    read_input();
    out_.stream = boolean("stream").value_or(false);
    read_tools([this](const json::raw_json& tool, const std::string& place) { read_function(tool, place); });
    read_tool_choice();
    read_settings();
    if (!fault_) write_echo();
    auto whole = finish();
    if (!whole) return std::unexpected(std::move(whole.error()));
    return response_request{std::move(*whole), std::move(previous_), shows_reasoning_, std::move(echo_)};
  }

 private:
  // Refuses what would be promised and not done.
  void read_what_is_missing() {
    if (given("conversation"))
      fault("conversation", "mcpbx has no conversations by id; send input, or previous_response_id");
    if (given("prompt")) fault("prompt", "mcpbx keeps no prompts of OpenAI; send instructions and input");
    if (boolean("background").value_or(false))
      fault("background", "expected false; a run that goes on by itself is mcpbx/chat with detach");
    boolean("store");
  }

  void read_previous() {
    const auto id = given("previous_response_id");
    if (!id || fault_) return;
    previous_ = id.as_string().value_or("");
    if (run_of_response(previous_).empty()) wrong("previous_response_id", "the id of a response of mcpbx (resp_…)", id);
  }

  void read_input() {
    if (fault_) return;
    const auto instructions = given("instructions");
    if (instructions && !instructions.is_string()) return wrong("instructions", "a string", instructions);
    auto messages =
        read_response_items(instructions.as_string().value_or(""), given("input"), !previous_.empty(), items_);
    if (!messages) return take(std::move(messages.error()));
    auto& said = out_.run.messages = std::move(*messages);
    const auto is_result = [](const auto& m) { return m->role == role::tool_results; };
    if (std::ranges::none_of(said, [](const auto& m) { return m->role != role::system; }))
      return wrong("input", "a string or an array of at least one item that says something", given("input"));
    if (previous_.empty() || std::ranges::none_of(said, is_result)) return;
    std::erase_if(said, [](const auto& m) { return m->role == role::system; });  // the run has its own already
    if (said.size() != 1)
      return fault("input", "expected nothing beside the outputs for the calls of previous_response_id");
    out_.continues = run_of_response(previous_);
  }

  void read_function(const json::raw_json& tool, const std::string& place) {
    if (json::member_text(tool, "type") != "function")
      return wrong(place + ".type", "\"function\" (mcpbx has no tools of OpenAI's servers; its own are offered anyway)",
                   json::find_member(tool, "type"));
    const auto strict = dialects::given_member(tool, "strict");
    if (strict && strict.type() != json::raw_json::kind::boolean)
      return wrong(place + ".strict", "true or false", strict);
    add_tool(json::member_text(tool, "name"), json::find_member(tool, "description"),
             dialects::given_member(tool, "parameters"), strict.is_true(), place);
  }

  // Reads tool_choice.
  void read_tool_choice() {
    const auto choice = given("tool_choice");
    if (!choice || fault_) return;
    auto word = choice.as_string().value_or("");
    const auto type = json::member_text(choice, "type");
    if (type == "function") {
      demand_tool(json::member_text(choice, "name"), "tool_choice.name", json::find_member(choice, "name"));
      if (fault_) return;
      word = "required";
    } else if (type == "allowed_tools") {
      keep_only(json::find_member(choice, "tools"), "tool_choice.tools");
      word = json::member_text(choice, "mode");
    }
    take_tool_choice(word, choice);
  }

  void read_settings() {
    auto& s = out_.run.settings;
    s.temperature = number("temperature", 2);
    s.top_p = number("top_p", 1);
    s.parallel_tool_calls = boolean("parallel_tool_calls");
    s.max_output_tokens = integer("max_output_tokens", 1).value_or(0);
    if (const auto reasoning = given("reasoning")) {
      if (!reasoning.is_object()) return wrong("reasoning", "an object", reasoning);
      read_effort(reasoning, "effort", "reasoning.");
      shows_reasoning_ = !dialects::given_member(reasoning, "summary").empty();
    }
    const auto text = given("text");
    if (!text) return;
    if (!text.is_object()) return wrong("text", "an object", text);
    const auto format = dialects::given_member(text, "format");
    if (!format) return;
    if (!format.is_object()) return wrong("text.format", "an object", format);
    // Of the members only these two say something to a run.
    std::string plain;
    json::json_writer w(plain);
    w.begin_object()
        .given("type", dialects::given_member(format, "type"))
        .given("schema", dialects::given_member(format, "schema"));
    w.end_object();
    read_format(w.json(), "text.format");
  }

  // Writes the members of the response object that repeat the request.
  void write_echo() {
    const auto& s = out_.run.settings;
    json::json_writer w(echo_);
    const auto same = [&](std::string_view key, std::string_view otherwise) {
      const auto value = given(key);
      w.key(key).token(value ? value.text() : otherwise);
    };
    w.member("background", false);
    same("instructions", "null");
    same("max_output_tokens", "null");
    same("metadata", "{}");
    same("parallel_tool_calls", "true");
    same("previous_response_id", "null");
    w.key("reasoning").begin_object().key("effort");
    w.token(s.reasoning_effort.empty() ? "null" : json::json_quoted(s.reasoning_effort));
    w.member("summary", dialects::given_member(given("reasoning"), "summary")).end_object();
    same("service_tier", "\"default\"");
    same("store", "true");
    same("temperature", "null");
    same("text", R"({"format":{"type":"text"}})");
    same("tool_choice", "\"auto\"");
    same("tools", "[]");
    same("top_p", "null");
    same("truncation", "\"disabled\"");
    same("user", "null");
  }

  const item_source& items_;
  std::string previous_, echo_;
  bool shows_reasoning_ = false;
};

}  // namespace

std::expected<response_request, dialects::request_fault> read_response_request(const json::raw_json& request,
                                                                               const chat::chat_defaults& defaults,
                                                                               const item_source& items) {
  return response_reader(request, defaults, items).read();
}

// An id is resp_RUN, or resp_RUN-NUMBER for a later answer about the same run. The names of runs that began over HTTP
// have no dash.
std::string run_of_response(std::string_view id) {
  constexpr std::string_view prefix = "resp_";
  if (!id.starts_with(prefix) || id.size() > 256) return {};
  id.remove_prefix(prefix.size());
  return std::string(id.starts_with("run_") ? id.substr(0, id.find('-')) : id);
}

}  // namespace mcpbx::daemon::responses
