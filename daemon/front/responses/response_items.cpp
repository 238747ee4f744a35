// Conversion of items. Reading stops at the first fault, which is kept with its place.
#include "daemon/front/responses/response_items.hpp"

#include "daemon/front/dialects/message_builder.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/support/keyed_hash.hpp"

#include <string_view>
#include <utility>
#include <variant>

namespace mcpbx::daemon::responses {
namespace {

using providers::role;

constexpr std::string_view output_form = "a function_call_output item";

class item_reader {
 public:
  explicit item_reader(const item_source& items) : items_(items) {}

  std::expected<std::vector<providers::message_ptr>, dialects::request_fault> read(std::string instructions,
                                                                                   const json::raw_json& input,
                                                                                   bool after_response) {
    if (after_response) to_.expect_no_calls();
    if (!instructions.empty()) to_.add_text(*to_.add(role::system), std::move(instructions));
    if (auto text = input.as_string()) {
      to_.add_text(*to_.add(role::user), std::move(*text));
      return to_.finish();
    }
    if (!input.is_array() || input.text() == "[]")
      to_.wrong("input", "a string or an array of at least one item", input);
    to_.read_messages(input, "input", "items",
                      [&](const json::raw_json& one, const std::string& place) { read_item(one, place); });
    to_.close_calls("input", output_form);
    return to_.finish();
  }

 private:
  void read_item(const json::raw_json& json, const std::string& place) {
    if (!json.is_object()) return to_.wrong(place, "an object", json);
    const auto type = dialects::given_member(json, "type");
    const auto word = type.as_string().value_or("");
    const bool has_role = !json::find_member(json, "role").empty();
    if (word == "item_reference" || (!type && !has_role && json::find_member(json, "id")))
      return read_reference(json, place);
    if (!type || word == "message") return read_message(json, place);
    if (word == "function_call") return read_call(json, place);
    if (word == "function_call_output") return read_output(json, place);
    if (word != "reasoning")
      to_.wrong(dialects::place_at(place, "type"),
                R"("message", "function_call", "function_call_output", "reasoning" or "item_reference")", type);
  }

  // Reads the item that the daemon itself has sent. It is no reference again, so this nests once. Each item counts
  // once, or a small request could ask for copies of a large item without an end.
  void read_reference(const json::raw_json& json, const std::string& place) {
    const auto id = json::find_member(json, "id").as_string().value_or("");
    if (referenced_.contains(id))
      return to_.fault(dialects::place_at(place, "id"), "the item " + dialects::shown_name(id) + " is there twice");
    const auto item = items_ ? items_(id) : json::raw_json();
    referenced_.insert(id);
    if (!item)
      return to_.fault(dialects::place_at(place, "id"),
                       "expected the id of an item of a response that mcpbx still has; send the item itself");
    read_item(item, place);
  }

  void read_message(const json::raw_json& json, const std::string& place) {
    const auto who = json::member_text(json, "role");
    if (who == "assistant") return read_content(json, place, *to_.last_or_new(role::assistant), false);
    to_.close_calls(place, output_form);
    if (to_.failed()) return;
    if (who == "system" || who == "developer") return read_content(json, place, *to_.add(role::system), false);
    if (who == "user") return read_content(json, place, *to_.add(role::user), true);
    to_.wrong(dialects::place_at(place, "role"), R"("system", "developer", "user" or "assistant")",
              json::find_member(json, "role"));
  }

  void read_content(const json::raw_json& json, const std::string& place, providers::message& into, bool media) {
    read_value(dialects::given_member(json, "content"), dialects::place_at(place, "content"), into, media);
  }

  void read_value(const json::raw_json& content, const std::string& place, providers::message& into, bool media) {
    to_.read_content(content, place, "a string or an array of parts", into,
                     [&](const json::raw_json& part, const std::string& at) { read_part(part, at, into, media); });
  }

  void read_part(const json::raw_json& part, const std::string& place, providers::message& into, bool media) {
    const auto type = json::member_text(part, "type");
    if (type == "input_text" || type == "output_text" || type == "text" || type == "refusal") {
      const std::string key = type == "refusal" ? "refusal" : "text";
      auto text = json::find_member(part, key).as_string();
      if (!text) return to_.wrong(dialects::place_at(place, key), "a string", json::find_member(part, key));
      if (type == "refusal")
        into.blocks.emplace_back(providers::refusal_block{std::move(*text)});
      else
        to_.add_text(into, std::move(*text));
      return;
    }
    if (media && type == "input_image") {
      if (!dialects::given_member(part, "image_url"))
        return to_.wrong(place, "image_url (mcpbx keeps no files, so a file_id means nothing to it)",
                         json::find_member(part, "image_url"));
      return to_.add_image_url(into, json::find_member(part, "image_url"), json::member_text(part, "detail"),
                               dialects::place_at(place, "image_url"));
    }
    if (media && type == "input_file") return read_file(part, place, into);
    to_.wrong(dialects::place_at(place, "type"),
              media ? R"("input_text", "input_image" or "input_file")" : R"("input_text", "output_text" or "refusal")",
              json::find_member(part, "type"));
  }

  void read_file(const json::raw_json& part, const std::string& place, providers::message& into) {
    const auto url = dialects::given_member(part, "file_url");
    if (url) {
      auto address = url.as_string().value_or("");
      if (!dialects::is_web_address(address))
        return to_.wrong(dialects::place_at(place, "file_url"), "an https:// address", url);
      into.blocks.emplace_back(
          providers::file_block{"application/pdf", json::member_text(part, "filename"), "", std::move(address)});
      return;
    }
    auto data = json::member_text(part, "file_data");
    if (data.empty())
      return to_.wrong(place, "file_data (mcpbx keeps no files, so a file_id means nothing to it)",
                       json::find_member(part, "file_data"));
    to_.add_file(into, "application/pdf", json::member_text(part, "filename"), std::move(data),
                 dialects::place_at(place, "file_data"));
  }

  void read_call(const json::raw_json& json, const std::string& place) {
    auto id = json::member_text(json, "call_id"), name = json::member_text(json, "name");
    if (id.empty())
      return to_.wrong(dialects::place_at(place, "call_id"), "the id of the call", json::find_member(json, "call_id"));
    if (name.empty())
      return to_.wrong(dialects::place_at(place, "name"), "the name of a function", json::find_member(json, "name"));
    auto arguments = json::find_member(json, "arguments").as_string();
    if (!arguments)
      return to_.wrong(dialects::place_at(place, "arguments"), "a string of JSON",
                       json::find_member(json, "arguments"));
    to_.add_call(*to_.last_or_new(role::assistant), std::move(id), std::move(name), std::move(*arguments), place,
                 "call_id");
  }

  // Writes an output in the form of MCP.
  void read_output(const json::raw_json& json, const std::string& place) {
    providers::message said;
    read_value(dialects::given_member(json, "output"), dialects::place_at(place, "output"), said, true);
    if (to_.failed()) return;
    const auto id = json::find_member(json, "call_id");
    to_.add_result(id.as_string().value_or(""), dialects::tool_result_of(said, false), false,
                   dialects::place_at(place, "call_id"), id);
  }

  const item_source& items_;
  text_set referenced_;  // ids
  dialects::message_builder to_;
};

}  // namespace

std::expected<std::vector<providers::message_ptr>, dialects::request_fault> read_response_items(
    std::string instructions, const json::raw_json& input, bool after_response, const item_source& items) {
  return item_reader(items).read(std::move(instructions), input, after_response);
}

}  // namespace mcpbx::daemon::responses
