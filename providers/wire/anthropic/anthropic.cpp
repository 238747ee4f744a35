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

namespace mcpbx::providers {
namespace {

constexpr std::string_view mark = R"(,"cache_control":{"type":"ephemeral"})";
constexpr std::string_view fragment_end = "}]}";
constexpr std::int64_t max_thinking_budget = 100'000'000;  // beyond any model; sums of it do not overflow

/// The blocks of one message.
class block_list {
 public:
  explicit block_list(std::string_view role) {
    out_ = R"({"role":")";
    out_ += role;
    out_ += R"(","content":)";
  }

  void text(std::string_view text) {
    if (is_blank_text(text)) return;  // the API refuses blank texts
    next();
    append_text(out_, text);
  }

  /// Adds an image or document (`kind`) in base64.
  void media(std::string_view kind, std::string_view mime, std::string_view data) {
    next();
    append_media(out_, kind, mime, data);
  }

  void link(std::string_view kind, std::string_view url) {
    next();
    out_ += R"({"type":")";
    out_ += kind;
    out_ += R"(","source":{"type":"url","url":)";
    append_quoted(out_, url);
    out_ += "}}";
  }

  void call(const tool_call_block& call) {
    next();
    out_ += R"({"type":"tool_use","id":)";
    append_quoted(out_, fitting_id(call.id));
    out_ += R"(,"name":)";
    append_quoted(out_, fitting_name(call.name));
    out_ += R"(,"input":)";
    out_ += sent_arguments(call);
    out_ += '}';
  }

  void result(const tool_result_block& block) {
    next();
    out_ += R"({"type":"tool_result","tool_use_id":)";
    append_quoted(out_, fitting_id(block.call_id));
    const auto converted =
        convert_result(block, {.images = media_place::inside, .documents = media_place::inside, .error_prefix = false});
    char before = '[';
    for (const auto& part : converted.parts) {
      if (part.is_text() && is_blank_text(part.text)) continue;
      if (before == '[') out_ += R"(,"content":)";
      out_ += std::exchange(before, ',');
      if (part.is_text())
        append_text(out_, part.text);
      else
        append_media(out_, is_shown_image(part.mime) ? "image" : "document", part.mime, part.data);
    }
    if (block.is_error && before == '[') {  // the API refuses an error without content
      out_ += R"(,"content":)";
      out_ += std::exchange(before, ',');
      append_text(out_, "The tool failed and did not say why.");
    }
    if (before == ',') out_ += ']';
    if (block.is_error) out_ += R"(,"is_error":true)";
    out_ += '}';
  }

  bool empty() const { return before_ == '['; }
  /// Returns the message, or an absent value if it has no block.
  raw_json finish() {
    if (empty()) return {};
    return raw_json::own(out_ + "]}");
  }

 private:
  void next() { out_ += std::exchange(before_, ','); }

  static void append_text(std::string& out, std::string_view text) {
    out += R"({"type":"text","text":)";
    append_quoted(out, text);
    out += '}';
  }

  static void append_media(std::string& out, std::string_view kind, std::string_view mime, std::string_view data) {
    out += R"({"type":")";
    out += kind;
    out += R"(","source":{"type":"base64","media_type":)";
    append_quoted(out, media_type(mime));
    out += R"(,"data":)";
    append_quoted(out, data);
    out += "}}";
  }

  std::string out_;
  char before_ = '[';
};

void add_image(block_list& out, const image_block& image) {
  if (!image.url.empty())
    out.link("image", image.url);
  else if (is_shown_image(image.mime))
    out.media("image", image.mime, image.data);
  else
    out.text(left_out(image));
}

void add_file(block_list& out, const file_block& file) {
  if (!file.url.empty())
    out.link("document", file.url);
  else if (media_type(file.mime) == "application/pdf")
    out.media("document", file.mime, file.data);
  else
    out.text(file_words(file));
}

// Encodes our own messages and those of other APIs, without reasoning, which only its origin may get.
raw_json encode_message(const message& m) {
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
  if (m.role == role::user && out.empty()) out.text(nothing_said);
  return out.finish();
}

