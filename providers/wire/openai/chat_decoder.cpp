// Turns chunks of chat completions into one reply or one error.
#include "providers/wire/openai/chat_decoder.hpp"

#include "mcp/json/json_walk.hpp"
#include "mcp/support/log.hpp"
#include "mcp/support/text.hpp"
#include "providers/wire/end_reasons.hpp"
#include "providers/wire/openai/dialects.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::providers::openai {
namespace {

bool is_truthy(std::string_view value) {
  return !value.empty() && value != "null" && value != "false" && value != "0" && value != "\"\"";
}

// Returns true for finish reasons that report a failure (of OpenRouter, of vLLM whose engine gave up, of DeepSeek and
// GLM). The text before is no answer then, even if an end mark follows.
bool is_failure(std::string_view said) {
  const auto word = wire::lower(said);
  return word == "error" || word == "abort" || word == "insufficient_system_resource" || word == "network_error";
}

std::int64_t integer_of(std::string_view value) {
  return json::raw_json::literal(value).as_integer().value_or(0);
}

}  // namespace

void chat_decoder::take_event(std::string_view, std::string_view json, wire::decoder_sink& sink) {
  take_object(json, false, sink);
}

void chat_decoder::take_body(std::string_view json, wire::decoder_sink& sink) {
  take_object(json, true, sink);
}

void chat_decoder::take_stream_end(bool mark, wire::decoder_sink& sink) {
  if (mark && !choices_seen_) return fail(model_error::kind::garbage, "sent an answer that holds nothing.", sink);
  if (finished_ || is_failure(finish_reason_)) return end(sink);
  // Some proxies send the end mark even behind a stream that was cut.
  if (mark) return fail_unfinished(sink);
  fail_cut(sink);
}

std::string chat_decoder::partial_text(wire::decoder_sink& sink) {
  add_pieces(thoughts_.finish(), sink);
  return text_.take();
}

void chat_decoder::take_object(std::string_view object, bool whole, wire::decoder_sink& sink) {
  std::string_view choices, used, error, groq;
  bool error_object = false;
  json::walk::members(object, [&](std::string_view key, std::string_view value) {
    if (key == "choices")
      choices = value;
    else if (key == "usage")
      used = value;
    else if (key == "error")
      error = value;
    else if (key == "x_groq")
      groq = value;
    else if (key == "object" && value == "\"error\"")
      error_object = true;
  });
  if (used.empty() && !groq.empty()) used = json::walk::find(groq, "usage");
  if (json::walk::is_object(used)) take_usage(used);
  json::walk::elements(choices, [&](std::string_view choice) {
    if (!done()) take_choice(choice, whole, sink);
  });
  if (done()) return;
  if (is_truthy(error) || error_object) return fail(wire::read_error_body(object), object, sink);
  if (!whole) return;
  // A stream of one chunk names its finish reason; a whole message need not, since not every server does.
  if (choices_seen_) return deltas_ && !finished_ && finish_reason_.empty() ? fail_cut(sink) : end(sink);
  const auto said = wire::read_error_body(object);
  if (said.found()) return fail(said, object, sink);
  fail_foreign(object, sink);
}

void chat_decoder::take_choice(std::string_view choice, bool whole, wire::decoder_sink& sink) {
  std::string_view index, delta, message, reason;
  json::walk::members(choice, [&](std::string_view key, std::string_view value) {
    if (key == "index")
      index = value;
    else if (key == "delta")
      delta = value;
    else if (key == "message")
      message = value;
    else if (key == "finish_reason")
      reason = value;
  });
  if (!index.empty() && index != "0" && index != "null") return;
  // Some servers end a stream with the whole message, which counts only if no deltas came.
  if (json::walk::is_object(message) && (whole || (!json::walk::is_object(delta) && !choices_seen_)))
    delta = message;
  else if (json::walk::is_object(delta))
    deltas_ = true;
  choices_seen_ = true;
  if (json::walk::is_object(delta)) take_delta(delta, sink);
  if (!json::walk::is_string(reason)) return;
  const auto word = json::unescaped(reason);
  if (word.empty() || word == "null") return;
  if (is_failure(word)) {
    finish_reason_ = word;
    return;
  }
  finished_ = true;
  if (finish_reason_.empty() || is_cut(wire::read_end_reason(word))) finish_reason_ = word;
}

void chat_decoder::take_delta(std::string_view delta, wire::decoder_sink& sink) {
  std::string_view shown_reasoning;
  json::walk::members(delta, [&](std::string_view key, std::string_view value) {
    if (key == "content") {
      take_content(value, sink);
    } else if (key == "tool_calls") {
      calls_.take(value);
    } else if (key == "function_call") {
      calls_.take_function_call(value);
    } else if (key == "refusal") {
      if (json::walk::is_string(value)) {
        const auto text = refusal_joiner_.take(value);
        refusal_ += text;
        if (!text.empty()) refused_ = true;
      }
    } else if (vendor_fields::kept(key)) {
      vendor_.add(key, value);
      // Some proxies send the same reasoning under two names; show one of them.
      if (json::walk::is_string(value) &&
          (key == "reasoning_content" || (key == "reasoning" && shown_reasoning.empty())))
        shown_reasoning = value;
    }
  });
  if (!shown_reasoning.empty()) add_reasoning(reasoning_joiner_.take(shown_reasoning), sink);
}

