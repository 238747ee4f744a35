// Writes ServerCapabilities.
#include "mcp/server/told_capabilities.hpp"

#include "mcp/protocol/extensions.hpp"
#include "mcp/protocol/revisions.hpp"

#include <algorithm>

namespace mcpbx::mcp {
namespace {

/// Returns true for the first kind of each capability. Kinds that share one are a single member of the capabilities.
bool is_first_of_capability(const feature_kind& kind, feature_table kinds) {
  const auto first = std::ranges::find(kinds, kind.capability, &feature_kind::capability);
  return first->id == kind.id;
}

bool is_offered(const feature_kind& kind, const catalog_offers& offers) {
  if (kind.capability == prompt_kind().capability) return offers.prompts;
  if (kind.capability == resource_kind().capability) return offers.resources;
  return true;
}

/// Returns the object without one member; absent if nothing is left.
raw_json without(const raw_json& object, std::string_view member) {
  auto o = raw_object::open(object);
  if (!o) return {};
  o->erase(member);
  return o->size() == 0 ? raw_json() : o->json();
}

/// Returns the capability of tasks with tasks/list, which mcpbx answers itself, whatever the servers can.
raw_json with_list(const raw_json& tasks) {
  auto o = raw_object::open(tasks);
  if (!o) return {};
  o->set("list", raw_json::literal("{}"));
  return o->json();
}

}  // namespace

void write_capabilities(json_writer& out, feature_table kinds, const catalog_offers& offers,
                        std::string_view revision) {
  out.key("capabilities").begin_object();
  for (const feature_kind& kind : kinds) {
    if (!is_first_of_capability(kind, kinds) || !is_offered(kind, offers)) continue;
    out.key(kind.capability).begin_object();
    out.set("subscribe", kind.capability == resource_kind().capability && offers.subscribe);
    out.member("listChanged", true).end_object();
  }
  if (offers.completions) out.key("completions").begin_object().end_object();
  if (offers.logging) out.key("logging").begin_object().end_object();
  const bool modern = revision == revision::modern;
  if (revision == revision::latest_legacy) out.given("tasks", with_list(offers.tasks));
  out.given("experimental", offers.experimental);
  out.given("extensions", modern ? offers.extensions : without(offers.extensions, extension::tasks));
  out.end_object();
}

}  // namespace mcpbx::mcp
