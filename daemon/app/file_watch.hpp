// Notices changes of files by watching their folders (inotify), because editors replace files by renaming.
#pragma once
#include "mcp/support/time.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace mcpbx::daemon {

class file_watch {
 public:
  /// Time without a further event after which `changed` is called, and the longest time from the first event.
  static constexpr milliseconds quiet{200}, longest{2'000};

  /// Calls `changed` in a turn of its own after something happened in the folders. `time` must outlive this object.
  file_watch(const boost::asio::any_io_executor& executor, time_source& time, std::function<void()> changed);
  /// `changed` is not called any more.
  ~file_watch();
  file_watch(const file_watch&) = delete;
  file_watch& operator=(const file_watch&) = delete;

  /// Watches the folders of these files, and those of the files that links lead to, and no others: the folders that are
  /// there now, so call it again behind each change. An empty list ends the watch. Logs folders that cannot be watched.
  void set_files(const std::vector<std::string>& files);

 private:
  void open();
  void read();
  void heard();

  boost::asio::any_io_executor executor_;
  time_source& time_;
  std::function<void()> changed_;
  std::unique_ptr<timer> timer_;
  std::vector<std::string> folders_;
  std::unique_ptr<boost::asio::posix::stream_descriptor> events_;  // null: nothing is watched
  alignas(8) std::array<char, 4'096> buffer_{};
  time_point first_ = never;  // first event since the last call of changed_
  std::shared_ptr<file_watch*> self_ = std::make_shared<file_watch*>(this);
};

}  // namespace mcpbx::daemon
