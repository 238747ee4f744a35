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

namespace mcpbx::providers {
namespace {

constexpr std::size_t max_stop = 4;  // stop sequences that the API takes

void append_text_message(std::string& out, std::string_view role, std::string_view text) {
  out += R"({"role":")";
  out += role;
  out += R"(","content":)";
  append_quoted(out, text);
  out += '}';
}

void append_image(std::string& out, std::string_view url, std::string_view detail = "") {
  out += R"({"type":"image_url","image_url":{"url":)";
  append_quoted(out, url);
  if (!detail.empty()) {
    out += ",\"detail\":";
    append_quoted(out, detail);
  }
  out += "}}";
}

void append_text_part(std::string& out, std::string_view text) {
  out += R"({"type":"text","text":)";
  append_quoted(out, text);
  out += '}';
}

// Appends audio, a document with its bytes, or words for a file that cannot be sent.
void append_file(std::string& out, const file_block& file) {
  const auto type = media_type(file.mime);
  const std::string_view format = type == "audio/wav" ? "wav" : type == "audio/mpeg" ? "mp3" : "";
  if (file.data.empty())
    return append_text_part(out, "[file " + file.name + (file.name.empty() ? "" : ", ") + file.url + "]");
  if (!format.empty()) {
    out += R"({"type":"input_audio","input_audio":{"data":)";
    append_quoted(out, file.data);
    out += R"(,"format":")";
    out += format;
    out += "\"}}";
    return;
  }
  if (type != "application/pdf") return append_text_part(out, file_words(file));
  out += R"({"type":"file","file":{"filename":)";
  append_quoted(out, file.name.empty() ? "file.pdf" : file.name);
  out += R"(,"file_data":)";
  append_quoted(out, data_url(file.mime, file.data));
  out += "}}";
}

void append_user(std::string& out, const message& m, std::string_view note) {
  bool media = false;
  for (const auto& b : m.blocks)
    media = media || std::holds_alternative<image_block>(b) || std::holds_alternative<file_block>(b);
  if (!media) return append_text_message(out, "user", with_note(m.text(), note));
  out += R"({"role":"user","content":)";
  char before = '[';
  const auto next = [&] { out += std::exchange(before, ','); };
  for (const auto& b : m.blocks) {
    if (const auto* text = std::get_if<text_block>(&b)) {
      next();
      append_text_part(out, text->text);
    } else if (const auto* image = std::get_if<image_block>(&b)) {
      next();
      if (image->url.empty() && !is_shown_image(image->mime))
        append_text_part(out, left_out(*image));
      else
        append_image(out, image->url.empty() ? data_url(image->mime, image->data) : image->url, image->detail);
    } else if (const auto* file = std::get_if<file_block>(&b)) {
      next();
      append_file(out, *file);
    }
  }
  if (!note.empty()) {
    next();
    append_text_part(out, note);
  }
  out += "]}";
}

// Appends another model's message: only the parts that every server understands.
void append_assistant(std::string& out, const message& m, const wire_options& options) {
  const auto text = said_text(m);
  const auto calls = m.calls();
  if (text.empty() && calls.empty()) return;  // the rest is for its origin only, and servers refuse an empty message
  out += R"({"role":"assistant","content":)";
  if (text.empty() && options.null_content && !calls.empty())
    out += "null";
  else
    append_quoted(out, text);
  if (!calls.empty()) {
    out += R"(,"tool_calls":[)";
    for (std::size_t i = 0; i < calls.size(); ++i) {
      if (i != 0) out += ',';
      append_call(out, *calls[i], dialect_id(calls[i]->id, options));
    }
    out += ']';
  }
  out += '}';
}

// Encodes the tool messages of a turn, then one user message with all their images. A note goes into the last tool
// message, because some servers refuse a user message behind it.
result_fragments encode_results(const message& m, const wire_options& options, std::string_view note) {
  std::string out;
  out.reserve(240);
  media_beside images;
  for (const auto& b : m.blocks) {
    const auto* r = std::get_if<tool_result_block>(&b);
    if (r == nullptr) continue;
    if (!out.empty()) out += ',';
    auto converted = convert_result(*r, {.images = media_place::beside});
    auto text = converted.text();
    if (&b == &m.blocks.back()) text = with_note(std::move(text), note);
    out += R"({"role":"tool","tool_call_id":)";
    append_quoted(out, dialect_id(r->call_id, options));
    out += R"(,"content":)";
    append_quoted(out, text);
    out += '}';
    images.take(converted, r->name);
  }
  if (images.empty()) return {raw_json::own(out), {}};
  std::string beside = R"({"role":"user","content":[{"type":"text","text":)";
  append_quoted(beside, images.words("Images"));
  beside += '}';
  for (const auto& image : images.parts()) {
    beside += ',';
    append_image(beside, data_url(image.mime, image.data));
  }
  return {raw_json::own(out), raw_json::own(beside + "]}")};
}

