// What is kept beyond a run: its row, its session, and what they look like when they are read again.
#pragma once
#include "daemon/store/records/record.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mcpbx::daemon {

/// A run as the table of runs shows it.
struct run_row {
  std::int64_t id = 0;
  std::string run, session, principal, model;
  std::int64_t started_ms = 0;
  std::int64_t ended_ms = 0;  ///< 0: not ended
  std::string reason;         ///< stop reason, "damaged" when its records cannot be read, "" while it goes on
  std::string boot = {};      ///< run_store::boot() when it was last begun or taken over; "": does not matter
};

/// A session as lists show it.
struct session_row {
  std::string id;
  std::string title;  ///< the beginning of what was said first
  std::string principal;
  std::string model;  ///< configured name, of its latest run
  std::int64_t created_ms = 0, used_ms = 0;
  std::int64_t runs = 0;
  std::int64_t bytes = 0;  ///< of the records of its runs that have ended
  std::string running;     ///< the run that is going on in it, or ""
  std::string owner;       ///< the daemon that run belongs to when it is not this one, else ""
};

/// Which sessions to list, latest first.
struct session_query {
  std::size_t limit = 100;
  std::string before = {};     ///< those used before this one; "": from the latest
  std::string principal = {};  ///< only those of this one; what nobody is named for is the person's; "": all
};

/// What a run was asked to keep to, and with it those that go on with its session.
struct run_terms {
  std::string profile;             ///< or ""
  std::vector<std::string> tools;  ///< tool_choice::only
  raw_json limits;                 ///< record::run_started::asked_limits
};

/// What the loop makes of the records of one run, from its start.
struct folded_run {
  std::vector<providers::message_ptr> messages;  ///< what the run added to its session: no system prompt
  providers::usage usage;
  int rounds = 0;
  std::string partial_text;  ///< of the answer that broke, when the run ended with one; it is in no message
  run_terms terms;
  std::vector<record::whole_result> results;  ///< as record::run_started::inherited_results has them for the next run
  std::vector<record::meant_tool> tools;      ///< what the names in the calls of these messages mean, each once
};

/// A run of a session as it is read again.
struct kept_run {
  run_row row;
  folded_run folded;
  std::string damage;  ///< why its records cannot be read, else ""
};

struct session_contents {
  session_row row;
  std::vector<kept_run> runs;  ///< in order
};

/// The title of a session that begins with this run: the beginning of the first thing its user says, in one line.
std::string title_of(const record::run_started& first);

}  // namespace mcpbx::daemon
