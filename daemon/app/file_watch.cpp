// One inotify descriptor for the present set of folders; another set gets another descriptor.
#include "daemon/app/file_watch.hpp"

#include "mcp/support/log.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>

#include <sys/inotify.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace mcpbx::daemon::app {
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

file_watch::file_watch(const boost::asio::any_io_executor& executor, time_source& time, async::lane& disk,
                       std::function<void()> changed)
    : executor_(executor), time_(time), disk_(disk), changed_(std::move(changed)), timer_(time.make_timer()) {}

file_watch::~file_watch() = default;

void file_watch::set_files(const std::vector<std::string>& files) {
  files_ = files;
  tell_ = false;
  timer_->cancel();
  first_ = never;
  if (files_.empty()) return events_.reset();
  look_up();
}

file_watch::opened file_watch::open(const std::vector<std::string>& files) {
  opened got;
  const auto failed = [&](const std::string& what) {
    got.failures.push_back(what + " cannot be watched (" + std::strerror(errno) +
                           "); `mcpbx reload` reads the configuration again");
  };
  const int fd = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (fd < 0) {
    failed("files");
    return got;
  }
  got.events = std::make_shared<mcp::process::unique_fd>(fd);
  for (const auto& folder : folders_of(files))
    if (::inotify_add_watch(fd, folder.c_str(), all_changes) < 0) failed(folder);
  return got;
}

// Opens a descriptor for the folders that have the names now. The one before stays until then.
void file_watch::look_up() {
  again_ = looking_;
  if (looking_) return;
  looking_ = true;
  const auto posted = disk_.post([executor = executor_, files = files_, self = std::weak_ptr(self_)] {
    boost::asio::post(executor, [self, got = open(files)] {
      if (const auto here = self.lock()) (*here)->take(got);
    });
  });
  if (posted) return;
  looking_ = false;
  log::warn("files cannot be watched (" + posted.error().message + "); `mcpbx reload` reads the configuration again");
}

void file_watch::take(opened got) {
  looking_ = false;
  if (files_.empty()) return;
  if (again_) return look_up();
  for (const auto& failure : got.failures) log::warn(failure);
  if (got.events) {
    int unread = 0;
    if (events_ && ::ioctl(events_->native_handle(), FIONREAD, &unread) == 0 && unread > 0) heard();
    events_ = std::make_unique<boost::asio::posix::stream_descriptor>(executor_, got.events->release());
    read();
  }
  if (std::exchange(tell_, false)) changed_();
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
    tell_ = true;
    look_up();
  });
}

}  // namespace mcpbx::daemon::app