void append_tools(segments& body, const tool_set& set, bool strict, bool takes_strict) {
  constexpr std::string_view end = "}]";
  const auto tools = tool_list(anthropic_api().tools, set, strict, takes_strict);
  auto text = tools.text();
  text.remove_suffix(end.size());
  body.append_literal(R"(,"tools":)");
  body.append(tools.slice(text));
  body.append_literal(mark);  // a cache mark in the last tool
  body.append_literal(end);
}

// Appends all system messages, wherever they are in the conversation: the API has one place for them.
void append_system(std::string& out, const model_request& request) {
  std::string blocks;
  for (const auto& m : request.messages) {
    if (m->role != role::system) continue;
    const auto text = m->text();
    if (is_blank_text(text)) continue;
    blocks += blocks.empty() ? R"({"type":"text","text":)" : R"(},{"type":"text","text":)";
    append_quoted(blocks, text);
  }
  if (blocks.empty()) return;
  out += R"(,"system":[)";
  out += blocks;
  out += mark;
  out += "}]";
}

// Returns false with a fixed budget for thinking: the API then refuses to be forced to call a tool.
bool takes_force(const wire_options& options) {
  return walk::text(walk::find(walk::find(options.body.text(), "thinking"), "type")) != "enabled";
}

// Returns the configured budget for thinking in tokens; 0: none.
std::int64_t thinking_budget(const wire_options& options) {
  return std::clamp<std::int64_t>(walk::count(walk::find(options.body.text(), "thinking"), "budget_tokens"), 0,
                                  max_thinking_budget);
}

// Returns the member tool_choice, or "" if it is not needed.
std::string tool_choice(const model_request& request, bool forced, std::optional<bool> parallel) {
  if (!request.offered()) return R"({"type":"none"})";
  if (!forced && parallel != false) return {};
  std::string out = !forced                         ? R"({"type":"auto")"
                    : request.required_tool.empty() ? R"({"type":"any")"
                                                    : R"({"type":"tool","name":)" + json_quoted(request.required_tool);
  if (parallel == false) out += R"(,"disable_parallel_tool_use":true)";
  return out + "}";
}

bool is_effort(std::string_view word) {
  constexpr std::array<std::string_view, 5> known{"low", "medium", "high", "xhigh", "max"};
  return std::ranges::find(known, word) != known.end();
}

// Returns the member for effort and answer schema. The API supports only a part of JSON Schema; a schema that it may
// refuse is not sent, and only the answer is checked.
std::string output_config(const model_request& request, const call_settings& asked, const wire_options& options) {
  body_members config;
  if (is_effort(asked.reasoning_effort)) config.add_text("effort", asked.reasoning_effort);
  if (options.answer_schema && is_strict_schema(request.answer_schema.text(), strict_rules::anthropic))
    config.add("format", R"({"type":"json_schema","schema":)" + std::string(request.answer_schema.text()) + "}");
  auto text = config.write({});
  return text.empty() ? text : "{" + text + "}";
}

// Returns true if a cache mark may be put on the last block: not on thinking, and not on unknown blocks.
bool takes_mark(const raw_json& fragment, bool own) {
  if (!fragment.text().ends_with(fragment_end)) return false;
  if (!own) return true;
  std::string_view last;
  walk::elements(walk::find(fragment.text(), "content"), [&](std::string_view b) { last = b; });
  const auto type = walk::text(walk::find(last, "type"));
  return (type == "text" || type.ends_with("tool_use") || type.ends_with("_tool_result")) &&
         walk::find(last, "cache_control").empty();
}

