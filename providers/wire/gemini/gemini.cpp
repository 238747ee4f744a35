// Encodes requests to Gemini. Members that stay the same come first and the conversation last, so that a further round
// begins with the same bytes.
#include "providers/wire/gemini/gemini.hpp"

#include "mcp/json/json_walk.hpp"
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

namespace mcpbx::providers {
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
  return std::ranges::find(known, media_type(mime)) != known.end();
}

// Writer for the parts of one content.
class parts_writer {
 public:
  explicit parts_writer(std::string& out) : out_(out) {}
  std::string& next() {
    if (!std::exchange(first_, false)) out_ += ',';
    return out_;
  }
  void text(std::string_view text) {
    next() += R"({"text":)";
    append_quoted(out_, text);
    out_ += '}';
  }
  void media(std::string_view mime, std::string_view data) {
    if (!takes_media(mime)) return text("[" + media_words(mime, data) + ": left out]");
    next() += R"({"inlineData":{"mimeType":)";
    append_quoted(out_, media_type(mime));
    out_ += R"(,"data":)";
    append_quoted(out_, data);
    out_ += "}}";
  }
  bool empty() const { return first_; }

 private:
  std::string& out_;
  bool first_ = true;
};

void append_call(std::string& out, const tool_call_block& call, bool sign) {
  out += R"({"functionCall":{"name":)";
  append_quoted(out, fitting_name(call.name));
  out += R"(,"args":)";
  out += sent_arguments(call);
  out += '}';
  if (sign) {
    out += R"(,"thoughtSignature":)";
    append_quoted(out, foreign_signature);
  }
  out += '}';
}

// Encodes the text and calls of another model's turn.
raw_json encode_assistant(const message& m, bool sign) {
  std::string out = R"({"role":"model","parts":[)";
  parts_writer parts(out);
  for (const auto& b : m.blocks) {
    if (const auto* text = std::get_if<text_block>(&b)) {
      if (!text->text.empty()) parts.text(text->text);
    } else if (const auto* refusal = std::get_if<refusal_block>(&b)) {
      if (!refusal->text.empty()) parts.text(refusal->text);
    } else if (const auto* call = std::get_if<tool_call_block>(&b)) {
      // Only the first of parallel calls has a signature.
      append_call(parts.next(), *call, std::exchange(sign, false));
    }
  }
  return parts.empty() ? raw_json() : raw_json::own(out + "]}");
}

raw_json encode_user(const message& m, std::string_view note) {
  std::string out = R"({"role":"user","parts":[)";
  parts_writer parts(out);
  for (const auto& b : m.blocks) {
    if (const auto* text = std::get_if<text_block>(&b)) {
      if (!text->text.empty()) parts.text(text->text);
    } else if (const auto* image = std::get_if<image_block>(&b)) {
      if (image->url.empty())
        parts.media(image->mime, image->data);
      else
        parts.text("[image at " + image->url + ": left out, this API takes no addresses]");
    } else if (const auto* file = std::get_if<file_block>(&b)) {
      if (file->url.empty() && takes_media(file->mime))
        parts.media(file->mime, file->data);
      else if (file->url.empty())
        parts.text(file_words(*file));
      else
        parts.text("[file at " + file->url + ": left out, this API takes no addresses]");
    }
  }
  if (!note.empty()) parts.text(note);
  if (parts.empty()) parts.text(nothing_said);
  return raw_json::own(out + "]}");
}

// Returns the response object of a result: the tool's own object, or one with `output` or `error`.
std::string response_of(const tool_result_block& r, const converted_result& converted) {
  auto text = converted.text();
  if (converted.structured_alone && walk::is_object(text)) return text;
  std::string out = r.is_error ? R"({"error":)" : R"({"output":)";
  append_quoted(out, text);
  return out + "}";
}

// Encodes one functionResponse for each call, in their order, followed by media that do not fit inside.
raw_json encode_results(const message& m, const id_lookup& ids, bool early, std::string_view note) {
  const auto within = early ? media_place::beside : media_place::inside;
  const result_rules rules{.images = within,
                           .documents = within,
                           .others = media_place::beside,
                           .takes = takes_media,
                           .error_prefix = false};
  std::string out = R"({"role":"user","parts":[)";
  parts_writer parts(out);
  media_beside beside;
  for (const auto& b : m.blocks) {
    const auto* r = std::get_if<tool_result_block>(&b);
    if (r == nullptr) continue;
    auto converted = convert_result(*r, rules);
    parts.next() += R"({"functionResponse":{)";
    if (const auto id = ids.sent_id(r->call_id); !id.empty()) {
      out += R"("id":)";
      append_quoted(out, id);
      out += ',';
    }
    out += R"("name":)";
    append_quoted(out, fitting_name(r->name));
    out += R"(,"response":)";
    out += response_of(*r, converted);
    const bool media = std::ranges::any_of(converted.parts, [](const auto& p) { return !p.is_text(); });
    if (media) {
      out += R"(,"parts":[)";
      parts_writer inside(out);
      for (const auto& p : converted.parts)
        if (!p.is_text()) inside.media(p.mime, p.data);
      out += ']';
    }
    out += "}}";
    beside.take(converted, r->name);
  }
  if (!beside.empty()) parts.text(beside.words("Media"));
  for (const auto& p : beside.parts()) parts.media(p.mime, p.data);
  if (!note.empty()) parts.text(note);
  return parts.empty() ? raw_json() : raw_json::own(out + "]}");
}

