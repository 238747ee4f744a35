// What the CLI shows and how: colours and the live status line only on a terminal, foreign text cleaned for one.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::cli {

/// The documented exit statuses (design section 4).
enum exit_status : int {
  done = 0,
  no_answer = 1,  ///< the run ended without an answer, or the tool returned an error
  usage = 2,      ///< usage or configuration
  no_daemon = 3,
  provider_failed = 4,
  no_such = 5,  ///< no such tool, server or session
  interrupted_exit = 130
};

/// Writes all of `bytes`, waiting as long as `fd` takes no more, also where it does not block. False: errno is EPIPE
/// when its reader is gone (`| head`), which is no error worth a word, EINTR when the user interrupted the wait
/// (catch_interrupts()), or what else is wrong.
bool write_all(int fd, std::string_view bytes);

/// Writes to stdout and stderr. `colour` is decided per stream: a terminal, NO_COLOR unset, TERM not "dumb".
class terminal {
 public:
  terminal();
  bool out_is_terminal() const noexcept { return out_tty_; }
  bool err_is_terminal() const noexcept { return err_tty_; }

  /// Text of a model or a tool: on a terminal, control and bidi characters are taken out (line breaks and tabs stay);
  /// piped, the bytes go out as they are.
  void out(std::string_view text);
  /// Bytes for a program, as they are. False when stdout takes no more.
  bool out_bytes(std::string_view bytes);
  /// The exit status of a command that would be `status`: an output that could not be written whole (a full disk; not
  /// a reader that has left) is told on stderr and is no success.
  int finish(int status);
  /// A line of our own on stdout.
  void out_line(std::string_view text);
  /// A line on stderr; a status line that is shown stays, below it.
  void err_line(std::string_view text);
  /// An error for the user: "mcpbx: …" on stderr.
  void error(std::string_view text);
  /// Shows or replaces the one live line (terminal only); elsewhere a new status is one line on stderr.
  void status(std::string_view text);
  void clear_status();
  /// A question at the start of a line of stderr; what is typed stands behind it.
  void prompt(std::string_view text);
  /// Ends a started line of streamed text.
  void finish_line();

  std::string dim(std::string_view text) const;
  std::string bold(std::string_view text) const;
  std::string bold_err(std::string_view text) const;
  std::string red(std::string_view text) const;
  std::string green(std::string_view text) const;

 private:
  std::string paint(std::string_view code, std::string_view text, bool on) const;
  bool out_tty_, err_tty_, colour_;
  bool status_shown_ = false, mid_line_ = false;
  int out_failure_ = 0;  ///< errno of the first write to stdout that failed
  std::string status_;   ///< what the live line says while it is shown
};

/// Columns padded to their widest cell, two blanks between, cells made printable; no trailing blanks.
std::string table(const std::vector<std::vector<std::string>>& rows);

}  // namespace mcpbx::cli
