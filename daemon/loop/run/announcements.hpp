// Events of a run for those who follow it: one for each record, behind its commit, and what streams, at once. Also
// the status lines for people, whoever writes them (L15).
#pragma once
#include "daemon/loop/core/run_core.hpp"
#include "daemon/loop/run/run_clock.hpp"
#include "daemon/loop/run/run_feed.hpp"
#include "daemon/loop/run/status_writer.hpp"
#include "daemon/loop/tools/round_tools.hpp"
#include "daemon/store/records/record.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/support/time.hpp"
#include "providers/model/message.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace mcpbx::daemon {

/// Belongs to one run. Whoever follows the run is called from inside, and may do anything but destroy the run.
class announcements {
 public:
  /// Sources of what is told. They are read whenever something is told, and must outlive this.
  struct subject {
    const run_core& core;
    const run_limits& limits;
    const run_clock& clock;
    const offered_ptr& offer;  ///< of the round; null before the first one
  };
  announcements(std::shared_ptr<run_feed> feed, subject of) : feed_(std::move(feed)), of_(of) {}

  /// Tells of a record that was applied and is not written yet: held back until tell_held().
  void hold(const run_record& r);
  /// Tells of a record that was applied and that nobody waits for.
  void tell(const run_record& r);
  /// The records are written.
  void tell_held();
  /// The records could not be written: nothing is told of them, nor of any call from here on but those that somebody
  /// was told of before. Returns the ids of the calls whose results are lost with them.
  std::vector<std::string> journal_failed();
  /// Returns true if somebody was told of this call of the present level.
  bool was_told_of(const std::string& call) const { return told_calls_.contains(call); }
  /// For whoever comes to a run after a restart: the round so far, and the questions that are open.
  void tell_again(std::span<const record::question> open);

  void text(std::string_view delta);
  void reasoning(std::string_view delta);
  /// Of a call that is open at its server; of another one nothing is told.
  void tool_progress(const std::string& call, const raw_json& params);
  void tool_log(const std::string& call, const raw_json& params);
  void status(std::string_view text, std::string_view tool = {});
  /// Tells that the journal is out of reach, before all that is held back.
  void outage();
  /// Tells which tools the model is not offered for want of room, if that has changed.
  void left_out();

  /// The model `writer` writes status lines from now on. `told`: as status_writer's.
  void use_writer(std::shared_ptr<providers::model> writer, time_source& time, status_writer::teller told);
  /// Has the line written for a call that has just been sent, or tells the tool's name.
  void begin_line(const std::string& call);
  /// Tells the tool's name, if the call is open.
  void name_tool(const std::string& call);
  /// No line comes for this call any more, or for none. Returns the usage of a line that was not told.
  providers::usage drop_line(std::string_view call);
  void drop_lines();
  providers::usage spent_on_lines() const;

 private:
  void on(const record::run_started& r);
  void on(const record::round_started& r);
  void on(const record::assistant& r);
  void on(const record::model_failed& r);
  void on(const record::call_intent& r);
  void on(const record::call_result& r);
  void on(const record::status_line& r);
  void on(const record::question& r);
  void on(const record::answer& r);
  void on(const record::caller_result& r);
  void on(const record::run_ended& r);
  template <class Other>
  void on(const Other&) {}
  void push(run_event e);
  void emit(run_event::kind type, segments body, std::string call = {});
  void emit_call(std::string_view id, std::string_view server);
  bool tells_status() const noexcept { return of_.limits.status != status_mode::off; }

  std::shared_ptr<run_feed> feed_;
  subject of_;
  bool holding_ = false;  // present events are held back
  std::vector<run_event> held_;
  bool journal_broken_ = false;
  std::unordered_set<std::string> told_calls_;  // ids with a tool_call event, of this level
  bool formulating_ = false;  // this round's "Formulating response..." is out; set anew by each round_started
  std::string told_left_out_;
  std::optional<status_writer> writer_;
};

}  // namespace mcpbx::daemon
