// Small parts of requests: addresses, notes, media, words in place of files.
#include "providers/wire/encoding.hpp"

#include "mcp/json/json_scanner.hpp"
#include "mcp/support/encodings.hpp"
#include "mcp/support/utf8.hpp"
#include "providers/model/names.hpp"
#include "providers/wire/results.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace mcpbx::providers::wire {
namespace {

bool is_text_type(std::string_view type) {
  constexpr std::array<std::string_view, 9> others{"application/json",     "application/jsonl",      "application/xml",
                                                   "application/yaml",     "application/x-yaml",     "application/toml",
                                                   "application/x-ndjson", "application/javascript", "application/sql"};
  return type.starts_with("text/") || type.ends_with("+json") || type.ends_with("+xml") ||
         std::ranges::find(others, type) != others.end();
}

// Returns true if a call has a name that APIs refuse. Decoders write fitting names into the raw form, but a journal of
// an earlier version may hold the model's own.
bool has_refused_name(const message& m) {
  return std::ranges::any_of(m.blocks, [&](const auto& b) {
    const auto* call = std::get_if<tool_call_block>(&b);
    return call != nullptr && !is_model_name(call->name) && m.raw.text().contains(json::json_quoted(call->name));
  });
}

}  // namespace

std::string join_url(std::string_view base, std::string_view path) {
  base = base.substr(0, base.find('#'));
  const auto query = base.find('?');
  std::string url(base.substr(0, query));
  while (url.ends_with('/')) url.pop_back();
  url += path;
  if (query != std::string_view::npos) url += base.substr(query);
  return url;
}

std::string_view host_of(std::string_view url) {
  const auto scheme = url.find("://");
  if (scheme != std::string_view::npos) url.remove_prefix(scheme + 3);
  url = url.substr(0, url.find_first_of("/?#"));
  if (const auto at = url.rfind('@'); at != std::string_view::npos) url.remove_prefix(at + 1);
  return url.substr(0, url.find(':'));
}

std::string_view id_lookup::sent_id(std::string_view call_id) const {
  if (turn_ == nullptr || !own_) return {};
  for (const auto& b : turn_->blocks)
    if (const auto* call = std::get_if<tool_call_block>(&b); call != nullptr && call->id == call_id)
      return call->provider_id;
  return {};
}

bool is_own(const message& m, std::string_view api, const wire_options& options) {
  return m.role == role::assistant && m.raw && m.origin.api == api && m.origin.endpoint == options.base_url &&
         m.origin.model == options.model && !has_refused_name(m);
}

std::string with_note(std::string text, std::string_view note) {
  if (!text.empty() && !note.empty()) text += "\n\n";
  return text.append(note);
}

call_settings settings_of(const model_request& request, const wire_options& options) {
  auto s = request.settings;
  if (s.temperature.empty()) s.temperature = options.temperature;
  if (s.top_p.empty()) s.top_p = options.top_p;
  if (s.max_output_tokens <= 0) s.max_output_tokens = options.max_output_tokens;
  if (!options.stop_sequences) s.stop.clear();
  if (!s.parallel_tool_calls) s.parallel_tool_calls = options.parallel_tool_calls;
  if (!request.offered()) s.parallel_tool_calls.reset();
  return s;
}

bool must_call(const model_request& request) {
  return request.tool_mode == tool_mode::required && request.offered() != nullptr;
}

std::string note_with_choice(const model_request& request) {
  if (!must_call(request)) return request.note;
  const auto which = request.required_tool.empty() ? "a tool" : "the tool " + request.required_tool;
  return with_note(request.note, "Call " + which + " now, and answer only when you have its result.");
}

bool is_blank_text(std::string_view text) {
  constexpr auto is_ascii_blank = [](char c) {
    return c == ' ' || (c >= '\t' && c <= '\r') || (c >= '\x1C' && c <= '\x1F');
  };
  // U+0085, U+00A0, U+1680, U+2000 to U+200A, U+2028, U+2029, U+202F, U+205F and U+3000
  constexpr std::array<std::string_view, 19> others{
      "\xC2\x85",     "\xC2\xA0",     "\xE1\x9A\x80", "\xE2\x80\x80", "\xE2\x80\x81", "\xE2\x80\x82", "\xE2\x80\x83",
      "\xE2\x80\x84", "\xE2\x80\x85", "\xE2\x80\x86", "\xE2\x80\x87", "\xE2\x80\x88", "\xE2\x80\x89", "\xE2\x80\x8A",
      "\xE2\x80\xA8", "\xE2\x80\xA9", "\xE2\x80\xAF", "\xE2\x81\x9F", "\xE3\x80\x80"};
  while (!text.empty()) {
    if (is_ascii_blank(text.front())) {
      text.remove_prefix(1);
      continue;
    }
    const auto* blank = std::ranges::find_if(others, [&](std::string_view b) { return text.starts_with(b); });
    if (blank == others.end()) return false;
    text.remove_prefix(blank->size());
  }
  return true;
}

bool has_media(const message& m) {
  return std::ranges::any_of(m.blocks, [](const auto& b) {
    return std::holds_alternative<image_block>(b) || std::holds_alternative<file_block>(b);
  });
}

std::string said_text(const message& m) {
  auto text = m.text();
  for (const auto& b : m.blocks)
    if (const auto* r = std::get_if<refusal_block>(&b)) text += r->text;
  return text;
}

std::string left_out(const file_block& file) {
  return "[file " + file.name + (file.name.empty() ? "" : ", ") +
         (file.url.empty() ? media_words(file.mime, file.data) : file.url) + ": left out]";
}

std::string file_words(const file_block& file) {
  if (!is_text_type(media_type(file.mime)) || file.data.empty()) return left_out(file);
  const auto text = lenient_base64_bytes(file.data);
  if (!text || valid_utf8_prefix(*text) != text->size()) return left_out(file);
  return "[file " + file.name + (file.name.empty() ? "" : ", ") + std::string(media_type(file.mime)) + "]\n" + *text;
}

std::string left_out(const image_block& image) {
  return "[image, " + media_words(image.mime, image.data) + ": left out]";
}

std::span<const std::string> first_of(const std::vector<std::string>& texts, std::size_t most) {
  return std::span(texts).first(std::min(texts.size(), most));
}

std::string data_url(std::string_view mime, std::string_view base64) {
  std::string url = "data:";
  url += media_type(mime);
  url += ";base64,";
  return url.append(base64);
}

}  // namespace mcpbx::providers::wire
