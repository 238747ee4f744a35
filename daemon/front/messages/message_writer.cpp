// Events and bodies (platform.claude.com, Streaming Messages). A block is closed before the next one begins, so indexes
// are contiguous.
#include "daemon/front/messages/message_writer.hpp"

#include "daemon/front/dialects/stream_event.hpp"
#include "daemon/front/messages/messages_error.hpp"
#include "mcp/json/quoted_size.hpp"

#include <algorithm>

namespace mcpbx::daemon::messages {
namespace {

/// Signature of thinking blocks that we write. The true one stays with the run; clients demand some text here.
constexpr std::string_view no_signature = "mcpbx";

using event = dialects::stream_event;

std::string_view stop_reason_of(std::string_view finish) {
  if (finish == "length") return "max_tokens";
  if (finish == "tool_calls") return "tool_use";
  if (finish == "content_filter") return "refusal";
  return "end_turn";
}

void write_usage(json::json_writer& w, const providers::usage& u) {
  w.key("usage").begin_object();
  w.member("input_tokens", std::max<std::int64_t>(u.input - u.cached - u.cache_write, 0));
  w.member("cache_creation_input_tokens", u.cache_write).member("cache_read_input_tokens", u.cached);
  w.member("output_tokens", u.output).end_object();
}

void write_stop(json::json_writer& w, const dialects::run_outcome& o) {
  w.member("stop_reason", stop_reason_of(o.finish)).member("stop_sequence", json::raw_json());
  if (o.refusal.empty()) return;
  w.key("stop_details").begin_object().member("type", "refusal").member("category", json::raw_json());
  w.member("explanation", o.refusal).end_object();
}

std::string_view input_of(const dialects::run_outcome::call& c) {
  return c.arguments.empty() ? std::string_view("{}") : std::string_view(c.arguments);
}

}  // namespace

void message_writer::begin(std::string& out) {
  event e(out, "message_start");
  e.w.key("message").begin_object().member("id", head_.id).member("type", "message").member("role", "assistant");
  e.w.member("model", head_.model).key("content").begin_array().end_array();
  e.w.member("stop_reason", json::raw_json()).member("stop_sequence", json::raw_json());
  write_usage(e.w, {});
  e.w.end_object();
}

void message_writer::open(std::string& out, block kind) {
  open_ = kind;
  event e(out, "content_block_start");
  e.w.member("index", index_).key("content_block").begin_object();
  if (kind == block::text)
    e.w.members("type", "text", "text", "");
  else
    e.w.members("type", "thinking", "thinking", "", "signature", "");
  e.w.end_object();
}

void message_writer::close(std::string& out) {
  if (open_ == block::none) return;
  if (open_ == block::thinking) {
    event e(out, "content_block_delta");
    e.w.member("index", index_).key("delta").begin_object();
    e.w.members("type", "signature_delta", "signature", no_signature).end_object();
  }
  event(out, "content_block_stop").w.member("index", index_);
  ++index_;
  open_ = block::none;
}

void message_writer::text(std::string& out, std::string_view part, bool new_round) {
  if (open_ != block::text || new_round) {
    close(out);
    open(out, block::text);
  }
  event e(out, "content_block_delta");
  e.w.member("index", index_).key("delta").begin_object().members("type", "text_delta", "text", part).end_object();
}

void message_writer::reasoning(std::string& out, std::string_view part) {
  if (!shows_thinking_) return;
  if (open_ != block::thinking) {
    close(out);
    open(out, block::thinking);
  }
  event e(out, "content_block_delta");
  e.w.member("index", index_).key("delta").begin_object().members("type", "thinking_delta", "thinking", part);
  e.w.end_object();
}

void message_writer::keep_alive(std::string& out) {
  const event e(out, "ping");
}

void message_writer::end(std::string& out, const dialects::run_outcome& o) {
  if (!o.text.empty()) text(out, o.text, true);
  close(out);
  for (const auto& c : o.calls) {
    {
      event e(out, "content_block_start");
      e.w.member("index", index_).key("content_block").begin_object();
      e.w.members("type", "tool_use", "id", c.id, "name", c.name).key("input").begin_object().end_object();
      e.w.end_object();
    }
    {
      event e(out, "content_block_delta");
      e.w.member("index", index_).key("delta").begin_object();
      e.w.members("type", "input_json_delta", "partial_json", input_of(c)).end_object();
    }
    event(out, "content_block_stop").w.member("index", index_);
    ++index_;
  }
  {
    event e(out, "message_delta");
    e.w.key("delta").begin_object();
    write_stop(e.w, o);
    e.w.end_object();
    write_usage(e.w, o.used);
  }
  const event stop(out, "message_stop");
}

void message_writer::broken(std::string& out, const dialects::request_fault& f) {
  out += "event: error\ndata: " + messages_error_body(f) + "\n\n";
}

std::string message_writer::body(dialects::said_text said, const dialects::run_outcome& o) {
  if (!o.text.empty()) said.rounds.push_back(o.text);
  std::size_t size = 2048 + json::quoted_size(said.thinking);
  for (const auto& one : said.rounds) size += json::quoted_size(one) + 64;
  std::string out;
  out.reserve(size);
  json::json_writer w(out);
  w.begin_object().member("id", head_.id).member("type", "message").member("role", "assistant");
  w.member("model", head_.model).key("content").begin_array();
  if (shows_thinking_ && !said.thinking.empty())
    w.begin_object().members("type", "thinking", "thinking", said.thinking, "signature", no_signature).end_object();
  for (const auto& one : said.rounds)
    if (!one.empty()) w.begin_object().members("type", "text", "text", one).end_object();
  for (const auto& c : o.calls)
    w.begin_object()
        .members("type", "tool_use", "id", c.id, "name", c.name)
        .key("input")
        .token(input_of(c))
        .end_object();
  w.end_array();
  write_stop(w, o);
  write_usage(w, o.used);
  w.end_object();
  return out;
}

std::string message_writer::error_body(const dialects::request_fault& f) const {
  return messages_error_body(f);
}

}  // namespace mcpbx::daemon::messages
