// The run as a fold: apply(record) changes the state, commands() says what that record starts.
// respond(depth) is the step that opens a level; applying the last result of a level calls it with depth + 1: the
// recursion is data. Live and resume are this same code. No I/O, no clock, no randomness.
#pragma once
#include "daemon/loop/results/kept_results.hpp"
#include "daemon/store/records/record.hpp"
#include "mcp/support/shared_bytes.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace mcpbx::daemon {

namespace command {

/// Append round_started, then (when applied) call the model.
struct begin_round {
  int depth = 0;
  bool with_tools = true;
  int shortened = 0;  ///< the round is begun again, after so many old tool results were cut
};
/// Start the model call of the round that has just been recorded.
struct call_model {
  int depth = 0;
  bool with_tools = true;
};
/// Append an intent for each of these calls (one batch), or a question, or their immediate error results.
struct intend_calls {
  std::vector<std::string> call_ids;
};
/// Send this call to its server now.
struct run_call {
  std::string call_id;
};
/// Ask this of the caller: show it, and append an answer that has `expired` when none came in time.
struct ask {
  record::question question;
};
/// Append parked: only these calls, which are the caller's own, are left to do.
struct park {
  std::vector<std::string> call_ids;
};
/// Answer the caller, who is to send the results of the parked calls.
struct hand_over {};
/// Close every open call at its server and the model call, if one runs.
struct cancel_open {};
/// Append this result for a call that will not be run (limit, cancelled, not offered).
struct close_call {
  std::string call_id;
  record::result_cause cause;
  std::string text;  ///< for the model
};
/// Append run_ended.
struct end {
  stop_reason reason;
  std::string text;
};

}  // namespace command

using run_command =
    std::variant<command::begin_round, command::call_model, command::intend_calls, command::run_call, command::ask,
                 command::park, command::hand_over, command::cancel_open, command::close_call, command::end>;

/// A call as the result reports it (L16).
struct call_report {
  std::string id, name, server;  ///< `server` is empty for a call of none: unknown, or the caller's own
  raw_json arguments;            ///< absent when the model wrote none that could be read
  bool is_error = false;
  bool pending = false;  ///< one of the caller's own tools, without its result yet
  std::int64_t duration_ms = 0;
};

/// The record of a call that is closed without having been answered by a server.
record::call_result closing_record(const command::close_call& c);

/// Copies are cheap enough for tests and recovery: messages are shared.
class run_core {
 public:
  /// Takes the next record. A record that cannot come here is a bug (asserts; ignored without assertions).
  void apply(const run_record& r);
  /// What the record just applied starts: none, one or several. The same for a live run and a fold of its records.
  /// Commands of earlier records stay in force until carried out, except that a cancel voids them all.
  const std::vector<run_command>& commands() const noexcept { return commands_; }

  bool ended() const noexcept { return ended_; }
  stop_reason reason() const noexcept { return reason_; }
  const std::string& reason_text() const noexcept { return reason_text_; }
  /// Whether it ends because the model could not be called as it is configured (a key that is not available).
  bool misconfigured() const noexcept { return misconfigured_; }
  /// The conversation so far: what the next model call is given. Valid for every provider at any moment, because a
  /// level enters it whole, when its last result is there.
  const std::vector<providers::message_ptr>& messages() const noexcept { return messages_; }
  /// How many of the messages come before what the run adds: the system prompt, and what its session held.
  std::size_t before() const noexcept { return before_; }
  const run_limits& limits() const noexcept { return limits_; }
  const record::run_started& started() const noexcept { return started_; }
  /// Model calls so far.
  int rounds() const noexcept { return rounds_; }
  int depth() const noexcept { return depth_; }
  const providers::usage& usage() const noexcept { return usage_; }
  /// Calls in the order the model made them.
  const std::vector<call_report>& calls() const noexcept { return calls_; }
  /// The report of a call made in this run (the latest with this id).
  const call_report& report(std::string_view id) const;
  /// Whether the end is decided, though calls may still have to be closed.
  bool ending() const noexcept { return ending_.has_value(); }
  /// The text of the last model call's reply; "" when that call gave none.
  const std::string& text() const noexcept { return *text_; }
  std::shared_ptr<const std::string> shared_text() const noexcept { return text_; }
  /// What the last model call's answer began with, when it broke and the run ends without another one; else "".
  const std::string& partial_text() const noexcept { return partial_text_; }
  /// The answer as JSON that fits the schema that was asked for; absent without a schema and without such an answer.
  const raw_json& data() const noexcept { return data_; }
  /// The whole results of which the model was shown a part.
  const kept_results& kept() const noexcept { return kept_; }
  /// How often the open call with this id was sent.
  int attempts(std::string_view id) const;
  /// The call of the present level with this id, or null.
  const providers::tool_call_block* find_call(std::string_view id) const;
  /// Whether a call in front of this one of the same level has failed in a run that stops at its first failure: this
  /// one is not begun any more.
  bool stopped_before(std::string_view id) const;
  /// Whether that call is of the present level and still waits for its one result.
  bool is_open(std::string_view id) const;
  /// Whether this call needs no (more) asking: the caller approved it, or all calls of its tool, with exactly
  /// these hashes (see record::question).
  bool approved(std::string_view call_id, std::string_view tool_sha256, std::string_view arguments_sha256) const;
  /// Of a call that is not approved: whether the caller approved it, or all calls of its tool, with other hashes.
  bool approved_otherwise(std::string_view call_id) const;
  /// The open question with this id, or null.
  const record::question* find_question(std::string_view id) const;
  /// The other open questions that an "always" to this open one answers as well: those of the same tool from the same
  /// place, in call order.
  std::vector<std::string> covered_by(const record::question& always) const;
  /// Questions without an answer, in call order.
  std::vector<const record::question*> questions() const;
  /// The calls that are to be made, or asked about first, when the run goes on.
  std::vector<const providers::tool_call_block*> to_be_made() const;
  /// The calls that wait for the caller's own results, in call order.
  std::vector<std::string_view> handed() const;
  /// Whether those calls were handed over: nothing goes on until the caller sends their results.
  bool parked() const noexcept { return parked_; }
  /// Whether nothing but people and the caller's own tools is waited for.
  bool waits_for_people() const;

