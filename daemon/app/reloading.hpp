// Reads the configuration again while the daemon runs: on SIGHUP, by mcpbx/reload, or when a watched file has changed
// (docs/guarantees.md, G34). A wrong configuration changes nothing.
#pragma once
#include "daemon/app/base_parts.hpp"
#include "daemon/app/file_watch.hpp"
#include "daemon/app/process/options.hpp"
#include "daemon/app/references/current_configuration.hpp"
#include "daemon/app/started_world.hpp"
#include "daemon/front/base/reload_report.hpp"
#include "mcp/async/lane.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace mcpbx::daemon::app {

/// Returns the keys whose values hold from the daemon's start to its end, and differ between two configurations.
std::vector<std::string> waiting_for_start(const conf::model::configuration& at_start,
                                           const conf::model::configuration& now);

class reloading {
 public:
  /// Most callers that wait for one outcome.
  static constexpr std::size_t most_waiting = 1'024;
  static constexpr milliseconds look_limit{1'000};
  /// Makes the parts of the daemon follow a snapshot, in one turn.
  using follow = std::function<void(const references::configuration_ptr&)>;

  /// All references must outlive this object. `world` is what the daemon began with, made of `read`; a reload replaces
  /// both.
  reloading(base_parts& base, const process::command_line& o, references::current_configuration& current,
            started_world& world, std::vector<conf::read_source> read = {});
  ~reloading();
  reloading(const reloading&) = delete;
  reloading& operator=(const reloading&) = delete;

  /// Sets what follows a new snapshot. To be called before the event loop runs.
  void carried_out_by(follow carry_out) { carry_out_ = std::move(carry_out); }

  /// Reads the files on a lane of its own and, if all of them are right, puts what they say in force. Calls `then`
  /// once, in a later turn or, with errc::limit or errc::unavailable, at once. While the files are being read, further
  /// requests wait for one more reading together, since what they want may have been written after the first began.
  void ask(const std::string& why, front::reload_answer then);
  /// Tells the configuration in force as `{files, config, origins, fromNextStart}` (conf/show/config_view.hpp), made on
  /// the lane of the readings. Calls `then` once as ask() does.
  void tell(front::config_answer then);
  /// Looks on the lane of the readings for files that have changed since they were read. Calls `then` once, in a later
  /// turn or at once, with none if the files do not answer in time. Looks that come while one is under way are answered
  /// by one more, together.
  void look(std::function<void(const std::vector<std::string>&)> then, milliseconds at_most = look_limit);
  /// Refuses requests from now on; those that wait get errc::unavailable.
  void stop();

 private:
  struct outcome;
  void begin();
  void take(outcome read);
  result<front::reload_report> put_in_force(outcome& read);
  void told(result<json::raw_json> view);
  void follow_change();
  void add_look(std::function<void(const std::vector<std::string>&)> then, std::unique_ptr<timer> limit);
  void begin_look();
  void looked_until(std::uint64_t number, const std::vector<std::string>& changed);
  void looked(std::uint64_t number, const std::vector<std::string>& changed);
  void watch();

  base_parts& base_;
  const process::command_line& options_;
  references::current_configuration& current_;
  started_world& world_;
  follow carry_out_;
  const references::configuration_ptr at_start_;
  std::string why_;                                   // of the next reading
  std::vector<front::reload_answer> reading_, next_;  // callers of this reading and of the next one
  bool busy_ = false, stopped_ = false;
  // The files in force, shared with the lane.
  std::shared_ptr<const std::vector<conf::source_text>> texts_;
  std::vector<front::config_answer> telling_;
  struct waiting_look {
    std::function<void(const std::vector<std::string>&)> then;
    std::unique_ptr<timer> limit;  // null: it waits as long as the files do
  };
  std::map<std::uint64_t, waiting_look> looks_;
  std::uint64_t last_look_ = 0;
  bool looking_ = false;                            // a look is on the lane
  bool following_ = false, follows_again_ = false;  // the watch has asked for a look, and has seen more since
  file_watch watch_;
  std::shared_ptr<reloading*> self_ = std::make_shared<reloading*>(this);  // ends answers of the lane
  async::lane lane_{"configuration", 1};
};

}  // namespace mcpbx::daemon::app
