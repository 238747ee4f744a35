// The list methods of all kinds, as the table has them: each answers with the catalog's entries of its kind.
#include "mcp/server/caller_session.hpp"

namespace mcpbx::mcp::callers {

void caller_session::add_list_methods(methods& m, protocol::feature_table kinds) {
  for (const protocol::feature_kind& kind : kinds)
    m.add(kind.list_method, [&kind](caller_session& s, const json::raw_json& params, const server::reply_once& reply) {
      s.list(kind, params, reply);
    });
}

void caller_session::list(const protocol::feature_kind& kind, const json::raw_json& params,
                          const server::reply_once& reply) {
  // Lists have one page, so no cursor can be one of mcpbx's.
  if (const json::raw_json cursor = json::find_member(params, "cursor"); !cursor.empty() && !cursor.is_null())
    return reply.error(server::invalid_params("params.cursor: unknown cursor " + server::describe(cursor) +
                                              "; the list comes whole, in one page"));
  host_.when_settled(options_.settle, [this, &kind, reply] {
    if (!reply.open()) return;
    const server::modern_request* const m = reply.modern();
    const auto all = host_.tools();
    if (!m) return reply.result(all->list(kind));
    const catalogs::list_hints hints = all->hints(kind, host_.time().now());
    const json::raw_json list = kind.id == protocol::kind_id::tools ? all->tools_list() : all->list(kind);
    reply.result(protocol::modern_own_result(list, {.cache = protocol::cache_hints{hints.ttl.count(), hints.is_private},
                                                    .server_info = m->form.server_info}));
  });
}

}  // namespace mcpbx::mcp::callers
