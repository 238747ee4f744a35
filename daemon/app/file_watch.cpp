// One inotify descriptor for the present set of folders; another set gets another descriptor.
#include "daemon/app/file_watch.hpp"

#include "mcp/support/log.hpp"

#include <boost/asio/buffer.hpp>

#include <sys/inotify.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace mcpbx::daemon {
namespace {

constexpr std::uint32_t all_changes =
    IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF;

std::vector<std::string> folders_of(const std::vector<std::string>& files) {
  std::vector<std::string> folders;
  for (const std::filesystem::path file : files) {
    std::error_code failed;
    for (const auto& folder : {file.parent_path(), std::filesystem::weakly_canonical(file, failed).parent_path()})
      if (!folder.empty()) folders.push_back(folder.native());
  }
  std::ranges::sort(folders);
  folders.erase(std::ranges::unique(folders).begin(), folders.end());
  return folders;
}

}  // namespace

file_watch::file_watch(const boost::asio::any_io_executor& executor, time_source& time, std::function<void()> changed)
    : executor_(executor), time_(time), changed_(std::move(changed)), timer_(time.make_timer()) {}

file_watch::~file_watch() = default;

void file_watch::set_files(const std::vector<std::string>& files) {
  folders_ = folders_of(files);
  events_.reset();
  timer_->cancel();
  first_ = never;
  if (!folders_.empty()) open();
}

void file_watch::open() {
  const auto failed = [](const std::string& what) {
    log::warn(what + " cannot be watched (" + std::strerror(errno) + "); `mcpbx reload` reads the configuration again");
  };
  const int fd = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (fd < 0) return failed("files");
  events_ = std::make_unique<boost::asio::posix::stream_descriptor>(executor_, fd);
  for (const auto& folder : folders_)
    if (::inotify_add_watch(fd, folder.c_str(), all_changes) < 0) failed(folder);
  read();
}

void file_watch::read() {
  events_->async_read_some(boost::asio::buffer(buffer_), [this, of = events_.get(), self = std::weak_ptr(self_)](
                                                             const boost::system::error_code& wrong, std::size_t) {
    // The descriptor may have been replaced since.
    if (wrong || self.expired() || of != events_.get()) return;
    heard();
    read();
  });
}

void file_watch::heard() {
  const auto now = time_.now();
  if (first_ == never) first_ = now;
  timer_->arm(std::min(now + quiet, first_ + longest), [this] {
    first_ = never;
    changed_();
  });
}

}  // namespace mcpbx::daemon