bool is_thinking_level(std::string_view effort) {
  return effort == "minimal" || effort == "low" || effort == "medium" || effort == "high";
}

// Returns true if the configuration sets thinking itself: the API refuses a level beside a budget.
bool configures_thinking(const wire_options& options) {
  return !walk::find(walk::find(options.body.text(), "generationConfig"), "thinkingConfig").empty();
}

// Returns toolConfig for a required call. `name` is the tool to call, or "" for any.
std::string tool_config(const std::string& name) {
  std::string out = R"({"functionCallingConfig":{"mode":"ANY")";
  if (!name.empty()) out += R"(,"allowedFunctionNames":[)" + json_quoted(name) + "]";
  return out + "}}";
}

std::string generation_config(const model_request& request, const wire_options& options) {
  body_members config;
  const auto asked = settings_of(request, options);
  const bool early = is_early(options.model);
  if (asked.max_output_tokens > 0) config.add("maxOutputTokens", std::to_string(asked.max_output_tokens));
  if (!asked.temperature.empty()) config.add("temperature", asked.temperature);
  if (!asked.top_p.empty()) config.add("topP", asked.top_p);
  if (!asked.stop.empty()) config.add("stopSequences", string_list(first_of(asked.stop, max_stop)));
  if (!early && is_thinking_level(asked.reasoning_effort) && !configures_thinking(options))
    config.add("thinkingConfig", R"({"thinkingLevel":)" + json_quoted(asked.reasoning_effort) + "}");
  if (request.answer_schema && (!request.offered() || !early)) {
    config.add_text("responseMimeType", "application/json");
    config.add("responseJsonSchema", std::string(request.answer_schema.text()));
  }
  auto text = config.write({});
  return text.empty() ? text : "{" + text + "}";
}

std::string url_of(const wire_options& options) {
  const auto path = options.model.find('/') == std::string::npos ? "/models/" + options.model : "/" + options.model;
  auto url = join_url(options.base_url, encoded_path(path) + ":streamGenerateContent");
  return url + (url.find('?') == std::string::npos ? "?alt=sse" : "&alt=sse");
}

}  // namespace

wire_request gemini::encode(const model_request& request, const wire_options& options) const {
  wire_request out;
  out.url = url_of(options);
  out.headers = {{"Content-Type", "application/json"}, {"Accept", "text/event-stream, application/json"}};
  const bool early = is_early(options.model);

  body_members members;
  if (auto config = generation_config(request, options); !config.empty())
    members.add("generationConfig", std::move(config));
  if (must_call(request)) members.add("toolConfig", tool_config(request.required_tool));
  auto head = "{" + members.write(options.body);
  if (head.size() > 1) head += ',';
  out.body.append_copy(head);

  bool first = true;
  for (const auto& m : request.messages) {
    if (m->role != role::system) continue;
    out.body.append_literal(std::exchange(first, false) ? R"("systemInstruction":{"parts":[)" : ",");
    out.body.append(
        encoded_once(*m, "gemini/system", [&] { return raw_json::own(R"({"text":)" + json_quoted(m->text()) + "}"); }));
  }
  if (!first) out.body.append_literal("]},");
  if (const auto tools = request.offered()) {
    out.body.append_literal(R"("tools":[{"functionDeclarations":)");
    out.body.append(tool_list(gemini_api().tools, *tools));
    out.body.append_literal("}],");
  }

  out.body.append_literal(R"("contents":[)");
  first = true;
  id_lookup ids;
  for (const auto& m : request.messages) {
    if (m->role == role::system) continue;
    const bool own = is_own(*m, api, options);
    if (m->role == role::assistant) ids.turn(*m, own);
    // A message with a note is not cached, since later requests send it without.
    const auto note = m == request.messages.back() ? std::string_view(request.note) : std::string_view();
    const auto make = [&] {
      if (m->role == role::assistant) return encode_assistant(*m, !early);
      return m->role == role::user ? encode_user(*m, note) : encode_results(*m, ids, early, note);
    };
    const std::string_view key =
        early ? (ids.own() ? "gemini/early/own" : "gemini/early") : (ids.own() ? "gemini/own" : "gemini");
    auto fragment = own ? m->raw : note.empty() ? encoded_once(*m, key, make) : make();
    if (fragment.empty()) continue;
    if (!std::exchange(first, false)) out.body.append_literal(",");
    out.body.append(std::move(fragment));
  }
  out.body.append_literal("]}");
  out.unsaid = first;
  return out;
}

std::unique_ptr<stream_decoder> gemini::make_decoder(std::string_view content_type, const wire_options& options,
                                                     const model_request* request) const {
  return std::make_unique<gemini_decoder>(std::string(api), std::string(content_type), options, request);
}

model_error gemini::decode_error(int status, std::string_view body, const wire_options& options) const {
  return status_error(status, body, options);
}

}  // namespace mcpbx::providers
