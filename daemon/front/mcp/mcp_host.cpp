// Catalog, clock, admission and audit of a caller of /mcp.
#include "daemon/front/mcp/mcp_host.hpp"

#include "daemon/front/base/admission.hpp"
#include "daemon/store/records/principal.hpp"

#include <utility>

namespace mcpbx::daemon::mcp_door {

mcp_host::mcp_host(front::door_context& door, mcp_identity who, pid_t pid, mcp::clients::call_scope_ptr scope)
    : door_(door),
      who_(std::move(who)),
      audit_(door.settings.audit
                 ? std::make_shared<front::caller_audit>(*door.settings.audit, door.time, who_.principal, pid)
                 : nullptr),
      pid_(pid),
      scope_(std::move(scope)) {}

bool mcp_host::hears_of_others() const {
  return stored::is_person(who_.principal);
}

result<void> mcp_host::admit_call() const {
  return front::admit_call(door_);
}

result<void> mcp_host::admit_call(const mcp::catalogs::catalog_entry& tool) const {
  return front::admit_call(door_, who_.principal, tool);
}

result<void> mcp_host::admit_read(const mcp::protocol::feature_kind& kind, std::string_view server,
                                  std::string_view own) const {
  return front::admit_read(door_, who_.principal, kind, server, own);
}

bool mcp_host::uses_extensions() const {
  return front::may_use_extensions(who_.principal);
}

result<void> mcp_host::admit_extension(std::string_view method) const {
  return front::admit_extension(who_.principal, method);
}

std::shared_ptr<mcp::clients::question_handler> mcp_host::own_answers(const mcp::clients::server_question& q) {
  auto* const answers = door_.settings.answers;
  if (!answers || !answers->answers(q)) return nullptr;
  if (!own_answers_) own_answers_ = answers->handler_for({.principal = who_.principal, .pid = pid_});
  return own_answers_;
}

bool mcp_host::lends(const mcp::clients::server_question& q) {
  return door_.settings.answers && door_.settings.answers->lends(q);
}

void mcp_host::when_settled(milliseconds at_most, std::function<void()> then) {
  door_.daemon.when_settled(at_most, [alive = std::weak_ptr(alive_), then = std::move(then)] {
    if (alive.lock()) then();
  });
}

}  // namespace mcpbx::daemon::mcp_door
