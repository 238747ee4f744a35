// Reads messages block by block. The API of a model would refuse a conversation whose calls and results do not match,
// in words that say nothing to the server, so that is checked here.
#include "daemon/answers/sampling.hpp"

#include "mcp/json/json_writer.hpp"
#include "mcp/support/text.hpp"
#include "providers/model/names.hpp"
#include "providers/schema/adapt/adapt.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

namespace mcpbx::daemon::answers {
namespace {

constexpr std::size_t most_stops = 16, longest_stop = 256;

std::unexpected<error> wrong(std::string what) {
  return fail(errc::invalid_argument, std::move(what));
}

class reader {
 public:
  reader(sampling_request& to, std::string_view api) : to_(to), api_(api) {}

  result<void> read(const json::raw_json& params, std::int64_t max_tokens) {
    if (auto tools = read_tools(params); !tools) return tools;
    if (const auto system = json::find_member(params, "systemPrompt").as_string(); system && !system->empty())
      to_.ask.messages.push_back(providers::system_message(*system));
    if (auto messages = read_messages(json::find_member(params, "messages")); !messages) return messages;
    return read_settings(params, max_tokens);
  }

 private:
  result<void> read_messages(const json::raw_json& messages) {
    if (!messages.is_array()) return wrong("messages is no array");
    std::size_t count = 0;
    result<void> good;
    json::for_each_element(messages, [&](const json::raw_json& one) {
      place_ = "messages[" + std::to_string(count++) + "]";
      good = count > most_sampling_messages
                 ? fail(errc::limit, "there are more than " + std::to_string(most_sampling_messages) + " messages")
                 : read_message(one);
      return good.has_value();
    });
    if (!good) return good;
    if (count == 0) return wrong("messages is empty");
    if (!open_.empty()) return wrong("a tool_use has no tool_result");
    return {};
  }

  result<void> read_message(const json::raw_json& json) {
    const auto role = json::member_text(json, "role");
    if (role != "user" && role != "assistant") return wrong(place_ + ".role is neither user nor assistant");
    auto made = std::make_shared<providers::message>();
    made->role = role == "user" ? providers::role::user : providers::role::assistant;
    const auto content = json::find_member(json, "content");
    const bool waits = !open_.empty();
    result<void> good;
    if (content.is_array())
      json::for_each_element(content, [&](const json::raw_json& block) {
        good = read_block(block, *made);
        return good.has_value();
      });
    else
      good = read_block(content, *made);
    if (!good) return good;
    if (made->blocks.empty()) return wrong(place_ + ".content is empty");
    if (waits && (made->role != providers::role::tool_results || !open_.empty()))
      return wrong(place_ + " does not have the results of the calls before it");
    to_.ask.messages.push_back(std::move(made));
    return {};
  }

  result<void> read_block(const json::raw_json& block, providers::message& to) {
    const auto type = json::member_text(block, "type");
    const bool assistant = to.role == providers::role::assistant;
    if (type == "tool_result" && !assistant) return read_result(block, to);
    if (to.role == providers::role::tool_results) return wrong(place_ + " has a tool_result beside other content");
    if (type == "text") {
      to.blocks.emplace_back(providers::text_block{.text = json::member_text(block, "text")});
    } else if (type == "tool_use" && assistant) {
      return read_call(block, to);
    } else if ((type == "image" || type == "audio") && !assistant) {
      auto data = json::member_text(block, "data"), mime = json::member_text(block, "mimeType");
      if (data.empty() || mime.empty()) return wrong(place_ + ": " + type + " without data or mimeType");
      if (type == "image")
        to.blocks.emplace_back(providers::image_block{.mime = std::move(mime), .data = std::move(data), .url = {}});
      else
        to.blocks.emplace_back(
            providers::file_block{.mime = std::move(mime), .name = "audio", .data = std::move(data), .url = {}});
    } else {
      return wrong(place_ + ".content has a type that cannot be passed on: " + json::json_quoted(cut_utf8(type, 40)));
    }
    return {};
  }

  result<void> read_call(const json::raw_json& block, providers::message& to) {
    providers::tool_call_block call;
    call.id = json::member_text(block, "id");
    call.provider_id = call.id;
    call.name = shown_name(json::member_text(block, "name"));
    call.arguments = json::find_member(block, "input");
    if (call.id.empty() || call.name.empty() || !call.arguments.is_object())
      return wrong(place_ + ": tool_use without id, name or input");
    if (std::ranges::find(open_, call.id, &open_call::id) != open_.end())
      return wrong(place_ + ": two tool_use with one id");
    if (open_.size() >= providers::max_reply_calls) return fail(errc::limit, place_ + " has too many tool_use");
    call.arguments_text = call.arguments.text();
    open_.push_back({call.id, call.name});
    to.blocks.emplace_back(std::move(call));
    return {};
  }

  result<void> read_result(const json::raw_json& block, providers::message& to) {
    if (to.role == providers::role::user && !to.blocks.empty())
      return wrong(place_ + " has a tool_result beside other content");
    to.role = providers::role::tool_results;
    const auto id = json::member_text(block, "toolUseId");
    const auto call = std::ranges::find(open_, id, &open_call::id);
    if (call == open_.end()) return wrong(place_ + ": a tool_result without its tool_use");
    std::string json;
    json::json_writer w(json);
    const auto content = json::find_member(block, "content");
    w.begin_object().member("content", content.is_array() ? content : json::raw_json::literal("[]"));
    w.given("structuredContent", json::find_member(block, "structuredContent"));
    const bool is_error = json::find_member(block, "isError").is_true();
    w.set("isError", is_error).end_object();
    to.blocks.emplace_back(providers::tool_result_block{call->id, call->name, w.json(), is_error});
    open_.erase(call);
    return {};
  }

