// Collection of messages and of the calls in them that have no result yet.
#include "daemon/front/dialects/message_builder.hpp"

#include "daemon/loop/json/message_json.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/server/base/param_reader.hpp"
#include "mcp/support/text.hpp"
#include "providers/model/arguments.hpp"

#include <variant>

namespace mcpbx::daemon::dialects {

using providers::role;

request_fault wrong_member(std::string param, std::string_view expected, const json::raw_json& got) {
  std::string message = param + ": expected " + std::string(expected) + ", got " + mcp::server::describe(got);
  return {400, std::move(message), std::move(param), ""};
}

std::string shown_name(std::string_view name) {
  constexpr std::size_t longest = 100;
  return json::json_quoted(name.size() <= longest ? std::string(name) : std::string(cut_utf8(name, longest)) + "…");
}

json::raw_json given_member(const json::raw_json& object, std::string_view key) {
  auto value = json::find_member(object, key);
  return value.is_null() ? json::raw_json() : value;
}

std::string place_at(std::string place, std::string_view key) {
  return std::move(place.append(1, '.').append(key));
}

std::string place_at(std::string place, std::size_t index) {
  return std::move(place.append("[").append(std::to_string(index)).append("]"));
}

bool is_web_address(std::string_view text) {
  return text.starts_with("https://") || text.starts_with("http://");
}

std::optional<std::pair<std::string, std::string>> data_url(std::string_view url) {
  constexpr std::string_view begin = "data:", mark = ";base64,";
  const auto place = url.find(mark);
  if (!url.starts_with(begin) || place == std::string_view::npos) return std::nullopt;
  return std::pair(std::string(url.substr(begin.size(), place - begin.size())),
                   std::string(url.substr(place + mark.size())));
}

json::raw_json tool_result_of(const providers::message& said, bool is_error) {
  std::string result;
  json::json_writer w(result);
  w.begin_object().key("content").begin_array();
  for (const auto& part : said.blocks) {
    if (const auto* text = std::get_if<providers::text_block>(&part)) {
      w.begin_object().members("type", "text", "text", text->text).end_object();
    } else if (const auto* image = std::get_if<providers::image_block>(&part)) {
      w.begin_object();
      if (image->url.empty())
        w.members("type", "image", "data", image->data, "mimeType", image->mime);
      else
        w.members("type", "resource_link", "uri", image->url, "name", "image");
      w.end_object();
    } else if (const auto* file = std::get_if<providers::file_block>(&part)) {
      w.begin_object();
      if (file->url.empty()) {
        w.member("type", "resource").key("resource").begin_object();
        w.members("uri", "attachment:" + file->name, "mimeType", file->mime, "blob", file->data).end_object();
      } else {
        w.members("type", "resource_link", "uri", file->url, "name", file->name);
      }
      w.end_object();
    }
  }
  w.end_array().set("isError", is_error).end_object();
  return w.json();
}

message_builder::message message_builder::add(role r) {
  last_ = std::make_shared<providers::message>();
  last_->role = r;
  messages_.push_back(last_);
  return last_;
}

message_builder::message message_builder::last_or_new(role r) {
  return last_ && last_->role == r ? last_ : add(r);
}

void message_builder::add_call(providers::message& into, std::string id, std::string name, std::string arguments,
                               const std::string& place, std::string_view id_key) {
  if (failed()) return;
  providers::tool_call_block call;
  call.id = std::move(id);
  call.name = std::move(name);
  call.arguments_text = std::move(arguments);
  providers::read_arguments(call);
  if (!open_.emplace(call.id, call.name).second)
    return fault(place_at(place, id_key), "the id " + shown_name(call.id) + " is another call's already");
  into.blocks.emplace_back(std::move(call));
}

void message_builder::add_result(const std::string& id, json::raw_json result, bool is_error, const std::string& place,
                                 const json::raw_json& got) {
  if (failed()) return;
  const auto call = open_.find(id);
  if (call == open_.end() && !without_calls_)
    return fault(place, "expected the id of a call in the assistant message before it that has no result yet, got " +
                            mcp::server::describe(got));
  if (call == open_.end() && id.empty()) return wrong(place, "the id of a call", got);
  if (!results_ || messages_.back() != results_) results_ = add(role::tool_results);
  results_->blocks.emplace_back(providers::tool_result_block{id, call == open_.end() ? std::string() : call->second,
                                                             std::move(result), is_error});
  if (call != open_.end()) open_.erase(call);
}

void message_builder::close_calls(const std::string& place, std::string_view form) {
  if (open_.empty()) return;
  fault(place, "expected " + std::string(form) + " with the result of the call " + shown_name(open_.begin()->first) +
                   " before it, because the assistant message that made it comes first");
}

bool message_builder::check_base64(const std::string& data, const std::string& place) {
  if (event_json::is_base64(data)) return true;
  fault(place, "expected " + std::string(event_json::base64_form) + ", got " +
                   mcp::server::describe(json::raw_json::own(json::json_quoted(data))));
  return false;
}

void message_builder::add_image_url(providers::message& into, const json::raw_json& url, std::string detail,
                                    const std::string& place) {
  const auto text = url.as_string().value_or("");
  auto data = data_url(text);
  if (data && !check_base64(data->second, place)) return;
  if (data)
    into.blocks.emplace_back(
        providers::image_block{std::move(data->first), std::move(data->second), "", std::move(detail)});
  else if (is_web_address(text))
    into.blocks.emplace_back(providers::image_block{"", "", text, std::move(detail)});
  else
    wrong(place, "an https:// address or data:MIME;base64,DATA", url);
}

void message_builder::add_file(providers::message& into, std::string mime, std::string name, std::string data,
                               const std::string& place) {
  if (auto whole = data_url(data)) {
    mime = std::move(whole->first);
    data = std::move(whole->second);
  }
  if (check_base64(data, place))
    into.blocks.emplace_back(providers::file_block{std::move(mime), std::move(name), std::move(data), ""});
}

std::expected<std::vector<providers::message_ptr>, request_fault> message_builder::finish() {
  if (fault_) return std::unexpected(std::move(*fault_));
  return std::move(messages_);
}

}  // namespace mcpbx::daemon::dialects
