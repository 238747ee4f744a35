// Writing of chunks, answers and errors, each into one string for speed.
#include "daemon/front/completions/completion_json.hpp"

#include "daemon/front/dialects/openai_error.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/json/quoted_size.hpp"

#include <algorithm>

namespace mcpbx::daemon::completions {
namespace {

void write_or_null(json::json_writer& w, std::string_view key, const std::string& text) {
  if (text.empty())
    w.member(key, json::raw_json());
  else
    w.member(key, text);
}

void write_usage(json::json_writer& w, const dialects::run_outcome& o) {
  w.begin_object().member("prompt_tokens", o.used.input).member("completion_tokens", o.used.output);
  w.member("total_tokens", o.used.input + o.used.output);
  w.key("prompt_tokens_details").begin_object().member("cached_tokens", o.used.cached).member("audio_tokens", 0);
  w.end_object().key("completion_tokens_details").begin_object().member("reasoning_tokens", o.used.reasoning);
  w.member("audio_tokens", 0).member("accepted_prediction_tokens", 0).member("rejected_prediction_tokens", 0);
  w.end_object().end_object();
}

// Writes the members of a call and ends the object that the caller has begun.
void end_with_call(json::json_writer& w, const dialects::run_outcome::call& c) {
  w.member("id", c.id).member("type", "function").key("function").begin_object();
  w.member("name", c.name).member("arguments", c.arguments).end_object().end_object();
}

void write_model(json::json_writer& w, std::string_view name, std::int64_t created) {
  w.begin_object().member("id", name).member("object", "model").member("created", created);
  w.member("owned_by", "mcpbx").end_object();
}

}  // namespace

namespace completion_json {
namespace {

// One event, whose `choices` holds one entry or none.
class chunk {
 public:
  chunk(std::string& out, const head& h) : w(out += "data: "), out_(out), head_(h) {
    w.begin_object().member("id", h.id).member("object", "chat.completion.chunk").member("created", h.created);
    w.member("model", h.model).key("choices").begin_array();
  }
  json::json_writer& begin_delta() { return w.begin_object().member("index", 0).key("delta").begin_object(); }
  void end_delta(std::string_view finish = {}) {
    w.end_object().member("logprobs", json::raw_json()).key("finish_reason");
    if (finish.empty())
      w.token("null");
    else
      w.value(finish);
    w.end_object().end_array();
    if (head_.with_usage) w.member("usage", json::raw_json());
    end();
  }
  void end() {
    w.end_object();
    out_ += "\n\n";
  }

  json::json_writer w;

 private:
  std::string& out_;
  const head& head_;
};

}  // namespace

void append_role(std::string& out, const head& h) {
  chunk c(out, h);
  c.begin_delta().member("role", "assistant").member("content", "").member("refusal", json::raw_json());
  c.end_delta();
}

void append_text(std::string& out, const head& h, std::string_view text) {
  chunk c(out, h);
  c.begin_delta().member("content", text);
  c.end_delta();
}

void append_reasoning(std::string& out, const head& h, std::string_view text) {
  chunk c(out, h);
  c.begin_delta().member("reasoning_content", text);
  c.end_delta();
}

void append_refusal(std::string& out, const head& h, std::string_view why) {
  chunk c(out, h);
  c.begin_delta().member("refusal", why);
  c.end_delta();
}

void append_calls(std::string& out, const head& h, const std::vector<dialects::run_outcome::call>& calls) {
  for (std::size_t i = 0; i < calls.size(); ++i) {
    chunk c(out, h);
    end_with_call(c.begin_delta().key("tool_calls").begin_array().begin_object().member("index", i), calls[i]);
    c.w.end_array();
    c.end_delta();
  }
}

void append_finish(std::string& out, const head& h, std::string_view finish) {
  chunk c(out, h);
  c.begin_delta();
  c.end_delta(finish);
}

void append_usage(std::string& out, const head& h, const dialects::run_outcome& o) {
  chunk c(out, h);
  write_usage(c.w.end_array().key("usage"), o);
  c.end();
}

void append_done(std::string& out) {
  out += "data: [DONE]\n\n";
}

void append_error(std::string& out, const dialects::request_fault& f) {
  out += "data: " + dialects::openai_error_body(f) + "\n\n";
}

std::string answer(const head& h, std::string_view text, std::string_view thinking, const dialects::run_outcome& o) {
  std::string out;
  out.reserve(2048 + json::quoted_size(text) + json::quoted_size(thinking));
  json::json_writer w(out);
  w.begin_object().member("id", h.id).member("object", "chat.completion").member("created", h.created);
  w.member("model", h.model).key("choices").begin_array().begin_object().member("index", 0);
  w.key("message").begin_object().member("role", "assistant").key("content");
  if (text.empty() && (!o.calls.empty() || !o.refusal.empty()))
    w.token("null");
  else
    w.value(text);
  write_or_null(w, "refusal", o.refusal);
  w.filled("reasoning_content", thinking);
  if (!o.calls.empty()) {
    w.key("tool_calls").begin_array();
    for (const auto& c : o.calls) end_with_call(w.begin_object(), c);
    w.end_array();
  }
  w.end_object().member("logprobs", json::raw_json()).member("finish_reason", o.finish).end_object().end_array();
  write_usage(w.key("usage"), o);
  w.end_object();
  return out;
}

std::optional<std::string> models(const std::vector<std::string>& names, std::int64_t created,
                                  std::optional<std::string_view> only) {
  std::string out;
  json::json_writer w(out);
  if (only) {
    if (std::ranges::find(names, *only) == names.end()) return std::nullopt;
    write_model(w, *only, created);
    return out;
  }
  w.begin_object().member("object", "list").key("data").begin_array();
  for (const auto& name : names) write_model(w, name, created);
  w.end_array().end_object();
  return out;
}

}  // namespace completion_json
}  // namespace mcpbx::daemon::completions
