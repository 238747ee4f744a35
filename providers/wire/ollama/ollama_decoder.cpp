// Turns lines into one reply or one error.
#include "providers/wire/ollama/ollama_decoder.hpp"

#include "mcp/json/json_walk.hpp"
#include "mcp/support/log.hpp"
#include "mcp/support/text.hpp"
#include "providers/model/names.hpp"
#include "providers/wire/api_errors.hpp"
#include "providers/wire/end_reasons.hpp"

#include <utility>

namespace mcpbx::providers::ollama {

void ollama_decoder::feed(std::string_view bytes, wire::decoder_sink& sink) {
  while (!done() && !bytes.empty()) {
    const auto at = bytes.find('\n');
    const bool ends = at != std::string_view::npos;
    take_bytes(bytes.substr(0, at), ends, sink);
    bytes.remove_prefix(ends ? at + 1 : bytes.size());
  }
}

void ollama_decoder::take_bytes(std::string_view bytes, bool line_ends, wire::decoder_sink& sink) {
  if (line_.empty()) {
    const auto from = bytes.find_first_not_of(seen_ ? " \t\r" : " \t\r\xEF\xBB\xBF");
    if (from == std::string_view::npos) return;
    bytes.remove_prefix(from);
    scanner_.reset();
  }
  // A value may span lines, which is legal JSON.
  scanner_.feed(bytes);
  line_ += bytes;
  if (!line_ends) return;
  scanner_.feed("\n");
  line_ += '\n';
  if (scanner_.fault_kind() == json::json_scanner::fault::none && !scanner_.complete()) return;
  const auto line = std::exchange(line_, {});
  if (scanner_.fault_kind() != json::json_scanner::fault::none)
    return seen_ ? fail(model_error::kind::garbage, "sent a line that is not JSON: " + wire::excerpt(line), sink, line)
                 : fail_foreign(line, sink);
  take_line(trimmed(line), sink);
}

void ollama_decoder::finish(wire::decoder_sink& sink) {
  if (done()) return;
  if (!line_.empty() && scanner_.finish()) {
    const auto line = std::exchange(line_, {});
    take_line(trimmed(line), sink);
    if (done()) return;
  }
  if (!seen_ && line_.empty()) return fail_cut("sent an empty answer.", sink);
  if (!seen_ && scanner_.fault_kind() != json::json_scanner::fault::truncated) return fail_foreign(line_, sink);
  fail_cut(sink);
}

void ollama_decoder::take_line(std::string_view json, wire::decoder_sink& sink) {
  if (!json::walk::is_object(json)) return fail_foreign(json, sink);
  std::string_view message, error, finished;
  json::walk::members(json, [&](std::string_view key, std::string_view value) {
    if (key == "message")
      message = value;
    else if (key == "error")
      error = value;
    else if (key == "done")
      finished = value;
  });
  if (!error.empty() && error != "null" && error != "\"\"") return fail(wire::read_error_body(json), json, sink);
  if (!seen_ && !json::walk::is_object(message) && finished != "true") return fail_foreign(json, sink);
  seen_ = true;
  take_message(message, sink);
  if (finished == "true") end(json, sink);
}

void ollama_decoder::take_message(std::string_view message, wire::decoder_sink& sink) {
  json::walk::members(message, [&](std::string_view key, std::string_view value) {
    if (key == "content" && json::walk::is_string(value)) {
      const std::string text(content_joiner_.take(value));
      content_ += text;
      if (thoughts_.outside())
        add_pieces({{}, text}, sink);
      else
        add_pieces(thoughts_.take(text), sink);
    } else if (key == "thinking" && json::walk::is_string(value)) {
      const std::string thought(thinking_joiner_.take(value));
      thinking_ += thought;
      add_pieces({thought, {}}, sink);
    } else if (key == "tool_calls") {
      json::walk::elements(value, [&](std::string_view call) { take_call(call); });
    }
  });
}

void ollama_decoder::take_call(std::string_view call) {
  const auto function = json::walk::find(call, "function");
  tool_call_block b;
  b.provider_id = json::walk::text(json::walk::find(call, "id"));
  b.name = json::walk::text(json::walk::find(function, "name"));
  if (calls_.size() == max_reply_calls) {
    too_many_ = true;
    return;
  }
  const auto arguments = json::walk::find(function, "arguments");
  b.arguments_text = json::walk::is_string(arguments) ? json::unescaped(arguments) : std::string(arguments);
  calls_.push_back(std::move(b));
}

void ollama_decoder::add_pieces(const wire::thought_splitter::pieces& pieces, wire::decoder_sink& sink) {
  if (!pieces.thought.empty()) {
    reasoning_ += pieces.thought;
    sink.on_reasoning(pieces.thought);
  }
  if (!pieces.text.empty()) {
    text_ += pieces.text;
    sink.on_text(pieces.text);
  }
}

std::string ollama_decoder::partial_text(wire::decoder_sink& sink) {
  add_pieces(thoughts_.finish(), sink);
  return text_;
}

void ollama_decoder::end(std::string_view line, wire::decoder_sink& sink) {
  add_pieces(thoughts_.finish(), sink);
  const auto word = json::walk::text(json::walk::find(line, "done_reason"));
  const auto reason = wire::read_end_reason(word);
  // Calls come whole in this API, but the last one before a cut may be incomplete in meaning.
  if (is_cut(reason) && !calls_.empty()) {
    calls_.pop_back();
    warn_cut_call();
  }
  if (too_many_)
    log::warn("The " + wire::who(options()) + " made more than " + std::to_string(max_reply_calls) +
              " tool calls; the later ones are dropped.");
  std::vector<std::string> sent;
  std::size_t bytes = content_.size() + thinking_.size();
  for (auto& call : calls_) {
    call.name = called_name(std::move(call.name));
    read_arguments(call);
    wire::name_nameless(call);
    bytes += call.name.size() + call.arguments_text.size();
    sent.push_back(call.provider_id);
  }
  const auto settled = ids().settle(std::move(sent));
  for (std::size_t i = 0; i < calls_.size(); ++i) calls_[i].id = settled[i];

  auto m = new_message();
  m->raw = assembled(calls_);
  if (!reasoning_.empty()) m->blocks.emplace_back(reasoning_block{reasoning_, {}});
  if (!text_.empty()) m->blocks.emplace_back(text_block{text_});
  model_reply reply;
  reply.raw_reason = word;
  reply.reason = reason == end_reason::stop && !calls_.empty() ? end_reason::tool_calls : reason;
  for (auto& call : calls_) m->blocks.emplace_back(std::move(call));
  const auto input = json::walk::count(line, "prompt_eval_count"), output = json::walk::count(line, "eval_count");
  reply.usage = estimated(bytes);
  if (input > 0 || output > 0) {
    reply.usage = {};
    reply.usage.input = input;
    reply.usage.output = output;
  }
  reply.message = std::move(m);
  succeed(std::move(reply), sink);
}

json::raw_json ollama_decoder::assembled(const std::vector<tool_call_block>& calls) const {
  std::string out;
  json::json_writer w(out);
  w.begin_object().member("role", "assistant").member("content", content_).filled("thinking", thinking_);
  if (!calls.empty()) {
    w.key("tool_calls").begin_array();
    for (const auto& call : calls) write_ollama_call(w, call, call.provider_id);
    w.end_array();
  }
  w.end_object();
  return w.json();
}

void write_ollama_call(json::json_writer& w, const tool_call_block& call, std::string_view id) {
  w.begin_object().filled("id", id).key("function").begin_object();
  w.member("name", fitting_name(call.name)).key("arguments").token(wire::sent_arguments(call));
  w.end_object().end_object();
}

}  // namespace mcpbx::providers::ollama
