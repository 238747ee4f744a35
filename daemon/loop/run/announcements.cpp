// Makes an event, a status line or a log line from each record. Events leave in the order of the journal.
#include "daemon/loop/run/announcements.hpp"

#include "daemon/loop/json/event_json.hpp"
#include "daemon/loop/run_words.hpp"
#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/formatted.hpp"
#include "mcp/support/log.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace mcpbx::daemon::run {
namespace {

std::string log_name(std::string_view name) {
  return std::string(cut_utf8(redact::printable(name), 128));
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

void announcements::hold(const stored::run_record& r) {
  holding_ = true;
  tell(r);
  holding_ = false;
}

void announcements::tell(const stored::run_record& r) {
  std::visit([this](const auto& one) { on(one); }, r);
}

void announcements::tell_held() {
  for (auto& e : std::exchange(held_, {})) feed_->push(std::move(e));
}

std::vector<std::string> announcements::journal_failed() {
  journal_broken_ = true;
  std::vector<std::string> lost;
  for (auto& e : std::exchange(held_, {})) {
    if (e.type == run_event::kind::tool_call) told_calls_.erase(e.call);
    if (e.type == run_event::kind::tool_result) lost.push_back(std::move(e.call));
  }
  return lost;
}

// Sends an event, or queues it behind the events that are held back.
void announcements::push(run_event e) {
  if (holding_ || !held_.empty())
    held_.push_back(std::move(e));
  else
    feed_->push(std::move(e));
}

void announcements::emit(run_event::kind type, json::segments body, std::string call) {
  push({type, std::move(call), {}, std::move(body)});
}

void announcements::status(std::string_view text, std::string_view tool) {
  if (tells_status()) emit(run_event::kind::status, event_json::status(text, tool));
}

void announcements::outage() {
  if (tells_status())
    feed_->push({run_event::kind::status, {}, {}, event_json::status(loop::words::waits_for_journal, {})});
}

void announcements::left_out() {
  auto text = tools::left_out_text(*of_.offer);
  if (text == told_left_out_) return;
  told_left_out_ = std::move(text);
  if (!told_left_out_.empty()) status(told_left_out_);
}

void announcements::text(std::string_view delta) {
  if (delta.empty()) return;
  if (!formulating_) {
    formulating_ = true;
    status(loop::words::formulating);
  }
  feed_->push({run_event::kind::text, {}, std::string(delta), {}});
}

void announcements::reasoning(std::string_view delta) {
  if (!delta.empty()) feed_->push({run_event::kind::reasoning, {}, std::string(delta), {}});
}

void announcements::tool_progress(const std::string& call, const json::raw_json& params) {
  if (of_.core.is_open(call)) emit(run_event::kind::tool_progress, event_json::tool_progress(call, params), call);
}

void announcements::tool_log(const std::string& call, const json::raw_json& params) {
  if (of_.core.is_open(call)) emit(run_event::kind::tool_log, event_json::tool_log(call, params), call);
}

// Leaves out open calls: they are reported when they are repeated or closed, and those of the caller's own tools are in
// the result of the parked run.
void announcements::tell_again(std::span<const stored::record::question> open) {
  if (of_.core.facts().rounds == 0) return;
  emit(run_event::kind::round, event_json::round(of_.core.facts().rounds, of_.core.facts().started.model));
  if (const auto& text = *of_.core.facts().answer.text; !text.empty())
    feed_->push({run_event::kind::text, {}, text, {}});
  for (const auto& q : open) on(q);
}

void announcements::on(const stored::record::run_started& r) {
  if (!r.trace.empty() && log::enabled(log::level::info))
    log::info(formatted("run {}: belongs to the trace {} of its caller", feed_->run(), r.trace.id()));
  status(loop::words::analyzing);
}

void announcements::on(const stored::record::round_started& r) {
  if (debugging())
    log::debug(formatted("run {}: round at depth {} begins: {} messages, {} tools, model {}", feed_->run(), r.depth,
                         of_.core.facts().messages.size(), r.with_tools ? of_.offer->names.size() : 0, r.model));
  if (r.shortened > 0)
    log::info(formatted("run {}: round at depth {} is repeated: {} {} cut to fit the model", feed_->run(), r.depth,
                        counted(r.shortened, "old tool result"), r.shortened == 1 ? "was" : "were"));
  if (r.depth > 0) status(r.with_tools ? loop::words::processing : loop::words::formulating);
  formulating_ = r.depth > 0 && !r.with_tools;
  emit(run_event::kind::round, event_json::round(of_.core.facts().rounds, r.model));
}

void announcements::on(const stored::record::assistant& r) {
  const auto calls = r.message->calls();
  feed_->share_text(of_.core.facts().answer.text);
  if (debugging())
    log::debug(formatted("run {}: the model answered at depth {} in {} ms ({}): {}", feed_->run(),
                         of_.core.facts().depth, r.ms, providers::to_string(r.reason),
                         calls.empty() ? std::string("no calls") : "calls " + log_names(calls)));
  told_calls_.clear();
  if (!calls.empty()) status(loop::words::selecting);
  emit(run_event::kind::usage, event_json::usage(of_.core.facts().usage, r.message->origin.model));
}

void announcements::on(const stored::record::model_failed& r) {
  log::info(formatted("run {}: depth {}: the model call failed after {} ms: {}", feed_->run(), of_.core.facts().depth,
                      r.ms, r.error.message));
  emit(run_event::kind::error,
       event_json::error(r.error.message, r.error.retryable || !of_.core.ending(), !r.error.partial_text.empty(),
                         r.error.retryable ? r.error.retry_after_ms : 0));
}

void announcements::emit_call(std::string_view id, std::string_view server) {
  if (!told_calls_.emplace(id).second) return;
  const auto& report = of_.core.facts().report(id);
  emit(run_event::kind::tool_call, event_json::tool_call(id, report.name, server, report.arguments), std::string(id));
}

// If a model writes the status lines, the line of a first attempt is begun after the call was sent: see begin_line().
void announcements::on(const stored::record::call_intent& r) {
  const auto* again = r.attempt > 1 && tells_status() ? of_.offer->find(of_.core.find_call(r.call_id)->name) : nullptr;
  if (again)
    status(loop::words::trying_again(again->tool, again->annotations.title), r.name);
  else if (!writer_ || r.to_caller)
    name_tool(r.call_id);
  emit_call(r.call_id, r.server);
}

// The finished line arrives later, as record::status_line.
void announcements::begin_line(const std::string& call) {
  if (!writer_ || of_.core.attempts(call) > 1) return;
  const auto& made = *of_.core.find_call(call);
  const auto* entry = of_.offer->find(made.name);
  if (!writer_->begin(call, entry->annotations.title.empty() ? entry->tool : entry->annotations.title, made.arguments))
    name_tool(call);
}

void announcements::name_tool(const std::string& call) {
  if (!tells_status() || !of_.core.is_open(call)) return;
  if (const auto* entry = of_.offer->find(of_.core.find_call(call)->name))
    status(loop::words::using_tool(entry->tool, entry->annotations.title), entry->name);
}

void announcements::on(const stored::record::status_line& r) {
  if (r.text.empty()) return name_tool(r.call_id);
  if (of_.core.is_open(r.call_id)) status(r.text, of_.core.facts().report(r.call_id).name);
}

void announcements::on(const stored::record::call_result& r) {
  // Once the journal has failed, new calls are not reported, because they are not stored. Known calls are still closed.
  if (journal_broken_ && !told_calls_.contains(r.call_id)) return;
  const auto& report = of_.core.facts().report(r.call_id);
  if (debugging())
    log::debug(formatted("run {}: depth {}: {} {} after {} ms", feed_->run(), of_.core.facts().depth,
                         log_name(report.name), r.is_error ? "failed" : "answered", r.ms));
  emit_call(r.call_id, report.server);  // for a call that was refused without an intent
  emit(run_event::kind::tool_result, event_json::tool_result(r.call_id, r.is_error, r.result, r.ms), r.call_id);
  if (r.is_error && !of_.core.ending() && tells_status()) {
    const auto entry =
        std::ranges::find(of_.offer->entries, report.name, [](const auto& e) -> const auto& { return e->name; });
    if (entry == of_.offer->entries.end() && !report.arguments) return status(loop::words::call_unreadable);
    status(entry != of_.offer->entries.end() ? loop::words::tool_failed((*entry)->tool, (*entry)->annotations.title)
                                             : loop::words::tool_failed(report.name, ""),
           report.name);
  }
}

void announcements::on(const stored::record::question& r) {
  push({run_event::kind::question, r.call_id, r.id, event_json::question(r)});
}

void announcements::on(const stored::record::answer& r) {
  push({run_event::kind::answer,
        {},
        r.id,
        event_json::answer(r, r.mute ? loop::words::nobody_answers : std::string_view())});
}

void announcements::on(const stored::record::caller_result& r) {
  emit(run_event::kind::tool_result,
       event_json::tool_result(r.call_id, json::find_member(r.result, "isError").is_true(), r.result, 0), r.call_id);
}

void announcements::on(const stored::record::run_ended& r) {
  if (debugging())
    log::debug(formatted("run {}: ended at depth {} after {} rounds and {} ms: {}{}{}", feed_->run(),
                         of_.core.facts().depth, of_.core.facts().rounds, of_.clock.ms_since_begin(),
                         stored::to_string(r.reason), r.text.empty() ? "" : ": ", r.text));
  if (!r.text.empty()) status(loop::words::stopped(r.text));
}

void announcements::use_writer(std::shared_ptr<providers::model> writer, time_source& time, trace::trace_context trace,
                               status_writer::teller told) {
  writer_.emplace(std::move(writer), time, std::move(trace), std::move(told));
}

providers::usage announcements::drop_line(std::string_view call) {
  return writer_ ? writer_->drop(call) : providers::usage{};
}

void announcements::drop_lines() {
  if (writer_) writer_->drop_all();
}

providers::usage announcements::spent_on_lines() const {
  return writer_ ? writer_->spent() : providers::usage{};
}

}  // namespace mcpbx::daemon::run
