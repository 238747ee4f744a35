// Encodes requests to the Responses API. A message becomes one or several items of `input`, cached as one fragment. The
// raw form of an answer is the list of its output items, which goes back item by item.
#include "providers/wire/openai/openai_responses.hpp"

#include "providers/model/names.hpp"
#include "providers/wire/api_errors.hpp"
#include "providers/wire/encoding.hpp"
#include "providers/wire/finished_calls.hpp"
#include "providers/wire/openai/openai_apis.hpp"
#include "providers/wire/openai/responses_decoder.hpp"
#include "providers/wire/request_body.hpp"
#include "providers/wire/results.hpp"
#include "providers/wire/strict_schema.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace mcpbx::providers::openai {
namespace {

constexpr std::int64_t least_output_tokens = 16;  // smallest limit that the API accepts

void write_input_text(json::json_writer& w, std::string_view text) {
  w.begin_object().member("type", "input_text").member("text", text).end_object();
}

void write_input_image(json::json_writer& w, std::string_view url, std::string_view detail = "") {
  w.begin_object().member("type", "input_image").member("detail", detail.empty() ? "auto" : detail);
  w.member("image_url", url).end_object();
}

void write_file_part(json::json_writer& w, std::string_view name, std::string_view mime, std::string_view data) {
  w.begin_object().member("type", "input_file");
  w.member("filename", !name.empty() ? name : mime == "application/pdf" ? "file.pdf" : "file");
  w.member("file_data", wire::data_url(mime, data)).end_object();
}

template <class Out>
void write_message_item(json::basic_json_writer<Out>& w, std::string_view role, std::string_view text) {
  w.begin_object().member("type", "message").member("role", role).member("content", text).end_object();
}

void write_call_item(json::json_writer& w, const tool_call_block& call) {
  w.begin_object().member("type", "function_call").member("call_id", wire::fitting_id(call.id));
  w.member("name", fitting_name(call.name)).member("arguments", wire::sent_arguments(call)).end_object();
}

void write_result_item(json::json_writer& w, const tool_result_block& block) {
  const auto converted =
      wire::convert_result(block, {.images = wire::media_place::inside, .documents = wire::media_place::inside});
  w.begin_object()
      .member("type", "function_call_output")
      .member("call_id", wire::fitting_id(block.call_id))
      .key("output");
  if (std::ranges::all_of(converted.parts, &wire::result_part::is_text)) {
    w.value(converted.text());
  } else {
    w.begin_array();
    for (const auto& part : converted.parts) {
      if (part.is_text())
        write_input_text(w, part.text);
      else if (wire::is_shown_image(part.mime))
        write_input_image(w, wire::data_url(part.mime, part.data));
      else
        write_file_part(w, part.name, part.mime, part.data);
    }
    w.end_array();
  }
  w.end_object();
}

void write_input_file(json::json_writer& w, const file_block& file) {
  if (!file.url.empty())
    w.begin_object().member("type", "input_file").member("file_url", file.url).end_object();
  else if (file.mime.starts_with("audio/") || file.mime.starts_with("video/"))
    write_input_text(w, wire::left_out(file));
  else
    write_file_part(w, file.name, file.mime, file.data);
}

void write_user_item(json::json_writer& w, const message& m) {
  if (!wire::has_media(m)) return write_message_item(w, "user", m.text());
  w.begin_object().member("type", "message").member("role", "user").key("content").begin_array();
  for (const auto& b : m.blocks) {
    if (const auto* text = std::get_if<text_block>(&b)) {
      write_input_text(w, text->text);
    } else if (const auto* image = std::get_if<image_block>(&b)) {
      if (image->url.empty() && !wire::is_shown_image(image->mime))
        write_input_text(w, wire::left_out(*image));
      else
        write_input_image(w, image->url.empty() ? wire::data_url(image->mime, image->data) : image->url, image->detail);
    } else if (const auto* file = std::get_if<file_block>(&b)) {
      write_input_file(w, *file);
    }
  }
  w.end_array().end_object();
}

// Encodes our own messages and those of other APIs, without reasoning, which only its origin may get.
json::raw_json encode_message(const message& m) {
  std::string out;
  json::json_writer w(out);
  if (m.role == role::user) {
    write_user_item(w, m);
    return w.json();
  }
  std::string text;  // text of neighbouring blocks
  const auto flush = [&] {
    if (!text.empty()) write_message_item(w, "assistant", std::exchange(text, {}));
  };
  for (const auto& b : m.blocks) {
    if (const auto* t = std::get_if<text_block>(&b)) {
      text += t->text;
    } else if (const auto* refusal = std::get_if<refusal_block>(&b)) {
      text += refusal->text;
    } else if (const auto* call = std::get_if<tool_call_block>(&b)) {
      flush();
      write_call_item(w, *call);
    } else if (const auto* result = std::get_if<tool_result_block>(&b)) {
      write_result_item(w, *result);
    }
  }
  flush();
  return w.json();
}

// Writes the member tool_choice for a required call. `name` is the tool to call, or "" for any.
void write_responses_tool_choice(json::json_writer& w, std::string_view name) {
  if (name.empty()) return void(w.member("tool_choice", "required"));
  w.key("tool_choice").begin_object().member("type", "function").member("name", name).end_object();
}

// Returns all system messages, wherever they are in the conversation.
std::string instructions(const model_request& request) {
  std::string all;
  for (const auto& m : request.messages)
    if (m->role == role::system) all = wire::with_note(std::move(all), m->text());
  return all;
}

}  // namespace

