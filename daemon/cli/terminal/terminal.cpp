// Writes to the terminal. No other file knows an escape sequence.
#include "daemon/cli/terminal/terminal.hpp"

#include "daemon/cli/link/daemon_connection.hpp"
#include "daemon/cli/terminal/helping_command.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/text.hpp"
#include "mcp/support/utf8.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace mcpbx::cli::terminals {
namespace {

bool set_and_filled(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

// The first of these variables that is filled decides (POSIX, Base Definitions, section 8.2).
bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"})
    if (set_and_filled(name)) {
      std::string locale = std::getenv(name);
      std::ranges::transform(locale, locale.begin(),
                             [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      return locale.contains("utf-8") || locale.contains("utf8");
    }
  return false;
}

// Replaces the few signs of our own texts that are not ASCII, and leaves all that others have written.
std::string in_ascii(std::string text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> signs{{{"…", "..."}, {"→", "->"}, {"µ", "u"}}};
  for (const auto& [sign, ascii] : signs)
    for (auto at = text.find(sign); at != text.npos; at = text.find(sign, at + ascii.size()))
      text.replace(at, sign.size(), ascii);
  return text;
}

std::size_t width_of(int fd) {
  winsize size{};
  return ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

// Counts characters, which is good enough for aligning names and short texts.
std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

// Returns the number of bytes at the end that are an incomplete character.
std::size_t half_character(std::string_view text) {
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, text.size()); ++back) {
    const char* const p = text.data() + text.size() - back;
    if ((static_cast<unsigned char>(*p) & 0xC0) == 0x80) continue;
    return utf8::next(p, text.data() + text.size()).what == utf8::status::incomplete ? back : 0;
  }
  return 0;
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
      if (link::wait_ready(fd, POLLOUT)) continue;
      errno = EINTR;
    }
    if (n == 0) errno = EIO;
    // An interrupt while the output is blocked drops the rest.
    if (errno != EINTR || link::interrupted()) return false;
  }
  return true;
}

terminal::terminal() : out_tty_(::isatty(1) == 1), err_tty_(::isatty(2) == 1) {
  const char* term = std::getenv("TERM");
  const bool dumb = term != nullptr && std::string_view(term) == "dumb";
  capable_ = set_and_filled("TERM") && !dumb;
  colour_ = !set_and_filled("NO_COLOR") && !dumb;
  utf8_ = locale_is_utf8();
}

std::size_t terminal::out_width() const {
  return out_tty_ ? width_of(1) : 0;
}
std::size_t terminal::out_height() const {
  winsize size{};
  if (!out_tty_) return 0;
  return ::ioctl(1, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 ? size.ws_row : 24;
}
std::size_t terminal::err_width() const {
  return err_tty_ ? width_of(2) : 0;
}

bool terminal::put_out(std::string_view bytes) {
  if (write_all(1, bytes)) return true;
  if (out_failure_ == 0) out_failure_ = errno;
  return false;
}

bool terminal::out_bytes(std::string_view bytes) {
  if (!out_tty_) return put_out(bytes);
  half_ += bytes;
  const auto whole = half_.size() - half_character(half_);
  const bool taken = put_out(redact::visible_json(std::string_view(half_).substr(0, whole)));
  half_.erase(0, whole);
  return taken;
}

int terminal::finish(int status) {
  if (!errors_.empty()) {
    std::string json;
    json::json_writer w(json);
    w.begin_object().key("error").token(json::json_object("message", std::exchange(errors_, {}), "status", status));
    w.end_object();
    out_json(json);
  }
  if (out_failure_ == 0 || out_failure_ == EPIPE || out_failure_ == EINTR) return status;
  error(std::string("the output is not complete: standard output could not be written (") +
        std::strerror(out_failure_) + ")");
  return status == done ? no_answer : status;
}

// Renders everything for a terminal except the status line. Only here styles become escape sequences.
std::string terminal::rendered(const styled& text, bool tty) const {
  constexpr std::array<std::string_view, 8> codes{"", "1", "2", "31", "32", "33", "36", "3"};
  std::string all;
  for (const auto& p : text.pieces()) {
    const auto code = codes[static_cast<std::size_t>(p.how)];
    const bool painted = tty && colour_ && !code.empty();
    if (painted) all.append("\x1b[").append(code).append("m");
    all += tty ? redact::printable(p.text, true) : p.text;
    if (painted) all += "\x1b[0m";
  }
  return tty && !utf8_ ? in_ascii(std::move(all)) : all;
}

void terminal::out(std::string_view text) {
  clear_status();
  if (text.empty()) return;
  put_out(rendered(text, out_tty_));
  mid_line_ = text.back() != '\n';
}

void terminal::out_styled(const styled& text) {
  if (text.empty()) return;
  clear_status();
  put_out(rendered(text, out_tty_));
  mid_line_ = !text.pieces().back().text.ends_with('\n');
}

void terminal::out_json(std::string_view json) {
  clear_status();
  put_out((out_tty_ ? redact::visible_json(json) : std::string(json)) + "\n");
  mid_line_ = false;
}

void terminal::out_line(const styled& text) {
  clear_status();
  put_out(rendered(text, out_tty_) + "\n");
  mid_line_ = false;
}

void terminal::err_line(const styled& text) {
  const std::string shown = status_shown_ ? status_ : std::string();
  clear_status();
  if (err_tty_ && out_tty_) finish_line();
  write_all(2, rendered(text, err_tty_) + "\n");
  if (!shown.empty()) status(shown);
}

void terminal::error(std::string_view sentence) {
  const auto text = with_command(std::string(sentence), help_);
  if (json_errors_) errors_.append(errors_.empty() ? "" : "\n").append(text);
  clear_status();
  err_line(styled(look::red, "mcpbx:") + " " + redact::printable(text, true));
}

void terminal::status(std::string_view text) {
  const std::string clean = redact::printable(text);
  if (!err_tty_) return err_line(clean);
  if (out_tty_ && mid_line_) return;  // a status line would overwrite the streamed text
  std::string line = "\r\x1b[K";
  line += rendered(dim(std::string(cut_utf8(clean, width_of(2) - 1))), true);
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
  write_all(2, rendered(text, err_tty_));
}

void terminal::finish_line() {
  if (!mid_line_) return;
  put_out("\n");
  mid_line_ = false;
}

void terminal::clear_prompt() {
  if (capable_ && err_tty_) write_all(2, "\r\x1b[J");
}

void terminal::clear_screen() {
  if (capable_ && err_tty_) write_all(2, "\x1b[H\x1b[2J");
}

void terminal::mark_pastes(bool on) {
  if (capable_ && err_tty_) write_all(2, on ? "\x1b[?2004h" : "\x1b[?2004l");
}

void terminal::open_screen() {
  put_out("\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J");  // the other screen, no cursor, no wrapping, empty
}

void terminal::draw_screen(const std::vector<styled>& lines) {
  std::string all = "\x1b[H";
  for (std::size_t i = 0; i < lines.size(); ++i)
    all.append(i == 0 ? "" : "\r\n").append(rendered(lines[i], true)).append("\x1b[K");
  put_out(all + "\x1b[J");
}

void terminal::close_screen() {
  put_out("\x1b[?7h\x1b[?25h\x1b[?1049l");
}

std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  std::vector<std::vector<std::string>> clean;
  for (const auto& row : rows) {
    clean.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) {
      clean.back().push_back(redact::printable(row[i]));
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

}  // namespace mcpbx::cli::terminals