raw_json encode_message(const message& m, const wire_options& options, std::string_view note) {
  std::string out;
  out.reserve(240);
  switch (m.role) {
    case role::system:
      append_text_message(out, options.developer_role ? "developer" : "system", m.text());
      break;
    case role::user:
      append_user(out, m, note);
      break;
    case role::assistant:
      if (said_text(m).empty() && m.calls().empty()) return {};  // the rest is for its origin only
      append_assistant(out, m, options);
      break;
    case role::tool_results:  // encode_results()
      break;
  }
  return raw_json::own(out);
}

// Returns the member tool_choice for a required call. `name` is the tool to call, or "" for any.
std::string chat_tool_choice(std::string_view name) {
  if (name.empty()) return R"("required")";
  return R"({"type":"function","function":{"name":)" + json_quoted(name) + "}}";
}

// Returns the key of cached fragments, made of all switches that change a message's bytes.
std::string message_key(const wire_options& options) {
  return std::string("openai-chat") + (options.null_content ? "/null" : "/empty") +
         (options.developer_role ? "/developer" : "") + (options.short_call_ids ? "/short" : "");
}

}  // namespace

wire_request openai_chat::encode(const model_request& request, const wire_options& options) const {
  wire_request out;
  out.url = chat_url(deployments_, options);
  out.headers = {{"Content-Type", "application/json"}, {"Accept", "text/event-stream, application/json"}};

  const auto tools = request.offered();
  const auto asked = settings_of(request, options);
  body_members members;
  members.add_text("model", options.model);
  members.add("stream", "true");
  if (options.stream_options) members.add("stream_options", R"({"include_usage":true})");
  if (asked.max_output_tokens > 0) members.add(options.max_tokens_field, std::to_string(asked.max_output_tokens));
  if (!asked.temperature.empty()) members.add("temperature", asked.temperature);
  if (!asked.top_p.empty()) members.add("top_p", asked.top_p);
  if (!asked.reasoning_effort.empty()) members.add_text("reasoning_effort", asked.reasoning_effort);
  if (!asked.stop.empty()) members.add("stop", string_list(first_of(asked.stop, max_stop)));
  if (asked.parallel_tool_calls) members.add("parallel_tool_calls", *asked.parallel_tool_calls ? "true" : "false");
  if (must_call(request)) members.add("tool_choice", chat_tool_choice(request.required_tool));
  out.body.append_copy("{" + members.write(options.body) + R"(,"messages":[)");

  const auto neutral = message_key(options);
  message_list list(out.body, !options.user_after_tool);
  for (const auto& m : request.messages) {
    // A message with a note is not cached, since later requests send it without.
    const auto note = m == request.messages.back() ? std::string_view(request.note) : std::string_view();
    if (m->role == role::tool_results) {
      const auto encode = [&] { return encode_results(*m, options, note); };
      list.add(note.empty() ? results_once(*m, neutral, "openai-chat/images", encode) : encode());
      continue;
    }
    const auto encode = [&] { return encode_message(*m, options, note); };
    list.add(m->role, is_own(*m, name_, options) ? m->raw
                      : note.empty()             ? encoded_once(*m, neutral, encode)
                                                 : encode());
  }
  list.finish();
  out.body.append_literal("]");
  if (tools) {
    out.body.append_literal(R"(,"tools":)");
    out.body.append(
        tool_list(openai_chat_api().tools, *tools, options.strict, options.takes_strict || options.strict.has_value()));
  }
  if (options.answer_schema && request.answer_schema && !find_member(options.body, "response_format")) {
    out.body.append_literal(R"(,"response_format":{"type":"json_schema","json_schema":{"name":"answer","schema":)");
    out.body.append(request.answer_schema);
    out.body.append_literal("}}");
  }
  out.body.append_literal("}");
  return out;
}

std::unique_ptr<stream_decoder> openai_chat::make_decoder(std::string_view content_type, const wire_options& options,
                                                          const model_request* request) const {
  return std::make_unique<chat_decoder>(std::string(name_), std::string(content_type), options, request);
}

model_error openai_chat::decode_error(int status, std::string_view body, const wire_options& options) const {
  return status_error(status, body, options);
}

}  // namespace mcpbx::providers
