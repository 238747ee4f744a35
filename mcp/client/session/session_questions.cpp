// Questions of a legacy server: requests that it sends while it works on a call. Bounds them, and sees to it that each
// gets one answer at most. They are handed on as events; managed_client knows whose call they belong to.
#include "mcp/client/session/session_core.hpp"
#include "mcp/protocol/revisions.hpp"

#include <string>
#include <utility>

namespace mcpbx::mcp::session {
namespace {

constexpr std::size_t longest_token = 1024;
/// Bound in bytes on the outbox, above which progress of answers is dropped.
constexpr std::size_t most_unsent_for_progress = std::size_t{64} << 10;

}  // namespace

/// Declares what mcpbx can pass on to some caller, as this revision spells it. No caller is known yet: one that lacks a
/// capability is found out when it is asked.
json::raw_json session_core::own_capabilities(std::string_view revision) const {
  // A process of one caller is told the same, since its lists stand for those of all processes of the server.
  const bool first = revision == "2024-11-05" || revision == "2025-03-26";
  const bool latest = !first && revision != "2025-06-18";
  std::string json = R"({"roots":{"listChanged":true},"sampling":)";
  json += latest ? R"({"context":{},"tools":{}})" : "{}";
  if (!first) json += latest ? R"(,"elicitation":{"form":{},"url":{}})" : R"(,"elicitation":{})";
  std::string others;
  for (const auto& [name, methods] : options_.extensions.named)
    if (!protocol::is_carried(name)) others += (others.empty() ? "" : ",") + json::json_quoted(name) + ":{}";
  if (!others.empty()) json += R"(,"experimental":{)" + others + "}";
  if (latest) {
    json += R"(,"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]})";
    if (!others.empty()) json += "," + others;
    json += "}";
  }
  return json::raw_json::own(json + "}");
}

void session_core::on_question(const rpc::message& m) {
  // An answer to either of two requests with one id could be taken for that of the other.
  if (questions_.contains(m.id.key())) return log_sometimes("sent a request with the id of one that is open");
  const std::size_t bytes = m.params.text().size();
  const bool many = questions_.size() >= most_questions;
  if (many || question_bytes_ + bytes > most_question_bytes) {
    const std::string bound = many ? std::to_string(most_questions) + " questions"
                                   : std::to_string(most_question_bytes >> 20) + " MiB of questions";
    return output_.session_send(rpc::make_error(m.id, rpc::rpc_error{rpc::code::overloaded,
                                                                     "mcpbx holds no more than " + bound +
                                                                         " of one tool server; ask again later",
                                                                     json::raw_json::literal(R"({"retryable":true})")}),
                                rpc::outgoing::response());
  }
  if (m.method() == "roots/list") asked_roots_ = true;
  const json::raw_json token =
      json::find_member(json::find_member(m.params, "_meta"), protocol::meta_key::progress_token);
  questions_.emplace(
      m.id.key(),
      question{m.id, bytes, token.text().size() <= longest_token ? token.detached() : json::raw_json(), spoken_in_});
  question_bytes_ += bytes;
  events_.session_asks(m.id, m.method(), m.params);
}

bool session_core::on_question_cancelled(const json::raw_json& params) {
  const auto id = rpc::rpc_id::from(json::find_member(params, "requestId"));
  if (!id || era_ == clients::era::modern) return false;
  auto taken = questions_.extract(id->key());
  if (taken.empty()) return false;
  question_bytes_ -= taken.mapped().bytes;
  events_.session_asks_no_more(taken.mapped().id);
  return true;
}

void session_core::answer_progress(const rpc::rpc_id& question, const json::raw_json& params) {
  const auto found = questions_.find(question.key());
  if (found == questions_.end() || !found->second.token || phase_ == phase::closed) return;
  if (output_.session_unsent() > most_unsent_for_progress) return;
  auto edited = json::raw_object::open(params);
  if (!edited) return;
  edited->set(protocol::meta_key::progress_token, found->second.token);
  output_.session_send(rpc::make_notification("notifications/progress", edited->json()), rpc::outgoing());
}

void session_core::answer(const rpc::rpc_id& question, rpc::call_outcome&& outcome) {
  auto taken = questions_.extract(question.key());
  if (taken.empty()) return;
  question_bytes_ -= taken.mapped().bytes;
  if (phase_ == phase::closed) return;
  const rpc::rpc_id& id = taken.mapped().id;
  const rpc::outgoing what = rpc::outgoing::response(taken.mapped().about);
  switch (outcome.type) {
    case rpc::call_outcome::kind::result:
      return output_.session_send(rpc::make_result(id, outcome.value), what);
    case rpc::call_outcome::kind::error:
      return output_.session_send(rpc::make_error(id, outcome.value), what);
    case rpc::call_outcome::kind::failed:
      return output_.session_send(
          rpc::make_error(id, rpc::rpc_error{rpc::code::server_error, std::move(outcome.failure.message), {}}), what);
  }
}

// Tells the server once for each time that it has asked: it knows then that its roots are old, and a caller whose roots
// change endlessly fills nobody's queue.
void session_core::tell_roots_changed() {
  if (phase_ == phase::closed || era_ != clients::era::legacy || !std::exchange(asked_roots_, false)) return;
  output_.session_send(rpc::make_notification("notifications/roots/list_changed", json::raw_json()), rpc::outgoing());
}

}  // namespace mcpbx::mcp::session
