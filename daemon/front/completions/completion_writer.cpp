// Chunks and bodies, by the functions of completion_json.
#include "daemon/front/completions/completion_writer.hpp"

#include "daemon/front/dialects/openai_error.hpp"

#include <utility>

namespace mcpbx::daemon::completions {

// The model may become known with the first round, after the head was set.
completion_json::head& completion_writer::head() {
  if (chunks_.id.empty()) {
    chunks_.id = head_.id;
    chunks_.created = head_.created;
  }
  if (chunks_.model.empty()) chunks_.model = head_.model;
  return chunks_;
}

void completion_writer::begin(std::string& out) {
  completion_json::append_role(out, head());
}

void completion_writer::text(std::string& out, std::string_view part, bool new_round) {
  // An empty line separates the text of different rounds.
  if (new_round)
    completion_json::append_text(out, head(), "\n\n" + std::string(part));
  else
    completion_json::append_text(out, head(), part);
}

void completion_writer::reasoning(std::string& out, std::string_view part) {
  completion_json::append_reasoning(out, head(), part);
}

// A chunk without text, because comments do not reset the idle timers of some clients.
void completion_writer::keep_alive(std::string& out) {
  completion_json::append_text(out, head(), "");
}

void completion_writer::end(std::string& out, const dialects::run_outcome& o) {
  const auto& h = head();
  if (!o.text.empty()) completion_json::append_text(out, h, o.text);
  if (!o.refusal.empty()) completion_json::append_refusal(out, h, o.refusal);
  completion_json::append_calls(out, h, o.calls);
  completion_json::append_finish(out, h, o.finish);
  if (h.with_usage) completion_json::append_usage(out, h, o);
  completion_json::append_done(out);
}

std::string completion_writer::body(dialects::said_text said, const dialects::run_outcome& o) {
  if (!o.text.empty()) said.rounds.push_back(o.text);
  const auto text = dialects::joined_rounds(std::move(said.rounds));
  return completion_json::answer(head(), text, said.thinking, o);
}

std::string completion_writer::error_body(const dialects::request_fault& f) const {
  return dialects::openai_error_body(f);
}

}  // namespace mcpbx::daemon::completions
