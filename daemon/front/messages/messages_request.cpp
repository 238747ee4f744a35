// Reading of a request of the Messages API, member by member.
#include "daemon/front/messages/messages_request.hpp"

#include "daemon/front/dialects/dialect_reader.hpp"
#include "daemon/front/dialects/message_builder.hpp"
#include "daemon/front/messages/messages_content.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace mcpbx::daemon::messages {
namespace {

using providers::tool_mode;

class messages_reader : dialects::dialect_reader {
 public:
  using dialects::dialect_reader::dialect_reader;

  std::expected<messages_request, dialects::request_fault> read() {
    if (!body_.is_object()) return std::unexpected(dialects::wrong_member("body", "a JSON object", body_));
    read_model();
    read_messages();
    out_.stream = boolean("stream").value_or(false);
    read_tools([this](const json::raw_json& tool, const std::string& place) { read_tool(tool, place); });
    read_tool_choice();
    read_settings();
    read_thinking();
    read_output();
    if (const auto servers = given("mcp_servers"); servers && servers.text() != "[]")
      fault("mcp_servers", "expected none, because mcpbx connects the servers of its own configuration");
    auto whole = finish();
    if (!whole) return std::unexpected(std::move(whole.error()));
    return messages_request{std::move(*whole), shows_thinking_};
  }

 private:
  void read_messages() {
    if (fault_) return;
    const auto list = given("messages");
    if (!list.is_array() || list.text() == "[]") return wrong("messages", "an array of at least one message", list);
    auto messages = read_messages_content(given("system"), list);
    if (!messages)
      take(std::move(messages.error()));
    else if (messages->empty())
      wrong("messages", "an array of at least one message", list);
    else
      out_.run.messages = std::move(*messages);
  }

  void read_tool(const json::raw_json& tool, const std::string& place) {
    if (!tool.is_object()) return wrong(place, "an object with name and input_schema", tool);
    const auto type = dialects::given_member(tool, "type");
    if (type && type.as_string() != "custom")
      return wrong(place + ".type",
                   "\"custom\" (mcpbx has no tools of Anthropic's servers; its own are offered anyway)", type);
    const auto schema = json::find_member(tool, "input_schema");
    if (!schema.is_object()) return wrong(place + ".input_schema", "an object", schema);
    add_tool(json::member_text(tool, "name"), json::find_member(tool, "description"), schema,
             json::find_member(tool, "strict").is_true(), place);
  }

  // Reads tool_choice. A demand for a call binds the first round only; otherwise the model could never answer.
  void read_tool_choice() {
    const auto choice = given("tool_choice");
    if (!choice || fault_) return;
    const auto type = json::member_text(choice, "type");
    if (type == "none") {
      out_.run.limits.max_rounds = 0;
    } else if (type == "any") {
      out_.run.first_round = tool_mode::required;
    } else if (type == "tool") {
      auto name = json::member_text(choice, "name");
      if (name.empty()) return wrong("tool_choice.name", "the name of a tool", json::find_member(choice, "name"));
      out_.run.first_round = tool_mode::required;
      out_.named_tools = {name};
      out_.run.first_round_tool = std::move(name);
    } else if (type != "auto") {
      return wrong("tool_choice.type", R"("auto", "any", "tool" or "none")", json::find_member(choice, "type"));
    }
    if (json::find_member(choice, "disable_parallel_tool_use").is_true()) out_.run.settings.parallel_tool_calls = false;
  }

  void read_settings() {
    auto& s = out_.run.settings;
    s.temperature = number("temperature", 1);
    s.top_p = number("top_p", 1);
    s.max_output_tokens = integer("max_tokens", 1).value_or(0);
    read_stop("stop_sequences", 16, false);
  }

  void read_thinking() {
    const auto thinking = given("thinking");
    if (!thinking || fault_) return;
    const auto type = json::member_text(thinking, "type");
    const bool thinks = type == "enabled" || type == "adaptive" || type == "between_tools";
    if (!thinks && type != "disabled")
      return wrong("thinking.type", R"("enabled", "adaptive", "between_tools" or "disabled")",
                   json::find_member(thinking, "type"));
    shows_thinking_ = thinks && json::member_text(thinking, "display") != "omitted";
  }

  void read_output() {
    const auto output = given("output_config");
    if (!output || fault_) return;
    if (!output.is_object()) return wrong("output_config", "an object", output);
    read_effort(output, "effort", "output_config.");
    if (const auto format = dialects::given_member(output, "format")) read_format(format, "output_config.format");
  }

  bool shows_thinking_ = false;
};

}  // namespace

std::expected<messages_request, dialects::request_fault> read_messages_request(const json::raw_json& request,
                                                                               const chat::chat_defaults& defaults) {
  return messages_reader(request, defaults).read();
}

}  // namespace mcpbx::daemon::messages
