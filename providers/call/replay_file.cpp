// File access of recordings. Writers lock the file (flock), so that two daemons or two entries may record into one.
#include "providers/call/replay_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace mcpbx::providers::call {
namespace {

constexpr std::size_t max_header = std::size_t{64} << 10, chunk = std::size_t{64} << 10;

class descriptor {
 public:
  explicit descriptor(int fd) : fd_(fd) {}
  ~descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  descriptor(descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  descriptor& operator=(descriptor&&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

std::string named(const std::string& path) {
  return "the recording " + path + " ";
}

std::unexpected<error> failed(const std::string& path, const std::string& what) {
  const int why = errno;
  std::string mend;
  if (why == ENOENT)
    mend =
        what == "cannot be read" ? "; record it first, with \"record\" in the entry of the model" : "; make its folder";
  return fail(why == ENOENT ? errc::not_found : errc::config, named(path) + what + ": " + std::strerror(why) + mend);
}

file_stamp stamp_of(const struct stat& info) {
  return {info.st_dev, info.st_ino, info.st_size,
          static_cast<std::int64_t>(info.st_mtim.tv_sec) * 1'000'000'000 + info.st_mtim.tv_nsec};
}

struct opened {
  descriptor fd;
  struct stat info;
};

// Opens a regular file of allowed size. O_NONBLOCK, so that a FIFO without a writer does not block the lane.
result<opened> open_file(const std::string& path, int flags, const std::string& what) {
  opened file{descriptor(::open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK, 0600)), {}};
  if (file.fd.get() < 0 || ::fstat(file.fd.get(), &file.info) != 0) return failed(path, what);
  if (!S_ISREG(file.info.st_mode)) return fail(errc::config, named(path) + what + ": it is no regular file");
  if (file.info.st_size > static_cast<off_t>(replay::max_file))
    return fail(errc::config, named(path) + "has more than " + std::to_string(replay::max_file >> 20) +
                                  " MiB, which is the most; record less into one file");
  return file;
}

// Reads `most` bytes from offset `from`, fewer if the file ends before.
result<std::string> read_part(const std::string& path, int fd, std::size_t from, std::size_t most) {
  std::string text(most, '\0');
  std::size_t have = 0;
  while (have < most) {
    const auto n = ::pread(fd, text.data() + have, most - have, static_cast<off_t>(from + have));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failed(path, "cannot be read");
    if (n == 0) break;
    have += static_cast<std::size_t>(n);
  }
  text.resize(have);
  return text;
}

result<replay::header> header_of(const std::string& path, int fd) {
  auto head = read_part(path, fd, 0, max_header);
  if (!head) return std::unexpected(std::move(head.error()));
  auto header = replay::header_from(*head);
  if (!header) return fail(errc::config, named(path) + header.error().message);
  return header;
}

// Appends `text` as a whole, or cuts the file back to `end`.
result<void> append(const std::string& path, int fd, std::size_t end, std::string_view text) {
  const auto n = ::write(fd, text.data(), text.size());
  if (n == static_cast<ssize_t>(text.size())) return {};
  if (n >= 0) errno = ENOSPC;
  auto wrong = failed(path, "could not be added to");
  if (n > 0 && ::ftruncate(fd, static_cast<off_t>(end)) != 0)
    wrong.error().message += " (and part of a line stays in it, which the next one removes)";
  return wrong;
}

// Returns the length of the file up to the end of its last complete line.
result<std::size_t> whole_lines(const std::string& path, int fd, std::size_t size) {
  for (std::size_t end = size; end > 0;) {
    const auto from = end - std::min(end, chunk);
    auto part = read_part(path, fd, from, end - from);
    if (!part) return std::unexpected(std::move(part.error()));
    if (const auto at = part->rfind('\n'); at != std::string::npos) return from + at + 1;
    end = from;
  }
  return 0;
}

}  // namespace

result<replay::header> read_recording_header(const std::string& path) {
  auto file = open_file(path, O_RDONLY, "cannot be read");
  if (!file) return std::unexpected(std::move(file.error()));
  return header_of(path, file->fd.get());
}

result<loaded_recording> load_recording(const std::string& path, const file_stamp& known) {
  auto file = open_file(path, O_RDONLY, "cannot be read");
  if (!file) return std::unexpected(std::move(file.error()));
  loaded_recording loaded{nullptr, stamp_of(file->info)};
  if (loaded.stamp == known) return loaded;
  auto text = read_part(path, file->fd.get(), 0, static_cast<std::size_t>(loaded.stamp.size));
  if (!text) return std::unexpected(std::move(text.error()));
  auto read = replay::recording::read(*text);
  if (!read) return fail(errc::config, named(path) + read.error().message);
  loaded.recording = std::make_shared<const replay::recording>(std::move(*read));
  return loaded;
}

result<growing_recording> prepare_recording(const std::string& path, const replay::header& header) {
  auto file = open_file(path, O_RDWR | O_APPEND | O_CREAT, "cannot be written");
  if (!file) return std::unexpected(std::move(file.error()));
  const int fd = file->fd.get();
  // Closing the file unlocks it.
  if (::flock(fd, LOCK_EX) != 0 || ::fstat(fd, &file->info) != 0) return failed(path, "cannot be locked");
  const auto size = static_cast<std::size_t>(file->info.st_size);
  auto whole = whole_lines(path, fd, size);
  if (!whole) return std::unexpected(std::move(whole.error()));
  if (size != 0) {
    auto found = header_of(path, fd);
    if (!found) return std::unexpected(std::move(found.error()));
    auto wanted = *replay::header_from(replay::to_line(header));
    if (found->api != wanted.api || found->system != wanted.system)
      return fail(errc::config, named(path) + "was made with " +
                                    (found->api != wanted.api ? "a model of the API " + found->api
                                                              : std::string("another system prompt of the model")) +
                                    "; name another file, or remove it to record anew");
    if (*whole != size && ::ftruncate(fd, static_cast<off_t>(*whole)) != 0) return failed(path, "cannot be mended");
    if (*whole != 0) return growing_recording{found->id, static_cast<std::int64_t>(*whole)};
  }
  const auto line = replay::to_line(header);
  if (auto made = append(path, fd, 0, line); !made) return std::unexpected(std::move(made.error()));
  return growing_recording{header.id, static_cast<std::int64_t>(line.size())};
}

result<std::optional<growing_recording>> append_to_recording(const std::string& path, const growing_recording& prepared,
                                                             std::string_view line) {
  if (line.size() > replay::max_line)
    return fail(errc::limit, named(path) + "takes lines of up to " + std::to_string(replay::max_line >> 20) +
                                 " MiB, and this exchange is longer");
  auto file = open_file(path, O_RDWR | O_APPEND, "could not be added to");
  if (!file) {
    if (file.error().code == errc::not_found) return std::nullopt;
    return std::unexpected(std::move(file.error()));
  }
  const int fd = file->fd.get();
  if (::flock(fd, LOCK_EX) != 0 || ::fstat(fd, &file->info) != 0) return failed(path, "cannot be locked");
  const auto header = header_of(path, fd);
  if (!header || header->id != prepared.id || file->info.st_size < prepared.size) return std::nullopt;
  const auto end = static_cast<std::size_t>(file->info.st_size);
  if (end + line.size() > replay::max_file)
    return fail(errc::limit, named(path) + "would grow over " + std::to_string(replay::max_file >> 20) +
                                 " MiB, which is the most; name another file");
  if (auto done = append(path, fd, end, line); !done) return std::unexpected(std::move(done.error()));
  return growing_recording{header->id, static_cast<std::int64_t>(end + line.size())};
}

}  // namespace mcpbx::providers::call
