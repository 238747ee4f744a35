// The state machine through every order of events: each reply a model may give, each order and outcome of its calls,
// and at each step a cancel, a time-out, an interruption or a store that fails. A run that comes to where another one
// has been is not followed again: what happened before shows in what a later level does in few ways (see place_of),
// and that those are all of them is checked where two runs meet.
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

std::string print(const run_record& r);
lines print_all(const std::vector<run_record>& records);

/// For every prefix of its records: the fold starts what the live run started there, and its history is valid.
void check_prefixes(const script& s);
/// After a crash at any record recovery ends the run properly, and a crash during recovery changes nothing.
void check_recovery(const script& s);
/// A run that goes on after a crash at any record ends properly, and its records are those of one run.
void check_resumption(const script& s);

class order_explorer {
 public:
  run_limits limits;
  raw_json answer_schema;         ///< the answer must fit it, and some do not
  std::size_t rounds = 3;         ///< replies with calls
  std::size_t calls = 3;          ///< at most, in one reply
  bool people = false;            ///< calls that need a yes, and calls of the caller's own tools
  bool serial = false;            ///< the calls of a reply run one after another
  bool again = false;             ///< a call that is under way may be made once more
  bool counted = false;           ///< a limit counts single calls: rounds with as many failures are not all alike
  std::size_t crash_every = 211;  ///< at every so manieth end: a crash at each of the run's records

  /// Goes everywhere. doctest's checks fail on the way.
  void explore();

  std::size_t steps = 0;     ///< taken
  std::size_t meetings = 0;  ///< where one run came to where another had been
  std::size_t ends = 0;      ///< of runs
  std::size_t histories() const { return seen_.size(); }
  std::map<stop_reason, std::size_t> reasons;  ///< why the runs ended

 private:
  std::vector<record::assistant> replies(std::size_t played) const;
  void follow(script s, std::size_t played);
  void inject(const script& s);
  void finished(const script& s);
  std::string place_of(const script& s, std::size_t played) const;
  bool first_time_here(const script& s, std::size_t played);
  void check_history(const std::vector<providers::message_ptr>& messages);

  std::map<std::string, lines> places_;  // with what runs that come there do next
  std::set<std::string> seen_;           // histories that were looked at
};

}  // namespace mcpbx::daemon::test
