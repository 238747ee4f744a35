// Reading of a Chat Completions request, member by member.
#include "daemon/front/completions/completion_request.hpp"

#include "daemon/front/completions/completion_messages.hpp"
#include "daemon/front/dialects/dialect_reader.hpp"
#include "daemon/front/dialects/message_builder.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace mcpbx::daemon::completions {
namespace {

using providers::tool_mode;

class completion_reader : dialects::dialect_reader {
 public:
  using dialects::dialect_reader::dialect_reader;

  std::expected<completion_request, dialects::request_fault> read() {
    if (!body_.is_object()) return std::unexpected(dialects::wrong_member("body", "a JSON object", body_));
    read_model();
    read_messages();
    read_stream();
    read_functions();
    read_tool_choice();
    read_settings();
    if (const auto format = given("response_format")) read_format(format, "response_format");
    auto whole = finish();
    if (!whole) return std::unexpected(std::move(whole.error()));
    return completion_request{std::move(*whole), include_usage_};
  }

 private:
  void read_messages() {
    if (fault_) return;
    const auto list = given("messages");
    if (!list.is_array() || list.text() == "[]") return wrong("messages", "an array of at least one message", list);
    auto messages = read_completion_messages(list);
    if (!messages)
      take(std::move(messages.error()));
    else if (messages->empty())
      wrong("messages", "an array of at least one message", list);
    else
      out_.run.messages = std::move(*messages);
  }

  void read_stream() {
    out_.stream = boolean("stream").value_or(false);
    if (const auto options = given("stream_options"); options.is_object())
      include_usage_ = json::find_member(options, "include_usage").is_true();
    if (const auto n = integer("n", 1); n && *n > 1) fault("n", "expected 1, because a run of tools has one answer");
  }

  void read_functions() {
    if (given("functions")) return fault("functions", "this is the older form; send tools");
    read_tools([this](const json::raw_json& tool, const std::string& place) { read_function(tool, place); });
  }

  void read_function(const json::raw_json& tool, const std::string& place) {
    const auto type = json::member_text(tool, "type");
    const auto function = json::find_member(tool, "function");
    if (type != "function") return wrong(place + ".type", "\"function\"", json::find_member(tool, "type"));
    if (!function.is_object()) return wrong(place + ".function", "an object", function);
    const auto strict = dialects::given_member(function, "strict");
    if (strict && strict.type() != json::raw_json::kind::boolean)
      return wrong(place + ".function.strict", "true or false", strict);
    add_tool(json::member_text(function, "name"), json::find_member(function, "description"),
             dialects::given_member(function, "parameters"), strict.is_true(), place + ".function");
  }

  // Reads tool_choice. A demand for a call binds the first round only; otherwise the model could never answer.
  void read_tool_choice() {
    const auto choice = given("tool_choice");
    if (!choice || fault_) return;
    auto word = choice.as_string().value_or("");
    const auto type = json::member_text(choice, "type");
    if (type == "function") {
      const auto function = json::find_member(choice, "function");
      demand_tool(json::member_text(function, "name"), "tool_choice.function.name", function);
      if (fault_) return;
      word = "required";
    } else if (type == "allowed_tools") {
      const auto allowed = json::find_member(choice, "allowed_tools");
      keep_only(json::find_member(allowed, "tools"), "tool_choice.allowed_tools.tools", "function");
      word = json::member_text(allowed, "mode");
    }
    take_tool_choice(word, choice);
  }

  void read_settings() {
    auto& s = out_.run.settings;
    s.temperature = number("temperature", 2);
    s.top_p = number("top_p", 1);
    read_effort(body_, "reasoning_effort", "");
    s.parallel_tool_calls = boolean("parallel_tool_calls");
    const auto newer = integer("max_completion_tokens", 1), older = integer("max_tokens", 1);
    s.max_output_tokens = newer ? *newer : older.value_or(0);
    read_stop("stop", 4, true);
  }

  bool include_usage_ = false;
};

}  // namespace

std::expected<completion_request, dialects::request_fault> read_completion(const json::raw_json& request,
                                                                           const chat::chat_defaults& defaults) {
  return completion_reader(request, defaults).read();
}

}  // namespace mcpbx::daemon::completions