  /// What a run is cancelled with that its daemon left.
  static record::cancel left_by_its_daemon();
  /// For a run that nobody goes on with: the records that close what was open, in order: every call without a result
  /// gets "interrupted", then the run ends, for the reason in `why` unless another one is recorded. Deterministic;
  /// appending some of them and crashing again gives the rest.
  std::vector<run_record> recovery(const record::cancel& why = left_by_its_daemon()) const;
  /// After a crash, for a run that goes on: sets commands() to what is to be done now. Calls that had been sent are
  /// made again when their intent says that they may be, else they are closed as interrupted; questions are asked
  /// again under their ids.
  void resume();

 private:
  enum class call_state : std::uint8_t { waiting, closing, asked, questioned, intended, handed, done };
  struct open_call {
    const providers::tool_call_block* call = nullptr;  // inside level_
    call_state state = call_state::waiting;
    command::close_call closing{};  // state closing: the command, which a crash may have kept from being carried out
    record::question question{};    // the last one about it
    bool approved = false;          // by the answer to that
    bool repeatable = false;        // as its last intent says
    int attempt = 0;                // of its last intent
    int group = 0;                  // calls of one serial group are made one after another; 0: none
  };
  // An approval of all calls of a tool.
  struct lasting_approval {
    std::string tool;
    std::string sha256;
  };
  struct sentence {
    stop_reason reason = stop_reason::final;
    std::string text;
  };

  void respond(int depth);
  void on(const record::run_started& r);
  void on(const record::round_started& r);
  void on(const record::assistant& r);
  void on(const record::model_failed& r);
  void on(const record::question& r);
  void on(const record::answer& r);
  void on(const record::call_intent& r);
  void on(const record::call_result& r);
  void on(const record::status_line& r) { usage_ += r.usage; }
  void on(const record::time_used&) {}
  void on(const record::limits_lowered& r);
  void on(const record::taken_over& r);
  void on(const record::parked& r);
  void on(const record::caller_result& r);
  void on(const record::cancel& r);
  void on(const record::run_ended& r);

  static std::shared_ptr<const std::string> no_text();
  void finish_without_calls(const record::assistant& r);
  void correct_answer(const std::string& problem);
  void open_level(const record::assistant& r);
  void close_all(record::result_cause cause, const std::string& text);
  void close(open_call& c, record::result_cause cause, std::string text);
  void admit(std::size_t index);
  bool repeats(const providers::tool_call_block& call);
  void intend_more();
  void go_on();
  void wait_for_somebody(open_call& c);
  void begin_no_more(std::string_view why);
  void settle(std::string_view id, const raw_json& result, bool is_error, std::int64_t ms);
  void finish_level();
  void close_open_calls();
  static bool left_before(const open_call& c);
  void end(stop_reason reason, std::string text);
  bool over_token_budget() const;
  static constexpr std::size_t nowhere = static_cast<std::size_t>(-1);
  std::size_t index_of(std::string_view id) const;  // in open_, or nowhere
  call_report& report_of(std::size_t index) { return calls_[calls_.size() - open_.size() + index]; }

  std::vector<run_command> commands_;
  record::run_started started_;
  run_limits limits_;
  std::vector<providers::message_ptr> messages_;
  std::size_t before_ = 0;
  providers::message_ptr level_;                       // the assistant message whose calls are open
  std::vector<open_call> open_;                        // its calls, in call order
  std::vector<providers::tool_result_block> results_;  // by call order, filled as they come
  std::vector<call_report> calls_;                     // those of the level are the last open_.size()
  std::vector<lasting_approval> always_;
  std::size_t undone_ = 0;                  // open calls without a result
  int running_ = 0;                         // asked for or sent, and without a result
  std::optional<sentence> limit_;           // what makes the next model call the last, without tools
  std::optional<sentence> ending_;          // set once: why the run ends when its open calls are closed
  std::optional<stop_reason> cancelled_;    // the last cancel record's reason
  providers::message_ptr last_call_owner_;  // keeps last_call_ alive
  const providers::tool_call_block* last_call_ = nullptr;
  std::string last_canonical_;  // its arguments, where they were looked at; else ""
  int repeated_ = 0;            // how often last_call_ was made in a row
  int admitted_ = 0;            // calls that counted against max_calls
  providers::usage usage_;
  std::shared_ptr<const std::string> text_ = no_text();
  std::string partial_text_;
  byte_share held_, text_held_;  // by messages_, and by text_ where it is none of them
  raw_json data_;
  bool corrected_ = false;  // the model has been told what was wrong with its answer
  int rounds_ = 0, depth_ = 0, consecutive_errors_ = 0;
  bool with_tools_ = true;
  bool shortened_ = false;  // old results were cut for the model call that is made again now
  kept_results kept_;
  std::optional<run_command> next_round_;  // begin_round or call_model, until what it asks for is recorded
  bool parked_ = false;
  bool misconfigured_ = false;
  bool ended_ = false;
  stop_reason reason_ = stop_reason::final;
  std::string reason_text_;
};

}  // namespace mcpbx::daemon
