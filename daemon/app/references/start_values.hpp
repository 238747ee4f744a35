// Values from files and programs that the main thread needs without waiting: model ids and addresses, system prompts,
// the HTTP port, the place of the store. They are read at start, before any caller could wait. Keys, headers and tool
// servers are resolved later on a lane.
#pragma once
#include "conf/model/model.hpp"
#include "conf/model/references.hpp"
#include "mcp/support/error.hpp"
#include "mcp/support/time.hpp"

#include <functional>
#include <map>
#include <string>

namespace mcpbx::daemon::references {

class start_values {
 public:
  /// Reads each file and runs each program once, for 5 s each and 8 s in all, so it blocks for less than 13 s. A
  /// failure only shows in value(). Registers secrets in the query of a `baseUrl` that needs files or programs.
  explicit start_values(const conf::model::configuration& all);
  /// Reads from another source, by another clock; for tests.
  using clock = std::function<time_point()>;
  start_values(const conf::model::configuration& all, conf::model::reference_source& source, const clock& now);

  /// Returns the value of a string of that configuration. Strings that refer only to variables are resolved at each
  /// call, others as of the start. errc::config names the place. Never blocks.
  result<std::string> value(const conf::model::reference_string& s) const;

 private:
  void read(const conf::model::configuration& all, conf::model::reference_source& from, const clock& now);

  std::map<std::string, result<std::string>, std::less<>> kept_;  // by the text of the string
};

}  // namespace mcpbx::daemon::references
