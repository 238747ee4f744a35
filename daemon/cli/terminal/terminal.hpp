// What the CLI shows and how: colours and the live status line only on a terminal, all text cleaned for one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::cli {

/// The exit statuses that README.md documents.
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

enum class look : std::uint8_t { plain, bold, dim, red, green };

/// A text in pieces, each with its look. Colours stand beside the text and become escape sequences where a terminal
/// gets them; what the text itself has of such is taken out there.
class styled {
 public:
  styled(std::string text) : styled(look::plain, std::move(text)) {}
  styled(std::string_view text) : styled(look::plain, std::string(text)) {}
  styled(const char* text) : styled(look::plain, std::string(text)) {}
  styled(look how, std::string text) : pieces_{{how, std::move(text)}} {}
  friend styled operator+(styled a, const styled& b) {
    a.pieces_.insert(a.pieces_.end(), b.pieces_.begin(), b.pieces_.end());
    return a;
  }
  struct piece {
    look how;
    std::string text;
  };
  const std::vector<piece>& pieces() const noexcept { return pieces_; }

 private:
  std::vector<piece> pieces_;
};

/// Writes to stdout and stderr. `colour` is decided per stream: a terminal, NO_COLOR unset, TERM not "dumb". What goes
/// to a terminal loses what nobody sees and what would steer it, in one place, whoever wrote it.
class terminal {
 public:
  terminal();
  bool out_is_terminal() const noexcept { return out_tty_; }
  bool err_is_terminal() const noexcept { return err_tty_; }

  /// Columns of a terminal, 0 for anything else.
  std::size_t out_width() const;
  std::size_t err_width() const;

  /// Text on stdout; piped, the bytes go out as they are.
  void out(std::string_view text);
  /// A line of JSON: on a terminal, what is not seen is written as \u escapes, so that it means the same.
  void out_json(std::string_view json);
  /// Messages for a program, in any pieces: as they are, and on a terminal as out_json(). False when stdout takes no
  /// more.
  bool out_bytes(std::string_view bytes);
  /// The exit status of a command that would be `status`: an output that could not be written whole (a full disk; not
  /// a reader that has left) is told on stderr and is no success.
  int finish(int status);
  /// A line of our own on stdout.
  void out_line(const styled& text);
  /// A line on stderr; a status line that is shown stays, below it.
  void err_line(const styled& text);
  /// An error for the user: "mcpbx: …" on stderr.
  void error(std::string_view text);
  /// Shows or replaces the one live line (terminal only); elsewhere a new status is one line on stderr.
  void status(std::string_view text);
  void clear_status();
  /// A question at the start of a line of stderr; what is typed stands behind it.
  void prompt(std::string_view text);
  /// Ends a started line of streamed text.
  void finish_line();

  static styled dim(std::string text) { return {look::dim, std::move(text)}; }
  static styled bold(std::string text) { return {look::bold, std::move(text)}; }

 private:
  std::string rendered(const styled& text, bool tty) const;
  bool put_out(std::string_view bytes);
  bool out_tty_, err_tty_, colour_;
  bool status_shown_ = false, mid_line_ = false;
  int out_failure_ = 0;  ///< errno of the first write to stdout that failed
  std::string status_;   ///< what the live line says while it is shown
  std::string half_;     ///< the beginning of a character that out_bytes() has the rest of to come
};

/// Columns padded to their widest cell, two blanks between, cells made printable; no trailing blanks.
std::string table(const std::vector<std::vector<std::string>>& rows);

}  // namespace mcpbx::cli
