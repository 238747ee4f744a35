// Blocking interface of the stores behind a journal: SQLite and PostgreSQL. Use an object on one thread at a time;
// lane_journal uses it on its lane.
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

namespace mcpbx::daemon::store {

/// The place of the next record of a run. `id` is 0 until its first record is in the store.
struct run_place {
  std::string run;
  std::int64_t id = 0;
  std::int64_t next_seq = 0;
  std::int64_t bytes = 0;    ///< size of the records so far; -1: unknown, for a run of an earlier process
  std::int64_t opening = 0;  ///< for the store: number of its opening that wrote to the run last; 0: none
  /// Row and time of a first append that failed; 0: none. With a failing disk, or a connection lost during COMMIT, the
  /// row may exist all the same.
  std::int64_t tried_id = 0, tried_ms = 0;

  /// Moves behind the next record, which is `text`.
  void add(std::string_view text) {
    ++next_seq;
    if (bytes >= 0) bytes += static_cast<std::int64_t>(text.size());
  }
};

/// Records of one run that are appended together.
struct run_batch {
  std::shared_ptr<run_place> place;
  std::vector<stored::run_record> records;
  std::vector<std::string> texts;  ///< to_text() of each record
  std::int64_t at_ms = 0;          ///< time stamp, in milliseconds since 1970
  bool may_be_there = false;       ///< for the store: its COMMIT got no answer
  bool calls_synced = false;       ///< intents of the run's calls are synced, so a loss of power forgets none
};

/// A record as stored text.
struct record_text {
  std::int64_t run = 0;  ///< run_row::id
  std::int64_t seq = 0;
  std::string_view text;  ///< valid during the call
};
/// Receives records in order. An error ends the reading and is returned.
using record_sink = std::function<result<void>(const record_text&)>;

/// A store. Errors name the store and the fix: errc::io, or errc::config for a store of a newer version or of another
/// program. After errc::io close the store; the next open() begins anew.
class run_store {
 public:
  virtual ~run_store() = default;

  /// Returns the name for sentences: "the journal /home/me/x.db".
  virtual std::string name() const = 0;
  /// Returns false if open() would make a new store.
  virtual bool exists() = 0;
  /// Opens the store and migrates its schema. Does nothing if it is open.
  virtual result<void> open() = 0;
  virtual void close() = 0;
  /// Checks that the open store is still the one that open() would open. errc::io: it was moved, deleted or replaced,
  /// so further records would be lost.
  virtual result<void> still_there() { return {}; }

  /// Returns an id of the start of the store or its machine. If it differs from run_row::boot, unsynced records may be
  /// lost. "": unknown.
  virtual std::string boot() const { return {}; }
  /// Returns true if several daemons share the store.
  virtual bool is_shared() const { return false; }
  /// Records a sign of life of this daemon in a shared store.
  virtual result<void> touch() { return {}; }

  /// Appends the batches in one transaction, all or nothing, and moves their places on; `synced`: waits until the
  /// records survive a loss of power. README.md ("Appending") has the rules and the errors.
  virtual result<void> append(std::span<run_batch* const> batches, bool synced) = 0;
  /// Ends a run in the table only, because its records cannot be read.
  virtual result<void> mark_damaged(std::int64_t id, std::int64_t at_ms) = 0;

  /// Returns the runs of this daemon without an end, in order of their start.
  virtual result<std::vector<stored::run_row>> unfinished_runs() = 0;
  /// Takes over the unfinished runs of daemons that are gone, in a shared store, and returns them. Each gets a record
  /// taken_over, after which its old daemon cannot write.
  virtual result<std::vector<stored::run_row>> abandoned_runs(std::int64_t /*now_ms*/) {
    return std::vector<stored::run_row>();
  }
  /// Finds the other daemon that has an unfinished run of this name, by its name for people; nullopt: none has.
  virtual result<std::optional<std::string>> owner_of(std::string_view /*run*/) { return std::nullopt; }
  virtual result<std::vector<stored::run_row>> runs_of(std::string_view session) = 0;
  /// Finds the run of this name: the unfinished one of this daemon, else the latest that has ended.
  virtual result<std::optional<stored::run_row>> find_run(std::string_view run) = 0;
  /// Returns at most `most` runs with an id below `before` (0: all ids), the latest first.
  virtual result<std::vector<stored::run_row>> runs_before(std::int64_t before, std::size_t most) = 0;
  virtual result<void> read_run(std::int64_t id, const record_sink& sink) = 0;
  /// Reads the records of all runs of a session, run by run in order.
  virtual result<void> read_session(std::string_view session, const record_sink& sink) = 0;

  virtual result<std::vector<stored::session_row>> sessions(const stored::session_query& q) = 0;
  virtual result<std::optional<stored::session_row>> session(std::string_view id) = 0;
  /// Deletes these sessions with all their runs in one transaction. Ignores sessions that do not exist.
  virtual result<void> erase(std::span<const std::string> sessions) = 0;
  /// Returns at most `most` sessions without an active run that were last used before `before_ms`, the longest unused
  /// first, but never the one used latest.
  virtual result<std::vector<stored::session_row>> unused_sessions(std::int64_t before_ms, std::size_t most) = 0;
  /// Returns the sum of session_row::bytes.
  virtual result<std::int64_t> kept_bytes() = 0;

  /// Reads and parses the records of a run. errc::parse: one is missing or unreadable.
  result<std::vector<stored::run_record>> records(std::int64_t id);

 protected:
  // Errors of a run that cannot begin in its session.
  std::unexpected<error> was_deleted(std::string_view session) const;
  /// Returns the places of the runs before an append, to restore them if it fails.
  static std::vector<run_place> places_of(std::span<run_batch* const> batches);
  /// Restores the places after a failed append and notes the attempted rows in them.
  static void take_back(std::span<run_batch* const> batches, std::vector<run_place> before);
  std::unexpected<error> went_on(std::string_view session) const;
};

}  // namespace mcpbx::daemon::store
