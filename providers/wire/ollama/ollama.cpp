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

namespace mcpbx::providers::ollama {
namespace {

json::json_writer& begin_message(json::json_writer& w, std::string_view role, std::string_view content) {
  return w.begin_object().member("role", role).member("content", content);
}

// Writes a user message; `images` are base64 data without the prefix of a data URL.
void write_user(json::json_writer& w, std::string_view text, const std::vector<std::string_view>& images) {
  begin_message(w, "user", text);
  if (!images.empty()) w.list("images", images);
  w.end_object();
}

void write_user(json::json_writer& w, const message& m, std::string_view note) {
  auto text = m.text();
  std::vector<std::string_view> images;
  for (const auto& b : m.blocks) {
    if (const auto* file = std::get_if<file_block>(&b))
      text = wire::with_note(std::move(text), wire::file_words(*file));
    const auto* image = std::get_if<image_block>(&b);
    if (image == nullptr) continue;
    if (image->url.empty() && wire::is_shown_image(image->mime))
      images.emplace_back(image->data);
    else if (image->url.empty())
      text = wire::with_note(std::move(text), wire::left_out(*image));
    else
      text = wire::with_note(std::move(text), "[image at " + image->url + ": left out, this API takes no addresses]");
  }
  write_user(w, wire::with_note(std::move(text), note), images);
}

void write_assistant(json::json_writer& w, const message& m) {
  const auto text = wire::said_text(m);
  const auto calls = m.calls();
  if (text.empty() && calls.empty()) return;  // the rest is for its origin only
  begin_message(w, "assistant", text);
  if (!calls.empty()) {
    w.key("tool_calls").begin_array();
    for (const auto* call : calls) write_ollama_call(w, *call, call->id);
    w.end_array();
  }
  w.end_object();
}

// Encodes the tool messages of a turn, then one user message with all their images.
wire::result_fragments encode_results(const message& m, const wire::id_lookup& ids, std::string_view note) {
  std::string out;
  json::json_writer w(out);
  wire::media_beside images;
  for (const auto& b : m.blocks) {
    const auto* r = std::get_if<tool_result_block>(&b);
    if (r == nullptr) continue;
    auto converted = wire::convert_result(*r, {.images = wire::media_place::beside});
    auto text = converted.text();
    if (&b == &m.blocks.back()) text = wire::with_note(std::move(text), note);
    begin_message(w, "tool", text).member("tool_name", fitting_name(r->name));
    w.filled("tool_call_id", ids.own() ? ids.sent_id(r->call_id) : std::string_view(r->call_id)).end_object();
    images.take(converted, r->name);
  }
  if (images.empty()) return {w.json(), {}};
  std::vector<std::string_view> data;
  for (const auto& image : images.parts()) data.emplace_back(image.data);
  std::string beside;
  json::json_writer user(beside);
  write_user(user, images.words("Images"), data);
  return {w.json(), user.json()};
}

json::raw_json encode_message(const message& m, std::string_view note) {
  std::string out;
  json::json_writer w(out);
  switch (m.role) {
    case role::system:
      begin_message(w, "system", m.text()).end_object();
      break;
    case role::user:
      write_user(w, m, note);
      break;
    case role::assistant:
      write_assistant(w, m);
      break;
    case role::tool_results:  // encode_results()
      break;
  }
  return w.json();
}

// Writes the member think. One model family has three levels; all others only accept true or false.
void write_think(json::json_writer& w, std::string_view effort, std::string_view model) {
  if (effort == "none") return void(w.member("think", false));
  if (effort != "low" && effort != "medium" && effort != "high") return;
  if (model.find("gpt-oss") != std::string_view::npos)
    w.member("think", effort);
  else
    w.member("think", true);
}

std::string options_of(const call_settings& asked) {
  std::string out;
  json::json_writer w(out);
  w.begin_object();
  if (asked.max_output_tokens > 0) w.member("num_predict", asked.max_output_tokens);
  wire::write_sampling(w, asked);
  if (!asked.stop.empty()) w.list("stop", asked.stop);
  w.end_object();
  return out;
}

std::string own_members(const model_request& request, const wire::wire_options& options) {
  std::string out;
  json::json_writer w(out);
  w.begin_object().member("model", options.model).member("stream", true);
  const auto asked = wire::settings_of(request, options);
  if (const auto set = options_of(asked); set != "{}") w.key("options").token(set);
  write_think(w, asked.reasoning_effort, options.model);
  // A schema constrains every token and would prevent tool calls, so it is sent in rounds without tools only.
  if (!request.offered()) w.given("format", request.answer_schema);
  w.end_object();
  return out;
}

}  // namespace

wire::wire_request ollama::encode(const model_request& request, const wire::wire_options& options) const {
  wire::wire_request out;
  std::string_view base = options.base_url;
  while (base.ends_with('/')) base.remove_suffix(1);
  out.url = wire::join_url(base, base.ends_with("/api") ? "/chat" : "/api/chat");
  out.headers = {{"Content-Type", "application/json"}, {"Accept", "application/x-ndjson, application/json"}};
  json::segment_builder body;
  json::segment_writer w(body);
  w.begin_object();
  wire::write_members(w, own_members(request, options), options.body);
  if (const auto tools = request.offered()) w.member("tools", wire::tool_list(ollama_api().tools, *tools));
  w.key("messages").begin_array();
  wire::message_list list(w);
  wire::id_lookup ids;
  const auto last_note = wire::note_with_choice(request);  // the API has no tool_choice
  for (const auto& m : request.messages) {
    const bool own = wire::is_own(*m, api, options);
    if (m->role == role::assistant) ids.turn(*m, own);
    // A message with a note is not cached, since later requests send it without.
    const auto note = m == request.messages.back() ? std::string_view(last_note) : std::string_view();
    if (m->role == role::tool_results) {
      const auto encode = [&] { return encode_results(*m, ids, note); };
      const std::string_view key = ids.own() ? "ollama/own" : "ollama";
      list.add(note.empty() ? wire::results_once(*m, key, "ollama/images", encode) : encode());
      continue;
    }
    const auto encode = [&] { return encode_message(*m, note); };
    list.add(m->role, own ? m->raw : note.empty() ? wire::encoded_once(*m, api, encode) : encode());
  }
  list.finish();
  w.end_array().end_object();
  out.body = body.take();
  return out;
}

std::unique_ptr<wire::stream_decoder> ollama::make_decoder(std::string_view content_type,
                                                           const wire::wire_options& options,
                                                           const model_request* request) const {
  return std::make_unique<ollama_decoder>(std::string(api), std::string(content_type), options, request);
}

model_error ollama::decode_error(int status, std::string_view body, const wire::wire_options& options) const {
  return wire::status_error(status, body, options);
}

}  // namespace mcpbx::providers::ollama
