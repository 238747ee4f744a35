// Encoding. Each message becomes one fragment that is kept with it, so that a round in a long conversation encodes only
// what is new and the bytes before it never change (the provider's prompt cache stays warm).
#include "providers/wire/openai_chat.hpp"

#include "providers/wire/chat_decoder.hpp"
#include "providers/wire/encoding.hpp"
#include "providers/wire/errors.hpp"
#include "providers/wire/results.hpp"

namespace mcpbx::providers {
namespace {

void append_text_message(std::string& out, std::string_view role, std::string_view text) {
  out += R"({"role":")";
  out += role;
  out += R"(","content":)";
  append_quoted(out, text);
  out += '}';
}

void append_image(std::string& out, std::string_view url) {
  out += R"({"type":"image_url","image_url":{"url":)";
  append_quoted(out, url);
  out += "}}";
}

void append_user(std::string& out, const message& m, std::string_view note) {
  bool images = false;
  for (const auto& b : m.blocks) images = images || std::holds_alternative<image_block>(b);
  if (!images) return append_text_message(out, "user", with_note(m.text(), note));
  out += R"({"role":"user","content":[)";
  bool first = true;
  for (const auto& b : m.blocks) {
    const auto* text = std::get_if<text_block>(&b);
    const auto* image = std::get_if<image_block>(&b);
    if (text == nullptr && image == nullptr) continue;
    if (!std::exchange(first, false)) out += ',';
    if (text != nullptr) {
      out += R"({"type":"text","text":)";
      append_quoted(out, text->text);
      out += '}';
    } else {
      append_image(out, image->url.empty() ? data_url(image->mime, image->data) : image->url);
    }
  }
  if (!note.empty()) {
    out += first ? R"({"type":"text","text":)" : R"(,{"type":"text","text":)";
    append_quoted(out, note);
    out += '}';
  }
  out += "]}";
}

// Somebody else's assistant message: what every server understands of it.
void append_assistant(std::string& out, const message& m, bool null_content) {
  auto text = m.text();
  for (const auto& b : m.blocks)
    if (const auto* r = std::get_if<refusal_block>(&b)) text += r->text;
  const auto calls = m.calls();
  out += R"({"role":"assistant","content":)";
  if (text.empty() && null_content && !calls.empty())
    out += "null";
  else
    append_quoted(out, text);
  if (!calls.empty()) {
    out += R"(,"tool_calls":[)";
    for (std::size_t i = 0; i < calls.size(); ++i) {
      if (i != 0) out += ',';
      append_call(out, *calls[i]);
    }
    out += ']';
  }
  out += '}';
}

// Every tool message of the turn first, then one user message with all their images. A note stands in the last tool
// message: some servers take no user message behind a tool's.
void append_results(std::string& out, const message& m, std::string_view note) {
  std::vector<result_part> images;
  std::string about;
  bool first = true;
  for (const auto& b : m.blocks) {
    const auto* r = std::get_if<tool_result_block>(&b);
    if (r == nullptr) continue;
    if (!std::exchange(first, false)) out += ',';
    auto converted = convert_result(*r, {.images = media_place::beside});
    auto text = converted.text();
    if (&b == &m.blocks.back()) text = with_note(std::move(text), note);
    out += R"({"role":"tool","tool_call_id":)";
    append_quoted(out, r->call_id);
    out += R"(,"content":)";
    append_quoted(out, text);
    out += '}';
    if (!converted.beside.empty()) {
      if (!about.empty()) about += ", ";
      about += std::to_string(converted.beside.size()) + " from " + r->name;
    }
    for (auto& image : converted.beside) images.push_back(std::move(image));
  }
  if (images.empty()) return;
  out += R"(,{"role":"user","content":[{"type":"text","text":)";
  append_quoted(out, "Images of the tool results above: " + about);
  out += '}';
  for (const auto& image : images) {
    out += ',';
    append_image(out, data_url(image.mime, image.data));
  }
  out += "]}";
}

raw_json encode_message(const message& m, const wire_options& options, std::string_view note) {
  std::string out;
  switch (m.role) {
    case role::system:
      append_text_message(out, "system", m.text());
      break;
    case role::user:
      append_user(out, m, note);
      break;
    case role::assistant:
      append_assistant(out, m, options.null_content);
      break;
    case role::tool_results:
      append_results(out, m, note);
      break;
  }
  return raw_json::own(out);
}

raw_json encode_tools(const tool_set& set) {
  std::string out = R"(,"tools":[)";
  for (std::size_t i = 0; i < set.tools.size(); ++i) {
    const auto& tool = set.tools[i];
    if (i != 0) out += ',';
    out += R"({"type":"function","function":{"name":)";
    append_quoted(out, tool.name);
    if (!tool.description.empty()) {
      out += R"(,"description":)";
      append_quoted(out, tool.description);
    }
    out += R"(,"parameters":)";
    out += tool.schema.empty() ? std::string_view(R"({"type":"object","properties":{}})") : tool.schema.text();
    out += "}}";
  }
  return raw_json::own(out + "]");
}

}  // namespace

wire_request openai_chat::encode(const model_request& request, const wire_options& options) const {
  wire_request out;
  out.url = join_url(options.base_url, "/chat/completions");
  out.headers = {{"Content-Type", "application/json"}, {"Accept", "text/event-stream, application/json"}};

  std::string head = R"({"model":)";
  append_quoted(head, options.model);
  head += R"(,"stream":true)";
  if (options.stream_options) head += R"(,"stream_options":{"include_usage":true})";
  const auto limit = request.max_output_tokens > 0 ? request.max_output_tokens : options.max_output_tokens;
  if (limit > 0) {
    head += ',';
    append_quoted(head, options.max_tokens_field);
    head += ':' + std::to_string(limit);
  }
  if (!options.temperature.empty()) head += R"(,"temperature":)" + options.temperature;
  if (!options.top_p.empty()) head += R"(,"top_p":)" + options.top_p;
  head += R"(,"messages":[)";
  out.body.append_copy(head);

  const std::string_view neutral = options.null_content ? "openai-chat/null" : "openai-chat/empty";
  bool first = true;
  for (const auto& m : request.messages) {
    const auto encode = [&](std::string_view note) { return encode_message(*m, options, note); };
    // With a note it is not what later calls send.
    const bool last = m == request.messages.back() && !request.note.empty();
    auto fragment = is_own(*m, api, options) ? m->raw
                    : last                   ? encode(request.note)
                                             : encoded_once(*m, neutral, [&] { return encode(""); });
    if (fragment.empty()) continue;
    if (!std::exchange(first, false)) out.body.append_literal(",");
    out.body.append(std::move(fragment));
  }
  out.body.append_literal("]");
  if (request.tools && !request.tools->tools.empty()) {
    const auto& set = *request.tools;
    out.body.append(encoded_once(set, api, [&] { return encode_tools(set); }));
  }
  if (options.answer_schema && request.answer_schema) {
    out.body.append_literal(R"(,"response_format":{"type":"json_schema","json_schema":{"name":"answer","schema":)");
    out.body.append(request.answer_schema);
    out.body.append_literal("}}");
  }
  out.body.append_literal("}");
  return out;
}

std::unique_ptr<stream_decoder> openai_chat::make_decoder(std::string_view content_type, const wire_options& options,
                                                          const model_request* request) const {
  return std::make_unique<chat_decoder>(std::string(api), std::string(content_type), options, request);
}

model_error openai_chat::decode_error(int status, std::string_view body, const wire_options& options) const {
  return status_error(status, body, options);
}

}  // namespace mcpbx::providers
