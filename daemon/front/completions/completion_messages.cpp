// Conversion of messages. Reading stops at the first fault, which is kept with its place.
#include "daemon/front/completions/completion_messages.hpp"

#include "daemon/front/chat/request_bounds.hpp"
#include "daemon/loop/json/message_json.hpp"
#include "mcp/server/param_reader.hpp"
#include "mcp/support/text.hpp"
#include "providers/model/arguments.hpp"

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace mcpbx::daemon {
namespace {

using providers::role;

std::string at(std::string place, std::string_view key) {
  return std::move(place.append(1, '.').append(key));
}

std::string at(std::string place, std::size_t index) {
  return std::move(place.append("[").append(std::to_string(index)).append("]"));
}

class message_reader {
 public:
  std::expected<std::vector<providers::message_ptr>, completion_fault> read(const raw_json& list) {
    std::size_t index = 0;
    for_each_element(list, [&](const raw_json& element) {
      if (index == most_messages)
        wrong("messages", "an array of at most " + std::to_string(most_messages) + " messages", list);
      else
        read_message(element, at("messages", index++));
      return !fault_;
    });
    if (!fault_) close_calls("messages");
    if (fault_) return std::unexpected(std::move(*fault_));
    return std::move(messages_);
  }

 private:
  void wrong(std::string place, std::string_view form, const raw_json& got) {
    if (!fault_) fault_ = wrong_member(std::move(place), form, got);
  }
  void wrong(const std::string& place, const std::string& what) {
    if (!fault_) fault_ = completion_fault{400, place + ": " + what, place, ""};
  }

  std::shared_ptr<providers::message> add(role r) {
    auto m = std::make_shared<providers::message>();
    m->role = r;
    messages_.push_back(m);
    return m;
  }

  void read_message(const raw_json& json, const std::string& place) {
    if (!json.is_object()) return wrong(place, "an object with role and content", json);
    const auto who = member_text(json, "role");
    if (who == "tool") return read_result(json, place);
    close_calls(place);
    if (fault_) return;
    if (who == "system" || who == "developer") return read_content(json, place, *add(role::system), false);
    if (who == "user") return read_content(json, place, *add(role::user), true);
    if (who == "assistant") return read_assistant(json, place);
    wrong(at(place, "role"), R"("system", "developer", "user", "assistant" or "tool")", find_member(json, "role"));
  }

  // Reads a string or parts; with `media` also parts other than text.
  void read_content(const raw_json& json, const std::string& place, providers::message& into, bool media) {
    const auto content = given_member(json, "content");
    const auto where = at(place, "content");
    if (auto text = content.as_string()) {
      into.blocks.emplace_back(providers::text_block{std::move(*text)});
      return;
    }
    if (!content.is_array()) return wrong(where, "a string or an array of parts", content);
    std::size_t index = 0;
    for_each_element(content, [&](const raw_json& part) {
      read_part(part, at(where, index++), into, media);
      return !fault_;
    });
  }

  void read_part(const raw_json& part, const std::string& place, providers::message& into, bool media) {
    const auto type = member_text(part, "type");
    if (type == "text" || type == "refusal") {
      auto text = find_member(part, type).as_string();
      if (!text) return wrong(at(place, type), "a string", find_member(part, type));
      if (type == "text")
        into.blocks.emplace_back(providers::text_block{std::move(*text)});
      else
        into.blocks.emplace_back(providers::refusal_block{std::move(*text)});
      return;
    }
    if (media && type == "image_url") return read_image(find_member(part, type), at(place, type), into);
    if (media && type == "input_audio") return read_audio(find_member(part, type), at(place, type), into);
    if (media && type == "file") return read_file(find_member(part, type), at(place, type), into);
    wrong(at(place, "type"), media ? R"("text", "image_url", "input_audio" or "file")" : R"("text")",
          find_member(part, "type"));
  }

  // Splits "data:MIME;base64,DATA".
  static std::optional<std::pair<std::string, std::string>> data_of(std::string_view url) {
    constexpr std::string_view begin = "data:", mark = ";base64,";
    const auto place = url.find(mark);
    if (!url.starts_with(begin) || place == std::string_view::npos) return std::nullopt;
    return std::pair(std::string(url.substr(begin.size(), place - begin.size())),
                     std::string(url.substr(place + mark.size())));
  }

  static std::string no_base64(const std::string& data) {
    return "expected " + std::string(base64_form) + ", got " + mcp::describe(raw_json::own(json_quoted(data)));
  }

  void read_image(const raw_json& image, const std::string& place, providers::message& into) {
    const auto url = member_text(image, "url");
    auto detail = member_text(image, "detail");
    auto data = data_of(url);
    if (data && !is_base64(data->second)) return wrong(at(place, "url"), no_base64(data->second));
    if (data)
      into.blocks.emplace_back(
          providers::image_block{std::move(data->first), std::move(data->second), "", std::move(detail)});
    else if (url.starts_with("https://") || url.starts_with("http://"))
      into.blocks.emplace_back(providers::image_block{"", "", url, std::move(detail)});
    else
      wrong(at(place, "url"), "an https:// address or data:MIME;base64,DATA", find_member(image, "url"));
  }

  void read_audio(const raw_json& audio, const std::string& place, providers::message& into) {
    const auto format = member_text(audio, "format");
    auto data = member_text(audio, "data");
    if (data.empty()) return wrong(at(place, "data"), "base64", find_member(audio, "data"));
    if (!is_base64(data)) return wrong(at(place, "data"), no_base64(data));
    if (format != "wav" && format != "mp3")
      return wrong(at(place, "format"), R"("wav" or "mp3")", find_member(audio, "format"));
    into.blocks.emplace_back(
        providers::file_block{format == "wav" ? "audio/wav" : "audio/mpeg", "", std::move(data), ""});
  }

  void read_file(const raw_json& file, const std::string& place, providers::message& into) {
    auto data = member_text(file, "file_data");
    if (data.empty())
      return wrong(place, "file_data (mcpbx keeps no files, so a file_id means nothing to it)",
                   find_member(file, "file_data"));
    std::string mime = "application/pdf";
    if (auto whole = data_of(data)) {
      mime = std::move(whole->first);
      data = std::move(whole->second);
    }
    if (!is_base64(data)) return wrong(at(place, "file_data"), no_base64(data));
    into.blocks.emplace_back(
        providers::file_block{std::move(mime), member_text(file, "filename"), std::move(data), ""});
  }

  void read_assistant(const raw_json& json, const std::string& place) {
    auto& m = *add(role::assistant);
    const auto calls = given_member(json, "tool_calls");
    if (given_member(json, "content")) read_content(json, place, m, false);
    if (auto refusal = given_member(json, "refusal").as_string())
      m.blocks.emplace_back(providers::refusal_block{std::move(*refusal)});
    if (!calls) return;
    if (!calls.is_array()) return wrong(at(place, "tool_calls"), "an array", calls);
    std::size_t index = 0;
    for_each_element(calls, [&](const raw_json& call) {
      read_call(call, at(at(place, "tool_calls"), index++), m);
      return !fault_;
    });
  }

  void read_call(const raw_json& json, const std::string& place, providers::message& into) {
    providers::tool_call_block call;
    call.id = member_text(json, "id");
    if (call.id.empty()) return wrong(at(place, "id"), "the id of the call", find_member(json, "id"));
    const auto function = find_member(json, "function");
    call.name = member_text(function, "name");
    if (call.name.empty())
      return wrong(at(place, "function.name"), "the name of a function", find_member(function, "name"));
    const auto arguments = find_member(function, "arguments").as_string();
    if (!arguments)
      return wrong(at(place, "function.arguments"), "a string of JSON", find_member(function, "arguments"));
    call.arguments_text = *arguments;
    providers::read_arguments(call);
    if (!open_.emplace(call.id, call.name).second)
      return wrong(at(place, "id"), "the id " + json_quoted(call.id) + " is another call's already");
    into.blocks.emplace_back(std::move(call));
  }

  void read_result(const raw_json& json, const std::string& place) {
    const auto id = member_text(json, "tool_call_id");
    const auto call = open_.find(id);
    if (call == open_.end())
      return wrong(at(place, "tool_call_id"),
                   "expected the id of a call in the assistant message before it that has no result yet, got " +
                       mcp::describe(find_member(json, "tool_call_id")));
    providers::message said;
    read_content(json, place, said, false);
    if (fault_) return;
    std::string result;
    json_writer w(result);
    w.begin_object().key("content").begin_array().token(json_object("type", "text", "text", said.text()));
    w.end_array().end_object();
    const auto results = messages_.back()->role == role::tool_results ? results_ : (results_ = add(role::tool_results));
    results->blocks.emplace_back(providers::tool_result_block{id, call->second, w.json(), false});
    open_.erase(call);
  }

  // Checks that every call has its result before the next message.
  void close_calls(const std::string& place) {
    if (open_.empty()) return;
    wrong(place, "expected a message of role tool with the result of the call " + json_quoted(open_.begin()->first) +
                     " before it, because the assistant message that made it comes first");
  }

  std::vector<providers::message_ptr> messages_;
  std::shared_ptr<providers::message> results_;  // message of results that is being filled
  // Names of the latest assistant message's calls that have no result yet, by id.
  std::unordered_map<std::string, std::string> open_;
  std::optional<completion_fault> fault_;
};

}  // namespace

completion_fault wrong_member(std::string param, std::string_view expected, const raw_json& got) {
  std::string message = param + ": expected " + std::string(expected) + ", got " + mcp::describe(got);
  return {400, std::move(message), std::move(param), ""};
}

raw_json given_member(const raw_json& object, std::string_view key) {
  auto value = find_member(object, key);
  return value.is_null() ? raw_json() : value;
}

std::expected<std::vector<providers::message_ptr>, completion_fault> read_completion_messages(const raw_json& list) {
  return message_reader().read(list);
}

}  // namespace mcpbx::daemon
