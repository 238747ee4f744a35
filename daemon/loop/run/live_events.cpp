// What a run tells its caller: events after their records, and what streams, at once.
#include "daemon/loop/json/event_json.hpp"
#include "daemon/loop/run/live_run.hpp"
#include "daemon/loop/run_words.hpp"
#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/log.hpp"
#include "mcp/support/text.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace mcpbx::daemon {
namespace {

std::string log_name(std::string_view name) {
  return std::string(cut_utf8(printable(name), 128));
}

std::string log_names(const std::vector<const providers::tool_call_block*>& calls) {
  std::string all;
  for (const auto* c : calls) {
    if (!all.empty()) all += ", ";
    if (all.size() > 500) return all + "…";
    all += log_name(c->name);
  }
  return all;
}

bool debugging() {
  return log::enabled(log::level::debug);
}

}  // namespace

// Behind what is held back, if anything is.
void live_run::push(run_event e) {
  if (holding_ || !held_.empty())
    held_.push_back(std::move(e));
  else
    feed_->push(std::move(e));
}

void live_run::emit(run_event::kind type, segments body, std::string call) {
  push({type, std::move(call), {}, std::move(body)});
}

void live_run::emit_status(std::string_view text, std::string_view tool) {
  if (tells_status()) emit(run_event::kind::status, event_json::status(text, tool));
}

void live_run::on_text(std::string_view delta) {
  if (!model_call_ || delta.empty()) return;
  if (!formulating_) {
    formulating_ = true;
    emit_status(words::formulating);
  }
  feed_->push({run_event::kind::text, {}, std::string(delta), {}});
}

void live_run::on_reasoning(std::string_view delta) {
  if (model_call_ && !delta.empty()) feed_->push({run_event::kind::reasoning, {}, std::string(delta), {}});
}

// Calls are told when they are made again or closed; the caller's own are in the result of a parked run.
void live_run::tell_again() {
  if (core_.rounds() == 0) return;
  emit(run_event::kind::round, event_json::round(core_.rounds(), core_.started().model));
  if (!core_.text().empty()) feed_->push({run_event::kind::text, {}, core_.text(), {}});
  // A clock that was set back meanwhile gives them no more time than they had.
  for (const auto* q : core_.questions()) {
    auto again = *q;
    again.expires_ms = around_.time.wall_ms() + left_until(q->expires_ms).count();
    tell(again);
  }
}

// Before what is held back until the journal has it: this is of no record.
void live_run::tell_outage() {
  if (tells_status()) feed_->push({run_event::kind::status, {}, {}, event_json::status(words::waits_for_journal, {})});
}

void live_run::on_reply(providers::model_reply reply) {
  inbox_.push(std::move(reply));
}
void live_run::on_error(providers::model_error e) {
  inbox_.push(std::move(e));
}

void live_run::tell(const record::run_started&) {
  emit_status(words::analyzing);
}

void live_run::tell(const record::round_started& r) {
  ++around_.counters.rounds;
  if (debugging())
    log::debug(fmt::format("run {}: depth {} opens: {} messages, {} tools, model {}", name(), r.depth,
                           core_.messages().size(), r.with_tools ? offer_->names.size() : 0, r.model));
  if (r.shortened > 0)
    log::info(fmt::format("run {}: depth {} is begun again after {} had to be cut to fit the model", name(), r.depth,
                          counted(r.shortened, "old tool result")));
  if (r.depth > 0) emit_status(r.with_tools ? words::processing : words::formulating);
  formulating_ = r.depth > 0 && !r.with_tools;
  emit(run_event::kind::round, event_json::round(core_.rounds(), r.model));
}

void live_run::tell(const record::assistant& r) {
  const auto calls = r.message->calls();
  feed_->share_text(core_.shared_text());
  if (debugging())
    log::debug(fmt::format("run {}: depth {} answered in {} ms ({}): {}", name(), core_.depth(), r.ms,
                           providers::to_string(r.reason),
                           calls.empty() ? std::string("no calls") : "calls " + log_names(calls)));
  told_calls_.clear();
  if (!calls.empty()) emit_status(words::selecting);
  emit(run_event::kind::usage, event_json::usage(core_.usage(), r.message->origin.model));
}

