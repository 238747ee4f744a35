// Queries and deletions of the SQLite journal.
#include "daemon/store/records/principal.hpp"
#include "daemon/store/sqlite/sqlite_statement.hpp"
#include "daemon/store/sqlite/sqlite_store.hpp"

#include <utility>

#define MCPBX_RUN_COLUMNS "SELECT id, run, session, principal, model, started_ms, ended_ms, reason, boot FROM runs "
#define MCPBX_SESSION_COLUMNS                                                                             \
  "SELECT id, title, principal, model, created_ms, used_ms, runs, bytes, coalesce((SELECT run FROM runs " \
  "WHERE session = sessions.id AND ended_ms IS NULL AND session <> ''), '') FROM sessions "

namespace mcpbx::daemon::sqlite {

result<std::vector<stored::run_row>> sqlite_store::run_rows(statement& s) {
  std::vector<stored::run_row> rows;
  int stepped = s.step();
  for (; stepped == SQLITE_ROW; stepped = s.step())
    rows.push_back({s.integer(0), s.owned(1), s.owned(2), s.owned(3), s.owned(4), s.integer(5), s.integer(6),
                    s.owned(7), s.owned(8)});
  if (stepped != SQLITE_DONE) return failed();
  return rows;
}

result<std::vector<stored::session_row>> sqlite_store::session_rows(statement& s) {
  std::vector<stored::session_row> rows;
  int stepped = s.step();
  for (; stepped == SQLITE_ROW; stepped = s.step())
    rows.push_back({s.owned(0), s.owned(1), s.owned(2), s.owned(3), s.integer(4), s.integer(5), s.integer(6),
                    s.integer(7), s.owned(8), ""});
  if (stepped != SQLITE_DONE) return failed();
  return rows;
}

result<void> sqlite_store::record_texts(statement& s, const store::record_sink& sink) {
  int stepped = s.step();
  for (; stepped == SQLITE_ROW; stepped = s.step())
    if (auto taken = sink({s.integer(0), s.integer(1), s.text(2)}); !taken) return taken;
  if (stepped != SQLITE_DONE) return failed();
  return {};
}

result<std::vector<stored::run_row>> sqlite_store::runs() {
  statement s(*this, MCPBX_RUN_COLUMNS "ORDER BY id");
  return run_rows(s);
}

result<std::vector<stored::run_row>> sqlite_store::unfinished_runs() {
  statement s(*this, MCPBX_RUN_COLUMNS "WHERE ended_ms IS NULL ORDER BY id");
  return run_rows(s);
}

result<std::vector<stored::run_row>> sqlite_store::runs_of(std::string_view session) {
  statement s(*this, MCPBX_RUN_COLUMNS "WHERE session=? ORDER BY id");
  return run_rows(s.bind(1, session));
}

result<std::optional<stored::run_row>> sqlite_store::find_run(std::string_view run) {
  statement s(*this, MCPBX_RUN_COLUMNS "WHERE run=? ORDER BY ended_ms IS NULL DESC, id DESC LIMIT 1");
  auto rows = run_rows(s.bind(1, run));
  if (!rows) return std::unexpected(std::move(rows.error()));
  return rows->empty() ? std::optional<stored::run_row>() : std::move(rows->front());
}

result<std::vector<stored::run_row>> sqlite_store::runs_before(std::int64_t before, std::size_t most) {
  statement s(*this, MCPBX_RUN_COLUMNS "WHERE ?1 = 0 OR id < ?1 ORDER BY id DESC LIMIT ?2");
  return run_rows(s.bind(1, before).bind(2, static_cast<std::int64_t>(most)));
}

result<void> sqlite_store::read_run(std::int64_t id, const store::record_sink& sink) {
  statement s(*this, "SELECT run, seq, body FROM records WHERE " MCPBX_PLACES_OF("?1") " ORDER BY place");
  return record_texts(s.bind(1, id), sink);
}

result<void> sqlite_store::read_session(std::string_view session, const store::record_sink& sink) {
  statement s(*this, "SELECT records.run, seq, body FROM runs CROSS JOIN records ON " MCPBX_PLACES_OF(
                         "runs.id") " WHERE runs.session=? ORDER BY runs.id, place");
  return record_texts(s.bind(1, session), sink);
}

result<std::vector<stored::session_row>> sqlite_store::sessions(const stored::session_query& q) {
  const auto most = static_cast<std::int64_t>(q.limit);
  // ?2 is the owner, "" for all; ?3 is a second owner that counts too.
  const std::string_view whose = q.principal, also = stored::is_person(whose) ? std::string_view() : whose;
  if (q.before.empty()) {
    statement s(*this,
                MCPBX_SESSION_COLUMNS "WHERE (?2 = '' OR principal IN (?2, ?3)) ORDER BY last_run DESC LIMIT ?1");
    return session_rows(s.bind(1, most).bind(2, whose).bind(3, also));
  }
  statement s(*this, MCPBX_SESSION_COLUMNS
              "WHERE last_run < (SELECT last_run FROM sessions WHERE id=?4) AND (?2 = '' OR principal IN (?2, ?3)) "
              "ORDER BY last_run DESC LIMIT ?1");
  return session_rows(s.bind(1, most).bind(2, whose).bind(3, also).bind(4, std::string_view(q.before)));
}

result<std::optional<stored::session_row>> sqlite_store::session(std::string_view id) {
  statement s(*this, MCPBX_SESSION_COLUMNS "WHERE id=?");
  auto rows = session_rows(s.bind(1, id));
  if (!rows) return std::unexpected(std::move(rows.error()));
  return rows->empty() ? std::optional<stored::session_row>() : std::move(rows->front());
}

result<void> sqlite_store::erase(std::span<const std::string> sessions) {
  auto done = run("BEGIN IMMEDIATE");
  const auto each = [&](const char* sql) {
    for (const auto& id : sessions) {
      if (!done) return;
      statement s(*this, sql);
      done = run(s.bind(1, std::string_view(id)));
    }
  };
  if (done) {
    each("DELETE FROM records WHERE place IN (SELECT place FROM runs CROSS JOIN records ON " MCPBX_PLACES_OF(
        "runs.id") " WHERE session=?)");
    each("DELETE FROM runs WHERE session=?");
    each("DELETE FROM sessions WHERE id=?");
  }
  if (done) done = run("COMMIT");
  if (!done) {
    roll_back();
    return done;
  }
  // Deleted content is still in the log, where an idle daemon would leave it, so cut the log. If that fails, the next
  // checkpoint does it; the sessions are deleted either way.
  statement cut(*this, "PRAGMA wal_checkpoint(TRUNCATE)");
  (void)cut.step();
  return done;
}

result<std::vector<stored::session_row>> sqlite_store::unused_sessions(std::int64_t before_ms, std::size_t most) {
  statement s(
      *this, MCPBX_SESSION_COLUMNS
      "WHERE used_ms < ? AND last_run < (SELECT max(last_run) FROM sessions) AND NOT EXISTS (SELECT 1 FROM runs "
      "WHERE session = sessions.id AND ended_ms IS NULL AND session <> '') ORDER BY last_run LIMIT ?");
  return session_rows(s.bind(1, before_ms).bind(2, static_cast<std::int64_t>(most)));
}

result<std::int64_t> sqlite_store::kept_bytes() {
  return number("SELECT coalesce(sum(bytes), 0) FROM sessions");
}

}  // namespace mcpbx::daemon::sqlite
