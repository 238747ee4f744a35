// The half of caller_host that sessions and single requests of /mcp share: everything but the sending.
#pragma once
#include "daemon/front/base/caller_audit.hpp"
#include "daemon/front/base/door_context.hpp"
#include "mcp/client/call_scope.hpp"
#include "mcp/server/base/caller_host.hpp"

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::daemon::mcp_door {

/// Identity of a caller of /mcp. Callers with equal ones may use each other's sessions.
struct mcp_identity {
  std::string principal;  ///< (daemon/store/records/principal.hpp)
  std::string profile;    ///< of the URL; "": none
  bool operator==(const mcp_identity&) const = default;
};

class mcp_host : public mcp::server::caller_host {
 public:
  /// `door` must outlive this object. `pid`: the caller's process, for the audit; -1: not known.
  mcp_host(front::door_context& door, mcp_identity who, pid_t pid, mcp::clients::call_scope_ptr scope);

  const mcp_identity& identity() const noexcept { return who_; }
  time_source& time() override { return door_.time; }
  const std::string& principal() const override { return who_.principal; }
  bool hears_of_others() const override;
  mcp::catalogs::catalog_ptr tools() const override { return door_.tools_for(who_.profile); }
  result<void> admit_call() const override;
  result<void> admit_call(const mcp::catalogs::catalog_entry& tool) const override;
  result<void> admit_read(const mcp::protocol::feature_kind& kind, std::string_view server,
                          std::string_view own) const override;
  bool uses_extensions() const override;
  result<void> admit_extension(std::string_view method) const override;
  std::shared_ptr<mcp::server::call_recorder> recorder() const override { return audit_; }
  std::shared_ptr<mcp::clients::question_handler> own_answers(const mcp::clients::server_question& q) override;
  bool lends(const mcp::clients::server_question& q) override;
  mcp::clients::call_scope_ptr scope() const override { return scope_; }
  mcp::callers::held_calls* held() override { return &door_.held; }
  mcp::server::task_routes* tasks() override { return &door_.tasks; }
  bool settled() const override { return door_.daemon.settled(); }
  void when_settled(milliseconds at_most, std::function<void()> then) override;
  // Methods of mcpbx are not offered here.
  bool handle(std::string_view /*method*/, const json::raw_json& /*params*/,
              const mcp::server::reply_once& /*reply*/) override {
    return false;
  }
  std::vector<std::string_view> methods() const override { return {}; }

 protected:
  /// Drops what when_settled() has promised.
  void end_waits() noexcept { alive_.reset(); }
  front::door_context& door() const noexcept { return door_; }

 private:
  front::door_context& door_;
  const mcp_identity who_;
  const std::shared_ptr<front::caller_audit> audit_;  // null: the audit is off
  const pid_t pid_;
  std::shared_ptr<mcp::clients::question_handler> own_answers_;  // null until a server asks this caller
  const mcp::clients::call_scope_ptr scope_;
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace mcpbx::daemon::mcp_door
