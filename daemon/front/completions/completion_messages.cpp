// Conversion of messages. Reading stops at the first fault, which is kept with its place.
#include "daemon/front/completions/completion_messages.hpp"

#include "daemon/front/dialects/message_builder.hpp"

#include <string>
#include <utility>

namespace mcpbx::daemon::completions {
namespace {

using providers::role;

class completion_message_reader {
 public:
  std::expected<std::vector<providers::message_ptr>, dialects::request_fault> read(const json::raw_json& list) {
    to_.read_messages(list, "messages", "messages",
                      [&](const json::raw_json& one, const std::string& place) { read_message(one, place); });
    close_calls("messages");
    return to_.finish();
  }

 private:
  void close_calls(const std::string& place) { to_.close_calls(place, "a message of role tool"); }

  void read_message(const json::raw_json& json, const std::string& place) {
    if (!json.is_object()) return to_.wrong(place, "an object with role and content", json);
    const auto who = json::member_text(json, "role");
    if (who == "tool") return read_result(json, place);
    close_calls(place);
    if (to_.failed()) return;
    if (who == "system" || who == "developer") return read_content(json, place, *to_.add(role::system), false);
    if (who == "user") return read_content(json, place, *to_.add(role::user), true);
    if (who == "assistant") return read_assistant(json, place);
    to_.wrong(dialects::place_at(place, "role"), R"("system", "developer", "user", "assistant" or "tool")",
              json::find_member(json, "role"));
  }

  // Reads a string or parts; with `media` also parts other than text.
  void read_content(const json::raw_json& json, const std::string& place, providers::message& into, bool media) {
    to_.read_content(dialects::given_member(json, "content"), dialects::place_at(place, "content"),
                     "a string or an array of parts", into,
                     [&](const json::raw_json& part, const std::string& at) { read_part(part, at, into, media); });
  }

  void read_part(const json::raw_json& part, const std::string& place, providers::message& into, bool media) {
    const auto type = json::member_text(part, "type");
    if (type == "text" || type == "refusal") {
      auto text = json::find_member(part, type).as_string();
      if (!text) return to_.wrong(dialects::place_at(place, type), "a string", json::find_member(part, type));
      if (type == "text")
        to_.add_text(into, std::move(*text));
      else
        into.blocks.emplace_back(providers::refusal_block{std::move(*text)});
      return;
    }
    if (media && type == "image_url") {
      const auto image = json::find_member(part, type);
      return to_.add_image_url(into, json::find_member(image, "url"), json::member_text(image, "detail"),
                               dialects::place_at(dialects::place_at(place, type), "url"));
    }
    if (media && type == "input_audio")
      return read_audio(json::find_member(part, type), dialects::place_at(place, type), into);
    if (media && type == "file") return read_file(json::find_member(part, type), dialects::place_at(place, type), into);
    to_.wrong(dialects::place_at(place, "type"),
              media ? R"("text", "image_url", "input_audio" or "file")" : R"("text")", json::find_member(part, "type"));
  }

  void read_audio(const json::raw_json& audio, const std::string& place, providers::message& into) {
    const auto format = json::member_text(audio, "format");
    auto data = json::member_text(audio, "data");
    if (data.empty()) return to_.wrong(dialects::place_at(place, "data"), "base64", json::find_member(audio, "data"));
    if (!to_.check_base64(data, dialects::place_at(place, "data"))) return;
    if (format != "wav" && format != "mp3")
      return to_.wrong(dialects::place_at(place, "format"), R"("wav" or "mp3")", json::find_member(audio, "format"));
    into.blocks.emplace_back(
        providers::file_block{format == "wav" ? "audio/wav" : "audio/mpeg", "", std::move(data), ""});
  }

  void read_file(const json::raw_json& file, const std::string& place, providers::message& into) {
    auto data = json::member_text(file, "file_data");
    if (data.empty())
      return to_.wrong(place, "file_data (mcpbx keeps no files, so a file_id means nothing to it)",
                       json::find_member(file, "file_data"));
    to_.add_file(into, "application/pdf", json::member_text(file, "filename"), std::move(data),
                 dialects::place_at(place, "file_data"));
  }

  void read_assistant(const json::raw_json& json, const std::string& place) {
    auto& m = *to_.add(role::assistant);
    const auto calls = dialects::given_member(json, "tool_calls");
    if (dialects::given_member(json, "content")) read_content(json, place, m, false);
    if (auto refusal = dialects::given_member(json, "refusal").as_string())
      m.blocks.emplace_back(providers::refusal_block{std::move(*refusal)});
    if (!calls) return;
    if (!calls.is_array()) return to_.wrong(dialects::place_at(place, "tool_calls"), "an array", calls);
    to_.read_each(calls, dialects::place_at(place, "tool_calls"),
                  [&](const json::raw_json& call, const std::string& at) { read_call(call, at, m); });
  }

  void read_call(const json::raw_json& json, const std::string& place, providers::message& into) {
    auto id = json::member_text(json, "id");
    if (id.empty())
      return to_.wrong(dialects::place_at(place, "id"), "the id of the call", json::find_member(json, "id"));
    const auto function = json::find_member(json, "function");
    auto name = json::member_text(function, "name");
    if (name.empty())
      return to_.wrong(dialects::place_at(place, "function.name"), "the name of a function",
                       json::find_member(function, "name"));
    auto arguments = json::find_member(function, "arguments").as_string();
    if (!arguments)
      return to_.wrong(dialects::place_at(place, "function.arguments"), "a string of JSON",
                       json::find_member(function, "arguments"));
    to_.add_call(into, std::move(id), std::move(name), std::move(*arguments), place, "id");
  }

  void read_result(const json::raw_json& json, const std::string& place) {
    providers::message said;
    read_content(json, place, said, false);
    if (to_.failed()) return;
    providers::message text;
    text.blocks.emplace_back(providers::text_block{said.text()});
    const auto id = json::find_member(json, "tool_call_id");
    to_.add_result(id.as_string().value_or(""), dialects::tool_result_of(text, false), false,
                   dialects::place_at(place, "tool_call_id"), id);
  }

  dialects::message_builder to_;
};

}  // namespace

std::expected<std::vector<providers::message_ptr>, dialects::request_fault> read_completion_messages(
    const json::raw_json& list) {
  return completion_message_reader().read(list);
}

}  // namespace mcpbx::daemon::completions
