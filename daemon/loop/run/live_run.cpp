// Main loop of a run: turns inbox items into records, applies them, and carries out the commands of the core.
#include "daemon/loop/run/live_run.hpp"

#include "daemon/loop/core/call_ids.hpp"
#include "daemon/loop/results/call_result.hpp"
#include "daemon/loop/run_words.hpp"
#include "daemon/loop/tools/caller_tools.hpp"

#include <utility>

namespace mcpbx::daemon::run {

namespace asio = boost::asio;

result<run_models> models_of(const run_request& r) {
  const auto& find = r.configured->models;
  auto model = find(r.model);
  if (!model) return std::unexpected(std::move(model.error()));
  if (r.limits.status != stored::status_mode::model) return run_models{std::move(*model), nullptr};
  auto quick = r.limits.status_model.empty() ? model : find(r.limits.status_model);
  if (!quick) return fail(quick.error().code, "statusModel: " + quick.error().message);
  return run_models{std::move(*model), std::move(*quick)};
}

live_run::live_run(run_surroundings& around, run_request request, bool goes_on, run_models models,
                   std::shared_ptr<run_feed> feed)
    : around_(around),
      request_(std::move(request)),
      goes_on_(goes_on),
      feed_(std::move(feed)),
      inbox_(around.executor),
      waits_(around.executor, around.time, around.room, around.tools),
      model_wait_(around.executor),
      tools_wait_(around.executor),
      records_(around.store, around.time,
               {.run = {request_.run, request_.session},
                .detached = request_.detach,
                .resumes = request_.detach && around.resume_detached && around.store.keeps_sessions(),
                .time_left = [this] { return clock_.left(); },
                .on_outage = [this] { announcements_.outage(); }}),
      offer_(around.offers, around.tools, request_.tools, tools::caller_entries(request_.client_tools)),
      // `this` is safe here: the clock's timers are destroyed with the clock, and that with the run.
      clock_(around.time, request_.limits,
             {.limit_reached = [this] { out_of_time(); }, .note_due = [this] { inbox_.push(time_due{}); }}),
      announcements_(feed_, {core_, request_.limits, clock_, offer_.now()}),
      model_({core_.facts(), request_, offer_, clock_, *feed_, around.time}, *this),
      questions_({core_, request_, *feed_, request_.configured->servers.configured(), around.time, around.random,
                  around.executor, around.answers}),
      calls_({core_, offer_, clock_, around.tools, around.time, around.random, questions_,
              mcp::clients::call_scope::of_run("run " + request_.run, std::move(request_.caller_scope),
                                               request_.principal),
              request_.links}),
      approvals_({core_, request_, *feed_, offer_, request_.configured->servers.configured(), around.tools, around.time,
                  around.random},
                 [this](std::string question) { answer({std::move(question), {}, true, {}}); }) {
  use(std::move(models));
}

void live_run::use(run_models models) {
  model_.use(std::move(models.main));
  if (models.status)
    announcements_.use_writer(std::move(models.status), around_.time, request_.trace,
                              [this](status_writer::line line) { inbox_.push(std::move(line)); });
}

void live_run::stop(stored::stop_reason why, std::string text, std::function<void(result<void>)> done) {
  stopping_ = true;
  if (feed_->over()) feed_->reopen();  // the run is parked: later readers wait for its end
  waits_.interrupt();
  inbox_.push(stop_asked{why, std::move(text), std::move(done)});
}

void live_run::out_of_time() {
  stop(stored::stop_reason::timeout,
       "the time limit of " + loop::words::span_of(request_.limits.timeout_ms) + " for the run was reached");
}

// Plans the next record of the used time, for runs that the next process may continue. A crash loses only the time used
// since the last record.
void live_run::plan_note() {
  if (request_.detach && around_.store.keeps_sessions()) clock_.plan_note();
}

asio::awaitable<void> live_run::live() {
  if (auto begun = co_await wait_to_begin(); !begun) {
    records_.refuse(std::move(begun.error()));
    records_.tell_recorded();
    co_return;
  }
  if (!picked_up_) records_.open(around_.store.open_run(name()));
  clock_.start();
  plan_note();
  co_await waits_.for_servers([this] { return misses_tools(); });
  if (picked_up_) {
    take_offer();
  } else {
    records first;
    first.emplace_back(opening());
    fold(std::move(first));
    tell_of_logins();
    if (request_.detach) co_await commit(true);
  }
  // Wishes to stop that came meanwhile are heard before the first round, unless the start could not be written.
  while (!records_.broken() && !inbox_.empty()) {
    auto early = co_await inbox_.next();
    if (std::holds_alternative<shutdown_asked>(early) && co_await leave()) co_return;
    co_await react(std::move(early));
  }
  for (;;) {
    co_await carry_out_all();
    if (records_.refusal()) break;
    // Records of items that have come meanwhile join this commit.
    if (inbox_.empty() && !co_await commit()) continue;
    if (core_.facts().ended) break;
    clock_.stand(core_.waits_for_people());
    auto& wait = model_.is_open() ? model_wait_ : tools_wait_;
    wait.begin(around_.time.now(), around_.may_watch);
    auto next = co_await inbox_.next();
    wait.end(around_.time.now());
    if (std::holds_alternative<shutdown_asked>(next) && co_await leave()) co_return;
    co_await react(std::move(next));
  }
  clock_.stop();
  announcements_.drop_lines();
}

// Leaves the run for the next process, if that may continue it: cancels open calls without recording that. Returns
// false if the run does not stay.
asio::awaitable<bool> live_run::leave() {
  const bool stays = around_.store.keeps_sessions() &&
                     (core_.facts().parked || (request_.detach && around_.resume_detached)) && !core_.ending();
  if (!stays || !co_await commit()) co_return false;
  left_ = true;
  clock_.stop();
  cancel_open();
  announcements_.drop_lines();
  co_return true;
}

asio::awaitable<void> live_run::carry_out_all() {
  while (!todo_.empty()) {
    auto next = std::move(todo_.front());
    todo_.pop_front();
    records batch;
    if (auto* begin = std::get_if<core::command::begin_round>(&next)) {
      take_offer();
      batch.emplace_back(stored::record::round_started{begin->depth, model_.model().name(), begin->with_tools,
                                                       clock_.elapsed_ms(), begin->shortened});
    } else if (const auto* calls = std::get_if<core::command::intend_calls>(&next)) {
      intend(*calls);
      continue;
    } else if (auto* shut = std::get_if<core::command::close_call>(&next)) {
      batch = close(std::move(*shut));
    } else if (auto* mine = std::get_if<core::command::park>(&next)) {
      batch.emplace_back(stored::record::parked{std::move(mine->call_ids),
                                                around_.time.wall_ms() + request_.limits.question_timeout_ms,
                                                clock_.elapsed_ms()});
      fold(std::move(batch));
      co_await commit(true);
      continue;
    } else if (auto* end = std::get_if<core::command::end>(&next)) {
      co_await write_end({end->reason, std::move(end->text)});
      continue;
    }
    if (batch.empty())
      co_await carry_out(next);
    else
      fold(std::move(batch));
  }
  model_.release();
}

// Carries out a command with effects outside this process, after writing the records that led to it. Sends the events
// of these records after the model or the server was given its work, so that this does not wait for them.
asio::awaitable<void> live_run::carry_out(const core::run_command& next) {
  const auto* model = std::get_if<core::command::call_model>(&next);
  const auto* run = std::get_if<core::command::run_call>(&next);
  if (model || run) {
    if (model) prepare_meanwhile(*model);
    const bool kept = co_await keep();
    if (kept && model) {
      announcements_.left_out();
      model_.begin();
    }
    if (kept && run) run_call(*run);
    tell_held();
    if (kept && run) announcements_.begin_line(run->call_id);
    co_return;
  }
  if (!co_await commit()) co_return;
  if (auto* question = std::get_if<core::command::ask>(&next))
    approvals_.ask(question->question);
  else if (const auto* answer = std::get_if<core::command::pass_answer>(&next))
    questions_.pass(answer->question, answer->answer);
  else if (std::holds_alternative<core::command::hand_over>(next))
    hand_over();
  else if (std::holds_alternative<core::command::cancel_open>(next))
    cancel_open();
}

asio::awaitable<void> live_run::react(item i) {
  auto what = on_item(i);
  const bool empty = what.batch.empty();
  fold(std::move(what.batch));
  if (what.synced || what.then) co_await commit(what.synced);
  if (!what.then) co_return;
  if (!empty && records_.broken())
    what.then(fail(errc::io, std::string(what.what) + " could not be stored; the run ends"));
  else
    what.then({});
}

// Returns an estimate of the tokens that the open model calls have used so far.
providers::usage live_run::spent() const {
  providers::usage used;
  used += model_.spent();
  used += announcements_.spent_on_lines();
  return used;
}

live_run::reaction live_run::on_item(item& i) {
  reaction r;
  auto& batch = r.batch;
  if (auto* reply = std::get_if<providers::model_reply>(&i)) {
    if (!model_.is_open()) return r;  // the call was cancelled just after its reply had come
    model_.answered();
    batch.emplace_back(offer_.with_tools(
        {core::with_unique_ids(std::move(reply->message), call_ids_, core_.facts().calls, around_.random),
         reply->reason,
         std::move(reply->raw_reason),
         reply->usage,
         model_.ms(),
         {},
         {}}));
  } else if (auto* broken = std::get_if<providers::model_error>(&i)) {
    if (!model_.is_open()) return r;
    model_.failed();
    batch.emplace_back(stored::record::model_failed{std::move(*broken), model_.ms()});
  } else if (auto* done = std::get_if<call_done>(&i)) {
    auto settled = calls_.settle(done->id, done->outcome);
    if (!settled) return r;
    batch.emplace_back(std::move(*settled));
    // The status line is no longer needed, but the tokens of its request count.
    if (const auto used = announcements_.drop_line(done->id); used.input > 0)
      batch.emplace_back(stored::record::status_line{std::move(done->id), {}, used});
  } else if (auto* line = std::get_if<status_writer::line>(&i)) {
    announcements_.drop_line(line->call);
    if (line->usage)
      batch.emplace_back(
          stored::record::status_line{std::move(line->call), std::move(line->text), *line->usage, line->ms});
    else
      announcements_.name_tool(line->call);
  } else if (auto* due = std::get_if<retry_due>(&i)) {
    if (auto next = calls_.next_attempt(due->id)) batch.push_back(std::move(*next));
  } else if (auto* asked = std::get_if<stop_asked>(&i)) {
    batch.emplace_back(stored::record::cancel{asked->why, std::move(asked->text), spent(), model_.text_so_far()});
    r.then = std::move(asked->done);
    r.what = "the cancellation";
  } else if (std::holds_alternative<shutdown_asked>(i)) {
    batch.emplace_back(stored::record::cancel{stored::stop_reason::interrupted, "the daemon is stopping", spent(),
                                              model_.text_so_far()});
  } else if (std::holds_alternative<time_due>(i)) {
    plan_note();
    if (const auto used = clock_.take_note()) batch.emplace_back(stored::record::time_used{*used});
  } else if (auto* answer = std::get_if<answer_given>(&i)) {
    return on_answer(*answer);
  } else if (auto* of_server = std::get_if<server_questions::asked>(&i)) {
    const auto tool = core_.is_open(of_server->call) ? core_.facts().report(of_server->call).name : std::string();
    auto decided = questions_.take(std::move(*of_server));
    if (decided.question) batch.emplace_back(std::move(*decided.question));
    if (!decided.status.empty()) announcements_.status(decided.status, tool);
  } else if (const auto* gone = std::get_if<server_questions::gone>(&i)) {
    if (auto closed = questions_.withdrawn(*gone)) {
      approvals_.forget(closed->id);
      batch.emplace_back(std::move(*closed));
    }
  } else if (std::holds_alternative<no_answerer>(i)) {
    batch = approvals_.nobody_answers();
    r.synced = !batch.empty();
  } else if (auto* given = std::get_if<results_given>(&i)) {
    if (!core_.facts().parked) return r;  // the run was cancelled meanwhile
    parked_limit_.reset();
    results_taken_ = false;
    r.synced = true;
    for (auto& one : given->results) batch.emplace_back(std::move(one));
  }
  return r;
}

void live_run::prepare_meanwhile(const core::command::call_model& c) {
  model_.plan(c);
  if (around_.store.keeps_sessions() && !records_.all_written())
    asio::post(around_.executor, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->model_.prepare();
    });
}

}  // namespace mcpbx::daemon::run