// Returns the provider's own message without texts that the API refuses to take back, or an absent value if nothing
// remains. The decoder leaves them out, but a journal of an earlier version may hold them. Other bytes stay as they
// are.
raw_json own_message(const raw_json& raw) {
  const auto content = walk::find(raw.text(), "content");
  std::string kept;
  std::size_t said = 0;  // bytes up to the last block that may stand last
  bool blank = false, blank_last = false;
  walk::elements(content, [&](std::string_view b) {
    const auto type = walk::text(walk::find(b, "type"));
    bool is_cited = false;
    walk::elements(walk::find(b, "citations"), [&](std::string_view) { is_cited = true; });
    blank_last = type == "text" && is_blank_text(walk::text(walk::find(b, "text"))) && !is_cited;
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
  return raw_json::own(out);
}

struct message_piece {
  const message* of = nullptr;
  raw_json fragment;
  bool own = false, marked = false, noted = false;
};

void append_piece(segments& body, const message_piece& p, std::string_view note) {
  if (!p.marked && !p.noted) return body.append(p.fragment);
  auto text = p.fragment.text();
  text.remove_suffix(fragment_end.size());
  body.append(p.fragment.slice(text));
  if (p.marked) body.append_literal(mark);
  if (p.noted) body.append_copy(R"(},{"type":"text","text":)" + json_quoted(note));
  body.append_literal(fragment_end);
}

}  // namespace

wire_request anthropic::encode(const model_request& request, const wire_options& options) const {
  wire_request out;
  // People configure the address with and without the version's part.
  const auto path = options.base_url.substr(0, options.base_url.find_first_of("?#"));
  out.url = join_url(options.base_url, path.ends_with("/v1") || path.ends_with("/v1/") ? "/messages" : "/v1/messages");
  const std::string version = options.api_version.empty() ? std::string(usual_version) : options.api_version;
  out.headers = {{"Content-Type", "application/json"},
                 {"Accept", "text/event-stream, application/json"},
                 {"anthropic-version", version}};

  // The API refuses a history with calls if no tools are defined.
  const bool defined = request.tools && !request.tools->tools.empty();
  const bool tools = request.offered() || (defined && request.has_calls());
  const auto asked = settings_of(request, options);
  auto limit = asked.max_output_tokens > 0 ? asked.max_output_tokens : usual_max_tokens;
  // Thinking counts as output, and the API refuses a limit that leaves no room beside it.
  if (const auto budget = thinking_budget(options); limit <= budget) limit += budget;
  body_members members;
  members.add_text("model", options.model);
  members.add("max_tokens", std::to_string(limit));
  members.add("stream", "true");
  // Versions are dates, which compare as text.
  if (version < usual_version) {
    if (!asked.temperature.empty()) members.add("temperature", asked.temperature);
    if (!asked.top_p.empty()) members.add("top_p", asked.top_p);
  }
  if (!asked.stop.empty()) members.add("stop_sequences", string_list(asked.stop));
  const bool forced = must_call(request) && takes_force(options);
  if (tools)
    if (auto choice = tool_choice(request, forced, asked.parallel_tool_calls); !choice.empty())
      members.add("tool_choice", std::move(choice));
  if (auto config = output_config(request, asked, options); !config.empty())
    members.add("output_config", std::move(config));
  out.body.append_copy("{" + members.write(options.body));
  if (tools)
    append_tools(out.body, *request.tools, options.strict == true, options.takes_strict || options.strict.has_value());
  std::string middle;
  append_system(middle, request);
  out.body.append_copy(middle + R"(,"messages":[)");

  std::vector<message_piece> pieces;
  pieces.reserve(request.messages.size());
  for (const auto& m : request.messages) {
    if (m->role == role::system) continue;
    const bool own = is_own(*m, api, options);
    auto fragment = own ? encoded_once(*m, "anthropic/own", [&] { return own_message(m->raw); })
                        : encoded_once(*m, api, [&] { return encode_message(*m); });
    if (!fragment.empty()) pieces.push_back({.of = m.get(), .fragment = std::move(fragment), .own = own});
  }
  // Mark the two newest messages that take a mark: the second serves if the newest does not come again.
  int marks = 2;
  for (auto at = pieces.rbegin(); at != pieces.rend() && marks > 0; ++at) {
    at->marked = takes_mark(at->fragment, at->own);
    if (at->marked) --marks;
  }
  const auto note = forced ? request.note : note_with_choice(request);
  if (!pieces.empty() && !note.empty()) {
    const auto speaker = pieces.back().of->role;
    pieces.back().noted = speaker == role::user || speaker == role::tool_results;
  }
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (i != 0) out.body.append_literal(",");
    append_piece(out.body, pieces[i], note);
  }
  out.body.append_literal("]}");
  out.unsaid = pieces.empty();
  return out;
}

std::unique_ptr<stream_decoder> anthropic::make_decoder(std::string_view content_type, const wire_options& options,
                                                        const model_request* request) const {
  return std::make_unique<anthropic_decoder>(std::string(content_type), options, request);
}

model_error anthropic::decode_error(int status, std::string_view body, const wire_options& options) const {
  return status_error(status, body, options);
}

}  // namespace mcpbx::providers
