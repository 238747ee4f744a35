// Looks back through the runs of the store in bounded pages: counts, and searches for words.
#include "daemon/store/store_worker.hpp"

#include <utility>

namespace mcpbx::daemon::store {
namespace {

/// Ends the reading of a run early, once the wanted record was found. This is no error of the store.
std::unexpected<error> enough() {
  return fail(errc::cancelled, "enough was read");
}

}  // namespace

// Calls `each(row, read)` for the runs of a page, until it returns false. `read(f)` gives the texts of the run's
// records to `f` until that returns false. Returns the `before` of the next page, 0 if there is none.
template <class Each>
result<std::int64_t> store_worker::look_through(const stored::look_back& where, std::int64_t now_ms, Each each) {
  auto ready = ready_to_read(now_ms);
  if (!ready) return std::unexpected(std::move(ready.error()));
  if (!*ready) return std::int64_t{0};
  auto rows = checked(store_->runs_before(where.before, where.most_runs));
  if (!rows) return std::unexpected(std::move(rows.error()));
  std::int64_t bytes = 0;
  for (const auto& row : *rows) {
    // Runs are numbered in the order of their start, as far as the clocks of several daemons agree.
    if (row.started_ms < where.since_ms) return std::int64_t{0};
    result<void> outcome;
    const auto read = [&](auto&& take) {
      outcome = store_->read_run(row.id, [&](const record_text& r) -> result<void> {
        bytes += static_cast<std::int64_t>(r.text.size());
        return take(r.text) ? result<void>() : enough();
      });
      if (!outcome && outcome.error().code == errc::cancelled) outcome = {};
    };
    const bool on = each(row, read);
    if (outcome = checked(std::move(outcome)); !outcome) return std::unexpected(std::move(outcome.error()));
    if (!on || bytes >= where.most_bytes) return row.id;
  }
  return rows->size() < where.most_runs ? 0 : rows->back().id;
}

result<journal::usage_page> store_worker::count_usage(const stored::look_back& where, std::int64_t now_ms) {
  journal::usage_page page;
  const auto next = look_through(where, now_ms, [&](const stored::run_row& row, auto read) {
    stored::run_usage one(row);
    read([&](std::string_view text) {
      one.add(text);
      return true;
    });
    one.count_into(page.report);
    return true;
  });
  if (!next) return std::unexpected(next.error());
  page.next = *next;
  return page;
}

result<journal::found_page> store_worker::find_words(const stored::look_back& where, const std::string& words,
                                                     std::size_t most, std::int64_t now_ms) {
  journal::found_page page;
  const search::word_search wanted(words);
  const auto next = look_through(where, now_ms, [&](const stored::run_row& row, auto read) {
    stored::run_search one(wanted);
    bool found = false;
    if (!row.session.empty()) read([&](std::string_view text) { return !(found = one.add(text)); });
    page.reached_ms = row.started_ms;
    if (found) page.runs.push_back({row.session, row.run, row.principal, row.started_ms, one.role(), one.line()});
    return page.runs.size() < most;
  });
  if (!next) return std::unexpected(next.error());
  page.next = *next;
  return page;
}

}  // namespace mcpbx::daemon::store
