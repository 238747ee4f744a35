// Tool calls of a run: records intents, questions and refusals, and receives the events of servers and of the model.
#include "daemon/loop/run/live_run.hpp"
#include "daemon/loop/run_words.hpp"

#include <utility>

namespace mcpbx::daemon::run {

// Applies the records one by one, because a refused call may stop the calls behind it.
void live_run::intend(const core::command::intend_calls& c) {
  for (const auto& id : c.call_ids) {
    records one;
    one.push_back(intent_or_refusal(id));
    fold(std::move(one));
  }
}

// Returns the record that follows for a waiting call: its intent, a question about it, or an error result.
stored::run_record live_run::intent_or_refusal(const std::string& id) {
  const auto& call = *core_.find_call(id);
  // If an earlier process has sent the call, its effects are unknown, and the result must say so.
  const auto refusal = [&](stored::record::result_cause cause, std::string text) {
    if (core_.attempts(id) > 0)
      return core::closing_record({id, stored::record::result_cause::interrupted, loop::words::not_again(text)});
    return core::closing_record({id, cause, std::move(text)});
  };
  if (core_.stopped_before(id))
    return refusal(stored::record::result_cause::refused, std::string(loop::words::stopped_at_failure));
  const auto* entry = offer_.find(call.name);
  if (!entry)
    return refusal(stored::record::result_cause::unknown_tool,
                   loop::words::unknown_tool(call.name, offer_.now()->similar(call.name, 3), offer_.now()->names));
  const auto judged = approvals_.judge(call, *entry);
  const auto not_allowed = [&] {
    return refusal(stored::record::result_cause::refused,
                   loop::words::not_allowed(judged.says, entry->name, judged.facts));
  };
  if (judged.says.by == policy::rule::withheld) return not_allowed();
  if (judged.facts.of_a_server && entry->owner.expired())
    return refusal(stored::record::result_cause::unavailable,
                   "Not executed: the server \"" + entry->server + "\" of this tool is gone.");
  if (core_.attempts(id) > 0 && !server_calls::may_repeat(*entry))
    return refusal(stored::record::result_cause::interrupted,
                   "the configuration does not let calls of this tool be repeated any more.");
  if (auto problem = around_.arguments.problem(*entry, call.name, call.arguments); !problem.empty())
    return refusal(stored::record::result_cause::bad_arguments, std::move(problem));
  if (judged.says.denies()) return not_allowed();
  if (!judged.says.allows()) return approvals_.question(call, *entry, judged.says.by);
  return calls_.intent(call, *entry);
}

// Returns the results of this call and of the close_call commands behind it, so that all of them are one commit.
live_run::records live_run::close(core::command::close_call first) {
  records batch;
  const auto add = [&](const core::command::close_call& c) {
    // The intent could not be written, so the call was not sent.
    const bool never_left = records_.broken() && !announcements_.was_told_of(c.call_id);
    auto r = core::closing_record(
        never_left ? core::command::close_call{c.call_id, c.cause, std::string(loop::words::never_left)} : c);
    announcements_.drop_line(c.call_id);
    if (const auto ms = calls_.close(c.call_id)) r.ms = *ms;
    batch.emplace_back(std::move(r));
  };
  add(first);
  for (; !todo_.empty() && std::holds_alternative<core::command::close_call>(todo_.front()); todo_.pop_front())
    add(std::get<core::command::close_call>(todo_.front()));
  return batch;
}

void live_run::run_call(const core::command::run_call& c) {
  ++around_.counters.calls;
  const std::shared_ptr<server_calls::listener> told(shared_from_this(), this);  // its base is private
  calls_.send(c.call_id, told, std::shared_ptr<server_questions::listener>(shared_from_this(), this));
}

void live_run::cancel_open() {
  model_.cancel();
  announcements_.drop_lines();
  approvals_.forget_questions();
  questions_.forget();
  parked_limit_.reset();
  calls_.cancel_all();
}

void live_run::on_outcome(std::string call, mcp::rpc::call_outcome outcome) {
  inbox_.push(call_done{std::move(call), std::move(outcome)});
}

void live_run::on_retry_due(std::string call) {
  inbox_.push(retry_due{std::move(call)});
}

void live_run::on_progress(const std::string& call, const json::raw_json& params) {
  announcements_.tool_progress(call, params);
}

void live_run::on_log(const std::string& call, const json::raw_json& params) {
  announcements_.tool_log(call, params);
}

void live_run::on_text(std::string_view delta) {
  if (model_.is_open()) announcements_.text(delta);
}

void live_run::on_reasoning(std::string_view delta) {
  if (model_.is_open()) announcements_.reasoning(delta);
}

void live_run::on_reply(providers::model_reply reply) {
  inbox_.push(std::move(reply));
}

void live_run::on_error(providers::model_error e) {
  inbox_.push(std::move(e));
}

}  // namespace mcpbx::daemon::run
