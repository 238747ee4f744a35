// Encodes requests to chat completions. Each message caches its fragment, so that a round encodes new messages only and
// the bytes before them never change, which keeps the provider's prompt cache warm.
#include "providers/wire/openai/openai_chat.hpp"

#include "providers/wire/api_errors.hpp"
#include "providers/wire/encoding.hpp"
#include "providers/wire/message_list.hpp"
#include "providers/wire/openai/chat_decoder.hpp"
#include "providers/wire/openai/dialects.hpp"
#include "providers/wire/openai/openai_apis.hpp"
#include "providers/wire/request_body.hpp"
#include "providers/wire/results.hpp"

namespace mcpbx::providers::openai {
namespace {

constexpr std::size_t max_stop = 4;  // stop sequences that the API takes

void write_text_message(json::json_writer& w, std::string_view role, std::string_view text) {
  w.begin_object().member("role", role).member("content", text).end_object();
}

void write_image(json::json_writer& w, std::string_view url, std::string_view detail = "") {
  w.begin_object().member("type", "image_url").key("image_url").begin_object();
  w.member("url", url).filled("detail", detail).end_object().end_object();
}

void write_text_part(json::json_writer& w, std::string_view text) {
  w.begin_object().member("type", "text").member("text", text).end_object();
}

// Writes audio, a document with its bytes, or words for a file that cannot be sent.
void write_file(json::json_writer& w, const file_block& file) {
  const auto type = wire::media_type(file.mime);
  const std::string_view format = type == "audio/wav" ? "wav" : type == "audio/mpeg" ? "mp3" : "";
  if (file.data.empty())
    return write_text_part(w, "[file " + file.name + (file.name.empty() ? "" : ", ") + file.url + "]");
  if (!format.empty()) {
    w.begin_object().member("type", "input_audio").key("input_audio").begin_object();
    w.member("data", file.data).member("format", format).end_object().end_object();
    return;
  }
  if (type != "application/pdf") return write_text_part(w, wire::file_words(file));
  w.begin_object().member("type", "file").key("file").begin_object();
  w.member("filename", file.name.empty() ? "file.pdf" : file.name);
  w.member("file_data", wire::data_url(file.mime, file.data)).end_object().end_object();
}

void write_user(json::json_writer& w, const message& m, std::string_view note) {
  if (!wire::has_media(m)) return write_text_message(w, "user", wire::with_note(m.text(), note));
  w.begin_object().member("role", "user").key("content").begin_array();
  for (const auto& b : m.blocks) {
    if (const auto* text = std::get_if<text_block>(&b)) {
      write_text_part(w, text->text);
    } else if (const auto* image = std::get_if<image_block>(&b)) {
      if (image->url.empty() && !wire::is_shown_image(image->mime))
        write_text_part(w, wire::left_out(*image));
      else
        write_image(w, image->url.empty() ? wire::data_url(image->mime, image->data) : image->url, image->detail);
    } else if (const auto* file = std::get_if<file_block>(&b)) {
      write_file(w, *file);
    }
  }
  if (!note.empty()) write_text_part(w, note);
  w.end_array().end_object();
}

// Writes another model's message: only the parts that every server understands.
void write_assistant(json::json_writer& w, const message& m, const wire::wire_options& options) {
  const auto text = wire::said_text(m);
  const auto calls = m.calls();
  if (text.empty() && calls.empty()) return;  // the rest is for its origin only, and servers refuse an empty message
  w.begin_object().member("role", "assistant");
  if (text.empty() && options.null_content && !calls.empty())
    w.member("content", json::raw_json());
  else
    w.member("content", text);
  if (!calls.empty()) {
    w.key("tool_calls").begin_array();
    for (const auto* call : calls) write_call(w, *call, dialect_id(call->id, options));
    w.end_array();
  }
  w.end_object();
}

// Encodes the tool messages of a turn, then one user message with all their images. A note goes into the last tool
// message, because some servers refuse a user message behind it.
wire::result_fragments encode_results(const message& m, const wire::wire_options& options, std::string_view note) {
  std::string out;
  out.reserve(240);
  json::json_writer w(out);
  wire::media_beside images;
  for (const auto& b : m.blocks) {
    const auto* r = std::get_if<tool_result_block>(&b);
    if (r == nullptr) continue;
    auto converted = wire::convert_result(*r, {.images = wire::media_place::beside});
    auto text = converted.text();
    if (&b == &m.blocks.back()) text = wire::with_note(std::move(text), note);
    w.begin_object().member("role", "tool").member("tool_call_id", dialect_id(r->call_id, options));
    w.member("content", text).end_object();
    images.take(converted, r->name);
  }
  if (images.empty()) return {w.json(), {}};
  std::string beside;
  json::json_writer user(beside);
  user.begin_object().member("role", "user").key("content").begin_array();
  write_text_part(user, images.words("Images"));
  for (const auto& image : images.parts()) write_image(user, wire::data_url(image.mime, image.data));
  user.end_array().end_object();
  return {w.json(), user.json()};
}

json::raw_json encode_message(const message& m, const wire::wire_options& options, std::string_view note) {
  std::string out;
  out.reserve(240);
  json::json_writer w(out);
  switch (m.role) {
    case role::system:
      write_text_message(w, options.developer_role ? "developer" : "system", m.text());
      break;
    case role::user:
      write_user(w, m, note);
      break;
    case role::assistant:
      write_assistant(w, m, options);
      break;
    case role::tool_results:  // encode_results()
      break;
  }
  return w.json();
}

// Writes the member tool_choice for a required call. `name` is the tool to call, or "" for any.
void write_chat_tool_choice(json::json_writer& w, std::string_view name) {
  if (name.empty()) return void(w.member("tool_choice", "required"));
  w.key("tool_choice").begin_object().member("type", "function").key("function").begin_object();
  w.member("name", name).end_object().end_object();
}

// Returns the key of cached fragments, made of all switches that change a message's bytes.
std::string message_key(const wire::wire_options& options) {
  return std::string("openai-chat") + (options.null_content ? "/null" : "/empty") +
         (options.developer_role ? "/developer" : "") + (options.short_call_ids ? "/short" : "");
}

}  // namespace

wire::wire_request openai_chat::encode(const model_request& request, const wire::wire_options& options) const {
  wire::wire_request out;
  out.url = chat_url(deployments_, options);
  out.headers = {{"Content-Type", "application/json"}, {"Accept", "text/event-stream, application/json"}};

  const auto tools = request.offered();
  const auto asked = wire::settings_of(request, options);
  std::string members;
  json::json_writer own(members);
  own.begin_object().member("model", options.model).member("stream", true);
  if (options.stream_options) own.key("stream_options").token(R"({"include_usage":true})");
  if (asked.max_output_tokens > 0) own.member(options.max_tokens_field, asked.max_output_tokens);
  wire::write_sampling(own, asked);
  own.filled("reasoning_effort", asked.reasoning_effort);
  if (!asked.stop.empty()) own.list("stop", wire::first_of(asked.stop, max_stop));
  own.given("parallel_tool_calls", asked.parallel_tool_calls);
  if (wire::must_call(request)) write_chat_tool_choice(own, request.required_tool);
  own.end_object();

  json::segment_builder body;
  json::segment_writer w(body);
  w.begin_object();
  wire::write_members(w, members, options.body);
  w.key("messages").begin_array();
  const auto neutral = message_key(options);
  wire::message_list list(w, !options.user_after_tool);
  for (const auto& m : request.messages) {
    // A message with a note is not cached, since later requests send it without.
    const auto note = m == request.messages.back() ? std::string_view(request.note) : std::string_view();
    if (m->role == role::tool_results) {
      const auto encode = [&] { return encode_results(*m, options, note); };
      list.add(note.empty() ? wire::results_once(*m, neutral, "openai-chat/images", encode) : encode());
      continue;
    }
    const auto encode = [&] { return encode_message(*m, options, note); };
    list.add(m->role, wire::is_own(*m, name_, options) ? m->raw
                      : note.empty()                   ? wire::encoded_once(*m, neutral, encode)
                                                       : encode());
  }
  list.finish();
  w.end_array();
  if (tools)
    w.member("tools", wire::tool_list(openai_chat_api().tools, *tools, options.strict,
                                      options.takes_strict || options.strict.has_value()));
  if (options.answer_schema && request.answer_schema && !json::find_member(options.body, "response_format")) {
    w.key("response_format").begin_object().member("type", "json_schema").key("json_schema").begin_object();
    w.member("name", "answer").member("schema", request.answer_schema).end_object().end_object();
  }
  w.end_object();
  out.body = body.take();
  return out;
}

std::unique_ptr<wire::stream_decoder> openai_chat::make_decoder(std::string_view content_type,
                                                                const wire::wire_options& options,
                                                                const model_request* request) const {
  return std::make_unique<chat_decoder>(std::string(name_), std::string(content_type), options, request);
}

model_error openai_chat::decode_error(int status, std::string_view body, const wire::wire_options& options) const {
  return wire::status_error(status, body, options);
}

}  // namespace mcpbx::providers::openai
