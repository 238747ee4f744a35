// Conversion of content blocks. Reading stops at the first fault, which is kept with its place.
#include "daemon/front/messages/messages_content.hpp"

#include "daemon/front/dialects/message_builder.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace mcpbx::daemon::messages {
namespace {

using providers::role;

constexpr std::string_view result_form = "a tool_result block";

class content_reader {
 public:
  std::expected<std::vector<providers::message_ptr>, dialects::request_fault> read(const json::raw_json& system,
                                                                                   const json::raw_json& list) {
    read_system(system);
    to_.read_messages(list, "messages", "messages",
                      [&](const json::raw_json& one, const std::string& place) { read_message(one, place); });
    to_.close_calls("messages", result_form);
    return to_.finish();
  }

 private:
  void read_system(const json::raw_json& system) {
    if (!system) return;
    read_text_content(system, "system", *to_.add(role::system));
  }

  // Reads a string or text blocks.
  void read_text_content(const json::raw_json& content, const std::string& place, providers::message& into) {
    read_content(
        content, place,
        [&](const json::raw_json& block, const std::string& where) {
          if (json::member_text(block, "type") != "text")
            to_.wrong(dialects::place_at(where, "type"), "\"text\"", json::find_member(block, "type"));
          else
            read_text(block, where, into);
        },
        into);
  }

  // Reads a string as one text into `into`, or calls `read` for each block.
  template <class Read>
  void read_content(const json::raw_json& content, const std::string& place, Read&& read, providers::message& into) {
    to_.read_content(content, place, "a string or an array of content blocks", into, std::forward<Read>(read));
  }

  void read_message(const json::raw_json& json, const std::string& place) {
    if (!json.is_object()) return to_.wrong(place, "an object with role and content", json);
    const auto who = json::member_text(json, "role");
    const auto content = dialects::given_member(json, "content");
    const auto where = dialects::place_at(place, "content");
    if (who == "user") return read_user(content, where);
    to_.close_calls(place, result_form);
    if (to_.failed()) return;
    if (who == "assistant") return read_assistant(content, where);
    if (who == "system") return read_text_content(content, where, *to_.add(role::system));
    to_.wrong(dialects::place_at(place, "role"), R"("user", "assistant" or "system")", json::find_member(json, "role"));
  }

  void read_user(const json::raw_json& content, const std::string& where) {
    if (content.is_string()) to_.close_calls(where, result_form);
    if (to_.failed()) return;
    providers::message said;
    read_content(
        content, where,
        [&](const json::raw_json& block, const std::string& place) {
          if (json::member_text(block, "type") == "tool_result") {
            if (said.blocks.empty()) return read_result(block, place);
            return to_.fault(place, "expected tool_result blocks at the beginning of the content only");
          }
          to_.close_calls(place, result_form);
          if (!to_.failed()) read_user_block(block, place, said);
        },
        said);
    if (to_.failed()) return;
    to_.close_calls(where, result_form);
    if (said.blocks.empty()) return;
    auto& m = *to_.last_or_new(role::user);
    for (auto& block : said.blocks) m.blocks.push_back(std::move(block));
  }

  void read_user_block(const json::raw_json& block, const std::string& place, providers::message& into) {
    const auto type = json::member_text(block, "type");
    if (type == "text") return read_text(block, place, into);
    if (type == "image")
      return read_image(json::find_member(block, "source"), dialects::place_at(place, "source"), into);
    if (type == "document") return read_document(block, place, into);
    to_.wrong(dialects::place_at(place, "type"), R"("text", "image", "document" or "tool_result")",
              json::find_member(block, "type"));
  }

  void read_text(const json::raw_json& block, const std::string& place, providers::message& into) {
    auto text = json::find_member(block, "text").as_string();
    if (!text) return to_.wrong(dialects::place_at(place, "text"), "a string", json::find_member(block, "text"));
    into.blocks.emplace_back(providers::text_block{std::move(*text)});
  }

  void read_image(const json::raw_json& source, const std::string& place, providers::message& into) {
    const auto type = json::member_text(source, "type");
    if (type == "url") {
      const auto url = json::find_member(source, "url");
      if (url.as_string().value_or("").starts_with("data:"))
        return to_.wrong(dialects::place_at(place, "url"), "an https:// address", url);
      return to_.add_image_url(into, url, "", dialects::place_at(place, "url"));
    }
    if (type != "base64")
      return to_.wrong(dialects::place_at(place, "type"), R"("base64" or "url")", json::find_member(source, "type"));
    auto mime = json::member_text(source, "media_type"), data = json::member_text(source, "data");
    if (!mime.starts_with("image/"))
      return to_.wrong(dialects::place_at(place, "media_type"), "a type of image",
                       json::find_member(source, "media_type"));
    if (to_.check_base64(data, dialects::place_at(place, "data")))
      into.blocks.emplace_back(providers::image_block{std::move(mime), std::move(data), ""});
  }

