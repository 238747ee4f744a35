// Turns events into blocks, and blocks into one message.
#include "providers/wire/anthropic/anthropic_decoder.hpp"

#include "mcp/json/json_walk.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/support/log.hpp"
#include "mcp/support/text.hpp"
#include "providers/model/names.hpp"
#include "providers/wire/anthropic/anthropic.hpp"
#include "providers/wire/encoding.hpp"
#include "providers/wire/end_reasons.hpp"

#include <algorithm>
#include <charconv>
#include <memory>

namespace mcpbx::providers::anthropic {
namespace {

// Largest number of blocks, far above any sensible answer. Later blocks are dropped.
constexpr std::size_t max_blocks = 4096;

// Returns a member as a number, or -1 if it is missing, which changes nothing.
std::int64_t number(std::string_view object, std::string_view key) {
  return json::raw_json::literal(json::walk::find(object, key)).as_integer().value_or(-1);
}

void set(std::int64_t& to, std::int64_t value) {
  if (value >= 0) to = value;
}

bool has_members(std::string_view object) {
  bool any = false;
  json::walk::members(object, [&](std::string_view, std::string_view) { any = true; });
  return any;
}

}  // namespace

bool is_thought(std::string_view type) {
  return type == "thinking" || type == "redacted_thinking";
}

anthropic_decoder::anthropic_decoder(std::string content_type, wire::wire_options options, const model_request* request)
    : wire::event_decoder(std::string(anthropic::api), std::move(content_type), std::move(options), request) {}

void anthropic_decoder::take_event(std::string_view name, std::string_view json, wire::decoder_sink& sink) {
  std::string_view type, index, delta, block, message, used, error;
  json::walk::members(json, [&](std::string_view key, std::string_view value) {
    if (key == "type")
      type = value;
    else if (key == "index")
      index = value;
    else if (key == "delta")
      delta = value;
    else if (key == "content_block")
      block = value;
    else if (key == "message")
      message = value;
    else if (key == "usage")
      used = value;
    else if (key == "error")
      error = value;
  });
  std::string held;
  const auto word = json::walk::is_string(type) ? word_of(type, held) : name;
  if (word == "content_block_delta") {
    if (auto* const b = find(index); b != nullptr && !b->ended) go_on(*b, delta, sink);
  } else if (word == "content_block_start") {
    begun_ = true;
    open(index, block, sink);
  } else if (word == "content_block_stop") {
    if (auto* const b = find(index)) b->ended = true;
  } else if (word == "message_start") {
    begun_ = true;
    take_usage(json::walk::find(message, "usage"));
    // Some servers give the whole answer here and no blocks behind it.
    open_all(json::walk::find(message, "content"), sink);
    take_stop(message);
  } else if (word == "message_delta") {
    take_stop(delta);
    take_usage(used);
  } else if (word == "message_stop") {
    if (!begun_) return fail(model_error::kind::garbage, "sent an answer that holds nothing.", sink);
    if (stop_reason_.empty()) return fail_unfinished(sink);
    end(sink);
  } else if (word == "error" || json::walk::is_object(error)) {
    fail(wire::read_error_body(json), json, sink);
  }
}

std::size_t anthropic_decoder::kept_bytes() const {
  std::size_t bytes = text_.capacity();
  for (const auto& b : blocks_)
    bytes += b.start.capacity() + b.text.capacity() + b.input.capacity() + b.citations.capacity();
  return bytes;
}

void anthropic_decoder::take_body(std::string_view json, wire::decoder_sink& sink) {
  const auto content = json::walk::find(json, "content");
  const bool empty = content == "null" && json::walk::text(json::walk::find(json, "type")) == "message" &&
                     !json::walk::text(json::walk::find(json, "stop_reason")).empty() &&
                     !json::walk::is_object(json::walk::find(json, "error"));
  if (!json::walk::is_array(content) && !empty) {
    const auto said = wire::read_error_body(json);
    return said.found() ? fail(said, json, sink) : fail_foreign(json, sink);
  }
  open_all(content, sink);
  take_stop(json);
  take_usage(json::walk::find(json, "usage"));
  end(sink);
}

void anthropic_decoder::take_stream_end(bool, wire::decoder_sink& sink) {
  fail_cut(sink);  // only message_stop says that all of it came
}

anthropic_decoder::content_block* anthropic_decoder::find(std::string_view index) {
  std::int64_t wanted = 0;
  const auto [end, ec] = std::from_chars(index.data(), index.data() + index.size(), wanted);
  const bool has_index = ec == std::errc() && end == index.data() + index.size();
  for (auto b = blocks_.rbegin(); has_index && b != blocks_.rend(); ++b)
    if (b->index == wanted) return &*b;
  // Some servers omit the index or count differently in each event: continue the block that is open.
  return blocks_.empty() || blocks_.back().ended || too_many_ ? nullptr : &blocks_.back();
}

void anthropic_decoder::open(std::string_view index, std::string_view block, wire::decoder_sink& sink) {
  if (!json::walk::is_object(block)) return;
  if (blocks_.size() == max_blocks) {
    too_many_ = true;
    return;
  }
  auto& b = blocks_.emplace_back();
  std::from_chars(index.data(), index.data() + index.size(), b.index);
  b.start = block;
  b.type = json::walk::text(json::walk::find(block, "type"));
  if (b.type == "text") {
    add_text(b, json::walk::text(json::walk::find(block, "text")), sink);
  } else if (b.type == "thinking") {
    add_text(b, json::walk::text(json::walk::find(block, "thinking")), sink);
  }
}

void anthropic_decoder::open_all(std::string_view content, wire::decoder_sink& sink) {
  std::int64_t n = 0;
  json::walk::elements(content, [&](std::string_view b) { open(std::to_string(n++), b, sink); });
  for (auto& b : blocks_) b.ended = b.ended || b.is_call();
}

void anthropic_decoder::add_text(content_block& block, std::string_view text, wire::decoder_sink& sink) {
  if (text.empty()) return;
  block.text += text;
  if (block.type == "thinking") return sink.on_reasoning(text);
  if (block.type != "text") return;
  text_ += text;
  sink.on_text(text);
}

void anthropic_decoder::go_on(content_block& block, std::string_view delta, wire::decoder_sink& sink) {
  std::string_view text, json, signature, citation;
  json::walk::members(delta, [&](std::string_view key, std::string_view value) {
    if (key == "text" || key == "thinking")
      text = value;
    else if (key == "partial_json")
      json = value;
    else if (key == "signature")
      signature = value;
    else if (key == "citation")
      citation = value;
  });
  if (json::walk::is_string(text)) add_text(block, block.joiner.take(text), sink);
  if (json::walk::is_string(json)) {
    block.input += block.joiner.take(json);
    block.has_input = block.has_input || !block.input.empty();
  }
  if (json::walk::is_string(signature)) {
    block.signature = signature;
    block.has_signature = true;
  }
  if (json::walk::is_object(citation)) block.citations.append(",").append(citation);
}

void anthropic_decoder::take_stop(std::string_view holder) {
  const auto reason = json::walk::text(json::walk::find(holder, "stop_reason"));
  if (!reason.empty()) stop_reason_ = reason;
  const auto details = json::walk::find(holder, "stop_details");
  const auto why = json::walk::text(json::walk::find(details, "explanation"));
  if (!why.empty()) refusal_ = why;
}

// Takes over token counts. They are cumulative, so each replaces the one before.
void anthropic_decoder::take_usage(std::string_view used) {
  if (!json::walk::is_object(used)) return;
  set(fresh_input_, number(used, "input_tokens"));
  set(usage_.cached, number(used, "cache_read_input_tokens"));
  set(usage_.cache_write, number(used, "cache_creation_input_tokens"));
  set(usage_.output, number(used, "output_tokens"));
  set(usage_.reasoning, number(json::walk::find(used, "output_tokens_details"), "thinking_tokens"));
  usage_.input = fresh_input_ + usage_.cached + usage_.cache_write;
  usage_seen_ = usage_.input > 0 || usage_.output > 0;
}

std::string anthropic_decoder::assembled(const content_block& block, const tool_call_block* call) {
  std::string out;
  json::json_writer w(out);
  w.begin_object();
  const auto put = [&](std::string_view key, std::string_view value) { w.key(key).token(value); };
  const bool texts = block.type == "text", thoughts = block.type == "thinking";
  std::string cited(block.citations);
  bool text_put = false, input_put = false, name_put = false, signature_put = false, citations_put = false;
  const auto put_text = [&] {
    if (!std::exchange(text_put, true)) w.member(block.type, block.text);
  };
  const auto put_input = [&](std::string_view given) {
    if (std::exchange(input_put, true)) return;
    if (call != nullptr) return put("input", wire::sent_arguments(*call));
    const bool read = block.has_input && json::check_json(block.input, 64) == json::json_scanner::fault::none;
    put("input", read ? std::string_view(block.input) : given);
  };
  json::walk::members(block.start, [&](std::string_view key, std::string_view value) {
    if ((texts || thoughts) && key == block.type) {
      put_text();
    } else if (key == "input" && (call != nullptr || block.has_input)) {
      put_input(value);
    } else if (key == "id" && call != nullptr) {
      w.member(key, call->id);
    } else if (key == "name" && call != nullptr) {
      w.member(key, fitting_name(call->name));
      name_put = true;
    } else if (key == "signature" && block.has_signature) {
      put(key, block.signature);
      signature_put = true;
    } else if (key == "citations" && !cited.empty()) {
      std::string all = "[";
      json::walk::elements(value, [&](std::string_view c) { all.append(all.size() > 1 ? "," : "").append(c); });
      put(key, all.append(all.size() > 1 ? cited : cited.substr(1)) + "]");
      citations_put = true;
    } else {
      put(key, value);
    }
  });
  if (texts || thoughts) put_text();
  if (call != nullptr && !name_put) w.member("name", fitting_name(call->name));
  if (call != nullptr || block.has_input) put_input("{}");
  if (block.has_signature && !signature_put) put("signature", block.signature);
  if (!cited.empty() && !citations_put) put("citations", "[" + cited.substr(1) + "]");
  w.end_object();
  return out;
}

void anthropic_decoder::end(wire::decoder_sink& sink) {
  const auto reason = wire::read_end_reason(stop_reason_);
  // A call at the cut may be incomplete, even if its block was closed.
  if (is_cut(reason) && !blocks_.empty() && blocks_.back().is_call()) {
    warn_cut_call();
    blocks_.pop_back();
  }
  if (too_many_) log::warn("The " + wire::who(options()) + " sent more than 4096 blocks; the later ones are dropped.");
  std::vector<std::string> sent;
  for (const auto& b : blocks_) {
    if (!b.is_call()) continue;
    auto id = json::walk::text(json::walk::find(b.start, "id"));
    sent.push_back(wire::is_fitting_id(id) ? std::move(id) : std::string());
  }
  auto settled = ids().settle(std::move(sent));

  auto m = new_message();
  std::string content;
  std::size_t kept = 0;  // bytes of content up to the last block that may end a message
  std::size_t calls = 0, bytes = 0;
  for (const auto& b : blocks_) {
    bytes += b.text.size() + b.input.size();
    const auto before = content.size();
    const auto add = [&](std::string_view json) { content.append(before == 0 ? "" : ",").append(json); };
    if (b.type == "text") {
      if (!b.text.empty() || !b.citations.empty()) m->blocks.emplace_back(text_block{b.text});
      // The API sends blank texts but refuses to take them back.
      if (wire::is_blank_text(b.text) && b.citations.empty()) continue;
      add(assembled(b, nullptr));
    } else if (is_thought(b.type)) {
      const auto json = assembled(b, nullptr);
      m->blocks.emplace_back(reasoning_block{b.text, json::raw_json::own(json)});
      add(json);
      continue;
    } else if (b.is_call()) {
      tool_call_block call;
      call.provider_id = json::walk::text(json::walk::find(b.start, "id"));
      call.id = std::move(settled[calls++]);
      call.name = called_name(json::walk::text(json::walk::find(b.start, "name")));
      call.arguments_text = b.has_input ? b.input : std::string(json::walk::find(b.start, "input"));
      if (b.ended) {
        read_arguments(call);
      } else {
        // Each call begins with an empty object. Only its end confirms that the arguments are empty.
        if (!b.has_input && !has_members(call.arguments_text)) call.arguments_text.clear();
        wire::read_unended_arguments(call);
      }
      wire::name_nameless(call);
      add(assembled(b, &call));
      m->blocks.emplace_back(std::move(call));
    } else {
      const auto json = assembled(b, nullptr);
      m->blocks.emplace_back(opaque_block{json::raw_json::own(json)});
      add(json);
    }
    kept = content.size();
  }
  // A message that is sent back must not end in thoughts, unless the model is to continue right there.
  if (reason != end_reason::pause) content.resize(kept);
  if (!content.empty()) m->raw = json::raw_json::own(R"({"role":"assistant","content":[)" + content + "]}");

  model_reply reply;
  reply.raw_reason = stop_reason_;
  reply.reason = reason;
  if (reason == end_reason::stop && calls > 0) reply.reason = end_reason::tool_calls;
  if (reason == end_reason::refusal) m->blocks.emplace_back(refusal_block{refusal_});
  reply.message = std::move(m);
  reply.usage = usage_seen_ ? usage_ : estimated(bytes);
  succeed(std::move(reply), sink);
}

}  // namespace mcpbx::providers::anthropic
