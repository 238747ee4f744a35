// Messages of a conversation in both directions. session_opening.cpp has its beginning, session_lists.cpp its lists,
// session_watches.cpp its subscriptions, session_questions.cpp the questions of the server.
#include "mcp/client/session/session_core.hpp"

#include "mcp/protocol/eras.hpp"
#include "mcp/protocol/revisions.hpp"
#include "mcp/redact/cut_text.hpp"
#include "mcp/support/log.hpp"

#include <algorithm>

namespace mcpbx::mcp::session {
namespace {

/// Bound in bytes on the outbox, above which the server's own requests are not answered.
constexpr std::size_t most_unsent_for_answers = std::size_t{256} << 10;
/// Bound on the outbox, above which notifications of callers are dropped.
constexpr std::size_t most_unsent_for_notes = std::size_t{64} << 10;
constexpr int timeouts_before_restart = 3;
/// Time for a sign of life after a request has timed out.
constexpr milliseconds longest_silence{5'000};
constexpr std::size_t longest_quote = 300;

std::string quoted_for_people(std::string_view text) {
  return redact::cut_for_people(text, longest_quote);
}

/// Returns the capabilities of a caller whose questions nobody answers.
json::raw_json without_questions(const json::raw_json& capabilities) {
  auto o = json::raw_object::open(capabilities);
  if (!o) return {};
  bool had = false;
  for (const std::string_view key : {"roots", "sampling", "elicitation"}) had = o->erase(key) || had;
  return had ? o->json() : capabilities;
}

}  // namespace

session_core::session_core(options o, session_output& output, session_events& events)
    : options_(std::move(o)), output_(output), events_(events) {
  lists_.reserve(options_.kinds.size());
  for (const protocol::feature_kind& kind : options_.kinds) lists_.emplace_back(kind, options_.listing);
}

rpc::call_number session_core::request(std::string_view method, const json::raw_json& params, rpc::call_limits limits,
                                       rpc::pending_calls::done_handler done, const json::raw_json& capabilities) {
  // Our own params never hold anything that with_request_meta refuses.
  auto body = protocol::with_request_meta(
      params, {era_ == clients::era::modern ? std::string_view(revision_) : std::string_view(),
               {},
               options_.own_info,
               capabilities,
               {},
               {},
               {}});
  const rpc::call_number number = pending_.open(limits, now_, std::move(done));
  send_request(number, method, body.value_or(json::segments()), {});
  return number;
}

result<rpc::call_number> session_core::call(const clients::server_call& c, rpc::call_limits limits, time_point now,
                                            rpc::pending_calls::done_handler done,
                                            rpc::pending_calls::progress_handler progress) {
  now_ = now;
  protocol::request_meta meta;
  meta.old = c.meta;
  if (era_ == clients::era::modern) {
    meta.revision = revision_;
    meta.client_info = c.caller.client_info;
    meta.log_level = !c.log_level.empty() ? std::string_view(c.log_level) : c.log ? "info" : std::string_view();
    meta.own_info = options_.own_info;
    meta.capabilities = c.caller.capabilities;
    // No server may be led to ask somebody who cannot be asked.
    if (!c.questions && !c.takes_input_required) meta.capabilities = without_questions(meta.capabilities);
  }
  // Progress is always requested, because it extends the idle limit even if nobody reads it. The call's number is the
  // token. Params are checked first: nothing may fail once the call is open.
  meta.progress_token = pending_.next_number();
  const auto params = protocol::with_request_meta(c.params, meta, &written_meta_);
  if (!params) return std::unexpected(params.error());
  const rpc::call_number number = pending_.open(limits, now, std::move(done), std::move(progress));
  send_request(number, c.method, *params, {c.own_name, c.params});
  return number;
}

rpc::call_number session_core::own_request(std::string_view method, const json::raw_json& params,
                                           rpc::call_limits limits, time_point now,
                                           rpc::pending_calls::done_handler done) {
  now_ = now;
  return request(method, params, limits, std::move(done));
}

void session_core::notify(std::string_view method, const json::raw_json& params, time_point now) {
  now_ = now;
  if (phase_ != phase::ready || output_.session_unsent() > most_unsent_for_notes) return;
  json::segments body;
  if (era_ == clients::era::modern) {
    body.append(params);
  } else {
    auto edited = protocol::with_request_meta(params, {});
    if (!edited) return;
    body = std::move(*edited);
  }
  const rpc::message_facts facts{method, revision_, era_ == clients::era::modern, {}, {}};
  output_.session_send(rpc::make_notification(method, body),
                       {rpc::outgoing::kind::notification, 0, options_.mirrors ? &facts : nullptr});
}

// Sends a request, with the facts about it where the connection wants them.
void session_core::send_request(rpc::call_number number, std::string_view method, const json::segments& params,
                                const subject& about) {
  rpc::outgoing what = rpc::outgoing::request(number);
  if (!options_.mirrors) return output_.session_send(rpc::make_request(number, method, params), what);
  rpc::message_facts facts{method, revision_, era_ == clients::era::modern, {}, {}};
  std::string name;
  std::vector<std::pair<std::string, std::string>> fields;
  if (facts.modern && about.params) {
    if (const auto member = protocol::named_member(method); !member.empty())
      name = about.name.empty() ? json::member_text(about.params, member) : std::string(about.name);
    if (method == "tools/call" && !mirrored_.empty())
      if (const auto known = mirrored_.find(name); known != mirrored_.end())
        fields = protocol::header_values(known->second, json::find_member(about.params, "arguments"));
  }
  facts.name = name;
  facts.fields = fields;
  what.facts = &facts;
  output_.session_send(rpc::make_request(number, method, params), what);
}

void session_core::on_lost(rpc::lost_request&& lost, time_point now) {
  now_ = now;
  if (phase_ == phase::closed) return;
  auto outcome = lost.unseen ? rpc::call_outcome::failed(lost.why.code, std::move(lost.why.message))
                             : rpc::call_outcome::lost(lost.why.code, std::move(lost.why.message));
  outcome.unseen = lost.unseen;
  pending_.close(lost.id, std::move(outcome));
}

void session_core::set_extensions(protocol::extension_rules rules) {
  options_.extensions = std::move(rules);
  open_extensions_ = protocol::open_extensions(options_.extensions, offers_);
}

void session_core::send_cancelled(rpc::call_number number, std::string_view reason) {
  output_.session_send(rpc::make_cancelled(number, reason), rpc::outgoing::cancellation(number));
}

bool session_core::cancel(rpc::call_number number, std::string_view reason) {
  if (!pending_.contains(number)) return false;
  send_cancelled(number, reason);
  return pending_.close(number, rpc::call_outcome::lost(errc::cancelled, "was cancelled: " + std::string(reason)));
}

void session_core::on_message(rpc::message&& m, time_point now) {
  now_ = now;
  if (phase_ == phase::closed) return;
  spoken_in_ = m.about;
  lives();
  switch (m.type) {
    case rpc::message::kind::response:
      return on_response(std::move(m));
    case rpc::message::kind::notification:
      return on_notification(m);
    case rpc::message::kind::request:
      return on_request(m);
    case rpc::message::kind::batch:
      // Revisions up to 2025-03-26 had batches; reading them in all revisions does no harm.
      json::for_each_element(m.whole, [&](json::raw_json element) {
        auto part = rpc::parse_message(std::move(element));
        if (part && part->type != rpc::message::kind::batch) {
          on_message(std::move(*part), now);
        } else {
          rpc::message_fault fault;
          fault.type = rpc::message_fault::kind::malformed;
          if (part)
            fault.envelope.what = "a batch within a batch";
          else
            fault.envelope = std::move(part.error());
          on_fault(fault, now);
        }
        return phase_ != phase::closed;
      });
  }
}

/// Asks a server for a sign of life, by the one request that every server of its era must answer at once.
void session_core::check_life() {
  check_until_ = now_ + longest_silence;
  if (check_ != 0) return;  // the one before is still open, and any message answers it
  check_ = request(era_ == clients::era::modern ? "server/discover" : "ping", {}, no_limits,
                   [this](const rpc::call_outcome&) { check_ = 0; });
}

void session_core::on_response(rpc::message&& m) {
  // The answer to a check shows that the server lives, not that its calls come to an end.
  if (check_ == 0 || m.id != rpc::rpc_id::number(check_)) timeouts_in_row_ = 0;
  if (pending_.answer(m) || phase_ == phase::closed) return;
  log_sometimes("sent an answer that nobody waits for");
  const auto number = json::raw_json::literal(m.id.token()).as_integer();
  if (number && m.result.is_object()) events_.session_late_result(*number, m.result);
}

void session_core::on_notification(const rpc::message& m) {
  const std::string_view method = m.method();
  if (method == "notifications/progress") {
    timeouts_in_row_ = 0;
    if (pending_.progress(m.params, now_)) return;
    if (phase_ == phase::closed) return;
    const auto token = json::find_member(m.params, "progressToken").as_integer();
    if (token && *token > 0 && *token < pending_.next_number()) return events_.session_late_progress(*token, m.params);
    log_sometimes("sent progress that nobody waits for");
  } else if (method == "notifications/cancelled") {
    if (on_question_cancelled(m.params)) return;
    const auto request = json::find_member(m.params, "requestId").as_integer();
    if (request && *request != 0 && (*request == listen_ || *request == former_listen_))
      pending_.close(*request, rpc::call_outcome::failed(errc::cancelled, "the server ended the subscription"));
  } else if (method == "notifications/message") {
    if (may_log()) log_now("log: " + quoted_for_people(json::find_member(m.params, "data").text()));
    events_.session_log(m.params);
  } else if (method == "notifications/resources/updated") {
    if (of_subscription(m.params)) events_.session_updated(without_mark(m.params));
  } else if (method == "notifications/subscriptions/acknowledged") {
    const auto listen =
        json::find_member(json::find_member(m.params, "_meta"), protocol::meta_key::subscription_id).as_integer();
    if (era_ == clients::era::modern && listen) listen_acknowledged(*listen, m.params);
  } else if (method == "notifications/tasks") {
    if (era_ == clients::era::modern && of_subscription(m.params)) events_.session_task_told(without_mark(m.params));
  } else if (method == "notifications/elicitation/complete" || method == "notifications/tasks/status") {
    events_.session_note(method, m.params);
  } else if (!extensions_of(method).empty()) {
    events_.session_extension_note(method, m.params);
  } else {
    on_list_changed(m);
  }
}

void session_core::on_request(const rpc::message& m) {
  // Requests of a modern server are not allowed, so they stay unanswered. So do those of a server that sends too many
  // or does not read.
  if (era_ == clients::era::modern || output_.session_unsent() > most_unsent_for_answers || !answers_.take(now_)) {
    ++dropped_requests_;
    if (may_log()) log_now("sent a request that is not answered: " + quoted_for_people(m.method()));
    return;
  }
  const std::string_view method = m.method();
  if (method == "ping")
    return output_.session_send(rpc::make_result(m.id, json::raw_json::literal("{}")), rpc::outgoing::response());
  if (method == "roots/list" || method == "sampling/createMessage" || method == "elicitation/create" ||
      !extensions_of(method).empty())
    return on_question(m);
  std::string text = "mcpbx does not know the method " + quoted_for_people(method);
  output_.session_send(rpc::make_error(m.id, rpc::rpc_error{rpc::code::method_not_found, std::move(text), {}}),
                       rpc::outgoing::response());
}

void session_core::on_fault(const rpc::message_fault& fault, time_point now) {
  now_ = now;
  if (phase_ == phase::closed) return;
  if (fault.type == rpc::message_fault::kind::noise) {
    ++noise_;
    note_junk(fault);
    if (may_log()) log_now("printed a line that is no message: " + fault.shown());
    return;
  }
  lives();
  const rpc::envelope_fault& e = fault.envelope;
  if (const auto& deep = fault.deep_answer;
      deep && std::ranges::any_of(lists_, [&](const kept_list& l) { return l.is_page(e.id); })) {
    // A list loses only the items that are nested too deeply.
    page_limit_ = {deep->max_depth, deep->max_depth_key};
    on_response(rpc::message(deep->answer));
    page_limit_.reset();
    return;
  }
  log_sometimes("sent a message that is not accepted (" + e.what + ")");
  if (e.id.empty()) return note_junk(fault);
  if (e.is_response) {
    timeouts_in_row_ = 0;
    pending_.answer_malformed(e.id, e.what);
  } else if (era_ != clients::era::modern && output_.session_unsent() <= most_unsent_for_answers &&
             answers_.take(now)) {
    output_.session_send(rpc::make_error(e.id, rpc::rpc_error{e.code, e.what, {}}), rpc::outgoing::response());
  }
}

void session_core::note_junk(const rpc::message_fault& fault) {
  if (junk_++ == 0) first_junk_ = fault.shown();
}

std::string session_core::junk_text() const {
  if (junk_ == 0) return {};
  const std::string quote = "\"" + first_junk_ + "\"";
  if (junk_ == 1) return "it wrote a line to its stdout that is no JSON-RPC: " + quote;
  return "it wrote " + std::to_string(junk_) + " lines to its stdout that are no JSON-RPC, the first one: " + quote;
}

void session_core::tick(time_point now) {
  now_ = now;
  if (phase_ == phase::closed) return;
  const auto ended = pending_.expire(now);
  // A server that makes one call after another is silent while an older one, which may take longer, is under way.
  if (!ended.empty() && phase_ == phase::ready && check_until_ == never && !pending_.has_older(ended.back()))
    check_life();
  for (const rpc::call_number n : ended) send_cancelled(n, "timed out");
  if (phase_ == phase::closed) return;
  // Calls that waited side by side count as one time-out: a model may make three slow calls at once.
  // A list that does not come says nothing about calls.
  const auto counted =
      std::ranges::find_if(ended.rbegin(), ended.rend(), [&](rpc::call_number n) { return !is_page(n); });
  if (counted != ended.rend() && *counted >= next_in_row_) {
    ++timeouts_in_row_;
    next_in_row_ = pending_.next_number();
  }
  if (timeouts_in_row_ >= timeouts_before_restart) {
    timeouts_in_row_ = 0;
    events_.session_hangs("several requests in a row timed out");
    return;
  }
  if (check_until_ <= now) {
    lives();
    events_.session_hangs("after a time-out it gave no sign of life for " +
                          std::to_string(longest_silence / std::chrono::seconds(1)) + " s");
    return;
  }
  if (fallback_at_ <= now && phase_ == phase::probing)
    probe_was_silent();
  else if (fallback_at_ <= now && phase_ == phase::initializing)
    initialize_was_silent();
  // It does not acknowledge, so the new one counts from now on.
  if (acknowledged_until_ <= now) listen_acknowledged(listen_, {});
  if (listen_at_ <= now) listen_again();
  pump();
}

time_point session_core::next_deadline() const {
  if (phase_ == phase::closed) return never;
  time_point refresh = never;
  if (phase_ == phase::ready)
    for (const kept_list& list : lists_) refresh = std::min(refresh, list.next());
  const bool opening = phase_ == phase::probing || phase_ == phase::initializing;
  return std::min({pending_.next_deadline(), check_until_, opening ? fallback_at_ : never, listen_at_,
                   acknowledged_until_, refresh});
}

void session_core::close(errc code, const std::string& why) {
  phase_ = phase::closed;
  pending_.close_all(code, why);
}

bool session_core::may_log() {
  return log::enabled(log::level::debug) && log_lines_.take(now_);
}

void session_core::log_now(const std::string& what) const {
  log::debug("tool server \"" + options_.server + "\" " + what);
}

void session_core::log_sometimes(const std::string& what) {
  if (may_log()) log_now(what);
}

std::string session_core::failure_text(const rpc::call_outcome& outcome) const {
  if (outcome.type == rpc::call_outcome::kind::failed) return "nothing usable: the request " + outcome.failure.message;
  const auto number = json::find_member(outcome.value, "code").as_integer();
  const auto text = json::find_member(outcome.value, "message").as_string();
  return "error " + (number ? std::to_string(*number) : "") + ": " + quoted_for_people(text.value_or(""));
}

}  // namespace mcpbx::mcp::session
