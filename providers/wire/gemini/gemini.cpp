// Encodes requests to Gemini. Members that stay the same come first and the conversation last, so that a further round
// begins with the same bytes.
#include "providers/wire/gemini/gemini.hpp"

#include "mcp/json/json_walk.hpp"
#include "mcp/support/percent.hpp"
#include "providers/model/names.hpp"
#include "providers/wire/api_errors.hpp"
#include "providers/wire/encoding.hpp"
#include "providers/wire/finished_calls.hpp"
#include "providers/wire/gemini/gemini_decoder.hpp"
#include "providers/wire/request_body.hpp"
#include "providers/wire/results.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace mcpbx::providers::gemini {
namespace {

// Gemini 3 refuses calls of earlier turns without the signature that it gave. This documented value replaces it in
// turns of other models. Earlier models do not check.
constexpr std::string_view foreign_signature = "skip_thought_signature_validator";

constexpr std::size_t max_stop = 5;  // stop sequences that the API takes

// Returns true for models of the first two generations: no images inside results, no answer schema beside tools, no
// levels of thinking.
bool is_early(std::string_view model) {
  model.remove_prefix(std::min(model.size(), model.rfind('/') + 1));
  return model.starts_with("gemini-1") || model.starts_with("gemini-2") || model.starts_with("gemma");
}

bool takes_media(std::string_view mime) {
  constexpr std::array<std::string_view, 14> known{
      "image/png", "image/jpeg", "image/webp", "image/heic", "image/heif", "application/pdf", "audio/wav",
      "audio/mp3", "audio/mpeg", "audio/aiff", "audio/aac",  "audio/ogg",  "audio/flac",      "video/mp4"};
  return std::ranges::find(known, wire::media_type(mime)) != known.end();
}

void write_text(json::json_writer& w, std::string_view text) {
  w.begin_object().member("text", text).end_object();
}

void write_media(json::json_writer& w, std::string_view mime, std::string_view data) {
  if (!takes_media(mime)) return write_text(w, "[" + wire::media_words(mime, data) + ": left out]");
  w.begin_object().key("inlineData").begin_object();
  w.member("mimeType", wire::media_type(mime)).member("data", data).end_object().end_object();
}

/// One content, of which the parts are written.
class content_writer {
 public:
  explicit content_writer(std::string_view role) { w_.begin_object().member("role", role).key("parts").begin_array(); }
  /// Returns the writer for one more part.
  json::json_writer& next() {
    empty_ = false;
    return w_;
  }
  void text(std::string_view text) { write_text(next(), text); }
  void media(std::string_view mime, std::string_view data) { write_media(next(), mime, data); }
  bool empty() const { return empty_; }
  /// Returns the content, or an absent value if it has no part.
  json::raw_json finish() {
    if (empty_) return {};
    w_.end_array().end_object();
    return w_.json();
  }

