// What a run hears from its model and its servers, and hands to those who follow it at its end.
#include "daemon/loop/json/event_json.hpp"
#include "daemon/loop/run/live_run.hpp"
#include "daemon/loop/run_words.hpp"
#include "mcp/support/log.hpp"

namespace mcpbx::daemon {

void live_run::on_text(std::string_view delta) {
  if (model_.is_open()) told_.text(delta);
}

void live_run::on_reasoning(std::string_view delta) {
  if (model_.is_open()) told_.reasoning(delta);
}

void live_run::on_reply(providers::model_reply reply) {
  inbox_.push(std::move(reply));
}
void live_run::on_error(providers::model_error e) {
  inbox_.push(std::move(e));
}

void live_run::on_outcome(std::string call, mcp::call_outcome outcome) {
  inbox_.push(call_done{std::move(call), std::move(outcome)});
}
void live_run::on_retry_due(std::string call) {
  inbox_.push(retry_due{std::move(call)});
}
void live_run::on_progress(const std::string& call, const raw_json& params) {
  told_.tool_progress(call, params);
}
void live_run::on_log(const std::string& call, const raw_json& params) {
  told_.tool_log(call, params);
}

// A clock that was set back meanwhile gives open questions no more time than they had.
void live_run::tell_again() {
  std::vector<record::question> open;
  for (const auto* q : core_.questions()) {
    open.push_back(*q);
    open.back().expires_ms = around_.time.wall_ms() + approvals_.left_until(q->expires_ms).count();
  }
  told_.tell_again(open);
}

void live_run::deliver() {
  if (const auto& why = records_.refusal())
    feed_->refuse(*why);
  else if (left_ && !feed_->over())
    feed_->refuse({errc::unavailable, words::goes_on_later(name())});
  else if (left_)
    return;
  else if (records_.taken_over() && !feed_->over())
    feed_->refuse({errc::unavailable, words::goes_on_elsewhere(name())});
  else if (records_.taken_over())
    return;
  else if (feed_->wanted())
    feed_->done(event_json::run_result(core_, records_.broken() ? &kept_ : nullptr));
}

void live_run::deliver_failure(std::string_view what) {
  if (core_.started().run.empty()) {
    record::run_started bare;
    bare.run = name();
    core_.apply(bare);
  }
  for (const auto& r : core_.recovery()) core_.apply(r);
  log::error("run " + name() + " ended by a fault of mcpbx: " + std::string(what));
  deliver();
}

}  // namespace mcpbx::daemon
