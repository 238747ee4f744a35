// Notices changes of files by watching their folders (inotify), because editors replace files by renaming.
#pragma once
#include "mcp/async/lane.hpp"
#include "mcp/process/unique_fd.hpp"
#include "mcp/support/time.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace mcpbx::daemon::app {

class file_watch {
 public:
  /// Time without a further event after which `changed` is called, and the longest time from the first event.
  static constexpr milliseconds quiet{200}, longest{2'000};

  /// Calls `changed` in a turn of its own after something happened in the folders, when those that have the names by
  /// then are watched. `time` must outlive this object. The folders are looked up on `disk`, as a network mount may
  /// keep that for ever; it must be joined before the executor ends.
  file_watch(const boost::asio::any_io_executor& executor, time_source& time, async::lane& disk,
             std::function<void()> changed);
  /// `changed` is not called any more.
  ~file_watch();
  file_watch(const file_watch&) = delete;
  file_watch& operator=(const file_watch&) = delete;

  /// Watches the folders of these files, and those of the files that links lead to, and no others, soon. An empty list
  /// ends the watch at once. Logs folders that cannot be watched.
  void set_files(const std::vector<std::string>& files);

 private:
  /// An inotify descriptor, and the folders that it does not watch, with the reasons.
  struct opened {
    std::shared_ptr<mcp::process::unique_fd> events;
    std::vector<std::string> failures;
  };
  static opened open(const std::vector<std::string>& files);
  void look_up();
  void take(opened got);
  void read();
  void heard();

  boost::asio::any_io_executor executor_;
  time_source& time_;
  async::lane& disk_;
  std::function<void()> changed_;
  std::unique_ptr<timer> timer_;
  std::vector<std::string> files_;
  bool looking_ = false;  // a look-up is on the lane
  bool again_ = false;    // another one is to follow it
  bool tell_ = false;     // something has happened, and is told when the folders are watched again
  std::unique_ptr<boost::asio::posix::stream_descriptor> events_;  // null: nothing is watched
  alignas(8) std::array<char, 4'096> buffer_{};
  time_point first_ = never;  // first event since the last call of changed_
  std::shared_ptr<file_watch*> self_ = std::make_shared<file_watch*>(this);
};

}  // namespace mcpbx::daemon::app