 private:
  std::string out_;
  json::json_writer w_{out_};
  bool empty_ = true;
};

void write_call(json::json_writer& w, const tool_call_block& call, bool sign) {
  w.begin_object().key("functionCall").begin_object();
  w.member("name", fitting_name(call.name)).key("args").token(wire::sent_arguments(call)).end_object();
  w.filled("thoughtSignature", sign ? foreign_signature : "").end_object();
}

// Encodes the text and calls of another model's turn.
json::raw_json encode_assistant(const message& m, bool sign) {
  content_writer out("model");
  for (const auto& b : m.blocks) {
    if (const auto* text = std::get_if<text_block>(&b)) {
      if (!text->text.empty()) out.text(text->text);
    } else if (const auto* refusal = std::get_if<refusal_block>(&b)) {
      if (!refusal->text.empty()) out.text(refusal->text);
    } else if (const auto* call = std::get_if<tool_call_block>(&b)) {
      // Only the first of parallel calls has a signature.
      write_call(out.next(), *call, std::exchange(sign, false));
    }
  }
  return out.finish();
}

json::raw_json encode_user(const message& m, std::string_view note) {
  content_writer out("user");
  for (const auto& b : m.blocks) {
    if (const auto* text = std::get_if<text_block>(&b)) {
      if (!text->text.empty()) out.text(text->text);
    } else if (const auto* image = std::get_if<image_block>(&b)) {
      if (image->url.empty())
        out.media(image->mime, image->data);
      else
        out.text("[image at " + image->url + ": left out, this API takes no addresses]");
    } else if (const auto* file = std::get_if<file_block>(&b)) {
      if (file->url.empty() && takes_media(file->mime))
        out.media(file->mime, file->data);
      else if (file->url.empty())
        out.text(wire::file_words(*file));
      else
        out.text("[file at " + file->url + ": left out, this API takes no addresses]");
    }
  }
  if (!note.empty()) out.text(note);
  if (out.empty()) out.text(wire::nothing_said);
  return out.finish();
}

// Writes the response object of a result: the tool's own object, or one with `output` or `error`.
void write_response(json::json_writer& w, const tool_result_block& r, const wire::converted_result& converted) {
  const auto text = converted.text();
  if (converted.structured_alone && json::walk::is_object(text)) return void(w.token(text));
  w.begin_object().member(r.is_error ? "error" : "output", text).end_object();
}

// Encodes one functionResponse for each call, in their order, followed by media that do not fit inside.
json::raw_json encode_results(const message& m, const wire::id_lookup& ids, bool early, std::string_view note) {
  const auto within = early ? wire::media_place::beside : wire::media_place::inside;
  const wire::result_rules rules{.images = within,
                                 .documents = within,
                                 .others = wire::media_place::beside,
                                 .takes = takes_media,
                                 .error_prefix = false};
  content_writer out("user");
  wire::media_beside beside;
  for (const auto& b : m.blocks) {
    const auto* r = std::get_if<tool_result_block>(&b);
    if (r == nullptr) continue;
    auto converted = wire::convert_result(*r, rules);
    auto& w = out.next().begin_object().key("functionResponse").begin_object();
    w.filled("id", ids.sent_id(r->call_id)).member("name", fitting_name(r->name));
    write_response(w.key("response"), *r, converted);
    if (!std::ranges::all_of(converted.parts, &wire::result_part::is_text)) {
      w.key("parts").begin_array();
      for (const auto& p : converted.parts)
        if (!p.is_text()) write_media(w, p.mime, p.data);
      w.end_array();
    }
    w.end_object().end_object();
    beside.take(converted, r->name);
  }
  if (!beside.empty()) out.text(beside.words("Media"));
  for (const auto& p : beside.parts()) out.media(p.mime, p.data);
  if (!note.empty()) out.text(note);
  return out.finish();
}

json::raw_json encode_system(const message& m) {
  std::string out;
  json::json_writer w(out);
  write_text(w, m.text());
  return w.json();
}

bool is_thinking_level(std::string_view effort) {
  return effort == "minimal" || effort == "low" || effort == "medium" || effort == "high";
}

// Returns true if the configuration sets thinking itself: the API refuses a level beside a budget.
bool configures_thinking(const wire::wire_options& options) {
  return !json::walk::find(json::walk::find(options.body.text(), "generationConfig"), "thinkingConfig").empty();
}

// Writes toolConfig for a required call. `name` is the tool to call, or "" for any.
void write_tool_config(json::json_writer& w, const std::string& name) {
  w.key("toolConfig").begin_object().key("functionCallingConfig").begin_object().member("mode", "ANY");
  if (!name.empty()) w.key("allowedFunctionNames").begin_array().value(name).end_array();
  w.end_object().end_object();
}

std::string generation_config(const model_request& request, const wire::wire_options& options) {
  std::string out;
  json::json_writer w(out);
  w.begin_object();
  const auto asked = wire::settings_of(request, options);
  const bool early = is_early(options.model);
  if (asked.max_output_tokens > 0) w.member("maxOutputTokens", asked.max_output_tokens);
  wire::write_sampling(w, asked, "topP");
  if (!asked.stop.empty()) w.list("stopSequences", wire::first_of(asked.stop, max_stop));
  if (!early && is_thinking_level(asked.reasoning_effort) && !configures_thinking(options))
    w.key("thinkingConfig").begin_object().member("thinkingLevel", asked.reasoning_effort).end_object();
  if (request.answer_schema && (!request.offered() || !early)) {
    w.member("responseMimeType", "application/json");
    w.member("responseJsonSchema", request.answer_schema);
  }
  w.end_object();
  return out;
}

std::string own_members(const model_request& request, const wire::wire_options& options) {
  std::string out;
  json::json_writer w(out);
  w.begin_object();
  if (const auto config = generation_config(request, options); config != "{}") w.key("generationConfig").token(config);
  if (wire::must_call(request)) write_tool_config(w, request.required_tool);
  w.end_object();
  return out;
}

void write_system(json::segment_writer& w, const model_request& request) {
  bool any = false;
  for (const auto& m : request.messages) {
    if (m->role != role::system) continue;
    if (!std::exchange(any, true)) w.key("systemInstruction").begin_object().key("parts").begin_array();
    w.value(wire::encoded_once(*m, "gemini/system", [&] { return encode_system(*m); }));
  }
  if (any) w.end_array().end_object();
}

std::string url_of(const wire::wire_options& options) {
  const auto path = options.model.find('/') == std::string::npos ? "/models/" + options.model : "/" + options.model;
  auto url = wire::join_url(options.base_url, percent_encoded(path, "/") + ":streamGenerateContent");
  return url + (url.find('?') == std::string::npos ? "?alt=sse" : "&alt=sse");
}

}  // namespace

