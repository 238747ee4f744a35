// Events and bodies. An item is closed before the next one begins; the last event repeats all items.
#include "daemon/front/responses/response_writer.hpp"

#include "daemon/front/dialects/openai_error.hpp"
#include "daemon/front/dialects/stream_event.hpp"

namespace mcpbx::daemon::responses {
namespace {

void write_output_text(json::json_writer& w, std::string_view text) {
  w.begin_object().member("type", "output_text").member("text", text).key("annotations").begin_array().end_array();
  w.key("logprobs").begin_array().end_array().end_object();
}

json::raw_json message_item(const std::string& id, std::string_view text) {
  std::string json;
  json::json_writer w(json);
  w.begin_object().members("id", id, "type", "message", "status", "completed", "role", "assistant");
  w.key("content").begin_array();
  write_output_text(w, text);
  w.end_array().end_object();
  return w.json();
}

json::raw_json refusal_item(const std::string& id, const std::string& why) {
  std::string json;
  json::json_writer w(json);
  w.begin_object().members("id", id, "type", "message", "status", "completed", "role", "assistant");
  w.key("content").begin_array().begin_object().members("type", "refusal", "refusal", why).end_object().end_array();
  w.end_object();
  return w.json();
}

json::raw_json reasoning_item(const std::string& id, std::string_view text) {
  std::string json;
  json::json_writer w(json);
  w.begin_object().members("id", id, "type", "reasoning").key("summary").begin_array();
  if (!text.empty()) w.begin_object().members("type", "summary_text", "text", text).end_object();
  w.end_array().end_object();
  return w.json();
}

json::raw_json call_item(const std::string& id, const dialects::run_outcome::call& c, std::string_view status,
                         std::string_view arguments) {
  std::string json;
  json::json_writer w(json);
  w.begin_object().members("id", id, "type", "function_call", "status", status, "arguments", arguments);
  w.members("call_id", c.id, "name", c.name).end_object();
  return w.json();
}

std::string_view arguments_of(const dialects::run_outcome::call& c) {
  return c.arguments.empty() ? std::string_view("{}") : std::string_view(c.arguments);
}

// Returns the reason for an incomplete response, or "".
std::string_view missing(const dialects::run_outcome& o) {
  if (o.finish == "length") return "max_output_tokens";
  return o.finish == "content_filter" && o.refusal.empty() ? "content_filter" : "";
}

void write_usage(json::json_writer& w, const providers::usage& u) {
  w.begin_object().member("input_tokens", u.input).key("input_tokens_details").begin_object();
  w.member("cached_tokens", u.cached).end_object().member("output_tokens", u.output);
  w.key("output_tokens_details").begin_object().member("reasoning_tokens", u.reasoning).end_object();
  w.member("total_tokens", u.input + u.output).end_object();
}

}  // namespace

// One event, with its number.
class response_writer::event : public dialects::stream_event {
 public:
  event(response_writer& of, std::string& out, std::string_view type) : dialects::stream_event(out, type) {
    w.member("sequence_number", of.sequence_++);
  }
};

std::string response_writer::item_id(std::string_view kind) const {
  return std::string(kind) + head_.id.substr(id_prefix().size()) + "_" + std::to_string(items_.size());
}

void response_writer::write_response(json::json_writer& w, std::string_view status, const dialects::run_outcome* o,
                                     const dialects::request_fault* f) const {
  w.begin_object().members("id", head_.id, "object", "response", "created_at", head_.created, "status", status);
  w.key("error");
  if (f == nullptr)
    w.token("null");
  else
    w.begin_object().members("code", f->code.empty() ? "server_error" : f->code, "message", f->message).end_object();
  w.key("incomplete_details");
  if (const auto why = o ? missing(*o) : std::string_view(); !why.empty())
    w.begin_object().member("reason", why).end_object();
  else
    w.token("null");
  w.member("model", head_.model).key("output").begin_array();
  for (const auto& [id, item] : items_) w.value(item);
  w.end_array().token(echo_).key("usage");
  if (o)
    write_usage(w, o->used);
  else
    w.token("null");
  w.end_object();
}

void response_writer::begin(std::string& out) {
  for (const std::string_view type : {"response.created", "response.in_progress"}) {
    event e(*this, out, type);
    write_response(e.w.key("response"), "in_progress", nullptr, nullptr);
  }
}

// Writes an event about the present item: its id, its places, and one member.
void response_writer::say(std::string& out, std::string_view type, std::string_view key, std::string_view value) {
  event e(*this, out, type);
  e.w.member("item_id", id_).member("output_index", items_.size());
  e.w.member(open_ == item::reasoning ? "summary_index" : "content_index", 0).member(key, value);
  if (type.starts_with("response.output_text.")) e.w.key("logprobs").begin_array().end_array();
}

void response_writer::open(std::string& out, item kind) {
  open_ = kind;
  text_.clear();
  id_ = item_id(kind == item::message ? "msg_" : "rs_");
  {
    event e(*this, out, "response.output_item.added");
    e.w.member("output_index", items_.size()).key("item");
    if (kind == item::reasoning)
      e.w.value(reasoning_item(id_, ""));
    else
      e.w.begin_object()
          .members("id", id_, "type", "message", "status", "in_progress", "role", "assistant")
          .key("content")
          .begin_array()
          .end_array()
          .end_object();
  }
  const bool message = kind == item::message;
  event e(*this, out, message ? "response.content_part.added" : "response.reasoning_summary_part.added");
  e.w.member("item_id", id_).member("output_index", items_.size());
  e.w.member(message ? "content_index" : "summary_index", 0).key("part");
  if (message)
    write_output_text(e.w, "");
  else
    e.w.begin_object().members("type", "summary_text", "text", "").end_object();
}

void response_writer::close(std::string& out) {
  if (open_ == item::none) return;
  const bool message = open_ == item::message;
  say(out, message ? "response.output_text.done" : "response.reasoning_summary_text.done", "text", text_);
  {
    event e(*this, out, message ? "response.content_part.done" : "response.reasoning_summary_part.done");
    e.w.member("item_id", id_).member("output_index", items_.size());
    e.w.member(message ? "content_index" : "summary_index", 0).key("part");
    if (message)
      write_output_text(e.w, text_);
    else
      e.w.begin_object().members("type", "summary_text", "text", text_).end_object();
  }
  auto json = message ? message_item(id_, text_) : reasoning_item(id_, text_);
  event(*this, out, "response.output_item.done").w.member("output_index", items_.size()).member("item", json);
  add_item(std::move(json));
  open_ = item::none;
}

void response_writer::add_item(json::raw_json json) {
  items_.emplace_back(id_, std::move(json));
}

void response_writer::text(std::string& out, std::string_view part, bool new_round) {
  if (open_ != item::message || new_round) {
    close(out);
    open(out, item::message);
  }
  text_ += part;
  say(out, "response.output_text.delta", "delta", part);
}

void response_writer::reasoning(std::string& out, std::string_view part) {
  if (!shows_reasoning_) return;
  if (open_ != item::reasoning) {
    close(out);
    open(out, item::reasoning);
  }
  text_ += part;
  say(out, "response.reasoning_summary_text.delta", "delta", part);
}

// A comment of one line: with an empty line behind it, some clients take it for an event.
void response_writer::keep_alive(std::string& out) {
  out += ": keep-alive\n";
}

void response_writer::refuse(std::string& out, const std::string& why) {
  id_ = item_id("msg_");
  {
    event e(*this, out, "response.output_item.added");
    e.w.member("output_index", items_.size()).key("item").begin_object();
    e.w.members("id", id_, "type", "message", "status", "in_progress", "role", "assistant");
    e.w.key("content").begin_array().end_array().end_object();
  }
  const auto part = [&](std::string_view type, std::string_view text) {
    event e(*this, out, type);
    e.w.member("item_id", id_).member("output_index", items_.size()).member("content_index", 0).key("part");
    e.w.begin_object().members("type", "refusal", "refusal", text).end_object();
  };
  part("response.content_part.added", "");
  say(out, "response.refusal.delta", "delta", why);
  say(out, "response.refusal.done", "refusal", why);
  part("response.content_part.done", why);
  auto json = refusal_item(id_, why);
  event(*this, out, "response.output_item.done").w.member("output_index", items_.size()).member("item", json);
  add_item(std::move(json));
}

void response_writer::call(std::string& out, const dialects::run_outcome::call& c) {
  id_ = item_id("fc_");
  const auto about = [&](std::string_view type, std::string_view key) {
    event e(*this, out, type);
    e.w.member("item_id", id_).member("output_index", items_.size()).member(key, arguments_of(c));
    if (key == "arguments") e.w.member("name", c.name);
  };
  event(*this, out, "response.output_item.added")
      .w.member("output_index", items_.size())
      .member("item", call_item(id_, c, "in_progress", ""));
  about("response.function_call_arguments.delta", "delta");
  about("response.function_call_arguments.done", "arguments");
  auto json = call_item(id_, c, "completed", arguments_of(c));
  event(*this, out, "response.output_item.done").w.member("output_index", items_.size()).member("item", json);
  add_item(std::move(json));
}

void response_writer::end(std::string& out, const dialects::run_outcome& o) {
  if (!o.text.empty()) text(out, o.text, true);
  close(out);
  if (!o.refusal.empty()) refuse(out, o.refusal);
  for (const auto& c : o.calls) call(out, c);
  const bool whole = missing(o).empty();
  event e(*this, out, whole ? "response.completed" : "response.incomplete");
  write_response(e.w.key("response"), whole ? "completed" : "incomplete", &o, nullptr);
}

// Two events, since some clients show the one and some the other.
void response_writer::broken(std::string& out, const dialects::request_fault& f) {
  close(out);
  {
    event e(*this, out, "error");
    e.w.member("code", f.code.empty() ? json::raw_json() : json::raw_json::string(f.code)).member("message", f.message);
    e.w.member("param", f.param.empty() ? json::raw_json() : json::raw_json::string(f.param));
  }
  event e(*this, out, "response.failed");
  write_response(e.w.key("response"), "failed", nullptr, &f);
}

std::string response_writer::body(dialects::said_text said, const dialects::run_outcome& o) {
  if (!o.text.empty()) said.rounds.push_back(o.text);
  const auto add = [this](std::string_view kind, auto&& make) {
    id_ = item_id(kind);
    add_item(make(id_));
  };
  if (shows_reasoning_ && !said.thinking.empty())
    add("rs_", [&](const std::string& id) { return reasoning_item(id, said.thinking); });
  for (const auto& one : said.rounds)
    if (!one.empty()) add("msg_", [&](const std::string& id) { return message_item(id, one); });
  if (!o.refusal.empty()) add("msg_", [&](const std::string& id) { return refusal_item(id, o.refusal); });
  for (const auto& c : o.calls)
    add("fc_", [&](const std::string& id) { return call_item(id, c, "completed", arguments_of(c)); });
  std::string out;
  json::json_writer w(out);
  write_response(w, missing(o).empty() ? "completed" : "incomplete", &o, nullptr);
  return out;
}

std::string response_writer::error_body(const dialects::request_fault& f) const {
  return dialects::openai_error_body(f);
}

}  // namespace mcpbx::daemon::responses
