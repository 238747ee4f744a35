// Encodes requests to the Messages API. Tools and system come first and messages last, in the order of the prompt
// cache: a further round begins with the bytes of the last one, except for the cache marks, which move with the newest
// messages and are not part of the cached bytes. Each message is one fragment that ends in its last block, `}]}`, so
// that a mark can be inserted without encoding it again.
#include "providers/wire/anthropic/anthropic.hpp"

#include "mcp/json/json_walk.hpp"
#include "providers/model/names.hpp"
#include "providers/wire/anthropic/anthropic_decoder.hpp"
#include "providers/wire/api_errors.hpp"
#include "providers/wire/encoding.hpp"
#include "providers/wire/finished_calls.hpp"
#include "providers/wire/request_body.hpp"
#include "providers/wire/results.hpp"
#include "providers/wire/strict_schema.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace mcpbx::providers::anthropic {
namespace {

constexpr std::string_view mark = R"(,"cache_control":{"type":"ephemeral"})";
constexpr std::string_view fragment_end = "}]}";
constexpr std::int64_t max_thinking_budget = 100'000'000;  // beyond any model; sums of it do not overflow

template <class Out>
void write_text(json::basic_json_writer<Out>& w, std::string_view text) {
  w.begin_object().member("type", "text").member("text", text).end_object();
}

/// Writes an image or document (`kind`) in base64.
void write_media(json::json_writer& w, std::string_view kind, std::string_view mime, std::string_view data) {
  w.begin_object().member("type", kind).key("source").begin_object().member("type", "base64");
  w.member("media_type", wire::media_type(mime)).member("data", data).end_object().end_object();
}

void write_part(json::json_writer& w, const wire::result_part& part) {
  if (part.is_text())
    write_text(w, part.text);
  else
    write_media(w, wire::is_shown_image(part.mime) ? "image" : "document", part.mime, part.data);
}

/// The blocks of one message.
class block_list {
 public:
  explicit block_list(std::string_view role) { w_.begin_object().member("role", role).key("content").begin_array(); }

  void text(std::string_view text) {
    if (!wire::is_blank_text(text)) write_text(next(), text);  // the API refuses blank texts
  }

  void media(std::string_view kind, std::string_view mime, std::string_view data) {
    write_media(next(), kind, mime, data);
  }

  void link(std::string_view kind, std::string_view url) {
    next().begin_object().member("type", kind).key("source").begin_object().member("type", "url");
    w_.member("url", url).end_object().end_object();
  }

  void call(const tool_call_block& call) {
    next().begin_object().member("type", "tool_use").member("id", wire::fitting_id(call.id));
    w_.member("name", fitting_name(call.name)).key("input").token(wire::sent_arguments(call)).end_object();
  }

  void result(const tool_result_block& block) {
    next().begin_object().member("type", "tool_result").member("tool_use_id", wire::fitting_id(block.call_id));
    auto parts =
        wire::convert_result(
            block, {.images = wire::media_place::inside, .documents = wire::media_place::inside, .error_prefix = false})
            .parts;
    std::erase_if(parts, [](const auto& part) { return part.is_text() && wire::is_blank_text(part.text); });
    if (block.is_error && parts.empty())  // the API refuses an error without content
      parts.emplace_back().text = "The tool failed and did not say why.";
    if (!parts.empty()) {
      w_.key("content").begin_array();
      for (const auto& part : parts) write_part(w_, part);
      w_.end_array();
    }
    w_.set("is_error", block.is_error).end_object();
  }

  bool empty() const { return empty_; }
  /// Returns the message, or an absent value if it has no block.
  json::raw_json finish() {
    if (empty_) return {};
    w_.end_array().end_object();
    return w_.json();
  }

 private:
  json::json_writer& next() {
    empty_ = false;
    return w_;
  }

