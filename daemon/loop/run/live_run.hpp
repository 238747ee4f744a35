// One run while it is active: the coroutine around run_core. Carries out the core's commands, turns results into
// records, applies each record at once, writes it to the journal, and only then sends its events to the callers.
#pragma once
#include "daemon/loop/core/run_core.hpp"
#include "daemon/loop/json/event_json.hpp"
#include "daemon/loop/limits/room_queue.hpp"
#include "daemon/loop/limits/run_clock.hpp"
#include "daemon/loop/run/announcements.hpp"
#include "daemon/loop/run/approvals.hpp"
#include "daemon/loop/run/model_calls.hpp"
#include "daemon/loop/run/opening.hpp"
#include "daemon/loop/run/record_writer.hpp"
#include "daemon/loop/run/run_feed.hpp"
#include "daemon/loop/run/runner.hpp"
#include "daemon/loop/run/server_calls.hpp"
#include "daemon/loop/run/server_questions.hpp"
#include "daemon/loop/run/status_writer.hpp"
#include "daemon/loop/tools/argument_checks.hpp"
#include "daemon/loop/tools/tool_offer.hpp"
#include "daemon/loop/tools/tool_source.hpp"
#include "daemon/loop/waits/first_waits.hpp"
#include "daemon/store/journal.hpp"
#include "mcp/async/inbox.hpp"
#include "mcp/async/short_wait.hpp"
#include "mcp/support/keyed_hash.hpp"
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
#include <utility>
#include <variant>
#include <vector>

