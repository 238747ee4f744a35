// Writes ServerCapabilities.
#include "mcp/server/told_capabilities.hpp"

#include "mcp/protocol/extensions.hpp"
#include "mcp/protocol/revisions.hpp"

#include <algorithm>

namespace mcpbx::mcp::callers {
namespace {

/// Returns true for the first kind of each capability. Kinds that share one are a single member of the capabilities.
bool is_first_of_capability(const protocol::feature_kind& kind, protocol::feature_table kinds) {
  const auto first = std::ranges::find(kinds, kind.capability, &protocol::feature_kind::capability);
  return first->id == kind.id;
}

bool is_offered(const protocol::feature_kind& kind, const catalogs::catalog_offers& offers) {
  if (kind.capability == protocol::prompt_kind().capability) return offers.prompts;
  if (kind.capability == protocol::resource_kind().capability) return offers.resources;
  return true;
}

/// Returns the object without one member; absent if nothing is left.
json::raw_json without(const json::raw_json& object, std::string_view member) {
  auto o = json::raw_object::open(object);
  if (!o) return {};
  o->erase(member);
  return o->size() == 0 ? json::raw_json() : o->json();
}

/// Returns the capability of tasks with tasks/list, which mcpbx answers itself, whatever the servers can.
json::raw_json with_list(const json::raw_json& tasks) {
  auto o = json::raw_object::open(tasks);
  if (!o) return {};
  o->set("list", json::raw_json::literal("{}"));
  return o->json();
}

}  // namespace

void write_capabilities(json::json_writer& out, protocol::feature_table kinds, const catalogs::catalog_offers& offers,
                        std::string_view revision, bool with_methods) {
  out.key("capabilities").begin_object();
  for (const protocol::feature_kind& kind : kinds) {
    if (!is_first_of_capability(kind, kinds) || !is_offered(kind, offers)) continue;
    out.key(kind.capability).begin_object();
    out.set("subscribe", kind.capability == protocol::resource_kind().capability && offers.subscribe);
    out.member("listChanged", true).end_object();
  }
  if (offers.completions) out.key("completions").begin_object().end_object();
  if (offers.logging) out.key("logging").begin_object().end_object();
  const bool modern = revision == protocol::revision::modern;
  if (revision == protocol::revision::latest_legacy) out.given("tasks", with_list(offers.tasks));
  const json::raw_json& extensions = with_methods ? offers.extensions : offers.bare_extensions;
  out.given("experimental", with_methods ? offers.experimental : offers.bare_experimental);
  out.given("extensions", modern ? extensions : without(extensions, protocol::extension::tasks));
  out.end_object();
}

}  // namespace mcpbx::mcp::callers
