// Audit of the calls of one connection.
#pragma once
#include "daemon/guard/audit/audit_log.hpp"
#include "mcp/server/base/call_recorder.hpp"
#include "mcp/support/time.hpp"

#include <sys/types.h>

#include <functional>
#include <string>
#include <utility>

namespace mcpbx::daemon::front {

class caller_audit final : public mcp::server::call_recorder {
 public:
  /// `log` and `time` must outlive this object and its open calls.
  caller_audit(audit::audit_log& log, time_source& time, std::string principal, pid_t pid)
      : log_(log), time_(time), principal_(std::move(principal)), pid_(pid) {}

  void set_name(const std::string& name) { name_ = name; }
  void record(mcp::server::finished_call c, std::function<void()> then) override {
    log_.append({time_.wall_ms(), principal_, pid_, name_, {}, std::move(c)}, std::move(then));
  }

 private:
  audit::audit_log& log_;
  time_source& time_;
  std::string principal_;
  pid_t pid_;
  std::string name_;
};

}  // namespace mcpbx::daemon::front
