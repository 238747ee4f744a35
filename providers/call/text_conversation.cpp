// Translates message by message. Messages without calls and results are passed on unchanged, raw bytes included.
#include "providers/call/text_conversation.hpp"

#include "mcp/json/json_walk.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/support/text.hpp"
#include "providers/wire/encoding.hpp"
#include "providers/wire/results.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace mcpbx::providers::call {
namespace {

std::string own_words_of(const message& m, const text::tool_format& format) {
  for (const auto& b : m.blocks)
    if (const auto* opaque = std::get_if<opaque_block>(&b))
      if (json::walk::text(json::walk::find(opaque->json.text(), "textFormat")) == format.name())
        return json::walk::text(json::walk::find(opaque->json.text(), "text"));
  return {};
}

void add_paragraph(std::string& text, std::string_view more) {
  if (!text.empty() && !more.empty()) text += '\n';
  text += more;
}

message_ptr assistant_in_text(const message& m, const text::tool_format& format) {
  auto made = std::make_shared<message>();
  made->role = role::assistant;
  auto words = own_words_of(m, format);
  if (words.empty()) {
    for (const auto& b : m.blocks) {
      if (const auto* said = std::get_if<text_block>(&b))
        words += said->text;
      else if (const auto* refused = std::get_if<refusal_block>(&b))
        words += refused->text;
      else if (const auto* call = std::get_if<tool_call_block>(&b))
        add_paragraph(words, call->problem.empty() ? format.call(*call) : call->arguments_text);
    }
  }
  made->blocks.emplace_back(text_block{std::move(words)});
  return made;
}

message_ptr results_in_text(const message& m, const text::tool_format& format) {
  auto made = std::make_shared<message>();
  made->role = role::user;
  std::string words;
  std::vector<image_block> images;
  for (const auto& b : m.blocks)
    if (const auto* result = std::get_if<tool_result_block>(&b)) {
      auto converted = wire::convert_result(*result, {.images = wire::media_place::beside});
      add_paragraph(words, format.result(result->name, converted.text()));
      for (auto& part : converted.beside) images.push_back({std::move(part.mime), std::move(part.data), {}});
    }
  made->blocks.emplace_back(text_block{std::move(words)});
  for (auto& image : images) made->blocks.emplace_back(std::move(image));
  return made;
}

bool is_plain(const message& m) {
  if (m.role == role::system || m.role == role::user) return true;
  if (m.role == role::tool_results) return false;
  return std::ranges::none_of(m.blocks, [](const block& b) {
    const auto* opaque = std::get_if<opaque_block>(&b);
    return std::holds_alternative<tool_call_block>(b) ||
           (opaque != nullptr && !json::walk::find(opaque->json.text(), "textFormat").empty());
  });
}

message_ptr message_in_text(const message_ptr& m, const text::tool_format& format) {
  if (is_plain(*m)) return m;
  if (auto known = m->form(format.name())) return known;
  auto made = m->role == role::assistant ? assistant_in_text(*m, format) : results_in_text(*m, format);
  m->keep_form(format.name(), made);
  return made;
}

// Returns the prompt for a set of tools and keeps it with the set.
std::string prompt_of(const tool_set& tools, const text::tool_format& format, std::string& key) {
  const std::string text_key = "text/" + std::string(format.name()), hash_key = text_key + "/hash";
  auto prompt = tools.remembered(text_key);
  if (prompt.empty()) {
    const auto words = format.prompt(tools);
    prompt = json::raw_json::string(words);
    tools.remember(text_key, prompt);
    tools.remember(hash_key, json::raw_json::string(text_key + "/" + hex(stable_hash(words), 16)));
  }
  key = tools.remembered(hash_key).as_string().value_or("");
  return prompt.as_string().value_or("");
}

// Returns `system` (may be null) with the prompt of the tools behind it.
message_ptr with_prompt(const message_ptr& system, const tool_set& tools, const text::tool_format& format) {
  std::string key;
  const auto prompt = prompt_of(tools, format, key);
  const fragment_cache& keeper = system ? static_cast<const fragment_cache&>(*system) : tools;
  if (auto known = keeper.form(key)) return known;
  auto words = system ? system->text() : std::string();
  if (!words.empty()) words += "\n\n";
  auto made = system_message(words + prompt);
  keeper.keep_form(key, made);
  return made;
}

}  // namespace

model_request in_text(const model_request& request, const text::tool_format& format) {
  model_request out;
  out.note = wire::note_with_choice(request);
  out.answer_schema = request.answer_schema;
  out.trace = request.trace;
  out.settings = request.settings;
  out.may_repeat = request.may_repeat;
  out.needed_by = request.needed_by;
  // The stop words of the format come first: without them a model goes on and invents results.
  auto& stop = out.settings.stop;
  stop.assign(format.stop_sequences().begin(), format.stop_sequences().end());
  for (const auto& s : request.settings.stop)
    if (std::ranges::find(stop, s) == stop.end()) stop.push_back(s);
  out.messages.reserve(request.messages.size() + 1);
  auto from = request.messages.begin();
  if (const auto tools = request.offered()) {
    const bool system = from != request.messages.end() && (*from)->role == role::system;
    out.messages.push_back(with_prompt(system ? *from++ : nullptr, *tools, format));
  }
  for (; from != request.messages.end(); ++from) out.messages.push_back(message_in_text(*from, format));
  return out;
}

opaque_block own_words(const text::tool_format& format, std::string_view text) {
  return {json::raw_json::own(json::json_object("textFormat", format.name(), "text", text))};
}

int unreadable_replies(const model_request& request) {
  int found = 0;
  for (auto m = request.messages.rbegin(); m != request.messages.rend(); ++m) {
    if ((*m)->role == role::tool_results) continue;
    const auto calls = (*m)->calls();
    const bool unreadable = (*m)->role == role::assistant && !calls.empty() &&
                            std::ranges::all_of(calls, [](const auto* c) { return !c->problem.empty(); });
    if (!unreadable) break;
    ++found;
  }
  return found;
}

}  // namespace mcpbx::providers::call
