// What the configuration takes from files and programs where it is needed at once, on the speaking thread: a model's id
// and address, system prompts, the HTTP port, the place of the store. Such values are read when the daemon starts,
// before anybody could be kept waiting; whatever can wait for its value (keys, headers, tool servers) has a lane.
#pragma once
#include "conf/model/model.hpp"
#include "conf/model/references.hpp"
#include "mcp/support/error.hpp"
#include "mcp/support/time.hpp"

#include <functional>
#include <map>
#include <string>

namespace mcpbx::daemon {

class start_values {
 public:
  /// Reads each file and runs each program once, for 5 s at most, and none any more after 8 s in all, so it blocks for
  /// less than 13 s. What fails is an error of value() only. The secrets in the query of a `baseUrl` that needs them
  /// become known to the redactor.
  explicit start_values(const conf::configuration& all);
  /// The same from another source, by another clock.
  using clock = std::function<time_point()>;
  start_values(const conf::configuration& all, conf::reference_source& source, const clock& now);

  /// The value of a string of that configuration. Strings that refer to variables only are resolved anew each time, the
  /// others are what they were at the start. errc::config names the place. Never blocks.
  result<std::string> value(const conf::reference_string& s) const;

 private:
  void read(const conf::configuration& all, conf::reference_source& from, const clock& now);

  std::map<std::string, result<std::string>, std::less<>> kept_;  // by the text of the string
};

}  // namespace mcpbx::daemon
