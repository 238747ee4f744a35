// Assembles parts to one turn. Parts are kept as received, because their signatures belong to them.
#include "providers/wire/gemini/gemini_decoder.hpp"

#include "mcp/json/json_walk.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/support/text.hpp"
#include "providers/model/names.hpp"
#include "providers/wire/api_errors.hpp"
#include "providers/wire/end_reasons.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::providers::gemini {

void gemini_decoder::take_event(std::string_view, std::string_view json, wire::decoder_sink& sink) {
  take_response(json, sink);
}

void gemini_decoder::take_body(std::string_view json, wire::decoder_sink& sink) {
  // Without alt=sse the API sends the events as one list.
  if (json::walk::is_array(json))
    json::walk::elements(json, [&](std::string_view response) {
      if (!done()) take_response(response, sink);
    });
  else
    take_response(json, sink);
  if (done()) return;
  if (!finish_reason_.empty() || !block_reason_.empty()) return end(sink);
  if (candidate_seen_) return fail_cut(sink);
  if (const auto said = wire::read_error_body(json); said.found()) return wire::answer_decoder::fail(said, json, sink);
  fail_foreign(json, sink);
}

void gemini_decoder::take_stream_end(bool, wire::decoder_sink& sink) {
  if (!finish_reason_.empty() || !block_reason_.empty()) return end(sink);
  fail_cut(sink);
}

void gemini_decoder::take_response(std::string_view response, wire::decoder_sink& sink) {
  std::string_view candidates, used, feedback, error;
  json::walk::members(response, [&](std::string_view key, std::string_view value) {
    if (key == "candidates")
      candidates = value;
    else if (key == "usageMetadata")
      used = value;
    else if (key == "promptFeedback")
      feedback = value;
    else if (key == "error")
      error = value;
  });
  if (json::walk::is_object(used)) take_usage(used);
  if (const auto reason = json::walk::text(json::walk::find(feedback, "blockReason")); !reason.empty())
    block_reason_ = reason;
  json::walk::elements(candidates, [&](std::string_view candidate) {
    if (done()) return;
    const auto index = json::walk::find(candidate, "index");
    if (!index.empty() && index != "0") return;
    candidate_seen_ = true;
    json::walk::elements(json::walk::find(json::walk::find(candidate, "content"), "parts"),
                         [&](std::string_view part) { take_part(part, sink); });
    const auto word = json::walk::text(json::walk::find(candidate, "finishReason"));
    if (word.empty() || word == "FINISH_REASON_UNSPECIFIED") return;
    finish_reason_ = word;
    finish_message_ = json::walk::text(json::walk::find(candidate, "finishMessage"));
  });
  if (!done() && (json::walk::is_object(error) || json::walk::is_string(error)))
    wire::answer_decoder::fail(wire::read_error_body(response), response, sink);
}

void gemini_decoder::take_part(std::string_view json, wire::decoder_sink& sink) {
  if (done() || !json::walk::is_object(json)) return;
  part p;
  std::string_view text;
  bool thought = false;
  p.plain = true;
  json::walk::members(json, [&](std::string_view key, std::string_view value) {
    if (key == "text") {
      text = value;
    } else if (key == "thought") {
      thought = value == "true";
    } else {
      p.plain = false;
      if (key == "functionCall") p.type = part::kind::call;
    }
  });
  if (p.type == part::kind::call) {
    const auto call = json::walk::find(json, "functionCall");
    if (!json::walk::is_object(call)) return;
    // Vertex sends arguments in pieces if the body's configuration asks for it. We do not assemble them, so this is an
    // error.
    if (!json::walk::find(call, "partialArgs").empty() || json::walk::find(call, "willContinue") == "true")
      return wire::answer_decoder::fail(
          model_error::kind::configuration,
          "sends the arguments of tool calls in pieces: take \"streamFunctionCallArguments\" "
          "out of the \"body\" of the model's configuration.",
          sink, json);
  }
  bytes_ += json.size();
  if (p.type != part::kind::call && json::walk::is_string(text)) {
    p.type = thought ? part::kind::thought : part::kind::text;
    p.text = (thought ? thought_joiner_ : text_joiner_).take(text);
    if (!p.text.empty()) {
      if (thought) {
        sink.on_reasoning(p.text);
      } else {
        text_ += p.text;
        sink.on_text(p.text);
      }
    } else if (p.plain) {
      return;  // the last response of a stream often has an empty text; or half of a surrogate pair came
    }
  }
  if (p.type == part::kind::other) p.plain = false;
  if (p.plain && !parts_.empty() && parts_.back().plain && parts_.back().type == p.type) {
    parts_.back().text += p.text;
    return;
  }
  if (!p.plain) p.json = json;
  parts_.push_back(std::move(p));
}

