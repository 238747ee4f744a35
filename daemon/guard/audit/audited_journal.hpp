// Wraps the journal so that calls of runs are audited too: it appends an audit record when a call's result is
// journalled.
#pragma once
#include "daemon/guard/audit/audit_log.hpp"
#include "daemon/store/journal.hpp"
#include "mcp/support/time.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mcpbx::daemon::audit {

/// Returns a function for record_rules::closed that audits the calls ended by closing a run of an earlier process.
/// `executor` is the speaking thread; `log` and `time` must outlive the posted work.
std::function<void(const std::vector<stored::run_record>& before, const std::vector<stored::run_record>& closing)>
audit_of_closed_runs(boost::asio::any_io_executor executor, audit_log& log, time_source& time);

class audited_journal final : public store::journal {
 public:
  /// `log` and `time` must outlive the journal and its runs.
  audited_journal(std::unique_ptr<store::journal> inner, audit_log& log, time_source& time)
      : inner_(std::move(inner)), log_(log), time_(time) {}

  /// Opens a run whose appends return when the journal has the records and the audit has the calls that they end.
  std::unique_ptr<store::run_journal> open_run(const std::string& run) override;
  /// Takes over unfinished runs, whose journals are audited too.
  void take_unfinished(answer<std::vector<store::unfinished_run>> then) override;

  bool keeps_sessions() const override { return inner_->keeps_sessions(); }
  bool is_shared() const override { return inner_->is_shared(); }
  std::optional<store::journal_trouble> trouble() const override { return inner_->trouble(); }
  void load_history(std::string session, answer<history> then) override {
    inner_->load_history(std::move(session), std::move(then));
  }
  void list_sessions(stored::session_query q, answer<std::vector<stored::session_row>> then) override {
    inner_->list_sessions(std::move(q), std::move(then));
  }
  void read_session(std::string session, answer<stored::session_contents> then) override {
    inner_->read_session(std::move(session), std::move(then));
  }
  void erase_session(std::string session, answer<void> then) override {
    inner_->erase_session(std::move(session), std::move(then));
  }
  void find_ended(std::string run, answer<std::vector<stored::run_record>> then) override {
    inner_->find_ended(std::move(run), std::move(then));
  }
  void find_owner(std::string run, answer<std::optional<std::string>> then) override {
    inner_->find_owner(std::move(run), std::move(then));
  }

 private:
  std::unique_ptr<store::journal> inner_;
  audit_log& log_;
  time_source& time_;
};

}  // namespace mcpbx::daemon::audit
