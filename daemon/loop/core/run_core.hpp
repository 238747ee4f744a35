// State machine of one run. apply() takes the next record of its journal; commands() lists the actions to start then.
// A level is a model's reply whose calls are open. respond(depth) begins a round; the last result of a level leads to
// respond(depth + 1) in a later step, so depth costs no stack. Live and resumed runs use the same code. No I/O, no
// clock, no randomness.
#pragma once
#include "daemon/loop/core/run_facts.hpp"
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

namespace mcpbx::daemon::core {

namespace command {

/// Append round_started. Applying that record gives call_model.
struct begin_round {
  int depth = 0;
  bool with_tools = true;
  int shortened = 0;  ///< number of old tool results that were cut before the round is repeated; 0: it is new
};
/// Start the model call of the recorded round.
struct call_model {
  int depth = 0;
  bool with_tools = true;
};
/// Append for each of these calls, in one batch: an intent, a question, or an error result if it is refused.
struct intend_calls {
  std::vector<std::string> call_ids;
};
/// Send this call to its server now.
struct run_call {
  std::string call_id;
};
/// Show this question to the caller, and append an answer with `expired` if none comes in time.
struct ask {
  stored::record::question question;
};
/// Give this answer to the call's server, which has asked during the call.
struct pass_answer {
  stored::record::question question;
  stored::record::answer answer;
};
/// Append parked: only these calls of the caller's own tools are still open.
struct park {
  std::vector<std::string> call_ids;
};
/// Answer the caller's request, so that the caller sends the results of the parked calls.
struct hand_over {};
/// Cancel all open calls at their servers, and the model call if one runs.
struct cancel_open {};
/// Append this result for a call that will not be run (limit, cancelled, not offered).
struct close_call {
  std::string call_id;
  stored::record::result_cause cause;
  std::string text;  ///< for the model
};
/// Append run_ended.
struct end {
  stored::stop_reason reason;
  std::string text;
};

}  // namespace command

using run_command = std::variant<command::begin_round, command::call_model, command::intend_calls, command::run_call,
                                 command::ask, command::pass_answer, command::park, command::hand_over,
                                 command::cancel_open, command::close_call, command::end>;

/// Returns the result record of a call that is closed without an answer from a server.
stored::record::call_result closing_record(const command::close_call& c);

/// Owns the state of the run. Not thread-safe. Copies share the messages, so they are cheap enough for recovery.
class run_core {
 public:
  /// Returns the state behind these records of one run, which begin with run_started.
  static run_core of(const std::vector<stored::run_record>& records);
  /// Applies the next record. A record that is impossible in this state is a bug: an assertion fails, or in release
  /// builds the record is ignored.
  void apply(const stored::run_record& r);
  /// Returns the actions that the record just applied starts: none, one or several. Commands of earlier records stay
  /// valid until they are carried out, but a cancel voids them all.
  const std::vector<run_command>& commands() const noexcept { return commands_; }

  /// Returns the facts that the records have added up to. Valid until the next apply().
  const run_facts& facts() const noexcept { return facts_; }
  /// Returns true if the end is decided. Calls may still have to be closed.
  bool ending() const noexcept { return ending_.has_value(); }
  /// Returns the attempt number of the latest intent of the open call with this id; 0: never sent.
  int attempts(std::string_view id) const;
  /// Returns the call with this id in the open level, or null. Valid until the level ends.
  const providers::tool_call_block* find_call(std::string_view id) const;
  /// Returns true if this call may not begin any more, because the run stops at its first failure and a call before it
  /// in the same level has failed.
  bool stopped_before(std::string_view id) const;
  /// Returns true if this call is in the open level and has no result yet.
  bool is_open(std::string_view id) const;
  /// Returns true if the caller approved this call, or all calls of its tool, with exactly these hashes (see
  /// record::question). Then no question is needed.
  bool approved(std::string_view call_id, std::string_view tool_sha256, std::string_view arguments_sha256) const;
  /// For a call that is not approved(): returns true if the caller approved it, or its tool, with other hashes.
  bool approved_otherwise(std::string_view call_id) const;
  /// Returns true if the caller approved all uses of `tool` with this hash (record::question), for a tool that no call
  /// names.
  bool approved_always(std::string_view tool, std::string_view sha256) const;
  /// Returns the open question with this id, or null.
  const stored::record::question* find_question(std::string_view id) const;
  /// Returns the ids of the other open questions that "always" for this open one answers too, in call order. They ask
  /// about the same tool with the same hash.
  std::vector<std::string> covered_by(const stored::record::question& always) const;
  /// Returns the questions without an answer, in call order.
  std::vector<const stored::record::question*> questions() const;
  /// Returns the open calls that were not sent yet or need an answer first. A resumed run still has to make them.
  std::vector<const providers::tool_call_block*> to_be_made() const;
  /// Returns the ids of the calls that wait for results from the caller, in call order.
  std::vector<std::string_view> handed() const;
  /// Returns true if the run waits only for answers of people or results of the caller's own tools. A call whose server
  /// waits for an answer counts as waiting for people.
  bool waits_for_people() const;

