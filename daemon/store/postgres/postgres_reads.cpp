// Queries and deletions of the PostgreSQL journal.
#include "daemon/store/postgres/postgres_store.hpp"
#include "daemon/store/records/principal.hpp"

#include <array>
#include <utility>

#define MCPBX_RUN_COLUMNS "SELECT id, run, session, principal, model, started_ms, ended_ms, reason, boot FROM runs "
// Columns of a session. $1 is this daemon's number; if another daemon owns the active run, its name is a column.
#define MCPBX_SESSION_COLUMNS                                                                                        \
  "SELECT s.id, s.title, s.principal, s.model, s.created_ms, s.used_ms, s.runs, s.bytes, coalesce(r.run, ''), "      \
  "coalesce(CASE WHEN r.owner <> $1 THEN d.label END, '') FROM sessions s LEFT JOIN runs r ON r.session = s.id AND " \
  "r.ended_ms IS NULL AND r.session <> '' LEFT JOIN daemons d ON d.number = r.owner "

namespace mcpbx::daemon::postgres {

result<std::vector<stored::run_row>> postgres_store::run_rows(const char* sql, const postgres_values& values) {
  std::vector<stored::run_row> rows;
  auto done = each(sql, values, [&](const postgres_row& r) -> result<void> {
    rows.push_back({r.integer(0), r.owned(1), r.owned(2), r.owned(3), r.owned(4), r.integer(5), r.integer(6),
                    r.owned(7), r.owned(8)});
    return {};
  });
  if (!done) return std::unexpected(std::move(done.error()));
  return rows;
}

result<std::vector<stored::session_row>> postgres_store::session_rows(const char* sql, const postgres_values& values) {
  std::vector<stored::session_row> rows;
  auto done = each(sql, values, [&](const postgres_row& r) -> result<void> {
    rows.push_back({r.owned(0), r.owned(1), r.owned(2), r.owned(3), r.integer(4), r.integer(5), r.integer(6),
                    r.integer(7), r.owned(8), r.owned(9)});
    return {};
  });
  if (!done) return std::unexpected(std::move(done.error()));
  return rows;
}

result<void> postgres_store::record_texts(const char* sql, const postgres_values& values,
                                          const store::record_sink& sink) {
  return each(sql, values, [&](const postgres_row& r) { return sink({r.integer(0), r.integer(1), r.text(2)}); });
}

result<std::vector<stored::run_row>> postgres_store::runs() {
  return run_rows(MCPBX_RUN_COLUMNS "ORDER BY id", {});
}

result<std::vector<stored::run_row>> postgres_store::unfinished_runs() {
  return run_rows(MCPBX_RUN_COLUMNS "WHERE ended_ms IS NULL AND owner=$1 ORDER BY id", postgres_values().add(number_));
}

result<std::optional<std::string>> postgres_store::owner_of(std::string_view run) {
  std::optional<std::string> owner;
  auto done = first(
      "SELECT d.label FROM runs r JOIN daemons d ON d.number = r.owner WHERE r.run=$1 AND r.ended_ms IS "
      "NULL AND r.owner <> $2",
      postgres_values().add(run).add(number_), [&](const postgres_row& row) { owner = row.owned(0); });
  if (!done) return std::unexpected(std::move(done.error()));
  return owner;
}

result<std::vector<stored::run_row>> postgres_store::runs_of(std::string_view session) {
  return run_rows(MCPBX_RUN_COLUMNS "WHERE session=$1 ORDER BY id", postgres_values().add(session));
}

result<std::optional<stored::run_row>> postgres_store::find_run(std::string_view run) {
  auto rows = run_rows(MCPBX_RUN_COLUMNS
                       "WHERE run=$1 AND (ended_ms IS NOT NULL OR owner=$2) "
                       "ORDER BY ended_ms IS NULL DESC, id DESC LIMIT 1",
                       postgres_values().add(run).add(number_));
  if (!rows) return std::unexpected(std::move(rows.error()));
  return rows->empty() ? std::optional<stored::run_row>() : std::move(rows->front());
}

result<std::vector<stored::run_row>> postgres_store::runs_before(std::int64_t before, std::size_t most) {
  return run_rows(MCPBX_RUN_COLUMNS "WHERE $1 = 0 OR id < $1 ORDER BY id DESC LIMIT $2",
                  postgres_values().add(before).add(static_cast<std::int64_t>(most)));
}

result<void> postgres_store::read_run(std::int64_t id, const store::record_sink& sink) {
  return record_texts("SELECT run, seq, body FROM records WHERE run=$1 ORDER BY seq", postgres_values().add(id), sink);
}

result<void> postgres_store::read_session(std::string_view session, const store::record_sink& sink) {
  return record_texts(
      "SELECT records.run, seq, body FROM runs JOIN records ON records.run = runs.id "
      "WHERE runs.session=$1 ORDER BY runs.id, seq",
      postgres_values().add(session), sink);
}

result<std::vector<stored::session_row>> postgres_store::sessions(const stored::session_query& q) {
  const auto most = static_cast<std::int64_t>(q.limit);
  // $3 is the owner, "" for all; $4 is a second owner that counts too.
  const std::string_view whose = q.principal, also = stored::is_person(whose) ? std::string_view() : whose;
  const auto values = postgres_values().add(number_).add(most).add(whose).add(also);
  if (q.before.empty())
    return session_rows(MCPBX_SESSION_COLUMNS
                        "WHERE ($3::text = '' OR s.principal IN ($3, $4)) ORDER BY s.last_run DESC LIMIT $2",
                        values);
  return session_rows(
      MCPBX_SESSION_COLUMNS
      "WHERE s.last_run < (SELECT last_run FROM sessions WHERE id=$5) AND ($3::text = '' OR s.principal IN ($3, $4)) "
      "ORDER BY s.last_run DESC LIMIT $2",
      postgres_values(values).add(std::string_view(q.before)));
}

result<std::optional<stored::session_row>> postgres_store::session(std::string_view id) {
  auto rows = session_rows(MCPBX_SESSION_COLUMNS "WHERE s.id=$2", postgres_values().add(number_).add(id));
  if (!rows) return std::unexpected(std::move(rows.error()));
  return rows->empty() ? std::optional<stored::session_row>() : std::move(rows->front());
}

// Locks the rows of the sessions first: a run that another daemon is beginning waits and then finds no session, and a
// run that has begun is seen.
result<void> postgres_store::erase(std::span<const std::string> sessions) {
  const std::vector<std::string_view> ids(sessions.begin(), sessions.end());
  const auto which = postgres_values().add(std::span<const std::string_view>(ids));
  auto all = [&]() -> result<void> {
    if (auto begun = execute("BEGIN"); !begun) return std::unexpected(std::move(begun.error()));
    if (auto done = each("SELECT 1 FROM sessions WHERE id = ANY($1) ORDER BY id FOR UPDATE", which, {}); !done)
      return done;
    std::string used;
    auto busy = first("SELECT session, run FROM runs WHERE session = ANY($1) AND ended_ms IS NULL LIMIT 1", which,
                      [&](const postgres_row& row) { used = row.owned(0) + " is in use by the run " + row.owned(1); });
    if (!busy) return std::unexpected(std::move(busy.error()));
    if (*busy) return fail(errc::unavailable, "the session " + used + "; wait for its end, or cancel it");
    constexpr std::array deletions{"DELETE FROM records WHERE run IN (SELECT id FROM runs WHERE session = ANY($1))",
                                   "DELETE FROM runs WHERE session = ANY($1)",
                                   "DELETE FROM sessions WHERE id = ANY($1)"};
    for (const char* sql : deletions)
      if (auto done = each(sql, which, {}); !done) return done;
    return commit();
  };
  auto done = all();
  if (!done) roll_back();
  return done;
}

result<std::vector<stored::session_row>> postgres_store::unused_sessions(std::int64_t before_ms, std::size_t most) {
  return session_rows(MCPBX_SESSION_COLUMNS
                      "WHERE s.used_ms < $2 AND s.last_run < (SELECT max(last_run) FROM sessions) AND r.id IS NULL "
                      "ORDER BY s.last_run LIMIT $3",
                      postgres_values().add(number_).add(before_ms).add(static_cast<std::int64_t>(most)));
}

result<std::int64_t> postgres_store::kept_bytes() {
  std::int64_t sum = 0;
  auto done =
      first("SELECT coalesce(sum(bytes), 0) FROM sessions", {}, [&](const postgres_row& row) { sum = row.integer(0); });
  if (!done) return std::unexpected(std::move(done.error()));
  return sum;
}

}  // namespace mcpbx::daemon::postgres