wire::wire_request openai_responses::encode(const model_request& request, const wire::wire_options& options) const {
  wire::wire_request out;
  out.url = wire::join_url(options.base_url, "/responses");
  out.headers = {{"Content-Type", "application/json"}, {"Accept", "text/event-stream, application/json"}};

  const auto tools = request.offered();
  const auto asked = wire::settings_of(request, options);
  std::string members;
  json::json_writer own(members);
  own.begin_object().member("model", options.model).member("stream", true).member("store", false);
  own.key("include").token(R"(["reasoning.encrypted_content"])");
  if (asked.max_output_tokens > 0)
    own.member("max_output_tokens", std::max(asked.max_output_tokens, least_output_tokens));
  wire::write_sampling(own, asked);
  if (!asked.reasoning_effort.empty())
    own.key("reasoning").begin_object().member("effort", asked.reasoning_effort).end_object();
  own.filled("instructions", instructions(request));
  own.given("parallel_tool_calls", asked.parallel_tool_calls);
  if (wire::must_call(request)) write_responses_tool_choice(own, request.required_tool);
  if (options.answer_schema && request.answer_schema) {
    own.key("text").begin_object().key("format").begin_object().member("type", "json_schema").member("name", "answer");
    own.member("strict", wire::is_strict_schema(request.answer_schema.text(), wire::strict_rules::openai));
    own.member("schema", request.answer_schema).end_object().end_object();
  }
  own.end_object();

  json::segment_builder body;
  json::segment_writer w(body);
  w.begin_object();
  wire::write_members(w, members, options.body);
  if (tools) w.member("tools", wire::tool_list(openai_responses_api().tools, *tools, options.strict == true));
  w.key("input").begin_array();
  for (const auto& m : request.messages) {
    if (m->role == role::system) continue;
    const auto items = wire::is_own(*m, api, options) && m->raw.is_array()
                           ? m->raw.slice(m->raw.text().substr(1, m->raw.text().size() - 2))
                           : wire::encoded_once(*m, api, [&] { return encode_message(*m); });
    if (!items.empty()) w.value(items);
  }
  if (!request.note.empty() && !request.messages.empty()) {
    const auto speaker = request.messages.back()->role;
    if (speaker == role::user || speaker == role::tool_results) write_message_item(w, "user", request.note);
  }
  w.end_array().end_object();
  out.body = body.take();
  return out;
}

std::unique_ptr<wire::stream_decoder> openai_responses::make_decoder(std::string_view content_type,
                                                                     const wire::wire_options& options,
                                                                     const model_request* request) const {
  return std::make_unique<responses_decoder>(std::string(content_type), options, request);
}

model_error openai_responses::decode_error(int status, std::string_view body, const wire::wire_options& options) const {
  return wire::status_error(status, body, options);
}

}  // namespace mcpbx::providers::openai