  /// Returns the cancel record for a run whose daemon ended before it did.
  static stored::record::cancel left_by_its_daemon();
  /// Returns the records that close a run that is not resumed: a result for each open call, then the end, for the
  /// reason in `why` unless one is recorded. After a crash between them, another call returns the remaining records.
  std::vector<stored::run_record> recovery(const stored::record::cancel& why = left_by_its_daemon()) const;
  /// Sets commands() to the next actions of a run that is resumed after a crash. Calls that were sent are repeated if
  /// their intent allows it, else closed as interrupted. Questions are asked again with their ids.
  void resume();

 private:
  enum class call_state : std::uint8_t { waiting, closing, asked, questioned, intended, handed, done };
  struct open_call {
    const providers::tool_call_block* call = nullptr;  // owned by level_
    call_state state = call_state::waiting;
    command::close_call closing{};  // in state closing: the command, kept because a crash may prevent its execution
    stored::record::question question{};                   // latest question about this call
    std::vector<stored::record::question> asked_during{};  // in state intended: open questions of its server
    bool approved = false;                                 // by the answer to `question`
    bool repeatable = false;                               // from the latest intent
    int attempt = 0;                                       // number in the latest intent; 0: there is none
    int group = 0;  // serial group, whose calls are made one after another; 0: none
  };
  // Approval of all calls of a tool, for the rest of the run.
  struct lasting_approval {
    std::string tool;
    std::string sha256;
  };
  struct sentence {
    stored::stop_reason reason = stored::stop_reason::final;
    std::string text;
  };

  void respond(int depth);
  void on(const stored::record::run_started& r);
  void on(const stored::record::round_started& r);
  void on(const stored::record::assistant& r);
  void on(const stored::record::model_failed& r);
  void on(const stored::record::question& r);
  void on(const stored::record::answer& r);
  void on(const stored::record::call_intent& r);
  void on(const stored::record::call_result& r);
  void on(const stored::record::status_line& r) { facts_.usage += r.usage; }
  void on(const stored::record::time_used&) {}
  void on(const stored::record::limits_lowered& r);
  void on(const stored::record::taken_over& r);
  void on(const stored::record::parked& r);
  void on(const stored::record::caller_result& r);
  void on(const stored::record::cancel& r);
  void on(const stored::record::run_ended& r);

  void finish_without_calls(const stored::record::assistant& r);
  void correct_answer(const std::string& problem);
  void open_level(const stored::record::assistant& r);
  void close_all(stored::record::result_cause cause, const std::string& text);
  void close(open_call& c, stored::record::result_cause cause, std::string text);
  void admit(std::size_t index);
  bool repeats(const providers::tool_call_block& call);
  void intend_more();
  void go_on();
  void wait_for_somebody(open_call& c);
  void ask_during(open_call& c, const stored::record::question& r);
  bool answer_during(const stored::record::answer& r);
  void forget_asked_during(open_call& c);
  void begin_no_more(std::string_view why);
  void settle(std::string_view id, const json::raw_json& result, bool is_error, std::int64_t ms);
  void finish_level();
  void close_open_calls();
  static bool left_before(const open_call& c);
  void end(stored::stop_reason reason, std::string text);
  bool over_token_budget() const;
  static constexpr std::size_t nowhere = static_cast<std::size_t>(-1);
  std::size_t index_of(std::string_view id) const;  // index in open_, or nowhere
  call_report& report_of(std::size_t index) { return facts_.calls[facts_.calls.size() - open_.size() + index]; }

  std::vector<run_command> commands_;
  run_facts facts_;                                    // the last open_.size() of its calls belong to level_
  providers::message_ptr level_;                       // the reply whose calls are open
  std::vector<open_call> open_;                        // all calls of level_, in call order
  std::vector<providers::tool_result_block> results_;  // in call order, filled as results arrive
  std::vector<lasting_approval> always_;
  std::size_t undone_ = 0;          // calls of open_ without a result
  int running_ = 0;                 // calls in state asked or intended, bounded by tool_concurrency
  std::optional<sentence> limit_;   // the limit that makes the next model call the last one, without tools
  std::optional<sentence> ending_;  // reason for the end, which follows when all open calls are closed
  std::optional<stored::stop_reason> cancelled_;  // the last cancel record's reason
  providers::message_ptr last_call_owner_;        // keeps last_call_ alive
  const providers::tool_call_block* last_call_ = nullptr;
  std::string last_canonical_;   // canonical arguments of last_call_; "": not needed yet
  int repeated_ = 0;             // number of times that last_call_ was made in a row
  int admitted_ = 0;             // number of calls that count against max_calls
  byte_share held_, text_held_;  // bytes of the messages, and of the answer's text if it is a separate string
  bool corrected_ = false;       // the model was asked once to correct its answer
  int consecutive_errors_ = 0;
  bool with_tools_ = true;
  bool shortened_ = false;                 // old results were cut, and the model call is being repeated
  std::optional<run_command> next_round_;  // begin_round or call_model, until its record is applied
};

}  // namespace mcpbx::daemon::core
