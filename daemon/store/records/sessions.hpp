// Stored runs and sessions as values: rows of lists, and contents as they are read again.
#pragma once
#include "daemon/store/records/record.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mcpbx::daemon::stored {

/// A run as the table of runs shows it.
struct run_row {
  std::int64_t id = 0;
  std::string run, session, principal, model;
  std::int64_t started_ms = 0;
  std::int64_t ended_ms = 0;  ///< 0: not ended
  std::string reason;         ///< stop reason; "damaged": its records cannot be read; "": not ended
  std::string boot = {};      ///< run_store::boot() at its last start or takeover; "": does not matter
};

/// A session as lists show it.
struct session_row {
  std::string id;
  std::string title;  ///< beginning of the first message
  std::string principal;
  std::string model;  ///< configured name, of its latest run
  std::int64_t created_ms = 0, used_ms = 0;
  std::int64_t runs = 0;
  std::int64_t bytes = 0;  ///< size of the records of its ended runs
  std::string running;     ///< active run, or ""
  std::string owner;       ///< other daemon to which that run belongs, else ""
};

/// Selection of sessions to list, latest first.
struct session_query {
  std::size_t limit = 100;
  std::string before = {};     ///< only sessions used before this one; "": from the latest
  std::string principal = {};  ///< only sessions of this owner (without one: the person's); "": all
};

/// Selection of runs to look through, the latest first, in pages.
struct look_back {
  std::int64_t before = 0;            ///< only runs with an id below (run_row::id); 0: from the latest
  std::int64_t since_ms = 0;          ///< only runs that began then or later
  std::size_t most_runs = 256;        ///< in one page
  std::int64_t most_bytes = 8 << 20;  ///< of records in one page; the run in which it is reached is looked through
};

/// Restrictions of a run's request, which later runs of its session keep.
struct run_terms {
  std::string profile;             ///< or ""
  std::vector<std::string> tools;  ///< tool_choice::only
  json::raw_json limits;           ///< record::run_started::asked_limits
};

/// Result of folding all records of one run.
struct folded_run {
  std::vector<providers::message_ptr> messages;  ///< messages that the run added to its session, no system prompt
  providers::usage usage;
  int rounds = 0;
  std::string partial_text;  ///< text of a broken answer at the end, which is in no message
  run_terms terms;
  std::vector<record::whole_result> results;  ///< record::run_started::inherited_results of the next run
  std::vector<record::meant_tool> tools;      ///< tools behind the names in the calls of these messages, each once
  std::string trace_id = {};                  ///< of the caller's trace, or ""
};

/// A stored run of a session.
struct kept_run {
  run_row row;
  folded_run folded;
  std::string damage;  ///< reason why its records cannot be read, or ""
};

struct session_contents {
  session_row row;
  std::vector<kept_run> runs;  ///< in order
};

/// Returns the title of a session that begins with this run: the beginning of the user's first text, on one line.
std::string title_of(const record::run_started& first);

}  // namespace mcpbx::daemon::stored
