// The list methods of all kinds, as the table has them: each answers with the catalog's entries of its kind.
#include "mcp/server/caller_session.hpp"

namespace mcpbx::mcp {

void caller_session::add_list_methods(methods& m, feature_table kinds) {
  for (const feature_kind& kind : kinds)
    m.add(kind.list_method,
          [&kind](caller_session& s, const raw_json& params, const reply_once& reply) { s.list(kind, params, reply); });
}

void caller_session::list(const feature_kind& kind, const raw_json& params, const reply_once& reply) {
  // Lists have one page, so no cursor can be one of mcpbx's.
  if (const raw_json cursor = find_member(params, "cursor"); !cursor.empty() && !cursor.is_null())
    return reply.error(
        invalid_params("params.cursor: unknown cursor " + describe(cursor) + "; the list comes whole, in one page"));
  host_.when_settled(options_.settle, [this, &kind, reply] {
    if (reply.open()) reply.result(host_.tools()->list(kind));
  });
}

}  // namespace mcpbx::mcp