  std::string out_;
  json::json_writer w_{out_};
  bool empty_ = true;
};

void add_image(block_list& out, const image_block& image) {
  if (!image.url.empty())
    out.link("image", image.url);
  else if (wire::is_shown_image(image.mime))
    out.media("image", image.mime, image.data);
  else
    out.text(wire::left_out(image));
}

void add_file(block_list& out, const file_block& file) {
  if (!file.url.empty())
    out.link("document", file.url);
  else if (wire::media_type(file.mime) == "application/pdf")
    out.media("document", file.mime, file.data);
  else
    out.text(wire::file_words(file));
}

// Encodes our own messages and those of other APIs, without reasoning, which only its origin may get.
json::raw_json encode_message(const message& m) {
  block_list out(m.role == role::assistant ? "assistant" : "user");
  for (const auto& b : m.blocks) {
    if (const auto* text = std::get_if<text_block>(&b)) {
      out.text(text->text);
    } else if (const auto* refusal = std::get_if<refusal_block>(&b)) {
      out.text(refusal->text);
    } else if (const auto* call = std::get_if<tool_call_block>(&b)) {
      out.call(*call);
    } else if (const auto* result = std::get_if<tool_result_block>(&b)) {
      out.result(*result);
    } else if (m.role == role::user) {
      if (const auto* image = std::get_if<image_block>(&b)) add_image(out, *image);
      if (const auto* file = std::get_if<file_block>(&b)) add_file(out, *file);
    }
  }
  if (m.role == role::user && out.empty()) out.text(wire::nothing_said);
  return out.finish();
}

void write_tools(json::segment_writer& w, const tool_set& set, bool strict, bool takes_strict) {
  constexpr std::string_view end = "}]";
  const auto tools = wire::tool_list(anthropic_api().tools, set, strict, takes_strict);
  auto text = tools.text();
  text.remove_suffix(end.size());
  w.member("tools", tools.slice(text)).more(mark).more(end);  // a cache mark in the last tool
}

// Writes all system messages, wherever they are in the conversation: the API has one place for them.
void write_system(json::segment_writer& w, const model_request& request) {
  bool any = false;
  for (const auto& m : request.messages) {
    if (m->role != role::system) continue;
    const auto text = m->text();
    if (wire::is_blank_text(text)) continue;
    if (std::exchange(any, true))
      w.end_object();
    else
      w.key("system").begin_array();
    w.begin_object().member("type", "text").member("text", text);
  }
  if (any) w.more(mark).end_object().end_array();
}

// Returns false with a fixed budget for thinking: the API then refuses to be forced to call a tool.
bool takes_force(const wire::wire_options& options) {
  return json::walk::text(json::walk::find(json::walk::find(options.body.text(), "thinking"), "type")) != "enabled";
}

// Returns the configured budget for thinking in tokens; 0: none.
std::int64_t thinking_budget(const wire::wire_options& options) {
  return std::clamp<std::int64_t>(json::walk::count(json::walk::find(options.body.text(), "thinking"), "budget_tokens"),
                                  0, max_thinking_budget);
}

// Writes the member tool_choice if it is needed.
void write_tool_choice(json::json_writer& w, const model_request& request, bool forced, std::optional<bool> parallel) {
  const bool offered = request.offered() != nullptr;
  if (offered && !forced && parallel != false) return;
  w.key("tool_choice").begin_object();
  w.member("type", !offered ? "none" : !forced ? "auto" : request.required_tool.empty() ? "any" : "tool");
  if (forced) w.filled("name", request.required_tool);
  w.set("disable_parallel_tool_use", parallel == false).end_object();
}

bool is_effort(std::string_view word) {
  constexpr std::array<std::string_view, 5> known{"low", "medium", "high", "xhigh", "max"};
  return std::ranges::find(known, word) != known.end();
}

// Writes the member for effort and answer schema. The API supports only a part of JSON Schema; a schema that it may
// refuse is not sent, and only the answer is checked.
void write_output_config(json::json_writer& w, const model_request& request, std::string_view effort,
                         bool takes_schema) {
  const bool known = is_effort(effort);
  const bool schema =
      takes_schema && wire::is_strict_schema(request.answer_schema.text(), wire::strict_rules::anthropic);
  if (!known && !schema) return;
  w.key("output_config").begin_object();
  if (known) w.member("effort", effort);
  if (schema) {
    w.key("format").begin_object().member("type", "json_schema");
    w.member("schema", request.answer_schema).end_object();
  }
  w.end_object();
}

// Returns true if a cache mark may be put on the last block: not on thinking, and not on unknown blocks.
bool takes_mark(const json::raw_json& fragment, bool own) {
  if (!fragment.text().ends_with(fragment_end)) return false;
  if (!own) return true;
  std::string_view last;
  json::walk::elements(json::walk::find(fragment.text(), "content"), [&](std::string_view b) { last = b; });
  const auto type = json::walk::text(json::walk::find(last, "type"));
  return (type == "text" || type.ends_with("tool_use") || type.ends_with("_tool_result")) &&
         json::walk::find(last, "cache_control").empty();
}

// Returns the provider's own message without texts that the API refuses to take back, or an absent value if nothing
// remains. A journal of an earlier version may hold such texts.
json::raw_json own_message(const json::raw_json& raw) {
  const auto content = json::walk::find(raw.text(), "content");
  std::string kept;
  std::size_t said = 0;  // bytes up to the last block that may stand last
  bool blank = false, blank_last = false;
  json::walk::elements(content, [&](std::string_view b) {
    const auto type = json::walk::text(json::walk::find(b, "type"));
    bool is_cited = false;
    json::walk::elements(json::walk::find(b, "citations"), [&](std::string_view) { is_cited = true; });
    blank_last = type == "text" && wire::is_blank_text(json::walk::text(json::walk::find(b, "text"))) && !is_cited;
    blank = blank || blank_last;
    if (blank_last) return;
    kept.append(kept.empty() ? "" : ",").append(b);
    if (!is_thought(type)) said = kept.size();
  });
  if (!blank) return raw;
  if (blank_last) kept.resize(said);  // else the thoughts before it would be last now
  if (kept.empty()) return {};
  const auto whole = raw.text();
  const auto begin = static_cast<std::size_t>(content.data() - whole.data());
  std::string out(whole.substr(0, begin));
  out.append("[").append(kept).append("]").append(whole.substr(begin + content.size()));
  return json::raw_json::own(out);
}

struct message_piece {
  const message* of = nullptr;
  json::raw_json fragment;
  bool own = false, marked = false, noted = false;
};

void write_piece(json::segment_writer& w, const message_piece& p, std::string_view note) {
  if (!p.marked && !p.noted) return void(w.value(p.fragment));
  auto text = p.fragment.text();
  text.remove_suffix(fragment_end.size());
  w.value(p.fragment.slice(text));
  if (p.marked) w.more(mark);
  w.more("}");
  if (p.noted) write_text(w, note);
  w.more("]}");
}

}  // namespace

