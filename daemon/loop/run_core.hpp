// The run as a fold (design section 3): apply(record) changes the state, commands() says what that record starts.
// respond(depth) is the step that opens a level; applying the last result of a level calls it with depth + 1: the
// recursion is data. Live and resume are this same code. No I/O, no clock, no randomness.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "daemon/store/record.hpp"

namespace mcpbx::daemon {

namespace command {

/// Append round_started, then (when applied) call the model.
struct begin_round {
  int depth = 0;
  bool with_tools = true;
};
/// Start the model call of the round that has just been recorded.
struct call_model {
  int depth = 0;
  bool with_tools = true;
};
/// Append an intent for each of these calls (one batch), or their immediate error results.
struct intend_calls {
  std::vector<std::string> call_ids;
};
/// Send this call to its server now.
struct run_call {
  std::string call_id;
};
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

using run_command = std::variant<command::begin_round, command::call_model, command::intend_calls, command::run_call,
                                 command::cancel_open, command::close_call, command::end>;

/// A call as the result reports it (L16).
struct call_report {
  std::string id, name, server;
  raw_json arguments;
  bool is_error = false;
  std::int64_t duration_ms = 0;
};

class run_core {
 public:
  /// Takes the next record. A record that cannot come here is a bug (asserts).
  void apply(const run_record& r);
  /// What the record just applied starts: none, one or several. The same for a live run and a fold of its records.
  const std::vector<run_command>& commands() const noexcept { return commands_; }

  bool ended() const noexcept { return ended_; }
  stop_reason reason() const noexcept { return reason_; }
  const std::string& reason_text() const noexcept { return reason_text_; }
  /// The conversation so far: what the next model call is given, valid for every provider between rounds.
  const std::vector<providers::message_ptr>& messages() const noexcept { return messages_; }
  const run_limits& limits() const noexcept { return limits_; }
  const record::run_started& started() const noexcept { return started_; }
  /// Model calls so far.
  int rounds() const noexcept { return rounds_; }
  int depth() const noexcept { return depth_; }
  const providers::usage& usage() const noexcept { return usage_; }
  /// Calls in the order the model made them.
  const std::vector<call_report>& calls() const noexcept { return calls_; }
  /// The text of the last assistant message.
  std::string text() const;
  /// The call of the present level with this id, or null.
  const providers::tool_call_block* find_call(const std::string& id) const;
  /// After a crash: the records that close what was open, in order (a call with an intent and no result gets
  /// "interrupted" unless it may be repeated). Deterministic; appending them and crashing again gives the rest.
  std::vector<run_record> recovery() const;

 private:
  void respond(int depth);
  void on(const record::run_started& r);
  void on(const record::round_started& r);
  void on(const record::assistant& r);
  void on(const record::model_failed& r);
  void on(const record::question& r);
  void on(const record::answer& r);
  void on(const record::call_intent& r);
  void on(const record::call_result& r);
  void on(const record::parked& r);
  void on(const record::caller_result& r);
  void on(const record::cancel& r);
  void on(const record::run_ended& r);
  // The implementation's state; see run_core.cpp.
  struct open_call {
    const providers::tool_call_block* call = nullptr;
    bool intended = false, done = false;
  };
  std::vector<run_command> commands_;
  record::run_started started_;
  run_limits limits_;
  std::vector<providers::message_ptr> messages_;
  providers::message_ptr level_;          // the assistant message whose calls are open
  std::vector<open_call> open_;           // its calls, in call order
  std::vector<providers::block> results_; // by call order, filled as they come
  std::vector<call_report> calls_;
  std::map<std::string, std::size_t> report_of_;
  providers::usage usage_;
  int rounds_ = 0, depth_ = 0, consecutive_errors_ = 0;
  bool ended_ = false, ending_ = false;
  stop_reason reason_ = stop_reason::final;
  std::string reason_text_;
};

}  // namespace mcpbx::daemon
