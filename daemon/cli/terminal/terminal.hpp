// Output of the command line: colours and a live status line on a terminal only, all text for a terminal cleaned.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::cli::terminals {

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

/// Writes all of `bytes`, waiting as long as necessary even if `fd` does not block. Returns false with errno set: EPIPE
/// if the reader is gone, which needs no message; EINTR if the user interrupted the wait.
bool write_all(int fd, std::string_view bytes);

enum class look : std::uint8_t { plain, bold, dim, red, green, yellow, cyan, italic };

/// A text in pieces, each with a style. Styles become escape sequences on a terminal only; escape sequences in the text
/// itself are removed there.
class styled {
 public:
  styled() = default;
  styled(std::string text) : styled(look::plain, std::move(text)) {}
  styled(std::string_view text) : styled(look::plain, std::string(text)) {}
  styled(const char* text) : styled(look::plain, std::string(text)) {}
  styled(look how, std::string text) : pieces_{{how, std::move(text)}} {}
  /// Adds text, to the last piece if that has the same style.
  void add(look how, std::string_view text) {
    if (pieces_.empty() || pieces_.back().how != how)
      pieces_.push_back({how, std::string(text)});
    else
      pieces_.back().text += text;
  }
  bool empty() const noexcept { return pieces_.empty(); }
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

/// Writes to stdout and stderr. Colours are used for a stream that is a terminal if NO_COLOR is unset and TERM is not
/// "dumb". All text for a terminal is cleaned here, in one place, of invisible characters and control sequences.
class terminal {
 public:
  terminal();
  bool out_is_terminal() const noexcept { return out_tty_; }
  bool err_is_terminal() const noexcept { return err_tty_; }

  /// Returns the columns of a terminal; 0: stdout is none.
  std::size_t out_width() const;
  std::size_t err_width() const;

  /// Writes text to stdout, unchanged if that is no terminal.
  void out(std::string_view text);
  /// Writes a text in pieces to stdout.
  void out_styled(const styled& text);
  /// Writes a line of JSON. On a terminal invisible characters become \u escapes, which mean the same.
  void out_json(std::string_view json);
  /// Writes messages for a program, in any pieces; on a terminal as out_json() does. Returns false if stdout takes no
  /// more.
  bool out_bytes(std::string_view bytes);
  /// Writes the errors as JSON if that was asked for. Returns the exit status of a command that would end with
  /// `status`. Reports lost output (a full disk) on stderr, as a failure.
  int finish(int status);
  /// Writes a line of our own to stdout.
  void out_line(const styled& text);
  /// Writes a line to stderr, above a visible status line.
  void err_line(const styled& text);
  /// Writes an error for the user to stderr: "mcpbx: …". It ends with a command that helps: its own one, or
  /// helped_by().
  void error(std::string_view text);
  /// Sets the command for errors that name none, such as "see `mcpbx ask --help`".
  void helped_by(std::string command) { help_ = std::move(command); }
  /// From now on finish() also writes the errors to stdout: `{"error":{"message":…,"status":…}}`.
  void errors_as_json() noexcept { json_errors_ = true; }
  /// Shows or replaces the one live line (terminal only); elsewhere a new status is one line on stderr.
  void status(std::string_view text);
  void clear_status();
  /// Writes a question at the start of a line of stderr; the user types behind it.
  void prompt(std::string_view text);
  /// Ends a started line of streamed text.
  void finish_line();
  /// Returns the mark at the end of a text that was cut: "…", or "..." where the locale's characters are not UTF-8.
  std::string_view cut_mark() const noexcept { return utf8_ ? "…" : "..."; }
  /// Returns true if the terminal understands escape sequences: TERM is neither unset nor "dumb".
  bool is_capable() const noexcept { return capable_; }
  /// Clears the line of a prompt and all below it, so that the prompt can be drawn anew.
  void clear_prompt();
  /// Clears the screen of a terminal that can.
  void clear_screen();
  /// Asks the terminal to mark pasted text (bracketed paste of xterm) or to stop that.
  void mark_pastes(bool on);

  // A screen that is drawn again and again (full_screen.hpp). The terminal's other content comes back at its end.
  void open_screen();
  /// Draws these lines from the top, without scrolling.
  void draw_screen(const std::vector<styled>& lines);
  void close_screen();
  /// Returns the lines of the terminal; 0: stdout is none.
  std::size_t out_height() const;

  static styled dim(std::string text) { return {look::dim, std::move(text)}; }
  static styled bold(std::string text) { return {look::bold, std::move(text)}; }

 private:
  std::string rendered(const styled& text, bool tty) const;
  bool put_out(std::string_view bytes);
  bool out_tty_, err_tty_, capable_, colour_;
  bool utf8_;  // by the locale: signs of our own may be none of ASCII
  bool status_shown_ = false, mid_line_ = false;
  bool json_errors_ = false;
  std::string help_;     ///< command for errors that name none, or ""
  std::string errors_;   ///< texts of error() for finish(), if json_errors_
  int out_failure_ = 0;  ///< errno of the first write to stdout that failed
  std::string status_;   ///< text of the live line while it is shown
  std::string half_;     ///< beginning of a character whose rest out_bytes() has not got yet
};

/// Formats a table: columns padded to their widest cell, two blanks between, cells made printable, no trailing blanks.
std::string table(const std::vector<std::vector<std::string>>& rows);

}  // namespace mcpbx::cli::terminals