void live_run::tell(const record::model_failed& r) {
  log::info(fmt::format("run {}: depth {}: the model call failed after {} ms: {}", name(), core_.depth(), r.ms,
                        r.error.message));
  emit(run_event::kind::error,
       event_json::error(r.error.message, r.error.retryable || !core_.ending(), !r.error.partial_text.empty(),
                         r.error.retryable ? r.error.retry_after_ms : 0));
}

void live_run::emit_call(std::string_view id, std::string_view server) {
  if (!told_calls_.emplace(id).second) return;
  const auto& report = core_.report(id);
  emit(run_event::kind::tool_call, event_json::tool_call(id, report.name, server, report.arguments), std::string(id));
}

// Where a model writes the line it is asked when the call has left: see write_status().
void live_run::tell(const record::call_intent& r) {
  const auto* again = r.attempt > 1 && tells_status() ? offer_->find(core_.find_call(r.call_id)->name) : nullptr;
  if (again)
    emit_status(words::trying_again(again->tool, again->annotations.title), r.name);
  else if (!status_ || r.to_caller)
    name_tool(r.call_id);
  emit_call(r.call_id, r.server);
}

// The line comes when it is there; the name has to do where there will be none.
void live_run::write_status(const std::string& call) {
  if (!status_ || core_.attempts(call) > 1) return;
  const auto& made = *core_.find_call(call);
  const auto* entry = offer_->find(made.name);
  if (!status_->begin(call, entry->annotations.title.empty() ? entry->tool : entry->annotations.title, made.arguments))
    name_tool(call);
}

void live_run::name_tool(const std::string& call) {
  if (!tells_status() || !core_.is_open(call)) return;
  if (const auto* entry = offer_->find(core_.find_call(call)->name))
    emit_status(words::using_tool(entry->tool, entry->annotations.title), entry->name);
}

void live_run::tell(const record::status_line& r) {
  if (r.text.empty()) return name_tool(r.call_id);
  if (core_.is_open(r.call_id)) emit_status(r.text, core_.report(r.call_id).name);
}

void live_run::tell(const record::call_result& r) {
  // What was not kept is not told; who was told of a call before hears that it is open no more.
  if (records_.broken() && !told_calls_.contains(r.call_id)) return;
  const auto& report = core_.report(r.call_id);
  if (debugging())
    log::debug(fmt::format("run {}: depth {}: {} {} after {} ms", name(), core_.depth(), log_name(report.name),
                           r.is_error ? "failed" : "answered", r.ms));
  emit_call(r.call_id, report.server);  // a call that was refused without an intent is shown too
  emit(run_event::kind::tool_result, event_json::tool_result(r.call_id, r.is_error, r.result, r.ms), r.call_id);
  if (r.is_error && !core_.ending() && tells_status()) {
    const auto entry =
        std::ranges::find(offer_->entries, report.name, [](const auto& e) -> const auto& { return e->name; });
    if (entry == offer_->entries.end() && !report.arguments) return emit_status(words::call_unreadable);
    emit_status(entry != offer_->entries.end() ? words::tool_failed((*entry)->tool, (*entry)->annotations.title)
                                               : words::tool_failed(report.name, ""),
                report.name);
  }
}

void live_run::tell(const record::question& r) {
  push({run_event::kind::question, r.call_id, r.id, event_json::question(r)});
}

void live_run::tell(const record::answer& r) {
  push({run_event::kind::answer, {}, r.id, event_json::answer(r)});
}

void live_run::tell(const record::caller_result& r) {
  emit(run_event::kind::tool_result,
       event_json::tool_result(r.call_id, find_member(r.result, "isError").is_true(), r.result, 0), r.call_id);
}

void live_run::tell(const record::run_ended& r) {
  if (debugging())
    log::debug(fmt::format("run {}: ended at depth {} after {} rounds and {} ms: {}{}{}", name(), core_.depth(),
                           core_.rounds(), clock_.ms_since_begin(), to_string(r.reason), r.text.empty() ? "" : ": ",
                           r.text));
  if (!r.text.empty()) emit_status(words::stopped(r.text));
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
