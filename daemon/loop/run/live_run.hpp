// One run while it is going on: the shell around run_core. It carries out the core's commands, turns what comes back
// into records, has them journalled, applies them, and tells the caller, in this order.
#pragma once
#include "daemon/guard/approval_seal.hpp"
#include "daemon/loop/core/run_core.hpp"
#include "daemon/loop/json/event_json.hpp"
#include "daemon/loop/run/room_queue.hpp"
#include "daemon/loop/run/run_feed.hpp"
#include "daemon/loop/run/runner.hpp"
#include "daemon/loop/run/status_writer.hpp"
#include "daemon/loop/tools/argument_checks.hpp"
#include "daemon/loop/tools/kept_names.hpp"
#include "daemon/loop/tools/past_names.hpp"
#include "daemon/loop/tools/round_tools.hpp"
#include "daemon/loop/tools/tool_source.hpp"
#include "daemon/store/journal.hpp"
#include "mcp/async/inbox.hpp"
#include "mcp/async/short_wait.hpp"
#include "mcp/support/shared_bytes.hpp"
#include "mcp/support/time.hpp"
#include "providers/model/message.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

namespace mcpbx::daemon {

/// Who answers in a run, and who writes its status lines: null where none does.
struct run_models {
  std::shared_ptr<providers::model> main, status;
};
/// Finds the models of a request in its configuration. The errors are those of model_source.
result<run_models> models_of(const run_request& r);

/// What all runs of a runner share.
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
  bool resume_detached = true;  // as the runner's option
  bool may_watch = false;       // now there are so few runs that each may spend a short wait awake
};

class live_run final : public providers::model_events, public std::enable_shared_from_this<live_run> {
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
  bool was_taken_over() const noexcept { return taken_over_; }
  /// Parked, and no results have come.
  bool waits_for_its_caller() const noexcept { return core_.parked() && !results_taken_; }
  /// Behind live(): the journal of a run that was left for the next process, else null.
  std::unique_ptr<run_journal> take_left() { return left_ ? std::move(journal_) : nullptr; }
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
  /// What it tells.
  const std::shared_ptr<run_feed>& feed() const noexcept { return feed_; }
  std::uint64_t likeness() const noexcept { return request_.likeness; }
  /// `told` hears its name when its start is recorded (synced, for a detached run), or why it cannot be; at once when
  /// that is known already.
  void when_recorded(runner::recorded told);
  bool was_recorded() const noexcept { return recorded_ && recorded_->has_value(); }
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
  // What follows from an item.
  struct reaction {
    records batch;
    bool synced = false;
    std::function<void(result<void>)> then;  // when the batch is written, or could not be
    std::string_view what;                   // it was, if so
  };
  // A question whose time runs.
  struct open_question {
    std::string id;
    std::unique_ptr<timer> limit;
  };
  // A call that is at its server.
  struct sent_call {
    std::string id, tool, server;
    std::weak_ptr<mcp::client> client;
    mcp::client::ticket ticket = 0;
    time_point since;                            // its first attempt
    int lost = 0;                                // attempts that were sent and got no answer
    std::optional<record::call_result> failure;  // of the last attempt, while the next one is waited for
    std::unique_ptr<timer> again;
  };

  void use(run_models models);
  void keep_to_limits();
  boost::asio::awaitable<result<void>> wait_for_room();
  boost::asio::awaitable<result<void>> wait_for_session();
  boost::asio::awaitable<result<void>> inherit();
  result<void> keep_terms();
  boost::asio::awaitable<std::vector<item>> wait_for_tools();
  bool misses_tools();
  boost::asio::awaitable<bool> leave();
  void note_time();
  boost::asio::awaitable<void> carry_out_all();
  boost::asio::awaitable<void> carry_out(const run_command& next);
  boost::asio::awaitable<void> react(item i);
  reaction on_item(item& i);
  reaction on_answer(answer_given& a);
  reaction on_mute();
  // Whether there is somebody who can answer, or may be in time.
  bool may_be_answered() const { return feed_->kept() || feed_->answers(); }
  providers::usage spent() const;
  std::string broken_off();
  record::run_started opening();
  record::assistant with_tools(record::assistant r) const;
  bool try_again(sent_call& sent, const mcp::call_outcome& outcome);
  bool waits_for_start(sent_call& sent);
  void make_again(sent_call& sent, time_point when);
  run_record next_attempt(sent_call& sent);
  void run_built_in(const std::string& id);
  void intend(const command::intend_calls& c);
  records close(command::close_call first);
  run_record intent_or_refusal(const std::string& id);
  std::string_view needs_approval(const mcp::catalog_entry& tool);
  const past_names::names* known_then(const mcp::catalog_entry& tool);
  bool model_saw_output();
  record::question approval_question(const std::string& id, const mcp::catalog_entry& tool, approval_seal seal,
                                     std::string_view why);
  void ask(const record::question& q);
  // What is left of question_timeout_ms for something that has waited since before a restart.
  milliseconds left_until(std::int64_t expires_ms) const;
  // `expires_ms`: wall clock, of a run that was parked before a restart; 0: it is parked now.
  void hand_over(std::int64_t expires_ms = 0);
  // As soon as what was folded is on its way into the journal; call_model does it where that takes no time.
  void prepare_meanwhile(const command::call_model& c);
  void prepare_model();
  void call_model();
  void choose_tools(providers::model_request& ask, const command::call_model& c) const;
  void run_call(const command::run_call& c);
  void cancel_open();
  void fold(records batch);
  void apply(const run_record& r);
  // Writes what was folded and tells it. False: it could not be written; the run goes to its end, and earlier commands
  // are void.
  boost::asio::awaitable<bool> commit(bool synced = false);
  // As commit, but what was folded is to be told by tell_held(), in this same turn.
  boost::asio::awaitable<bool> keep(bool synced = false);
  void tell_held();
  boost::asio::awaitable<bool> append(bool synced);
  void expect_outage();
  void note_kept();
  boost::asio::awaitable<void> write_end(record::run_ended end);
  void take_offer();
  std::int64_t ms_since(time_point then) const;
  std::int64_t elapsed_ms() const;
  // Until the run's time limit; milliseconds::max() without one.
  milliseconds time_left() const;
  void watch_clock();
  void arm_limit();

