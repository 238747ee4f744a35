// Encodes requests to Ollama. Tools come before the messages, so that a further round begins with the same bytes.
#include "providers/wire/ollama/ollama.hpp"

#include "providers/model/names.hpp"
#include "providers/wire/api_errors.hpp"
#include "providers/wire/encoding.hpp"
#include "providers/wire/finished_calls.hpp"
#include "providers/wire/message_list.hpp"
#include "providers/wire/ollama/ollama_decoder.hpp"
#include "providers/wire/request_body.hpp"
#include "providers/wire/results.hpp"

#include <utility>

namespace mcpbx::providers {
namespace {

void begin_message(std::string& out, std::string_view role, std::string_view content) {
  out += R"({"role":")";
  out += role;
  out += R"(","content":)";
  append_quoted(out, content);
}

// Appends a list of base64 data, without the prefix of a data URL.
void append_images(std::string& out, const std::vector<std::string_view>& images) {
  if (images.empty()) return;
  out += R"(,"images":[)";
  for (std::size_t i = 0; i < images.size(); ++i) {
    if (i != 0) out += ',';
    append_quoted(out, images[i]);
  }
  out += ']';
}

void append_user_text(std::string& out, const message& m, std::string_view note) {
  auto text = m.text();
  std::vector<std::string_view> images;
  for (const auto& b : m.blocks) {
    if (const auto* file = std::get_if<file_block>(&b)) text = with_note(std::move(text), file_words(*file));
    const auto* image = std::get_if<image_block>(&b);
    if (image == nullptr) continue;
    if (image->url.empty() && is_shown_image(image->mime))
      images.emplace_back(image->data);
    else if (image->url.empty())
      text = with_note(std::move(text), left_out(*image));
    else
      text = with_note(std::move(text), "[image at " + image->url + ": left out, this API takes no addresses]");
  }
  begin_message(out, "user", with_note(std::move(text), note));
  append_images(out, images);
  out += '}';
}

void append_assistant(std::string& out, const message& m) {
  const auto text = said_text(m);
  const auto calls = m.calls();
  if (text.empty() && calls.empty()) return;  // the rest is for its origin only
  begin_message(out, "assistant", text);
  if (!calls.empty()) {
    out += R"(,"tool_calls":[)";
    for (std::size_t i = 0; i < calls.size(); ++i) {
      if (i != 0) out += ',';
      append_ollama_call(out, *calls[i], calls[i]->id);
    }
    out += ']';
  }
  out += '}';
}

// Encodes the tool messages of a turn, then one user message with all their images.
result_fragments encode_results(const message& m, const id_lookup& ids, std::string_view note) {
  std::string out;
  media_beside images;
  for (const auto& b : m.blocks) {
    const auto* r = std::get_if<tool_result_block>(&b);
    if (r == nullptr) continue;
    if (!out.empty()) out += ',';
    auto converted = convert_result(*r, {.images = media_place::beside});
    auto text = converted.text();
    if (&b == &m.blocks.back()) text = with_note(std::move(text), note);
    begin_message(out, "tool", text);
    out += R"(,"tool_name":)";
    append_quoted(out, fitting_name(r->name));
    if (const auto id = ids.own() ? ids.sent_id(r->call_id) : std::string_view(r->call_id); !id.empty()) {
      out += R"(,"tool_call_id":)";
      append_quoted(out, id);
    }
    out += '}';
    images.take(converted, r->name);
  }
  if (images.empty()) return {raw_json::own(out), {}};
  std::string beside;
  begin_message(beside, "user", images.words("Images"));
  std::vector<std::string_view> data;
  for (const auto& image : images.parts()) data.emplace_back(image.data);
  append_images(beside, data);
  return {raw_json::own(out), raw_json::own(beside + "}")};
}

raw_json encode_message(const message& m, std::string_view note) {
  std::string out;
  switch (m.role) {
    case role::system:
      begin_message(out, "system", m.text());
      out += '}';
      break;
    case role::user:
      append_user_text(out, m, note);
      break;
    case role::assistant:
      append_assistant(out, m);
      break;
    case role::tool_results:  // encode_results()
      break;
  }
  return raw_json::own(out);
}

// Returns the member think. One model family has three levels; all others only accept true or false.
std::string think_of(std::string_view effort, std::string_view model) {
  if (effort == "none") return "false";
  if (effort != "low" && effort != "medium" && effort != "high") return {};
  return model.find("gpt-oss") != std::string_view::npos ? json_quoted(effort) : "true";
}

std::string head_of(const model_request& request, const wire_options& options) {
  body_members own;
  own.add_text("model", options.model);
  own.add("stream", "true");
  const auto asked = settings_of(request, options);
  body_members settings;
  if (asked.max_output_tokens > 0) settings.add("num_predict", std::to_string(asked.max_output_tokens));
  if (!asked.temperature.empty()) settings.add("temperature", asked.temperature);
  if (!asked.top_p.empty()) settings.add("top_p", asked.top_p);
  if (!asked.stop.empty()) settings.add("stop", string_list(asked.stop));
  if (auto text = settings.write({}); !text.empty()) own.add("options", "{" + text + "}");
  if (auto think = think_of(asked.reasoning_effort, options.model); !think.empty()) own.add("think", std::move(think));
  // A schema constrains every token and would prevent tool calls, so it is sent in rounds without tools only.
  if (request.answer_schema && !request.offered()) own.add("format", std::string(request.answer_schema.text()));
  return "{" + own.write(options.body) + ",";
}

}  // namespace

wire_request ollama::encode(const model_request& request, const wire_options& options) const {
  wire_request out;
  std::string_view base = options.base_url;
  while (base.ends_with('/')) base.remove_suffix(1);
  out.url = join_url(base, base.ends_with("/api") ? "/chat" : "/api/chat");
  out.headers = {{"Content-Type", "application/json"}, {"Accept", "application/x-ndjson, application/json"}};
  out.body.append_copy(head_of(request, options));
  if (const auto tools = request.offered()) {
    out.body.append_literal(R"("tools":)");
    out.body.append(tool_list(ollama_api().tools, *tools));
    out.body.append_literal(",");
  }
  out.body.append_literal(R"("messages":[)");
  message_list list(out.body);
  id_lookup ids;
  const auto last_note = note_with_choice(request);  // the API has no tool_choice
  for (const auto& m : request.messages) {
    const bool own = is_own(*m, api, options);
    if (m->role == role::assistant) ids.turn(*m, own);
    // A message with a note is not cached, since later requests send it without.
    const auto note = m == request.messages.back() ? std::string_view(last_note) : std::string_view();
    if (m->role == role::tool_results) {
      const auto encode = [&] { return encode_results(*m, ids, note); };
      const std::string_view key = ids.own() ? "ollama/own" : "ollama";
      list.add(note.empty() ? results_once(*m, key, "ollama/images", encode) : encode());
      continue;
    }
    const auto encode = [&] { return encode_message(*m, note); };
    list.add(m->role, own ? m->raw : note.empty() ? encoded_once(*m, api, encode) : encode());
  }
  list.finish();
  out.body.append_literal("]}");
  return out;
}

std::unique_ptr<stream_decoder> ollama::make_decoder(std::string_view content_type, const wire_options& options,
                                                     const model_request* request) const {
  return std::make_unique<ollama_decoder>(std::string(api), std::string(content_type), options, request);
}

model_error ollama::decode_error(int status, std::string_view body, const wire_options& options) const {
  return status_error(status, body, options);
}

}  // namespace mcpbx::providers
