// Decides by the state of the door and the policy.
#include "daemon/front/base/admission.hpp"

#include "daemon/policy/policy.hpp"
#include "daemon/store/records/principal.hpp"
#include "mcp/support/text.hpp"

namespace mcpbx::daemon::front {

result<void> admit_call(const door_context& door) {
  if (door.refuses_calls) return fail(errc::unavailable, "mcpbx is stopping and takes no new calls");
  return {};
}

result<void> admit_call(const door_context& door, const std::string& principal,
                        const mcp::catalogs::catalog_entry& tool) {
  if (policy::decide(policy::direct_caller{door.settings.approvals(), !stored::is_tool_server(principal)},
                     policy::facts_of(tool))
          .allows())
    return {};
  return fail(errc::unavailable, "the tool " + json::json_quoted(tool.name) +
                                     " needs a yes of the user, so a tool server may not call it by itself");
}

result<void> admit_read(const door_context& door, const std::string& principal, const mcp::protocol::feature_kind& kind,
                        std::string_view server, std::string_view own) {
  const bool is_uri = kind.id == mcp::protocol::kind_id::resources;
  if (policy::decide(policy::direct_caller{door.settings.approvals(), !stored::is_tool_server(principal)},
                     policy::read_facts{server, own, is_uri})
          .allows())
    return {};
  return fail(errc::unavailable, "the " + std::string(kind.noun) + " " + json::json_quoted(cut_utf8(own, 256)) +
                                     " needs a yes of the user, so a tool server may not read it by itself");
}

bool may_use_extensions(const std::string& principal) {
  return !stored::is_tool_server(principal);
}

result<void> admit_extension(const std::string& principal, std::string_view method) {
  if (may_use_extensions(principal)) return {};
  return fail(errc::unavailable, "the method " + json::json_quoted(cut_utf8(method, 80)) +
                                     " is one of an extension, which a tool server may not use by itself");
}

}  // namespace mcpbx::daemon::front
