// The run's life: what comes in becomes records, records are folded, the fold says what to do.
#include "daemon/loop/run/live_run.hpp"

#include "daemon/loop/core/call_ids.hpp"
#include "daemon/loop/core/recovery.hpp"
#include "daemon/loop/core/stricter.hpp"
#include "daemon/loop/results/call_result.hpp"
#include "daemon/loop/run_words.hpp"
#include "daemon/loop/tools/caller_tools.hpp"
#include "daemon/store/records/principal.hpp"
#include "mcp/support/log.hpp"

#include <algorithm>
#include <chrono>

namespace mcpbx::daemon {
namespace {

namespace asio = boost::asio;

constexpr milliseconds settle_time{1'000};  // what the first round waits for servers that are still starting
constexpr milliseconds longest_wait_for_room{30'000};
constexpr milliseconds longest_farewell{5'000};  // what a run waits for the one before it that is ending
constexpr milliseconds shortest_note{100}, longest_note{5'000};  // between two records of the time used

}  // namespace

result<run_models> models_of(const run_request& r) {
  const auto& find = r.configured->models;
  auto model = find(r.model);
  if (!model) return std::unexpected(std::move(model.error()));
  if (r.limits.status != status_mode::model) return run_models{std::move(*model), nullptr};
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
      model_wait_(around.executor),
      tools_wait_(around.executor),
      own_tools_(caller_entries(request_.client_tools)),
      began_(around.time.now()),
      round_began_(began_) {
  use(std::move(models));
}

void live_run::use(run_models models) {
  model_ = std::move(models.main);
  if (models.status)
    status_.emplace(std::move(models.status), around_.time,
                    [this](status_writer::line line) { inbox_.push(std::move(line)); });
}

std::int64_t live_run::ms_since(time_point then) const {
  return std::chrono::duration_cast<milliseconds>(around_.time.now() - then).count();
}

std::int64_t live_run::elapsed_ms() const {
  const auto now = paused_since_.value_or(around_.time.now());
  return std::chrono::duration_cast<milliseconds>(now - began_ - paused_).count();
}

milliseconds live_run::time_left() const {
  return request_.limits.timeout_ms > 0 ? milliseconds(request_.limits.timeout_ms - elapsed_ms()) : milliseconds::max();
}

void live_run::stop(stop_reason why, std::string text, std::function<void(result<void>)> done) {
  stopping_ = true;
  if (feed_->over()) feed_->reopen();  // it is parked: who comes from now on waits for the end
  inbox_.push(stop_asked{why, std::move(text), std::move(done)});
}

void live_run::begin_behind(const std::shared_ptr<live_run>& before) {
  before_ = before;
  before->next_ = weak_from_this();
}

void live_run::let_next_begin() {
  over_ = true;
  if (const auto next = next_.lock()) next->inbox_.push(look_again{});
}

asio::awaitable<void> live_run::live() {
  auto begun = co_await wait_for_room();
  if (begun) begun = co_await wait_for_session();
  if (begun) begun = co_await inherit();
  if (!begun) {
    refused_ = std::move(begun.error());
    tell_recorded();
    co_return;
  }
  if (!picked_up_) journal_ = around_.store.open_run(name());
  arm_limit();
  note_time();
  auto early = co_await wait_for_tools();
  if (picked_up_) {
    take_offer();
  } else {
    records first;
    first.emplace_back(opening());
    fold(std::move(first));
    if (request_.detach) co_await commit(true);
  }
  for (auto& i : early) {
    if (std::holds_alternative<winding_up>(i) && co_await leave()) co_return;
    co_await react(std::move(i));
  }
  for (;;) {
    co_await carry_out_all();
    if (refused_) break;
    // What came meanwhile joins the commit.
    if (inbox_.empty() && !co_await commit()) continue;
    if (core_.ended()) break;
    watch_clock();
    auto& wait = model_call_ ? model_wait_ : tools_wait_;
    wait.begin(around_.time.now(), around_.may_watch);
    auto next = co_await inbox_.next();
    wait.end(around_.time.now());
    if (std::holds_alternative<winding_up>(next) && co_await leave()) co_return;
    co_await react(std::move(next));
  }
  limit_.reset();
  note_time_.reset();
  if (status_) status_->drop_all();
}

// The fold of the records says what is to be done now; time that no process lived does not count. Whoever comes from
// here on finds the run as it was left, also while its tools are still waited for.
void live_run::pick_up(unfinished_run left) {
  picked_up_ = true;
  journal_ = std::move(left.journal);
  std::int64_t before_ms = 0, parked_until_ms = 0;
  for (const auto& r : left.records) {
    core_.apply(r);
    if (const auto* round = std::get_if<record::round_started>(&r)) before_ms = round->elapsed_ms;
    if (const auto* used = std::get_if<record::time_used>(&r)) before_ms = used->elapsed_ms;
    if (const auto* parked = std::get_if<record::parked>(&r)) {
      parked_until_ms = parked->expires_ms;
      before_ms = std::max(before_ms, parked->elapsed_ms);
    }
  }
  const auto& started = std::get<record::run_started>(left.records.front());
  names_.restore(started.inherited_tools);
  names_.restore(meant_tools(left.records));
  call_ids_ = ids_of(started.inherited);
  call_ids_.merge(ids_of(started.messages));
  began_ -= milliseconds(before_ms);
  note_kept();
  keep_to_limits();
  core_.resume();
  for (const auto& c : core_.commands()) todo_.push_back(c);
  for (const auto* q : core_.questions()) asked_before_.insert(q->id);
  tell_again();
  tell_recorded();
  if (core_.parked()) hand_over(parked_until_ms);
}

// They may be stricter than when the run began, and stricter ones may have been recorded by a process between.
void live_run::keep_to_limits() {
  auto limits = stricter(core_.limits(), request_.limits);
  if (limits != core_.limits()) {
    records lowered;
    lowered.emplace_back(record::limits_lowered{limits});
    fold(std::move(lowered));
  }
  limits.status = request_.limits.status;  // the model that writes the lines may be gone
  request_.limits = std::move(limits);
}

// Runs that go on come to their end first. One that was asked to end while it waits here never begins.
asio::awaitable<result<void>> live_run::wait_for_room() {
  if (picked_up_ || !around_.room.is_short()) co_return result<void>();
  emit_status(words::waits_for_room);
  const auto look = [weak = weak_from_this()] {
    if (auto self = weak.lock()) self->inbox_.push(look_again{});
  };
  const auto place = around_.room.enter(look);
  const auto until = around_.time.now() + std::min(time_left(), longest_wait_for_room);
  const auto limit = around_.time.make_timer();
  limit->arm(until, look);
  std::vector<item> early;
  bool unwanted = false;
  while (!place->is_called() && !unwanted && around_.time.now() < until) {
    auto next = co_await inbox_.next();
    if (std::holds_alternative<look_again>(next)) continue;
    unwanted = std::holds_alternative<stop_asked>(next) || std::holds_alternative<winding_up>(next);
    early.push_back(std::move(next));
  }
  for (auto& i : early) inbox_.push(std::move(i));
  if (unwanted) co_return fail(errc::cancelled, "the run was cancelled before it began");
  if (!place->is_called()) co_return fail(errc::limit, std::string(words::no_room));
  co_return result<void>();
}

// A run that was asked to end is over in a moment, and whoever asked for that goes on with its session.
asio::awaitable<result<void>> live_run::wait_for_session() {
  if (const auto before = before_.lock(); !before || before->is_over()) co_return result<void>();
  const auto limit = around_.time.make_timer();
  limit->arm(around_.time.now() + longest_farewell, [weak = weak_from_this()] {
    if (auto self = weak.lock()) self->inbox_.push(look_again{});
  });
  std::vector<item> early;
  for (;;) {
    auto next = co_await inbox_.next();
    if (std::holds_alternative<look_again>(next)) break;
    early.push_back(std::move(next));
  }
  for (auto& i : early) inbox_.push(std::move(i));
  const auto before = before_.lock();
  if (before && !before->is_over())
    co_return fail(errc::unavailable, words::session_in_use(request_.session, before->name()));
  co_return result<void>();
}

// What the session held before, for a run that goes on with one.
asio::awaitable<result<void>> live_run::inherit() {
  if (!goes_on_) co_return result<void>();
  auto history = co_await history_of(around_.store, request_.session);
  if (!history) {
    // The run is named to persons only; the session may be another's.
    if (history.error().code == errc::unavailable && !is_person(request_.principal))
      co_return fail(errc::unavailable, words::session_in_use(request_.session));
    co_return std::unexpected(std::move(history.error()));
  }
  if (!may_have(request_.principal, history->principal))
    co_return fail(errc::not_found, "there is no session " + json_quoted(request_.session) + " of this caller's own");
  inherited_ = std::move(*history);
  names_.restore(inherited_.tools);
  kept_.session = true;
  if (auto kept = keep_terms(); !kept) co_return kept;
  const bool waits = !inherited_.empty() && inherited_.back()->role != providers::role::assistant;
  if (request_.messages.empty() && !waits)
    co_return fail(
        errc::invalid_argument,
        "the session " + request_.session +
            " has no question that waits for an answer; ask one (`mcpbx sessions resume ID TEXT`, or \"input\" in a "
            "request)");
  co_return result<void>();
}

// What a request does not say itself is as the session's latest run had it: so nothing that needed a yes there, or was
// not offered, is done without one because somebody goes on with the session.
result<void> live_run::keep_terms() {
  if (!request_.keep_terms) return {};
  if (auto kept = request_.keep_terms(request_, inherited_.terms); !kept) return kept;
  auto models = models_of(request_);
  if (!models) return std::unexpected(std::move(models.error()));
  use(std::move(*models));
  return {};
}

// Where the next process goes on with it: what is open is cut as the daemon's end would cut it, and no record says so.
asio::awaitable<bool> live_run::leave() {
  const bool stays = around_.store.keeps_sessions() &&
                     (core_.parked() || (request_.detach && around_.resume_detached)) && !core_.ending();
  if (!stays || !co_await commit()) co_return false;
  left_ = true;
  limit_.reset();
  note_time_.reset();
  cancel_open();
  if (status_) status_->drop_all();
  co_return true;
}

// Only a run that may go on in the next process: what is lost there is what it used since its last such record. Short
// limits are noted more often.
void live_run::note_time() {
  if (!request_.detach || request_.limits.timeout_ms <= 0 || !around_.store.keeps_sessions()) return;
  if (!note_time_) note_time_ = around_.time.make_timer();
  const auto pause = std::clamp(milliseconds(request_.limits.timeout_ms / 8), shortest_note, longest_note);
  note_time_->arm(around_.time.now() + pause, [weak = weak_from_this()] {
    if (auto self = weak.lock()) self->inbox_.push(time_due{});
  });
}

asio::awaitable<void> live_run::react(item i) {
  auto what = on_item(i);
  const bool empty = what.batch.empty();
  fold(std::move(what.batch));
  if (what.synced || what.then) co_await commit(what.synced);
  if (!what.then) co_return;
  if (!empty && store_broken_)
    what.then(fail(errc::io, std::string(what.what) + " could not be kept; the run ends"));
  else
    what.then({});
}

// What else comes while the servers start waits too, except for a wish to stop.
asio::awaitable<std::vector<live_run::item>> live_run::wait_for_tools() {
  std::vector<item> early;
  for (bool over = false; !over;) {
    const auto since = around_.time.now();
    around_.tools.when_settled(settle_time, [weak = weak_from_this()] {
      if (auto self = weak.lock()) self->inbox_.push(settled{});
    });
    for (;;) {
      auto next = co_await inbox_.next();
      if (std::holds_alternative<settled>(next)) break;
      early.push_back(std::move(next));
      if (std::holds_alternative<stop_asked>(early.back()) || std::holds_alternative<winding_up>(early.back()))
        co_return early;
    }
    // Before its time: no server is starting any more. None starts for longer than its own limit.
    over = around_.time.now() - since < settle_time || !misses_tools();
  }
  co_return early;
}

// Calls that an earlier process left are to be made, or asked about, and the servers of their tools are not there yet.
bool live_run::misses_tools() {
  if (!picked_up_ || core_.to_be_made().empty()) return false;
  take_offer();
  return std::ranges::any_of(core_.to_be_made(), [&](const auto* call) { return !offer_->find(call->name); });
}

asio::awaitable<void> live_run::carry_out_all() {
  while (!todo_.empty()) {
    auto next = std::move(todo_.front());
    todo_.pop_front();
    records batch;
    if (auto* begin = std::get_if<command::begin_round>(&next)) {
      take_offer();
      batch.emplace_back(
          record::round_started{begin->depth, model_->name(), begin->with_tools, elapsed_ms(), begin->shortened});
    } else if (const auto* calls = std::get_if<command::intend_calls>(&next)) {
      intend(*calls);
      continue;
    } else if (auto* shut = std::get_if<command::close_call>(&next)) {
      batch = close(std::move(*shut));
    } else if (auto* mine = std::get_if<command::park>(&next)) {
      batch.emplace_back(record::parked{std::move(mine->call_ids),
                                        around_.time.wall_ms() + request_.limits.question_timeout_ms, elapsed_ms()});
      fold(std::move(batch));
      co_await commit(true);
      continue;
    } else if (auto* end = std::get_if<command::end>(&next)) {
      co_await write_end({end->reason, std::move(end->text)});
      continue;
    }
    if (batch.empty())
      co_await carry_out(next);
    else
      fold(std::move(batch));
  }
  spent_call_.reset();
}

// What leaves this process: not before the records that it follows from are written. The caller is told of them when
// the model or the server has begun to work.
asio::awaitable<void> live_run::carry_out(const run_command& next) {
  const auto* model = std::get_if<command::call_model>(&next);
  const auto* run = std::get_if<command::run_call>(&next);
  if (model || run) {
    if (model) prepare_meanwhile(*model);
    const bool kept = co_await keep();
    if (kept && model) call_model();
    if (kept && run) run_call(*run);
    tell_held();
    if (kept && run) write_status(run->call_id);
    co_return;
  }
  if (!co_await commit()) co_return;
  if (auto* question = std::get_if<command::ask>(&next))
    ask(question->question);
  else if (std::holds_alternative<command::hand_over>(next))
    hand_over();
  else if (std::holds_alternative<command::cancel_open>(next))
    cancel_open();
}

// What the model calls that go on have used up.
providers::usage live_run::spent() const {
  providers::usage used;
  if (model_call_) used += model_call_->spent();
  if (status_) used += status_->spent();
  return used;
}

// What the answer that goes on has begun with.
std::string live_run::broken_off() {
  return model_call_ ? feed_->round_text() : std::string();
}

live_run::reaction live_run::on_item(item& i) {
  reaction r;
  auto& batch = r.batch;
  if (auto* reply = std::get_if<providers::model_reply>(&i)) {
    if (!model_call_) return r;  // it was cancelled when its reply had just come
    spent_call_ = std::move(model_call_);
    batch.emplace_back(with_tools({with_unique_ids(std::move(reply->message), call_ids_, core_.calls(), around_.random),
                                   reply->reason,
                                   std::move(reply->raw_reason),
                                   reply->usage,
                                   ms_since(round_began_),
                                   {},
                                   {}}));
  } else if (auto* broken = std::get_if<providers::model_error>(&i)) {
    if (!model_call_) return r;
    model_call_.reset();
    batch.emplace_back(record::model_failed{std::move(*broken), ms_since(round_began_)});
  } else if (auto* done = std::get_if<call_done>(&i)) {
    const auto sent = std::ranges::find(sent_, done->id, &sent_call::id);
    if (sent == sent_.end() || !core_.is_open(done->id)) return r;  // it was closed before
    if (done->outcome.sent) ++sent->lost;
    if (try_again(*sent, done->outcome)) return r;
    batch.emplace_back(to_call_result(std::move(done->id), done->outcome, sent->tool, sent->server,
                                      ms_since(sent->since), sent->lost));
    sent_.erase(sent);
    if (status_) {
      const auto& call = std::get<record::call_result>(batch.back()).call_id;
      // No line, but what was asked for it counts.
      if (const auto used = status_->drop(call); used.input > 0)
        batch.emplace_back(record::status_line{call, {}, used});
    }
  } else if (auto* line = std::get_if<status_writer::line>(&i)) {
    status_->drop(line->call);
    if (line->usage)
      batch.emplace_back(record::status_line{std::move(line->call), std::move(line->text), *line->usage, line->ms});
    else
      name_tool(line->call);
  } else if (auto* due = std::get_if<retry_due>(&i)) {
    const auto sent = std::ranges::find(sent_, due->id, &sent_call::id);
    if (sent == sent_.end() || !core_.is_open(due->id) || waits_for_start(*sent)) return r;
    batch.push_back(next_attempt(*sent));
    if (std::holds_alternative<record::call_result>(batch.back())) sent_.erase(sent);
  } else if (auto* asked = std::get_if<stop_asked>(&i)) {
    batch.emplace_back(record::cancel{asked->why, std::move(asked->text), spent(), broken_off()});
    r.then = std::move(asked->done);
    r.what = "that the run was cancelled";
  } else if (std::holds_alternative<winding_up>(i)) {
    batch.emplace_back(record::cancel{stop_reason::interrupted, "the daemon is stopping", spent(), broken_off()});
  } else if (std::holds_alternative<time_due>(i)) {
    note_time();
    if (const auto used = elapsed_ms(); used != std::exchange(noted_ms_, used))
      batch.emplace_back(record::time_used{used});
  } else if (auto* answer = std::get_if<answer_given>(&i)) {
    return on_answer(*answer);
  } else if (std::holds_alternative<gone_mute>(i)) {
    return on_mute();
  } else if (auto* given = std::get_if<results_given>(&i)) {
    if (!core_.parked()) return r;  // it was cancelled meanwhile
    parked_limit_.reset();
    results_taken_ = false;
    r.synced = true;
    for (auto& one : given->results) batch.emplace_back(std::move(one));
  }
  return r;
}

}  // namespace mcpbx::daemon
