// Framing of server-sent events, and the endings that all decoders share.
#include "providers/wire/answer_decoder.hpp"

#include "mcp/support/log.hpp"
#include "mcp/support/text.hpp"
#include "providers/model/names.hpp"

#include <algorithm>
#include <utility>

namespace mcpbx::providers::wire {

answer_decoder::answer_decoder(std::string api, std::string content_type, wire_options options,
                               const model_request* request)
    : api_(std::move(api)),
      content_type_(std::move(content_type)),
      options_(std::move(options)),
      request_(request),
      ids_(request) {}

std::shared_ptr<message> answer_decoder::new_message() const {
  auto m = std::make_shared<message>();
  m->role = role::assistant;
  m->origin = {api_, options_.base_url, options_.model};
  return m;
}

std::string answer_decoder::called_name(std::string written) const {
  const auto bare = without_namespace(written);
  const auto tools = request_ == nullptr || bare.size() == written.size() ? nullptr : request_->offered();
  if (!tools) return written;
  const auto is_offered = [&](std::string_view name) {
    return std::ranges::find(tools->tools, name, &tool_definition::name) != tools->tools.end();
  };
  // A tool whose own name has a namespace is shown under another name, and the model may mean that tool.
  return is_offered(bare) && !is_offered(model_name(written)) ? std::string(bare) : written;
}

usage answer_decoder::estimated(std::size_t answer_bytes) {
  usage u;
  u.output = static_cast<std::int64_t>(answer_bytes / 4 + 1);
  u.estimated = true;
  return u;
}

std::string_view answer_decoder::word_of(std::string_view value, std::string& held) {
  if (value.size() < 2 || value.front() != '"') return {};
  if (value.find('\\') == std::string_view::npos) return value.substr(1, value.size() - 2);
  held = json::unescaped(value);
  return held;
}

void answer_decoder::succeed(model_reply reply, decoder_sink& sink) {
  ended_ = true;
  sink.on_end(std::move(reply));
}

void answer_decoder::fail(model_error::kind type, std::string_view message, decoder_sink& sink, std::string_view raw) {
  model_error e;
  e.type = type;
  e.http_status = 200;
  e.retryable = type == model_error::kind::cut || type == model_error::kind::garbage;
  e.message = "The " + who(options_) + " " + std::string(message);
  e.said = loggable(raw);
  fail(std::move(e), sink);
}

void answer_decoder::fail(const error_body& said, std::string_view raw, decoder_sink& sink) {
  fail(stream_error(said, raw, options_), sink);
}

void answer_decoder::fail_foreign(std::string_view bytes, decoder_sink& sink) {
  const auto shown = excerpt(bytes);
  fail(model_error::kind::garbage,
       "sent an answer that is none of the API " + api_ + " (content type \"" + excerpt(content_type_) + "\")" +
           (shown.empty() ? "." : ": " + shown),
       sink, bytes);
}

void answer_decoder::fail_cut(std::string_view message, decoder_sink& sink) {
  fail(model_error::kind::cut, std::string(message) + " " + std::string(cut_mend), sink);
}

void answer_decoder::fail_cut(decoder_sink& sink) {
  fail_cut("ended its answer without an end mark, so it was cut off.", sink);
}

void answer_decoder::fail_unfinished(decoder_sink& sink) {
  fail_cut("ended its answer without a finish reason, so it was cut off.", sink);
}

void answer_decoder::warn_cut_call() const {
  log::warn(
      "The " + who(options_) +
      " was cut off at a tool call; that call is not run. If its limit of tokens is the cause, raise maxTokens of "
      "its entry.");
}

void answer_decoder::fail(model_error e, decoder_sink& sink) {
  e.partial_text = partial_text(sink);
  ended_ = true;
  sink.on_error(std::move(e));
}

void event_decoder::feed(std::string_view bytes, decoder_sink& sink) {
  if (done()) return;
  if (state_ == state::start) {
    // A stream never begins with a brace or an angle bracket, whatever its content type says. A BOM counts as a blank.
    const auto from = bytes.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
    if (from == std::string_view::npos) return;
    bytes.remove_prefix(from);
    const char c = bytes.front();
    state_ = c == '{' || c == '[' || c == '<' ? state::json : state::stream;
  }
  if (state_ == state::json) {
    body_ += bytes;
    return;
  }
  watch_for_stray(bytes);
  sse_parser::event event;
  while (!done() && sse_.next(bytes, event)) take(event, sink);
  if (!done() && sse_.overflowed())
    fail(model_error::kind::garbage,
         "sent one event of more than " + std::to_string(max_event >> 20) +
             " MiB, so its answer was stopped. Ask for less at once.",
         sink);
}

void event_decoder::watch_for_stray(std::string_view bytes) {
  constexpr std::size_t most = 64 * 1024;
  while (!bytes.empty() && stray_.empty()) {
    if (line_start_ && (bytes.front() == '{' || bytes.front() == '[')) break;
    const auto end = bytes.find('\n');
    line_start_ = end != std::string_view::npos;
    bytes.remove_prefix(line_start_ ? end + 1 : bytes.size());
  }
  stray_ += bytes.substr(0, most - std::min(most, stray_.size()));
}

void event_decoder::finish(decoder_sink& sink) {
  if (done()) return;
  if (state_ == state::start) return fail_cut("sent an empty answer.", sink);
  if (state_ == state::json) {
    const auto body = trimmed(body_);
    const auto fault = body.starts_with('<') ? json::json_scanner::fault::syntax : json::check_json(body, 256);
    if (fault == json::json_scanner::fault::none) return take_body(body, sink);
    if (fault == json::json_scanner::fault::truncated) return fail_cut("sent a JSON answer that was cut off.", sink);
    return fail_foreign(body, sink);
  }
  // A last event without its empty line counts, but broken JSON in it means that the stream was cut there.
  sse_parser::event event;
  if (sse_.finish(event)) {
    const auto data = trimmed(event.data);
    if (data == "[DONE]" || data.starts_with(':') || json::check_json(data, 256) == json::json_scanner::fault::none)
      take(event, sink);
    if (done()) return;
  }
  if (const auto stray = trimmed(stray_);
      !finish_seen() && !stray.empty() && json::check_json(stray, 64) == json::json_scanner::fault::none) {
    if (const auto said = read_error_body(stray); said.found()) return fail(said, stray, sink);
  }
  if (!sse_.saw_field()) return fail_foreign("", sink);
  take_stream_end(false, sink);
}

void event_decoder::take(const sse_parser::event& event, decoder_sink& sink) {
  const auto data = trimmed(event.data);
  if (data.empty() || data.starts_with(':')) return;
  if (data == "[DONE]") return take_stream_end(true, sink);
  scanner_.reset();
  if (!scanner_.feed(data) || !scanner_.finish()) {
    if (event.name == "error") return fail({std::string(data), {}, {}, {}}, data, sink);
    return fail(model_error::kind::garbage, "sent an event that is not JSON: " + excerpt(data), sink, data);
  }
  if (event.name == "error") return fail(read_error_body(data), data, sink);
  take_event(event.name, data, sink);
}

}  // namespace mcpbx::providers::wire