  result<void> read_tools(const json::raw_json& params) {
    const auto tools = json::find_member(params, "tools");
    std::vector<json::raw_json> given;
    json::for_each_element(tools, [&](const json::raw_json& tool) {
      given.push_back(tool);
      to_.own.push_back(json::member_text(tool, "name"));
      return given.size() <= most_sampling_tools;
    });
    if (given.size() > most_sampling_tools)
      return fail(errc::limit, "there are more than " + std::to_string(most_sampling_tools) + " tools");
    const std::vector<std::string_view> names(to_.own.begin(), to_.own.end());
    to_.shown = providers::shown_names(names);
    auto set = std::make_shared<providers::tool_set>();
    for (std::size_t i = 0; i < given.size(); ++i) {
      if (names[i].empty() || std::ranges::count(names, names[i]) > 1) return wrong("tools has a name twice, or none");
      auto tool = providers::adapt::adapt_tool(to_.shown[i], json::member_text(given[i], "description"),
                                               json::find_member(given[i], "inputSchema"), api_);
      if (!tool) return wrong("tools: the model cannot take " + json::json_quoted(cut_utf8(names[i], 80)));
      set->tools.push_back(std::move(*tool));
    }
    set->own = set->tools.size();
    if (!given.empty()) to_.ask.tools = std::move(set);
    const auto mode = json::member_text(json::find_member(params, "toolChoice"), "mode");
    if (mode == "none") to_.ask.tool_mode = providers::tool_mode::none;
    if (mode == "required" && !given.empty()) to_.ask.tool_mode = providers::tool_mode::required;
    return {};
  }

  result<void> read_settings(const json::raw_json& params, std::int64_t max_tokens) {
    auto& settings = to_.ask.settings;
    settings.max_output_tokens = max_tokens;
    if (const auto asked = json::find_member(params, "maxTokens")) {
      const auto number = asked.as_integer();
      if (!number || *number < 1) return wrong("maxTokens is no positive number");
      settings.max_output_tokens = std::min(*number, max_tokens);
    }
    if (const auto heat = json::find_member(params, "temperature"); heat.type() == json::raw_json::kind::number)
      settings.temperature = heat.text();
    json::for_each_element(json::find_member(params, "stopSequences"), [&](const json::raw_json& stop) {
      if (auto text = stop.as_string(); text && !text->empty() && text->size() <= longest_stop)
        settings.stop.push_back(std::move(*text));
      return settings.stop.size() < most_stops;
    });
    return {};
  }

  std::string shown_name(const std::string& own) const {
    const auto at = std::ranges::find(to_.own, own);
    return at == to_.own.end() ? own : to_.shown[static_cast<std::size_t>(at - to_.own.begin())];
  }

  struct open_call {
    std::string id, name;
  };
  sampling_request& to_;
  std::string_view api_;
  std::string place_;
  std::vector<open_call> open_;  // calls of the assistant without a result
};

std::string_view stop_reason_of(providers::end_reason reason, bool calls) {
  if (reason == providers::end_reason::length || reason == providers::end_reason::context_full) return "maxTokens";
  return calls ? "toolUse" : "endTurn";
}

}  // namespace

result<sampling_request> read_sampling(const json::raw_json& params, std::int64_t max_tokens, std::string_view api) {
  if (params.text().size() > most_sampling_bytes)
    return fail(errc::limit, "the request has more than " + std::to_string(most_sampling_bytes >> 20) + " MiB");
  sampling_request made;
  if (auto read = reader(made, api).read(params, max_tokens); !read) return std::unexpected(std::move(read.error()));
  return made;
}

result<json::raw_json> sampling_result(const providers::model_reply& reply, const sampling_request& asked,
                                       std::string_view model) {
  const bool cut = providers::is_cut(reply.reason);
  if (reply.reason == providers::end_reason::refusal || reply.reason == providers::end_reason::filter)
    return fail(errc::peer, "the model refused to answer");
  std::vector<std::string> blocks;
  bool calls = false;
  for (const auto& b : reply.message->blocks) {
    if (std::holds_alternative<providers::refusal_block>(b)) return fail(errc::peer, "the model refused to answer");
    if (const auto* text = std::get_if<providers::text_block>(&b); text && !text->text.empty())
      blocks.push_back(json::json_object("type", "text", "text", text->text));
    const auto* call = std::get_if<providers::tool_call_block>(&b);
    // A call that may be incomplete is not passed on.
    if (!call || cut || !call->problem.empty() || !call->arguments.is_object()) continue;
    const auto at = std::ranges::find(asked.shown, call->name);
    if (at == asked.shown.end()) continue;
    calls = true;
    blocks.push_back(json::json_object("type", "tool_use", "id", call->id, "name",
                                       asked.own[static_cast<std::size_t>(at - asked.shown.begin())], "input",
                                       call->arguments));
  }
  if (blocks.empty() && !cut && reply.reason != providers::end_reason::stop)
    return fail(errc::peer, "the model gave no answer that could be passed on");
  if (blocks.empty()) blocks.push_back(json::json_object("type", "text", "text", ""));
  std::string json;
  json::json_writer w(json);
  w.begin_object().member("role", "assistant").key("content");
  // One block stands alone, because revisions before 2025-11-25 know no lists.
  if (blocks.size() == 1) {
    w.token(blocks.front());
  } else {
    w.begin_array();
    for (const auto& block : blocks) w.token(block);
    w.end_array();
  }
  w.member("model", model).member("stopReason", stop_reason_of(reply.reason, calls)).end_object();
  return w.json();
}

}  // namespace mcpbx::daemon::answers