namespace mcpbx::daemon::run {

/// Models of a run: `main` answers, `status` writes status lines or is null.
struct run_models {
  std::shared_ptr<providers::model> main, status;
};
/// Finds the models of a request in its configuration. The errors are those of model_source.
result<run_models> models_of(const run_request& r);

/// Services and data that all runs of a runner share. Outlives the runs.
struct run_surroundings {
  boost::asio::any_io_executor executor;
  time_source& time;
  random_source& random;
  tools::tool_source& tools;
  store::journal& store;
  limits::room_queue room;
  tools::round_tools offers;
  loop_counters counters;
  tools::argument_checks arguments;
  answers::own_answers* answers = nullptr;  // runner::options::answers
  bool resume_detached = true;              // runner::options::resume_detached
  bool may_watch = false;  // few enough runs are active that each may poll during a short wait (awake_runs)
};

/// An active run, owned by its coroutine in the runner's scope. All functions are called on the executor's thread.
class live_run final : public providers::model_events,
                       private server_calls::listener,
                       private server_questions::listener,
                       public std::enable_shared_from_this<live_run> {
 public:
  /// `goes_on`: the run continues a stored session. If `models` is empty, they are found after reading that session.
  live_run(run_surroundings& around, run_request request, bool goes_on, run_models models,
           std::shared_ptr<run_feed> feed);

  const std::string& name() const noexcept { return request_.run; }
  const std::string& session() const noexcept { return request_.session; }
  const core::run_facts& facts() const noexcept { return core_.facts(); }
  /// Continues a run of an earlier process from its records instead of beginning one. To be called before live().
  void pick_up(store::unfinished_run left);
  /// Carries out the run, from the waits at its beginning to its last record. To be called once.
  boost::asio::awaitable<void> live();
  /// Prepares the run as live() does, up to its first record, and gives facts about that instead of writing it. To be
  /// called once, instead of live().
  boost::asio::awaitable<result<run_preview>> preview();
  /// Lets the run begin only when `before`, the run that uses its session, has ended; it is refused if that takes more
  /// than 5 s. To be called before live().
  void begin_behind(const std::shared_ptr<live_run>& before);
  /// Returns true if stop() was called.
  bool is_stopping() const noexcept { return stopping_; }
  /// Returns true if another run waits for the end of this one; see begin_behind().
  bool has_next() const noexcept { return !next_.expired(); }
  /// Lets the run that waits for the session of this one begin. To be called after live().
  void release_session();
  bool is_over() const noexcept { return over_; }
  /// Asks the run to end with this reason: its open calls are cancelled and closed first. `done`, if set, is called
  /// when the cancel is in the journal or the run is over.
  void stop(stored::stop_reason why, std::string text, std::function<void(result<void>)> done = {});
  /// Stops the run because the daemon stops: leaves it to the next process if possible, else ends it as `interrupted`.
  void shut_down() {
    waits_.interrupt();
    inbox_.push(shutdown_asked{});
  }
  /// Returns true if the run was left for the next process.
  bool was_left() const noexcept { return left_; }
  /// Returns true if another daemon continues the run; in this one it is over.
  bool was_taken_over() const noexcept { return records_.taken_over(); }
  /// Returns true if the run is parked and the caller has not sent the results of its own tools yet.
  bool waits_for_its_caller() const noexcept { return core_.facts().parked && !results_taken_; }
  /// Hands over the journal of a run that was left for the next process, else null. To be called after live().
  std::unique_ptr<store::run_journal> take_left() { return left_ ? records_.take_journal() : nullptr; }
  struct answer_given {
    std::string question;
    json::raw_json body;
    bool expired = false;
    std::function<void(result<void>)> done;  ///< called when the answer is stored, or with the reason why not
  };
  /// Answers an open question. `done`, if set, also gets errc::not_found if no such question is open.
  void answer(answer_given a) { inbox_.push(std::move(a)); }
  /// Refuses the open questions, because no reader of the run can answer them any more.
  void no_answerer_left() { inbox_.push(no_answerer{}); }
  /// Answers the requests that came after the run's last step: answers to questions came too late, stops are confirmed
  /// or refused. To be called after live().
  void answer_late_requests();
  /// Takes the results of all calls that were handed to the caller, reopens the feed and continues the run.
  /// errc::invalid_argument: the run does not wait for exactly these results.
  result<void> take_results(std::vector<stored::record::caller_result> results);
  /// Returns the feed of the run's events; never null.
  const std::shared_ptr<run_feed>& feed() const noexcept { return feed_; }
  std::uint64_t likeness() const noexcept { return request_.likeness; }
  /// Calls `told` when the run's start is recorded (and synced, for a detached run), or with the reason why it cannot
  /// be; at once if that is known already.
  void when_recorded(runner::recorded told) { records_.when_recorded(std::move(told)); }
  bool was_recorded() const noexcept { return records_.was_recorded(); }
  /// Ends the feed with the result, or with the reason why there is none: the run did not begin, or continues elsewhere
  /// or later. To be called last.
  void deliver();
  /// Ends the feed with a result after an exception has left live(), which is a bug. `what`: text of the exception.
  void deliver_failure(std::string_view what);

  void on_text(std::string_view delta) override;
  void on_reasoning(std::string_view delta) override;
  void on_reply(providers::model_reply reply) override;
  void on_error(providers::model_error e) override;

 private:
  // Items of the inbox.
  struct call_done {
    std::string id;
    mcp::rpc::call_outcome outcome;
  };
  struct stop_asked {
    stored::stop_reason why;
    std::string text;
    std::function<void(result<void>)> done;  // called when the cancel is written; or empty
  };
  struct shutdown_asked {};
  struct no_answerer {};
  // The used time is due to be recorded.
  struct time_due {};
  // The next attempt of a call that got no answer is due.
  struct retry_due {
    std::string id;
  };
  struct results_given {
    std::vector<stored::record::caller_result> results;
  };
  using item = std::variant<providers::model_reply, providers::model_error, call_done, stop_asked, answer_given,
                            results_given, retry_due, status_writer::line, shutdown_asked, time_due, no_answerer,
                            server_questions::asked, server_questions::gone>;
  using records = std::vector<stored::run_record>;
  // Consequence of an item: records to apply, and how to go on after that.
  struct reaction {
    records batch;
    bool synced = false;                     // the batch must be synced to the disk
    std::function<void(result<void>)> then;  // called when the batch is written, or could not be; or empty
    std::string_view what;                   // subject of the error message in the latter case
  };

  // Beginning (live_beginning.cpp).
  void use(run_models models);
  boost::asio::awaitable<result<void>> wait_to_begin();
  boost::asio::awaitable<result<void>> inherit();
  result<void> inherit_terms();
  result<void> begin_beside();
  void tell_of_logins();
  bool misses_tools();
  void keep_to_limits();
  void tell_again();
  stored::record::run_started opening();
  void take_offer();

  // Going on (live_run.cpp).
  boost::asio::awaitable<void> carry_out_all();
  boost::asio::awaitable<void> carry_out(const core::run_command& next);
  boost::asio::awaitable<void> react(item i);
  reaction on_item(item& i);
  // Plans a model call, and has its request prepared while records are being written. If there are none to write,
  // model_calls::begin() prepares it.
  void prepare_meanwhile(const core::command::call_model& c);
  providers::usage spent() const;
  void out_of_time();
  void plan_note();
  boost::asio::awaitable<bool> leave();

  // Records (live_records.cpp).
  void fold(records batch);
  // Applies a record. `written`: its events are sent at once; otherwise they are held back until it is written.
  void apply(const stored::run_record& r, bool written = true);
  // Writes the applied records and sends their events. Returns false if they could not be written: then the run goes to
  // its end, and earlier commands are void.
  boost::asio::awaitable<bool> commit(bool synced = false);
  // Like commit(), but leaves the events to tell_held(), which the caller calls in the same turn.
  boost::asio::awaitable<bool> keep(bool synced = false);
  void tell_held();
  boost::asio::awaitable<bool> append(bool synced);
  void note_kept();
  boost::asio::awaitable<void> write_end(stored::record::run_ended end);

  // Calls (live_calls.cpp).
  void intend(const core::command::intend_calls& c);
  stored::run_record intent_or_refusal(const std::string& id);
  records close(core::command::close_call first);
  void run_call(const core::command::run_call& c);
  void cancel_open();
  void on_outcome(std::string call, mcp::rpc::call_outcome outcome) override;
  void on_retry_due(std::string call) override;
  void on_progress(const std::string& call, const json::raw_json& params) override;
  void on_log(const std::string& call, const json::raw_json& params) override;
  void on_server_question(server_questions::asked a) override { inbox_.push(std::move(a)); }
  void on_question_gone(server_questions::gone g) override { inbox_.push(std::move(g)); }

  // Callers (live_end.cpp).
  reaction on_answer(answer_given& a);
  // Answers the callers with the calls of their own tools. `expires_ms`: ms since 1970, for a run that was parked
  // before a restart; 0: it is parked now.
  void hand_over(std::int64_t expires_ms = 0);
  result<void> what_became_of_a_stop() const;

  run_surroundings& around_;
  run_request request_;
  bool goes_on_;
  std::shared_ptr<run_feed> feed_;
  std::weak_ptr<live_run> before_, next_;  // the run that it waits for, and the one that waits for it
  bool stopping_ = false, over_ = false;
  bool left_ = false;           // the run was left for the next process
  bool picked_up_ = false;      // an earlier process began the run
  session_before before_this_;  // until the first record has it
  text_set call_ids_;           // of all calls in the conversation before the run's first reply
  core::run_core core_;
  std::deque<core::run_command> todo_;
  async::inbox<item> inbox_;
  waits::first_waits waits_;
  async::short_wait model_wait_, tools_wait_;
  event_json::kept_part kept_;  // part of the run that the journal has since the last append
  bool results_taken_ = false;  // the results of the parked calls have come
  std::unique_ptr<timer> parked_limit_;
  // Parts of the run. Each uses some of those above it, so it must be destroyed before them.
  record_writer records_;
  tools::tool_offer offer_;
  limits::run_clock clock_;
  announcements announcements_;
  model_calls model_;
  server_questions questions_;
  server_calls calls_;
  approvals approvals_;
};

}  // namespace mcpbx::daemon::run