wire::wire_request anthropic::encode(const model_request& request, const wire::wire_options& options) const {
  wire::wire_request out;
  // People configure the address with and without the version's part.
  const auto path = options.base_url.substr(0, options.base_url.find_first_of("?#"));
  out.url =
      wire::join_url(options.base_url, path.ends_with("/v1") || path.ends_with("/v1/") ? "/messages" : "/v1/messages");
  const std::string version = options.api_version.empty() ? std::string(usual_version) : options.api_version;
  out.headers = {{"Content-Type", "application/json"},
                 {"Accept", "text/event-stream, application/json"},
                 {"anthropic-version", version}};

  // The API refuses a history with calls if no tools are defined.
  const bool defined = request.tools && !request.tools->tools.empty();
  const bool tools = request.offered() || (defined && request.has_calls());
  const auto asked = wire::settings_of(request, options);
  auto limit = asked.max_output_tokens > 0 ? asked.max_output_tokens : usual_max_tokens;
  // Thinking counts as output, and the API refuses a limit that leaves no room beside it.
  if (const auto budget = thinking_budget(options); limit <= budget) limit += budget;
  const bool forced = wire::must_call(request) && takes_force(options);
  std::string members;
  json::json_writer own(members);
  own.begin_object().member("model", options.model).member("max_tokens", limit).member("stream", true);
  if (version < usual_version) wire::write_sampling(own, asked);  // versions are dates, which compare as text
  if (!asked.stop.empty()) own.list("stop_sequences", asked.stop);
  if (tools) write_tool_choice(own, request, forced, asked.parallel_tool_calls);
  write_output_config(own, request, asked.reasoning_effort, options.answer_schema);
  own.end_object();

  json::segment_builder body;
  json::segment_writer w(body);
  w.begin_object();
  wire::write_members(w, members, options.body);
  if (tools) write_tools(w, *request.tools, options.strict == true, options.takes_strict || options.strict.has_value());
  write_system(w, request);
  w.key("messages").begin_array();

  std::vector<message_piece> pieces;
  pieces.reserve(request.messages.size());
  for (const auto& m : request.messages) {
    if (m->role == role::system) continue;
    const bool own = wire::is_own(*m, api, options);
    auto fragment = own ? wire::encoded_once(*m, "anthropic/own", [&] { return own_message(m->raw); })
                        : wire::encoded_once(*m, api, [&] { return encode_message(*m); });
    if (!fragment.empty()) pieces.push_back({.of = m.get(), .fragment = std::move(fragment), .own = own});
  }
  // Mark the two newest messages that take a mark: the second serves if the newest does not come again.
  int marks = 2;
  for (auto at = pieces.rbegin(); at != pieces.rend() && marks > 0; ++at) {
    at->marked = takes_mark(at->fragment, at->own);
    if (at->marked) --marks;
  }
  const auto note = forced ? request.note : wire::note_with_choice(request);
  if (!pieces.empty() && !note.empty()) {
    const auto speaker = pieces.back().of->role;
    pieces.back().noted = speaker == role::user || speaker == role::tool_results;
  }
  for (const auto& piece : pieces) write_piece(w, piece, note);
  w.end_array().end_object();
  out.body = body.take();
  out.unsaid = pieces.empty();
  return out;
}

std::unique_ptr<wire::stream_decoder> anthropic::make_decoder(std::string_view content_type,
                                                              const wire::wire_options& options,
                                                              const model_request* request) const {
  return std::make_unique<anthropic_decoder>(std::string(content_type), options, request);
}

model_error anthropic::decode_error(int status, std::string_view body, const wire::wire_options& options) const {
  return wire::status_error(status, body, options);
}

}  // namespace mcpbx::providers::anthropic