  void read_document(const json::raw_json& block, const std::string& place, providers::message& into) {
    const auto source = json::find_member(block, "source");
    const auto where = dialects::place_at(place, "source");
    const auto type = json::member_text(source, "type");
    if (type == "text") {
      auto text = json::find_member(source, "data").as_string();
      if (!text) return to_.wrong(dialects::place_at(where, "data"), "a string", json::find_member(source, "data"));
      into.blocks.emplace_back(providers::text_block{std::move(*text)});
    } else if (type == "base64") {
      auto mime = json::member_text(source, "media_type"), data = json::member_text(source, "data");
      if (mime.empty())
        return to_.wrong(dialects::place_at(where, "media_type"), "a MIME type",
                         json::find_member(source, "media_type"));
      if (to_.check_base64(data, dialects::place_at(where, "data")))
        into.blocks.emplace_back(
            providers::file_block{std::move(mime), json::member_text(block, "title"), std::move(data), ""});
    } else if (type == "url") {
      const auto url = json::member_text(source, "url");
      if (!dialects::is_web_address(url))
        return to_.wrong(dialects::place_at(where, "url"), "an https:// address", json::find_member(source, "url"));
      into.blocks.emplace_back(providers::file_block{"application/pdf", json::member_text(block, "title"), "", url});
    } else if (type == "content") {
      read_text_content(json::find_member(source, "content"), dialects::place_at(where, "content"), into);
    } else {
      to_.wrong(dialects::place_at(where, "type"), R"("base64", "text", "content" or "url")",
                json::find_member(source, "type"));
    }
  }

  void read_assistant(const json::raw_json& content, const std::string& where) {
    providers::message said;
    read_content(
        content, where,
        [&](const json::raw_json& block, const std::string& place) {
          const auto type = json::member_text(block, "type");
          if (type == "text") return read_text(block, place, said);
          if (type == "tool_use") return read_call(block, place, said);
          if (type != "thinking" && type != "redacted_thinking")
            to_.wrong(dialects::place_at(place, "type"), R"("text", "tool_use", "thinking" or "redacted_thinking")",
                      json::find_member(block, "type"));
        },
        said);
    if (to_.failed() || said.blocks.empty()) return;
    auto& m = *to_.last_or_new(role::assistant);
    for (auto& block : said.blocks) m.blocks.push_back(std::move(block));
  }

  void read_call(const json::raw_json& block, const std::string& place, providers::message& into) {
    auto id = json::member_text(block, "id"), name = json::member_text(block, "name");
    if (id.empty())
      return to_.wrong(dialects::place_at(place, "id"), "the id of the call", json::find_member(block, "id"));
    if (name.empty())
      return to_.wrong(dialects::place_at(place, "name"), "the name of a tool", json::find_member(block, "name"));
    const auto input = json::find_member(block, "input");
    if (!input.is_object()) return to_.wrong(dialects::place_at(place, "input"), "an object", input);
    to_.add_call(into, std::move(id), std::move(name), std::string(input.text()), place, "id");
  }

  void read_result(const json::raw_json& block, const std::string& place) {
    const auto content = dialects::given_member(block, "content");
    const bool failed = json::find_member(block, "is_error").is_true();
    providers::message said;
    if (content)
      read_content(
          content, dialects::place_at(place, "content"),
          [&](const json::raw_json& part, const std::string& where) { read_user_block(part, where, said); }, said);
    if (to_.failed()) return;
    const auto id = json::find_member(block, "tool_use_id");
    to_.add_result(id.as_string().value_or(""), dialects::tool_result_of(said, failed), failed,
                   dialects::place_at(place, "tool_use_id"), id);
  }

  dialects::message_builder to_;
};

}  // namespace

std::expected<std::vector<providers::message_ptr>, dialects::request_fault> read_messages_content(
    const json::raw_json& system, const json::raw_json& list) {
  return content_reader().read(system, list);
}

}  // namespace mcpbx::daemon::messages
