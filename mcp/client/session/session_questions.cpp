// Questions of a legacy server: requests that it sends while it works on a call. Bounds them, and sees to it that each
// gets one answer at most. They are handed on as events; managed_client knows whose call they belong to.
#include "mcp/client/session/session_core.hpp"
#include "mcp/protocol/revisions.hpp"

#include <string>
#include <utility>

namespace mcpbx::mcp {
namespace {

constexpr std::size_t longest_token = 1024;
/// Bound in bytes on the outbox, above which progress of answers is dropped.
constexpr std::size_t most_unsent_for_progress = std::size_t{64} << 10;

}  // namespace

/// Declares what mcpbx can pass on to some caller, as the revision that is asked for spells it. No caller is known yet:
/// one that lacks a capability is found out when it is asked. Extensions of the server's entry are declared in both
/// members, since nothing says which one the server looks at. A process of one caller is told the same, since its lists
/// stand for those of all processes of the server.
raw_json session_core::own_capabilities(std::string_view revision) const {
  const bool first = revision == "2024-11-05" || revision == "2025-03-26";
  const bool latest = !first && revision != "2025-06-18";
  std::string json = R"({"roots":{"listChanged":true},"sampling":)";
  json += latest ? R"({"context":{},"tools":{}})" : "{}";
  if (!first) json += latest ? R"(,"elicitation":{"form":{},"url":{}})" : R"(,"elicitation":{})";
  std::string others;
  for (const auto& [name, methods] : options_.extensions)
    if (!is_carried(name)) others += (others.empty() ? "" : ",") + json_quoted(name) + ":{}";
  if (!others.empty()) json += R"(,"experimental":{)" + others + "}";
  if (latest) {
    json += R"(,"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]})";
    if (!others.empty()) json += "," + others;
    json += "}";
  }
  return raw_json::own(json + "}");
}

void session_core::on_question(const message& m) {
  // An answer to either of two requests with one id could be taken for that of the other.
  if (questions_.contains(m.id.key())) return log_sometimes("sent a request with the id of one that is open");
  const std::size_t bytes = m.params.text().size();
  const bool many = questions_.size() >= most_questions;
  if (many || question_bytes_ + bytes > most_question_bytes) {
    const std::string bound = many ? std::to_string(most_questions) + " questions"
                                   : std::to_string(most_question_bytes >> 20) + " MiB of questions";
    return output_.session_send(
        make_error(m.id, rpc_error{code::overloaded,
                                   "mcpbx holds no more than " + bound + " of one tool server; ask again later",
                                   raw_json::literal(R"({"retryable":true})")}),
        outgoing::response());
  }
  if (m.method() == "roots/list") asked_roots_ = true;
  const raw_json token = find_member(find_member(m.params, "_meta"), meta_key::progress_token);
  questions_.emplace(
      m.id.key(),
      question{m.id, bytes, token.text().size() <= longest_token ? token.detached() : raw_json(), spoken_in_});
  question_bytes_ += bytes;
  events_.session_asks(m.id, m.method(), m.params);
}

bool session_core::on_question_cancelled(const raw_json& params) {
  const auto id = rpc_id::from(find_member(params, "requestId"));
  if (!id || era_ == era::modern) return false;
  auto taken = questions_.extract(id->key());
  if (taken.empty()) return false;
  question_bytes_ -= taken.mapped().bytes;
  events_.session_asks_no_more(taken.mapped().id);
  return true;
}

void session_core::answer_progress(const rpc_id& question, const raw_json& params) {
  const auto found = questions_.find(question.key());
  if (found == questions_.end() || !found->second.token || phase_ == phase::closed) return;
  if (output_.session_unsent() > most_unsent_for_progress) return;
  auto edited = raw_object::open(params);
  if (!edited) return;
  edited->set(meta_key::progress_token, found->second.token);
  output_.session_send(make_notification("notifications/progress", edited->json()), outgoing());
}

void session_core::answer(const rpc_id& question, call_outcome&& outcome) {
  auto taken = questions_.extract(question.key());
  if (taken.empty()) return;
  question_bytes_ -= taken.mapped().bytes;
  if (phase_ == phase::closed) return;
  const rpc_id& id = taken.mapped().id;
  const outgoing what = outgoing::response(taken.mapped().about);
  switch (outcome.type) {
    case call_outcome::kind::result:
      return output_.session_send(make_result(id, outcome.value), what);
    case call_outcome::kind::error:
      return output_.session_send(make_error(id, outcome.value), what);
    case call_outcome::kind::failed:
      return output_.session_send(make_error(id, rpc_error{code::server_error, std::move(outcome.failure.message), {}}),
                                  what);
  }
}

// Tells the server once for each time that it has asked: it knows then that its roots are old, and a caller whose roots
// change endlessly fills nobody's queue.
void session_core::tell_roots_changed() {
  if (phase_ == phase::closed || era_ != era::legacy || !std::exchange(asked_roots_, false)) return;
  output_.session_send(make_notification("notifications/roots/list_changed", raw_json()), outgoing());
}

}  // namespace mcpbx::mcp