  // What the caller is told about a record that has just been applied.
  void tell(const record::run_started& r);
  void tell(const record::round_started& r);
  void tell(const record::assistant& r);
  void tell(const record::model_failed& r);
  void tell(const record::call_intent& r);
  void tell(const record::call_result& r);
  void tell(const record::status_line& r);
  void tell(const record::question& r);
  void tell(const record::answer& r);
  void tell(const record::caller_result& r);
  void tell(const record::run_ended& r);
  template <class Other>
  void tell(const Other&) {}
  // What callers that come to a run after a restart have to know: the round so far, and what is asked of them.
  void tell_again();
  void tell_recorded();
  void push(run_event e);
  void emit(run_event::kind type, segments body, std::string call = {});
  void emit_status(std::string_view text, std::string_view tool = {});
  void name_tool(const std::string& call);
  result<void> what_became_of_a_stop() const;
  void write_status(const std::string& call);
  void emit_call(std::string_view id, std::string_view server);
  bool tells_status() const noexcept { return request_.limits.status != status_mode::off; }

  run_surroundings& around_;
  run_request request_;
  bool goes_on_;
  std::shared_ptr<providers::model> model_;
  std::shared_ptr<run_feed> feed_;
  std::weak_ptr<live_run> before_, next_;  // that have the session before it, and behind it
  bool stopping_ = false, over_ = false;
  bool left_ = false;                             // the next process goes on with it
  bool taken_over_ = false;                       // another daemon goes on with it
  bool picked_up_ = false;                        // it was begun by an earlier process
  std::unordered_set<std::string> asked_before_;  // questions that were open then
  journal::history inherited_;
  std::unordered_set<std::string> call_ids_;  // of the conversation before the run's first reply
  std::optional<error> refused_;              // why the run did not begin; nothing is folded then
  run_core core_;
  inbox<item> inbox_;
  short_wait model_wait_, tools_wait_;
  std::unique_ptr<run_journal> journal_;
  records unwritten_;            // folded, in order, for the next commit
  bool holding_ = false;         // what is told now is told of one of them
  std::vector<run_event> held_;  // that
  bool store_broken_ = false;
  event_json::kept_part kept_;                // as the last append left it
  std::string store_fault_;                   // what broke it
  std::optional<result<void>> recorded_;      // set once the first records are written
  std::vector<runner::recorded> to_be_told_;  // then
  std::deque<run_command> todo_;
  mcp::catalog_ptr catalog_;
  past_names past_;  // of the tools in past_of_
  mcp::catalog_ptr past_of_;
  offered_ptr offer_;
  std::optional<command::call_model> to_prepare_;
  std::unique_ptr<providers::model_call> model_call_;
  std::unique_ptr<providers::model_call> spent_call_;  // let go of behind what its reply has started
  std::optional<status_writer> status_;
  std::vector<sent_call> sent_;
  std::unordered_set<std::string> told_calls_;  // ids with a tool_call event, of this level
  std::vector<open_question> questions_;
  std::vector<mcp::entry_ptr> own_tools_;   // the caller's
  std::optional<question_words> question_;  // of the run's first question; the choice must not change between rounds
  std::string told_left_out_;
  offered_ptr base_offer_;       // offer_ without the caller's and without ours
  kept_names names_;             // that the model has read
  bool offers_reading_ = false;  // offer_ has the tool that reads on
  bool results_taken_ = false;   // of the calls that are parked now
  std::unique_ptr<timer> limit_, parked_limit_, note_time_, outage_;
  std::int64_t noted_ms_ = 0;  // of the time used, as the records have it
  time_point began_, round_began_;
  std::optional<time_point> paused_since_;  // only people are waited for: the run's clock stands
  milliseconds paused_{0};
  std::size_t looked_at_ = 0;  // of the messages, for output of tools
  bool saw_output_ = false;    // there was some
  bool formulating_ = false;   // this round's "Formulating response..." is out; set anew by each round_started
};

}  // namespace mcpbx::daemon
