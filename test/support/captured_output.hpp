// Captures standard output and standard error during the life of an object, in files or at a terminal. Check the text
// after the object's end, since doctest's own output is captured too.
#pragma once
#include <doctest/doctest.h>

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <string>
#include <string_view>

namespace mcpbx::test {

/// Puts other descriptors in the places 1 and 2, and the old ones back at the end.
class replaced_output {
 public:
  replaced_output(int out, int err) : kept_{::dup(1), ::dup(2)} {
    std::fflush(stdout);
    ::dup2(out, 1);
    ::dup2(err, 2);
  }
  ~replaced_output() {
    std::fflush(stdout);
    for (int i = 0; i < 2; ++i) {
      ::dup2(kept_.at(static_cast<std::size_t>(i)), i + 1);
      ::close(kept_.at(static_cast<std::size_t>(i)));
    }
  }
  replaced_output(const replaced_output&) = delete;
  replaced_output& operator=(const replaced_output&) = delete;

 private:
  std::array<int, 2> kept_;
};

/// Both streams in files without a name.
class captured_output {
 public:
  captured_output() : out_(file()), err_(file()), replaced_(out_, err_) {}
  ~captured_output() {
    ::close(out_);
    ::close(err_);
  }
  captured_output(const captured_output&) = delete;
  captured_output& operator=(const captured_output&) = delete;

  std::string out() const { return text(out_); }
  std::string err() const { return text(err_); }

 private:
  static int file() {
    const int fd = ::open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    REQUIRE(fd >= 0);
    return fd;
  }
  static std::string text(int fd) {
    std::fflush(stdout);
    std::string all(static_cast<std::size_t>(::lseek(fd, 0, SEEK_END)), '\0');
    REQUIRE(::pread(fd, all.data(), all.size(), 0) == static_cast<ssize_t>(all.size()));
    return all;
  }
  int out_, err_;
  replaced_output replaced_;
};

/// Both streams at a terminal of 40 columns that changes nothing of what is written.
class captured_terminal {
 public:
  captured_terminal()
      : master_(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)),
        slave_(open_slave(master_)),
        replaced_(slave_, slave_) {}
  ~captured_terminal() {
    ::close(slave_);
    ::close(master_);
  }
  captured_terminal(const captured_terminal&) = delete;
  captured_terminal& operator=(const captured_terminal&) = delete;

  /// Returns the text shown since the last call. Writes a mark and reads up to it, because a terminal delays bytes.
  std::string shown() {
    constexpr std::string_view mark = "\x01 end of what was shown \x01";
    std::fflush(stdout);
    REQUIRE(::write(slave_, mark.data(), mark.size()) == static_cast<ssize_t>(mark.size()));
    std::string all;
    std::array<char, 4096> buffer{};
    while (!all.ends_with(mark)) {
      const ssize_t n = ::read(master_, buffer.data(), buffer.size());
      REQUIRE(n > 0);
      all.append(buffer.data(), static_cast<std::size_t>(n));
    }
    all.resize(all.size() - mark.size());
    return all;
  }

 private:
  static int open_slave(int master) {
    std::array<char, 64> name{};
    REQUIRE(::grantpt(master) == 0);
    REQUIRE(::unlockpt(master) == 0);
    REQUIRE(::ptsname_r(master, name.data(), name.size()) == 0);
    const int fd = ::open(name.data(), O_RDWR | O_NOCTTY | O_CLOEXEC);
    REQUIRE(fd >= 0);
    termios modes{};
    ::tcgetattr(fd, &modes);
    ::cfmakeraw(&modes);
    ::tcsetattr(fd, TCSANOW, &modes);
    const winsize size{.ws_row = 10, .ws_col = 40, .ws_xpixel = 0, .ws_ypixel = 0};
    ::ioctl(fd, TIOCSWINSZ, &size);
    return fd;
  }
  int master_, slave_;
  replaced_output replaced_;
};

/// A variable of the environment, set or unset (null), and as before at the end.
class changed_variable {
 public:
  changed_variable(const char* name, const char* value) : name_(name) {
    if (const char* before = ::getenv(name)) {
      had_ = true;
      before_ = before;
    }
    if (value != nullptr)
      ::setenv(name, value, 1);
    else
      ::unsetenv(name);
  }
  ~changed_variable() {
    if (had_)
      ::setenv(name_, before_.c_str(), 1);
    else
      ::unsetenv(name_);
  }
  changed_variable(const changed_variable&) = delete;
  changed_variable& operator=(const changed_variable&) = delete;

 private:
  const char* name_;
  bool had_ = false;
  std::string before_;
};

}  // namespace mcpbx::test