void gemini_decoder::take_usage(std::string_view used) {
  const auto thoughts = json::walk::count(used, "thoughtsTokenCount");
  usage_.input = json::walk::count(used, "promptTokenCount") + json::walk::count(used, "toolUsePromptTokenCount");
  usage_.output = json::walk::count(used, "candidatesTokenCount") + thoughts;
  usage_.cached = json::walk::count(used, "cachedContentTokenCount");
  usage_.reasoning = thoughts;
  usage_seen_ = usage_.input > 0 || usage_.output > 0;
}

bool gemini_decoder::drop_last_call() {
  const auto last =
      std::find_if(parts_.rbegin(), parts_.rend(), [](const part& p) { return p.type == part::kind::call; });
  if (last == parts_.rend()) return false;
  parts_.erase(std::next(last).base());
  return true;
}

void gemini_decoder::end(wire::decoder_sink& sink) {
  const bool blocked = finish_reason_.empty();
  const auto reason = blocked ? end_reason::filter : wire::read_end_reason(finish_reason_);
  // Calls come whole in this API, but the last one before a cut may be incomplete in meaning.
  if (is_cut(reason) && reason != end_reason::malformed_call && drop_last_call()) warn_cut_call();
  auto m = new_message();
  std::vector<std::string> sent;
  std::vector<tool_call_block> calls;
  for (auto& p : parts_) {
    if (p.type != part::kind::call) continue;
    const auto call = json::walk::find(p.json, "functionCall"), name = json::walk::find(call, "name");
    tool_call_block b;
    b.provider_id = json::walk::text(json::walk::find(call, "id"));
    const auto written = json::walk::text(name);
    b.name = called_name(written);
    b.arguments_text = json::walk::find(call, "args");
    read_arguments(b);
    wire::name_nameless(b);
    sent.push_back(b.provider_id);
    // The part goes back as it came, except for a missing name or one that the API would refuse.
    const auto at = [&](std::string_view inside) { return static_cast<std::size_t>(inside.data() - p.json.data()); };
    const auto sent_name = json::json_quoted(fitting_name(b.name));
    if (name.empty())
      p.json.insert(at(call) + 1, "\"name\":" + sent_name + (trimmed(call.substr(1)).starts_with('}') ? "" : ","));
    else if (written != fitting_name(b.name))
      p.json.replace(at(name), name.size(), sent_name);
    calls.push_back(std::move(b));
  }
  const auto ids = this->ids().settle(std::move(sent));
  std::size_t call = 0;
  for (const auto& p : parts_) {
    if (p.type == part::kind::thought || p.type == part::kind::text) {
      const auto signature = p.plain ? std::string_view() : json::walk::find(p.json, "thoughtSignature");
      const auto opaque = signature.empty() ? json::raw_json() : json::raw_json::own(signature);
      if (p.type == part::kind::thought)
        m->blocks.emplace_back(reasoning_block{p.text, opaque});
      else if (!p.text.empty())
        m->blocks.emplace_back(text_block{p.text});
    } else if (p.type == part::kind::call) {
      calls[call].id = ids[call];
      m->blocks.emplace_back(std::move(calls[call++]));
    } else {
      m->blocks.emplace_back(opaque_block{json::raw_json::own(p.json)});
    }
  }
  m->raw = assembled();
  model_reply reply;
  reply.raw_reason = blocked ? "blocked: " + block_reason_ : finish_reason_;
  if (!finish_message_.empty()) reply.raw_reason += ": " + wire::excerpt(finish_message_);
  reply.reason = reason;
  if (reason == end_reason::stop && call > 0) reply.reason = end_reason::tool_calls;
  reply.usage = usage_seen_ ? usage_ : estimated(bytes_);
  reply.message = std::move(m);
  succeed(std::move(reply), sink);
}

json::raw_json gemini_decoder::assembled() const {
  if (parts_.empty()) return {};  // the API refuses to take back a turn without parts
  std::string out;
  json::json_writer w(out);
  w.begin_object().member("role", "model").key("parts").begin_array();
  for (const auto& p : parts_) {
    if (p.plain)
      w.begin_object().member("text", p.text).set("thought", p.type == part::kind::thought).end_object();
    else
      w.token(p.json);
  }
  w.end_array().end_object();
  return w.json();
}

}  // namespace mcpbx::providers::gemini
