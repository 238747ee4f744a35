// Escape sequences live in this file only.
#include "daemon/cli/terminal.hpp"

#include "daemon/cli/connection.hpp"
#include "mcp/support/text.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

namespace mcpbx::cli {
namespace {

bool set_and_filled(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

std::size_t width_of(int fd) {
  winsize size{};
  return ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

// Characters, not bytes: good enough for aligning names and short texts.
std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

}  // namespace

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(n));
      continue;
    }
    if (n < 0 && errno == EAGAIN) {
      if (wait_ready(fd, POLLOUT)) continue;
      errno = EINTR;
    }
    if (n == 0) errno = EIO;
    // Whoever interrupts while nothing moves does not want the rest.
    if (errno != EINTR || interrupted()) return false;
  }
  return true;
}

terminal::terminal() : out_tty_(::isatty(1) == 1), err_tty_(::isatty(2) == 1) {
  const char* term = std::getenv("TERM");
  colour_ = !set_and_filled("NO_COLOR") && !(term != nullptr && std::string_view(term) == "dumb");
}

bool terminal::out_bytes(std::string_view bytes) {
  if (write_all(1, bytes)) return true;
  if (out_failure_ == 0) out_failure_ = errno;
  return false;
}

int terminal::finish(int status) {
  if (out_failure_ == 0 || out_failure_ == EPIPE || out_failure_ == EINTR) return status;
  error(std::string("the output is not complete: standard output could not be written (") +
        std::strerror(out_failure_) + ")");
  return status == done ? no_answer : status;
}

void terminal::out(std::string_view text) {
  clear_status();
  if (text.empty()) return;
  out_bytes(out_tty_ ? printable(text, true) : std::string(text));
  mid_line_ = text.back() != '\n';
}

void terminal::out_line(std::string_view text) {
  clear_status();
  out_bytes(std::string(text) + "\n");
  mid_line_ = false;
}

void terminal::err_line(std::string_view text) {
  const std::string shown = status_shown_ ? status_ : std::string();
  clear_status();
  if (err_tty_ && out_tty_) finish_line();
  write_all(2, std::string(text) + "\n");
  if (!shown.empty()) status(shown);
}

void terminal::error(std::string_view text) {
  clear_status();
  err_line(paint("31", "mcpbx:", err_tty_) + " " + printable(text, true));
}

void terminal::status(std::string_view text) {
  const std::string clean = printable(text);
  if (!err_tty_) return err_line(clean);
  if (out_tty_ && mid_line_) return;  // streamed text stands there; it must not be overwritten
  std::string line = "\r\x1b[K";
  line += paint("2", cut_utf8(clean, width_of(2) - 1), true);
  write_all(2, line);
  status_ = clean;
  status_shown_ = true;
}

void terminal::clear_status() {
  if (!status_shown_) return;
  write_all(2, "\r\x1b[K");
  status_shown_ = false;
}

void terminal::prompt(std::string_view text) {
  clear_status();
  finish_line();
  write_all(2, std::string(text));
}

void terminal::finish_line() {
  if (!mid_line_) return;
  out_bytes("\n");
  mid_line_ = false;
}

std::string terminal::paint(std::string_view code, std::string_view text, bool on) const {
  if (!on || !colour_) return std::string(text);
  return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
}

std::string terminal::dim(std::string_view text) const {
  return paint("2", text, err_tty_);
}
std::string terminal::bold(std::string_view text) const {
  return paint("1", text, out_tty_);
}
std::string terminal::bold_err(std::string_view text) const {
  return paint("1", text, err_tty_);
}
std::string terminal::red(std::string_view text) const {
  return paint("31", text, out_tty_);
}
std::string terminal::green(std::string_view text) const {
  return paint("32", text, out_tty_);
}

std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  std::vector<std::vector<std::string>> clean;
  for (const auto& row : rows) {
    clean.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) {
      clean.back().push_back(printable(row[i]));
      if (widths.size() <= i) widths.push_back(0);
      widths[i] = std::max(widths[i], columns(clean.back().back()));
    }
  }
  std::string out;
  for (const auto& row : clean) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) line.append(widths[i] - columns(row[i]) + 2, ' ');
    }
    while (!line.empty() && line.back() == ' ') line.pop_back();
    out += line + "\n";
  }
  return out;
}

}  // namespace mcpbx::cli