void chat_decoder::take_content(std::string_view content, wire::decoder_sink& sink) {
  if (json::walk::is_string(content)) return add_text(content_joiner_.take(content), sink);
  json::walk::elements(content, [&](std::string_view part) {
    if (json::walk::is_string(part)) return add_text(content_joiner_.take(part), sink);
    const auto text = json::walk::find(part, "text");
    if (json::walk::is_string(text)) add_text(content_joiner_.take(text), sink);
    json::walk::elements(json::walk::find(part, "thinking"), [&](std::string_view thought) {
      const auto t = json::walk::find(thought, "text");
      if (json::walk::is_string(t)) add_reasoning(reasoning_joiner_.take(t), sink);
    });
  });
}

void chat_decoder::add_text(std::string_view text, wire::decoder_sink& sink) {
  if (text.empty()) return;
  if (!thoughts_.outside()) {
    content_ += text;
    add_pieces(thoughts_.take(text), sink);
    if (thoughts_.outside() && text_ == content_) content_.clear();
    return;
  }
  if (!content_.empty()) content_ += text;
  text_ += text;
  sink.on_text(text);
}

void chat_decoder::add_reasoning(std::string_view text, wire::decoder_sink& sink) {
  if (text.empty()) return;
  reasoning_ += text;
  sink.on_reasoning(text);
}

void chat_decoder::add_pieces(const wire::thought_splitter::pieces& pieces, wire::decoder_sink& sink) {
  add_reasoning(pieces.thought, sink);
  if (pieces.text.empty()) return;
  text_ += pieces.text;
  sink.on_text(pieces.text);
}

void chat_decoder::take_usage(std::string_view used) {
  usage_ = {};
  std::int64_t hit = 0;
  json::walk::members(used, [&](std::string_view key, std::string_view value) {
    if (key == "prompt_tokens") {
      usage_.input = integer_of(value);
    } else if (key == "completion_tokens") {
      usage_.output = integer_of(value);
    } else if (key == "prompt_tokens_details") {
      usage_.cached = json::walk::count(value, "cached_tokens");
      usage_.cache_write = json::walk::count(value, "cache_write_tokens");
    } else if (key == "completion_tokens_details") {
      usage_.reasoning = json::walk::count(value, "reasoning_tokens");
    } else if (key == "prompt_cache_hit_tokens") {
      hit = integer_of(value);
    }
  });
  usage_.cached = std::max(usage_.cached, hit);
  // Some servers send the member with zeros only.
  usage_seen_ = usage_.input > 0 || usage_.output > 0;
}

void chat_decoder::end(wire::decoder_sink& sink) {
  if (is_failure(finish_reason_))
    return fail(model_error::kind::refused, "ended its answer with an error (" + finish_reason_ + ").", sink);
  add_pieces(thoughts_.finish(), sink);
  const auto reason = wire::read_end_reason(finish_reason_);
  // A call at a refusal may be incomplete, too.
  auto calls = calls_.finish(is_cut(reason) || refused_, ids());
  if (calls.empty > 0)
    log::warn("The " + wire::who(options()) + " made " + std::to_string(calls.empty) +
              " tool call(s) without a name, an id and arguments; dropped.");
  if (calls.cut > 0) warn_cut_call();
  if (calls.too_many)
    log::warn("The " + wire::who(options()) + " made more than " + std::to_string(max_reply_calls) +
              " tool calls; the later ones are dropped.");

  for (auto& call : calls.calls) call.name = called_name(std::move(call.name));
  auto m = new_message();
  auto text = text_.take();
  if (content_ == text) content_.clear();
  if (!usage_seen_)
    usage_ = estimated(std::max(content_.size(), text.size()) + reasoning_.size() + refusal_.size() + calls_.bytes());
  // A plain text needs no raw form: encoding its block gives the same bytes.
  const bool plain = !text.empty() && content_.empty() && reasoning_.empty() && vendor_.empty() && !refused_;
  if (!plain || !calls.calls.empty()) m->raw = assembled(calls, text);
  const bool any_text = !text.empty();
  if (!reasoning_.empty() || !vendor_.empty()) m->blocks.emplace_back(reasoning_block{reasoning_, vendor_.object()});
  if (any_text) m->blocks.emplace_back(text_block{std::move(text)});
  if (refused_) m->blocks.emplace_back(refusal_block{refusal_});
  model_reply reply;
  reply.raw_reason = finish_reason_;
  reply.reason = reason;
  if (reason == end_reason::stop) {
    if (refused_)
      reply.reason = end_reason::refusal;
    else if (!calls.calls.empty())
      reply.reason = end_reason::tool_calls;
    else if (calls.empty > 0 && !any_text)
      reply.reason = end_reason::malformed_call;
  }
  for (auto& call : calls.calls) m->blocks.emplace_back(std::move(call));
  reply.message = std::move(m);
  reply.usage = usage_;
  succeed(std::move(reply), sink);
}

json::raw_json chat_decoder::assembled(const call_assembler::finished& calls, std::string_view text) const {
  const auto content = content_.empty() ? text : std::string_view(content_);
  std::string out;
  out.reserve(240 + content.size() + calls_.bytes());
  json::json_writer w(out);
  w.begin_object().member("role", "assistant");
  if (content.empty() && options().null_content)
    w.member("content", json::raw_json());
  else
    w.member("content", content);
  if (refused_) w.member("refusal", refusal_);
  if (!calls.calls.empty()) {
    w.key("tool_calls").begin_array();
    for (std::size_t i = 0; i < calls.calls.size(); ++i)
      write_call(w, calls.calls[i], dialect_id(calls.calls[i].id, options()), calls.extras[i].text());
    w.end_array();
  }
  const auto& echo = options().echo_reasoning;
  vendor_.write(w, echo == "auto");
  if (echo != "auto" && echo != "none") w.filled(echo, reasoning_);
  w.end_object();
  return w.json();
}

}  // namespace mcpbx::providers::openai
