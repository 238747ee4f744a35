// What a journal on disk or in a database is kept in: the blocking half, and all that differs between the kinds of
// store. One object is used on one thread at a time; lane_journal does so on its lane.
#pragma once
#include "daemon/store/records/record.hpp"
#include "daemon/store/records/sessions.hpp"
#include "mcp/support/error.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::daemon {

/// The place of the next record of a run. `id` is 0 until its first record is in the store.
struct run_place {
  std::string run;
  std::int64_t id = 0;
  std::int64_t next_seq = 0;
  std::int64_t bytes = 0;    ///< of the records so far; not known (-1) for a run of an earlier process
  std::int64_t opening = 0;  ///< the store's own: which of its openings wrote to the run last, 0: none
  /// The row of a first append that failed, and its time: with a failing disk, or a connection that was lost while it
  /// was committed, it may be there all the same, 0: none.
  std::int64_t tried_id = 0, tried_ms = 0;

  /// The next record is this one.
  void add(std::string_view text) {
    ++next_seq;
    if (bytes >= 0) bytes += static_cast<std::int64_t>(text.size());
  }
};

/// Records of one run that are appended together.
struct run_batch {
  std::shared_ptr<run_place> place;
  std::vector<run_record> records;
  std::vector<std::string> texts;  ///< to_text of each record
  std::int64_t at_ms = 0;          ///< time stamp, ms since 1970
  bool may_be_there = false;       ///< the store's own: its commit got no answer
  bool calls_synced = false;       ///< the intents of its run's calls are: a loss of power forgets none
};

/// A record as it was written.
struct record_text {
  std::int64_t run = 0;  ///< run_row::id
  std::int64_t seq = 0;
  std::string_view text;  ///< for the call only
};
/// Takes records in order; an error ends the reading and comes out of it.
using record_sink = std::function<result<void>(const record_text&)>;

/// Errors name the store and the mend: errc::io, or errc::config for one of a newer version or of somebody else. After
/// errc::io the store is to be closed; the next open() begins anew.
class run_store {
 public:
  virtual ~run_store() = default;

  /// For sentences: "the journal /home/me/x.db".
  virtual std::string name() const = 0;
  /// Whether there is a store; false when open() would make a new one.
  virtual bool exists() = 0;
  /// Opens it and brings its schema up to date. Nothing happens when it is open.
  virtual result<void> open() = 0;
  virtual void close() = 0;
  /// Whether the open store is still the one that open() would open: errc::io when it was moved, deleted or replaced
  /// while it was in use, and nobody would find what is written to it.
  virtual result<void> still_there() { return {}; }

  /// Names the start of the store, or of its machine: where this is another one than run_row::boot, records that were
  /// not synced may be gone. "": not known.
  virtual std::string boot() const { return {}; }
  /// Tells that several daemons share the store.
  virtual bool is_shared() const { return false; }
  /// Says there that this daemon is alive, where several share it.
  virtual result<void> touch() { return {}; }

  /// Appends the batches in one transaction, all or nothing, and moves their places on; `synced` waits until the store
  /// survives a loss of power. A run's first batch begins it in the table of runs and in its session, which is made
  /// unless the run has inherited something; a last record run_ended ends it there. errc::not_found: another daemon has
  /// taken the run over. errc::parse: the run's earlier records are not there any more. errc::unavailable, only for a
  /// first batch: another run is going on in the session (or, where several daemons share the store, has its name), or
  /// the session went on since its history was read (run_started::inherited_after).
  virtual result<void> append(std::span<run_batch* const> batches, bool synced) = 0;
  /// Ends a run in the table only, because its records cannot be read.
  virtual result<void> mark_damaged(std::int64_t id, std::int64_t at_ms) = 0;

  /// The runs of this daemon without an end, in order of their start.
  virtual result<std::vector<run_row>> unfinished_runs() = 0;
  /// The same of daemons that are gone for good, where several share the store: from now on they are this one's, and
  /// each has a taken_over as its last record, which the daemon that had it cannot write behind.
  virtual result<std::vector<run_row>> abandoned_runs(std::int64_t /*now_ms*/) { return std::vector<run_row>(); }
  /// Which other daemon a run belongs to that has no end yet, as people call it; nullopt: none has one of this name.
  virtual result<std::optional<std::string>> owner_of(std::string_view /*run*/) { return std::nullopt; }
  virtual result<std::vector<run_row>> runs_of(std::string_view session) = 0;
  /// The run of this name: of this daemon's the one without an end, else the latest that has ended.
  virtual result<std::optional<run_row>> find_run(std::string_view run) = 0;
  virtual result<void> read_run(std::int64_t id, const record_sink& sink) = 0;
  /// The records of all its runs, run by run in order.
  virtual result<void> read_session(std::string_view session, const record_sink& sink) = 0;

  virtual result<std::vector<session_row>> sessions(const session_query& q) = 0;
  virtual result<std::optional<session_row>> session(std::string_view id) = 0;
  /// Deletes these sessions with all their runs, in one transaction, as one whole; none that does not exist is an
  /// error.
  virtual result<void> erase(std::span<const std::string> sessions) = 0;
  /// Sessions in which no run is going on, the longest unused first, never the latest used one: those last used before
  /// `before_ms`, `most` of them.
  virtual result<std::vector<session_row>> unused_sessions(std::int64_t before_ms, std::size_t most) = 0;
  /// The sum of session_row::bytes.
  virtual result<std::int64_t> kept_bytes() = 0;

  /// The records of a run, read. errc::parse when one is missing or cannot be read.
  result<std::vector<run_record>> records(std::int64_t id);

 protected:
  // Why a run cannot begin in its session.
  std::unexpected<error> was_deleted(std::string_view session) const;
  /// Where the runs of an append stand, kept while it is tried.
  static std::vector<run_place> places_of(std::span<run_batch* const> batches);
  /// The append failed and was rolled back: the runs stand where they stood, and know what was tried for them.
  static void take_back(std::span<run_batch* const> batches, std::vector<run_place> before);
  std::unexpected<error> went_on(std::string_view session) const;
};

}  // namespace mcpbx::daemon
