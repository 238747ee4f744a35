// Methods mcpbx/sessions/*: the sessions of the journal, page by page.
#include "daemon/front/rpc/methods.hpp"
#include "daemon/loop/json/event_json.hpp"
#include "daemon/loop/json/message_json.hpp"
#include "daemon/store/records/principal.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/redact/cut_text.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace mcpbx::daemon::rpc_door {
namespace {

constexpr std::size_t page_bytes = 4u << 20;   // messages in one answer; one message may be larger
constexpr std::size_t part_bytes = 64u << 10;  // text of a broken answer

stored::session_query read_list(mcp::server::param_reader& in, const rpc_caller& c) {
  stored::session_query q;
  q.limit = static_cast<std::size_t>(in.integer("limit", 1, 1'000).value_or(100));
  q.before = in.text("before", 128).value_or("");
  const bool all = in.boolean("all").value_or(false);
  if (all && !stored::is_person(c.principal()))
    in.wrong("all", "expected false, because only the person may see all sessions");
  if (!all) q.principal = c.principal();
  return q;
}

std::string read_id(mcp::server::param_reader& in) {
  auto id = in.text("session", 128).value_or("");
  if (id.empty()) in.wrong("session", "expected the id of a session");
  return id;
}

struct get_params {
  std::string session;
  std::size_t from = 0, limit = 0;
  bool redact = false;  ///< known secrets are replaced by ***
};

get_params read_get(mcp::server::param_reader& in) {
  get_params p;
  p.session = read_id(in);
  p.from = static_cast<std::size_t>(in.integer("from", 0, 1'000'000'000).value_or(0));
  p.limit = static_cast<std::size_t>(in.integer("limit", 0, 10'000).value_or(1'000));
  p.redact = in.boolean("redact").value_or(false);
  return p;
}

void append_session(json::json_writer& out, const stored::session_row& s) {
  out.member("session", s.id).member("title", s.title).member("model", s.model).member("principal", s.principal);
  out.member("createdMs", s.created_ms).member("usedMs", s.used_ms).member("runCount", s.runs).member("bytes", s.bytes);
  if (!s.running.empty()) out.member("running", s.running);
  if (!s.owner.empty()) out.member("owner", s.owner);
}

json::raw_json list_of(const std::vector<stored::session_row>& rows, std::size_t limit) {
  std::string json;
  json::json_writer out(json);
  out.begin_object().key("sessions").begin_array();
  for (const auto& row : rows) {
    out.begin_object();
    append_session(out, row);
    out.end_object();
  }
  out.end_array();
  // Sets the start of the next page. The last page may be full by chance, so the next one can be empty.
  if (rows.size() == limit) out.member("next", rows.back().id);
  out.end_object();
  return out.json();
}

std::string shown_part(const std::string& partial, std::size_t bytes) {
  return partial.size() <= bytes ? partial : std::string(cut_utf8(partial, bytes)) + "…";
}

// Writes one run. Every page has all runs of the session; `part_room` bounds the parts of answers in all of them.
void append_run(json::json_writer& out, const stored::kept_run& one, std::size_t& part_room) {
  out.begin_object().member("run", one.row.run).member("model", one.row.model);
  out.member("startedMs", one.row.started_ms);
  if (one.row.ended_ms > 0) out.member("endedMs", one.row.ended_ms).member("stopReason", one.row.reason);
  if (!one.damage.empty()) out.member("damage", one.damage);
  out.filled("traceId", one.folded.trace_id);
  if (const auto& part = one.folded.partial_text; !part.empty() && part_room > 0) {
    const auto bytes = std::min(part_bytes, part_room);
    out.member("partialText", shown_part(part, bytes));
    part_room -= std::min(part.size(), bytes);
  }
  out.member("rounds", one.folded.rounds).member("messages", one.folded.messages.size());
  out.member("usage", event_json::usage_members(one.folded.usage)).end_object();
}

// Writes a session. Messages are numbered through the whole session; `runs` has the number that each run added.
json::raw_json contents_of(const stored::session_contents& kept, const get_params& p) {
  std::string json;
  json::json_writer head(json);
  head.begin_object();
  append_session(head, kept.row);
  std::size_t total = 0, next = p.from;
  std::string messages;
  json::json_writer list(messages);
  for (const auto& one : kept.runs)
    for (const auto& m : one.folded.messages) {
      const auto at = total++;
      if (at != next || at >= p.from + p.limit || messages.size() >= page_bytes) continue;
      event_json::append_message(list, *m);
      ++next;
    }
  head.member("from", p.from).member("total", total);
  if (next < total) head.member("next", next);
  head.key("runs").begin_array();
  std::size_t part_room = page_bytes;
  for (const auto& one : kept.runs) append_run(head, one, part_room);
  head.end_array().key("messages").begin_array();
  if (!messages.empty()) head.token(messages);
  head.end_array().end_object();
  return head.json();
}

// Returns an answer without known secrets. One that looks like a number or a word of JSON may stand outside of a text,
// and then the answer would be no JSON any more: it is refused, because nothing may fail open.
result<json::raw_json> without_secrets(const json::raw_json& told) {
  auto safe = json::raw_json::parse(redact::redacted_part(told.text(), {}), 10'000);
  if (!safe)
    return fail(errc::internal,
                "a configured secret is a part of numbers in this session, so it cannot be exported "
                "without it; `mcpbx sessions show` shows it as it is");
  return safe;
}

// Reads a session of this caller; sessions of others are reported as unknown.
void read_own(rpc_caller& c, const std::string& id, const mcp::server::reply_once& reply,
              std::function<void(result<stored::session_contents>)> then) {
  c.door().daemon.store().read_session(
      id, [reply, id, who = c.principal(), then = std::move(then)](result<stored::session_contents> kept) {
        if (!reply.open()) return;
        if (kept && !stored::may_have(who, kept->row.principal))
          return then(fail(errc::not_found, "this caller has no session " + json::json_quoted(id)));
        then(std::move(kept));
      });
}

}  // namespace

void add_session_methods(front::own_methods& table) {
  table.bind("mcpbx/sessions/list", read_list,
             [](rpc_caller& c, const stored::session_query& q, const mcp::server::reply_once& reply) {
               c.door().daemon.store().list_sessions(q, [reply, q](result<std::vector<stored::session_row>> rows) {
                 if (!rows) return reply.error(mcp::server::to_rpc_error(rows.error()));
                 reply.result(list_of(*rows, q.limit));
               });
             });
  table.bind("mcpbx/sessions/get", read_get,
             [](rpc_caller& c, const get_params& p, const mcp::server::reply_once& reply) {
               read_own(c, p.session, reply, [reply, p](result<stored::session_contents> kept) {
                 if (!kept) return reply.error(mcp::server::to_rpc_error(kept.error()));
                 const auto told = contents_of(*kept, p);
                 if (!p.redact) return reply.result(told);
                 auto safe = without_secrets(told);
                 if (!safe) return reply.error(mcp::server::to_rpc_error(safe.error()));
                 reply.result(*safe);
               });
             });
  table.bind("mcpbx/sessions/delete", read_id,
             [](rpc_caller& c, const std::string& id, const mcp::server::reply_once& reply) {
               const auto erase = [&store = c.door().daemon.store(), id, reply] {
                 store.erase_session(id, [reply](const result<void>& done) {
                   if (!done) return reply.error(mcp::server::to_rpc_error(done.error()));
                   reply.result(json::raw_json::literal("{}"));
                 });
               };
               if (stored::is_person(c.principal())) return erase();
               read_own(c, id, reply, [reply, erase](const result<stored::session_contents>& kept) {
                 if (!kept) return reply.error(mcp::server::to_rpc_error(kept.error()));
                 erase();
               });
             });
}

}  // namespace mcpbx::daemon::rpc_door
