// Tests the state machine with every order of events: each reply that a model may give, each order and outcome of its
// calls, and at each step a cancel, a time-out, an interruption or a failing store. Runs that come to the same place
// (see place_of) must go on alike; the explorer checks this and follows only the first of them.
#pragma once
#include "test/daemon/loop/core/core_script.hpp"
#include "test/daemon/loop/core/wire_history.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace mcpbx::daemon::test {

std::string print(const stored::run_record& r);
lines print_all(const std::vector<stored::run_record>& records);

/// Checks every prefix of the records: it commands what the live run started there, with a valid history.
void check_prefixes(const script& s);
/// Checks that recovery after a crash at any record ends the run properly, even if recovery itself crashes.
void check_recovery(const script& s);
/// Checks that a run resumed after a crash at any record ends properly, with the records of a single run.
void check_resumption(const script& s);

class order_explorer {
 public:
  stored::run_limits limits;
  mcpbx::json::raw_json answer_schema;  ///< for the answer; some answers do not fit
  std::size_t rounds = 3;               ///< greatest number of replies with calls
  std::size_t calls = 3;                ///< greatest number of calls in one reply
  bool people = false;                  ///< some calls need approval, others are for the caller's own tools
  bool serial = false;                  ///< the calls of a reply run one after another
  bool asking = false;                  ///< the server of a call in progress may ask a question
  bool again = false;                   ///< a call in progress may be made once more
  bool counted = false;                 ///< a limit counts single calls, so place_of() tells them apart
  std::size_t crash_every = 211;        ///< checks crashes in each run whose number this divides

  /// Explores all orders. Faults fail doctest's checks on the way.
  void explore();

  std::size_t steps = 0;     ///< steps of all runs
  std::size_t meetings = 0;  ///< times that a run came to a known place
  std::size_t ends = 0;      ///< finished runs
  std::size_t histories() const { return seen_.size(); }
  std::map<stored::stop_reason, std::size_t> reasons;  ///< number of runs by stop reason

 private:
  std::vector<stored::record::assistant> replies(std::size_t played) const;
  void follow(script s, std::size_t played);
  void inject(const script& s);
  void finished(const script& s);
  std::string place_of(const script& s, std::size_t played) const;
  bool first_time_here(const script& s, std::size_t played);
  void check_history(const std::vector<providers::message_ptr>& messages);

  std::map<std::string, lines> places_;  // the commands that follow at each place
  std::set<std::string> seen_;           // shapes of the histories that were checked
};

}  // namespace mcpbx::daemon::test
