// The journal with the audit behind it: the calls that runs make are told to the audit as their results are journalled,
// so that there is one place to look.
#pragma once
#include "daemon/guard/audit_log.hpp"
#include "daemon/store/journal.hpp"
#include "mcp/support/time.hpp"

#include <memory>
#include <string>

namespace mcpbx::daemon {

class audited_journal final : public journal {
 public:
  /// `log` and `time` must outlive the journal and its runs.
  audited_journal(std::unique_ptr<journal> inner, audit_log& log, time_source& time)
      : inner_(std::move(inner)), log_(log), time_(time) {}

  /// An append returns when the journal has the records and the audit has the calls that ended in them.
  std::unique_ptr<run_journal> open_run(const std::string& run) override;

 private:
  std::unique_ptr<journal> inner_;
  audit_log& log_;
  time_source& time_;
};

}  // namespace mcpbx::daemon