wire::wire_request gemini::encode(const model_request& request, const wire::wire_options& options) const {
  wire::wire_request out;
  out.url = url_of(options);
  out.headers = {{"Content-Type", "application/json"}, {"Accept", "text/event-stream, application/json"}};
  const bool early = is_early(options.model);

  json::segment_builder body;
  json::segment_writer w(body);
  w.begin_object();
  wire::write_members(w, own_members(request, options), options.body);
  write_system(w, request);
  if (const auto tools = request.offered()) {
    w.key("tools").begin_array().begin_object();
    w.member("functionDeclarations", wire::tool_list(gemini_api().tools, *tools)).end_object().end_array();
  }
  w.key("contents").begin_array();
  out.unsaid = true;
  wire::id_lookup ids;
  for (const auto& m : request.messages) {
    if (m->role == role::system) continue;
    const bool own = wire::is_own(*m, api, options);
    if (m->role == role::assistant) ids.turn(*m, own);
    // A message with a note is not cached, since later requests send it without.
    const auto note = m == request.messages.back() ? std::string_view(request.note) : std::string_view();
    const auto make = [&] {
      if (m->role == role::assistant) return encode_assistant(*m, !early);
      return m->role == role::user ? encode_user(*m, note) : encode_results(*m, ids, early, note);
    };
    const std::string_view key =
        early ? (ids.own() ? "gemini/early/own" : "gemini/early") : (ids.own() ? "gemini/own" : "gemini");
    const auto fragment = own ? m->raw : note.empty() ? wire::encoded_once(*m, key, make) : make();
    if (fragment.empty()) continue;
    w.value(fragment);
    out.unsaid = false;
  }
  w.end_array().end_object();
  out.body = body.take();
  return out;
}

std::unique_ptr<wire::stream_decoder> gemini::make_decoder(std::string_view content_type,
                                                           const wire::wire_options& options,
                                                           const model_request* request) const {
  return std::make_unique<gemini_decoder>(std::string(api), std::string(content_type), options, request);
}

model_error gemini::decode_error(int status, std::string_view body, const wire::wire_options& options) const {
  return wire::status_error(status, body, options);
}

}  // namespace mcpbx::providers::gemini
