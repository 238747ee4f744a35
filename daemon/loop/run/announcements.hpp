// Pushes the events of one run into its feed: those of a record after its commit, streamed text and progress at once.
// Also sends the status lines for people, from fixed sentences or written by a model (docs/requirements.md, L15).
#pragma once
#include "daemon/loop/core/run_core.hpp"
#include "daemon/loop/limits/run_clock.hpp"
#include "daemon/loop/run/run_feed.hpp"
#include "daemon/loop/run/status_writer.hpp"
#include "daemon/loop/tools/round_tools.hpp"
#include "daemon/store/records/record.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/support/keyed_hash.hpp"
#include "mcp/support/time.hpp"
#include "providers/model/message.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::daemon::run {

/// Belongs to one run. Calls the readers of the feed from inside its functions; they must not destroy the run.
class announcements {
 public:
  /// Data that the events are made from, read for each event. All of it must outlive this object.
  struct subject {
    const core::run_core& core;
    const stored::run_limits& limits;
    const limits::run_clock& clock;
    const tools::offered_ptr& offer;  ///< tools offered in the present round; null before the first round
  };
  announcements(std::shared_ptr<run_feed> feed, subject of) : feed_(std::move(feed)), of_(of) {}

  /// Makes the events of a record that was applied but is not written yet. Holds them back until tell_held().
  void hold(const stored::run_record& r);
  /// Makes the events of a record that was applied and need not be written, and sends them at once.
  void tell(const stored::run_record& r);
  /// Sends the events that were held back. To be called when their records are written.
  void tell_held();
  /// Drops the events that were held back, because their records could not be written. From then on reports only calls
  /// that callers know already. Returns the ids of the calls whose results were dropped.
  std::vector<std::string> journal_failed();
  /// Returns true if a tool_call event was made for this call of the present round and was not dropped.
  bool was_told_of(const std::string& call) const { return told_calls_.contains(call); }
  /// Repeats the round so far and the open questions, for callers that attach to the run after a restart.
  void tell_again(std::span<const stored::record::question> open);

  /// Sends a piece of the model's answer or of its reasoning, as it streams in. Empty pieces are ignored.
  void text(std::string_view delta);
  void reasoning(std::string_view delta);
  /// Sends the progress or a log message of a call at its server. Ignored unless the call is open.
  void tool_progress(const std::string& call, const json::raw_json& params);
  void tool_log(const std::string& call, const json::raw_json& params);
  /// Sends a status line, unless the run has `status` off. `tool`: name of the tool that the line is about, or "".
  void status(std::string_view text, std::string_view tool = {});
  /// Sends the status line that the journal cannot be reached, ahead of the events that are held back.
  void outage();
  /// Sends the status line about tools that exceed the model's limit and are not offered, if their list has changed.
  void left_out();

  /// Lets the model `writer` write status lines from now on. `told`: see status_writer.
  void use_writer(std::shared_ptr<providers::model> writer, time_source& time, trace::trace_context trace,
                  status_writer::teller told);
  /// Lets the writer, if there is one, begin the line of a call that has just been sent for the first time. Sends the
  /// tool's name instead if the writer is busy.
  void begin_line(const std::string& call);
  /// Sends a fixed status line with the tool's name, if the call is open.
  void name_tool(const std::string& call);
  /// Cancels the line of this call. Returns an estimate of the tokens it used; none if it was finished.
  providers::usage drop_line(std::string_view call);
  /// Cancels all lines.
  void drop_lines();
  /// Returns an estimate of the tokens used by the lines that are being written.
  providers::usage spent_on_lines() const;

 private:
  void on(const stored::record::run_started& r);
  void on(const stored::record::round_started& r);
  void on(const stored::record::assistant& r);
  void on(const stored::record::model_failed& r);
  void on(const stored::record::call_intent& r);
  void on(const stored::record::call_result& r);
  void on(const stored::record::status_line& r);
  void on(const stored::record::question& r);
  void on(const stored::record::answer& r);
  void on(const stored::record::caller_result& r);
  void on(const stored::record::run_ended& r);
  template <class Other>
  void on(const Other&) {}
  void push(run_event e);
  void emit(run_event::kind type, json::segments body, std::string call = {});
  void emit_call(std::string_view id, std::string_view server);
  bool tells_status() const noexcept { return of_.limits.status != stored::status_mode::off; }

  std::shared_ptr<run_feed> feed_;
  subject of_;
  bool holding_ = false;  // inside hold()
  std::vector<run_event> held_;
  bool journal_broken_ = false;
  text_set told_calls_;       // ids of the present round with a tool_call event
  bool formulating_ = false;  // "Formulating response..." was sent in this round; each round_started sets it anew
  std::string told_left_out_;
  std::optional<status_writer> writer_;
};

}  // namespace mcpbx::daemon::run
