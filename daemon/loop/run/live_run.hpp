// One run while it is going on: the shell around run_core. It carries out the core's commands, turns what comes back
// into records, has them journalled, applies them, and tells the caller, in this order.
#pragma once
#include "daemon/loop/core/run_core.hpp"
#include "daemon/loop/json/event_json.hpp"
#include "daemon/loop/run/announcements.hpp"
#include "daemon/loop/run/approvals.hpp"
#include "daemon/loop/run/model_calls.hpp"
#include "daemon/loop/run/record_writer.hpp"
#include "daemon/loop/run/room_queue.hpp"
#include "daemon/loop/run/run_clock.hpp"
#include "daemon/loop/run/run_feed.hpp"
#include "daemon/loop/run/runner.hpp"
#include "daemon/loop/run/server_calls.hpp"
#include "daemon/loop/run/status_writer.hpp"
#include "daemon/loop/tools/argument_checks.hpp"
#include "daemon/loop/tools/tool_offer.hpp"
#include "daemon/loop/tools/tool_source.hpp"
#include "daemon/store/journal.hpp"
#include "mcp/async/inbox.hpp"
#include "mcp/async/short_wait.hpp"
#include "mcp/support/time.hpp"
#include "providers/model/message.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

namespace mcpbx::daemon {

/// Models of a run: the one that answers, and the one that writes status lines or null.
struct run_models {
  std::shared_ptr<providers::model> main, status;
};

/// Services that all runs of a runner share.
struct run_surroundings {
  boost::asio::any_io_executor executor;
  time_source& time;
  random_source& random;
  tool_source& tools;
  journal& store;
  room_queue room;
  round_tools offers;
  loop_counters counters;
  argument_checks arguments;
  present_terms terms;  // of the runner's option `servers`
  std::function<result<run_models>(const run_request&)> models;
  bool resume_detached = true;  // as the runner's option
  bool may_watch = false;       // now there are so few runs that each may spend a short wait awake
};

class live_run final : public providers::model_events,
                       private server_calls::listener,
                       public std::enable_shared_from_this<live_run> {
 public:
  /// `goes_on`: its session has been there before; without `models` it finds them when it has read that.
  live_run(run_surroundings& around, run_request request, bool goes_on, run_models models,
           std::shared_ptr<run_feed> feed);

  const std::string& name() const noexcept { return request_.run; }
  const std::string& session() const noexcept { return request_.session; }
  const run_core& core() const noexcept { return core_; }
  /// Before live(): it goes on from these records instead of beginning.
  void pick_up(unfinished_run left);
  /// The whole life of the run, from waiting for its tools to its last record.
  boost::asio::awaitable<void> live();
  /// Before live(): it begins when `before`, which has the session, has ended, and is refused if that takes too long.
  void begin_behind(const std::shared_ptr<live_run>& before);
  /// It was asked to end.
  bool is_stopping() const noexcept { return stopping_; }
  /// Another run begins behind it.
  bool has_next() const noexcept { return !next_.expired(); }
  /// Behind live(): whoever begins behind it may.
  void let_next_begin();
  bool is_over() const noexcept { return over_; }
  /// Ends the run with this reason, as soon as what is open has been closed.
  /// `done`, if any, is told when that is in the journal, or the run is over without it.
  void stop(stop_reason why, std::string text, std::function<void(result<void>)> done = {});
  /// The daemon ends: what the next process may go on with is left as it is, another run is stopped as interrupted.
  void wind_up() { inbox_.push(winding_up{}); }
  bool was_left() const noexcept { return left_; }
  /// Another daemon goes on with it; here it is over.
  bool was_taken_over() const noexcept { return records_.taken_over(); }
  /// Parked, and no results have come.
  bool waits_for_its_caller() const noexcept { return core_.parked() && !results_taken_; }
  /// Behind live(): the journal of a run that was left for the next process, else null.
  std::unique_ptr<run_journal> take_left() { return left_ ? records_.take_journal() : nullptr; }
  struct answer_given {
    std::string question;
    raw_json body;
    bool expired = false;
    std::function<void(result<void>)> done;  ///< told when the answer is kept, or why not
  };
  void answer(answer_given a) { inbox_.push(std::move(a)); }
  /// Nobody who follows the run can answer any more.
  void fall_mute() { inbox_.push(gone_mute{}); }
  /// Behind live(): who has answered since the run's last step is told that it came too late, and who wanted it to end
  /// that it has.
  void tell_the_late();
  /// Takes the results of all calls that were handed to the caller; the run goes on, and its feed is open again. An
  /// error when it does not wait for exactly these.
  result<void> take_results(std::vector<record::caller_result> results);
  /// The feed of its events.
  const std::shared_ptr<run_feed>& feed() const noexcept { return feed_; }
  std::uint64_t likeness() const noexcept { return request_.likeness; }
  /// `told` hears its name when its start is recorded (synced, for a detached run), or why it cannot be; at once when
  /// that is known already.
  void when_recorded(runner::recorded told) { records_.when_recorded(std::move(told)); }
  bool was_recorded() const noexcept { return records_.was_recorded(); }
  /// Hands over the result, or why the run did not begin. The last thing a run does.
  void deliver();
  /// A bug ended live(): the caller still gets a result.
  void deliver_failure(std::string_view what);

  void on_text(std::string_view delta) override;
  void on_reasoning(std::string_view delta) override;
  void on_reply(providers::model_reply reply) override;
  void on_error(providers::model_error e) override;

 private:
  struct settled {};
  // Time to look whether there is room, or for the session of a run that has ended.
  struct look_again {};
  struct call_done {
    std::string id;
    mcp::call_outcome outcome;
  };
  struct stop_asked {
    stop_reason why;
    std::string text;
    std::function<void(result<void>)> done;  // when that is written; or empty
  };
  struct winding_up {};
  struct gone_mute {};
  // It is time to record how much of its time the run has used.
  struct time_due {};
  // It is time to make a call again that got no answer.
  struct retry_due {
    std::string id;
  };
  struct results_given {
    std::vector<record::caller_result> results;
  };
  using item =
      std::variant<settled, providers::model_reply, providers::model_error, call_done, stop_asked, answer_given,
                   results_given, retry_due, status_writer::line, winding_up, time_due, look_again, gone_mute>;
  using records = std::vector<run_record>;
  // Consequence of an item.
  struct reaction {
    records batch;
    bool synced = false;
    std::function<void(result<void>)> then;  // when the batch is written, or could not be
    std::string_view what;                   // it was, if so
  };

  // Beginning (live_beginning.cpp, live_opening.cpp).
  void use(run_models models);
  boost::asio::awaitable<result<void>> wait_for_room();
  boost::asio::awaitable<result<void>> wait_for_session();
  boost::asio::awaitable<result<void>> inherit();
  result<void> keep_terms();
  boost::asio::awaitable<std::vector<item>> wait_for_tools();
  bool misses_tools();
  void keep_to_limits();
  void tell_again();
  record::run_started opening();
  void take_offer();

  // Going on (live_run.cpp).
  boost::asio::awaitable<void> carry_out_all();
  boost::asio::awaitable<void> carry_out(const run_command& next);
  boost::asio::awaitable<void> react(item i);
  reaction on_item(item& i);
  // As soon as what was folded is on its way into the journal; model_calls::begin does it where that takes no time.
  void prepare_meanwhile(const command::call_model& c);
  providers::usage spent() const;
  void out_of_time();
  void plan_note();
  boost::asio::awaitable<bool> leave();

  // Records (live_records.cpp).
  void fold(records batch);
  // `written`: nobody waits for it to be; else what it tells is held back.
  void apply(const run_record& r, bool written = true);
  // Writes what was folded and tells it. False: it could not be written; the run goes to its end, and earlier commands
  // are void.
  boost::asio::awaitable<bool> commit(bool synced = false);
  // As commit, but what was folded is to be told by tell_held(), in this same turn.
  boost::asio::awaitable<bool> keep(bool synced = false);
  void tell_held();
  boost::asio::awaitable<bool> append(bool synced);
  void note_kept();
  boost::asio::awaitable<void> write_end(record::run_ended end);

  // Calls (live_calls.cpp).
  void intend(const command::intend_calls& c);
  run_record intent_or_refusal(const std::string& id);
  records close(command::close_call first);
  void run_call(const command::run_call& c);
  void cancel_open();
  void on_outcome(std::string call, mcp::call_outcome outcome) override;
  void on_retry_due(std::string call) override;
  void on_progress(const std::string& call, const raw_json& params) override;
  void on_log(const std::string& call, const raw_json& params) override;

  // Callers (live_end.cpp).
  reaction on_answer(answer_given& a);
  // `expires_ms`: wall clock, of a run that was parked before a restart; 0: it is parked now.
  void hand_over(std::int64_t expires_ms = 0);
  result<void> what_became_of_a_stop() const;

  run_surroundings& around_;
  run_request request_;
  bool goes_on_;
  std::shared_ptr<run_feed> feed_;
  std::weak_ptr<live_run> before_, next_;  // neighbours in its session
  bool stopping_ = false, over_ = false;
  bool left_ = false;       // the next process goes on with it
  bool picked_up_ = false;  // it was begun by an earlier process
  journal::history inherited_;
  std::unordered_set<std::string> call_ids_;  // of the conversation before the run's first reply
  run_core core_;
  std::deque<run_command> todo_;
  inbox<item> inbox_;
  short_wait model_wait_, tools_wait_;
  event_json::kept_part kept_;  // as the last append left it
  bool results_taken_ = false;  // of the calls that are parked now
  std::unique_ptr<timer> parked_limit_;
  // The parts. Each reads those above it that its header names, and is destroyed before them.
  record_writer records_;
  tool_offer offer_;
  run_clock clock_;
  announcements told_;
  model_calls model_;
  server_calls calls_;
  approvals approvals_;
};

}  // namespace mcpbx::daemon
