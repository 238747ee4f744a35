// libedit asks for each character, so the wait for it is ours: interrupts and changes of the window's size are seen
// there.
#include "daemon/cli/chat/line_editor.hpp"

#include "daemon/cli/link/daemon_connection.hpp"
#include "mcp/support/utf8.hpp"

#include <fcntl.h>
#include <histedit.h>
#include <langinfo.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cwchar>
#include <utility>
#include <vector>

namespace mcpbx::cli::chat {
namespace {

constexpr std::size_t longest_plain_line = 1u << 20;
constexpr int history_size = 1'000;
int signal_pipe[2] = {-1, -1};

// Wakes the wait for a character: the window has another size, or the program was stopped and goes on.
extern "C" void on_screen_signal(int signal) {
  const char byte = signal == SIGCONT ? 'c' : 'w';
  const int kept = errno;
  (void)!::write(signal_pipe[1], &byte, 1);
  errno = kept;
}

std::wstring wide(std::string_view text) {
  std::wstring out;
  for (const char* p = text.data(); p != text.data() + text.size();) {
    const auto s = utf8::next(p, text.data() + text.size());
    out += s.what == utf8::status::valid ? static_cast<wchar_t>(utf8::decode(p, s.size)) : L'?';
    p += s.size;
  }
  return out;
}

std::string narrow(std::wstring_view text) {
  std::string out;
  for (const wchar_t c : text) {
    const auto point = static_cast<char32_t>(c);
    if (point > 0x10FFFF || (point >= 0xD800 && point < 0xE000))
      out += utf8::replacement;
    else
      utf8::append(out, point);
  }
  return out;
}

// Sets the encoding of characters. If the environment names none (as over ssh without its variables), terminals are
// taken to use UTF-8, as all other output of this program does.
void set_character_locale() {
  std::setlocale(LC_CTYPE, "");
  if (std::string_view(::nl_langinfo(CODESET)) == "ANSI_X3.4-1968") std::setlocale(LC_CTYPE, "C.UTF-8");
}

}  // namespace

class line_editor::impl {
 public:
  impl(terminals::terminal& screen, std::span<const std::string_view> completed, std::FILE* out)
      : screen_(screen), completed_(completed), out_(out) {}
  ~impl() {
    if (editor_ != nullptr) ::el_end(editor_);
    if (history_ != nullptr) ::history_wend(history_);
    std::fclose(out_);
  }
  impl(const impl&) = delete;
  impl& operator=(const impl&) = delete;

  bool begin() {
    history_ = ::history_winit();
    editor_ = ::el_init("mcpbx", stdin, out_, out_);
    if (history_ == nullptr || editor_ == nullptr) return false;
    HistEventW event{};
    ::history_w(history_, &event, H_SETSIZE, history_size);
    ::history_w(history_, &event, H_SETUNIQUE, 1);
    ::el_wset(editor_, EL_CLIENTDATA, this);
    ::el_wset(editor_, EL_PROMPT, prompt_of);
    ::el_wset(editor_, EL_HIST, ::history_w, history_);
    ::el_wset(editor_, EL_EDITOR, L"emacs");
    ::el_wset(editor_, EL_GETCFN, next_character);
    ::el_wset(editor_, EL_ADDFN, L"mcpbx-paste", L"take pasted text", take_paste);
    ::el_wset(editor_, EL_ADDFN, L"mcpbx-complete", L"complete a command", complete);
    ::el_wset(editor_, EL_BIND, L"^I", L"mcpbx-complete", nullptr);
    ::el_wset(editor_, EL_BIND, L"^R", L"em-inc-search-prev", nullptr);
    ::el_source(editor_, nullptr);  // ~/.editrc
    ::el_wset(editor_, EL_BIND, L"\033[200~", L"mcpbx-paste", nullptr);
    int editing = 0;
    return ::el_wget(editor_, EL_EDITMODE, &editing) == 0 && editing != 0;
  }

  void remember(std::string_view input) {
    HistEventW event{};
    ::history_w(history_, &event, H_ENTER, wide(input).c_str());
  }

  std::expected<std::string, terminals::unanswered> read(std::string_view prompt) {
    prompt_ = wide(prompt);
    interrupted_ = pasted_too_much_ = false;
    bytes_.clear();
    ::el_wset(editor_, EL_PREP_TERM, 1);  // before the prompt is seen, so that no key is taken as the terminal's own
    screen_.mark_pastes(true);
    int count = 0;
    const wchar_t* line = ::el_wgets(editor_, &count);
    screen_.mark_pastes(false);
    if (interrupted_) return std::unexpected(terminals::unanswered::interrupted);
    if (line == nullptr || count <= 0) return std::unexpected(terminals::unanswered::end_of_input);
    std::wstring_view text(line, static_cast<std::size_t>(count));
    if (text.ends_with(L'\n')) text.remove_suffix(1);
    if (pasted_too_much_) screen_.error("what was pasted is longer than 1 MiB, and its end was left out");
    return narrow(text);
  }

 private:
  static impl& of(EditLine* editor) {
    void* self = nullptr;
    ::el_wget(editor, EL_CLIENTDATA, &self);
    return *static_cast<impl*>(self);
  }
  static wchar_t* prompt_of(EditLine* editor) { return of(editor).prompt_.data(); }
  static int next_character(EditLine* editor, wchar_t* out) { return of(editor).next(out); }
  static unsigned char take_paste(EditLine* editor, int) { return of(editor).paste(); }
  static unsigned char complete(EditLine* editor, int) { return of(editor).complete_word(); }

  // Reads a character. Returns 1, 0 at the end of the input, -1 after an interrupt.
  int next(wchar_t* out) {
    for (;;) {
      std::array<pollfd, 2> wait{pollfd{STDIN_FILENO, POLLIN, 0}, pollfd{signal_pipe[0], POLLIN, 0}};
      if (!link::wait_ready(wait)) {
        interrupted_ = true;
        return -1;
      }
      if (wait[1].revents != 0) after_signals();
      if (wait[0].revents == 0) continue;
      char byte = 0;
      const auto n = ::read(STDIN_FILENO, &byte, 1);
      if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (n <= 0) return 0;
      bytes_ += byte;
      std::mbstate_t state{};
      const auto size = std::mbrtowc(out, bytes_.data(), bytes_.size(), &state);
      if (size == static_cast<std::size_t>(-2) && bytes_.size() < MB_CUR_MAX) continue;
      const bool valid = size <= bytes_.size();
      bytes_.clear();
      if (valid) return 1;  // invalid bytes are left out
    }
  }

  void after_signals() {
    std::array<char, 64> bytes{};
    const auto n = ::read(signal_pipe[0], bytes.data(), bytes.size());
    const std::string_view come(bytes.data(), n > 0 ? static_cast<std::size_t>(n) : 0);
    if (come.contains('c')) {  // the shell has set the terminal for itself meanwhile
      ::el_wset(editor_, EL_PREP_TERM, 0);
      ::el_wset(editor_, EL_PREP_TERM, 1);
      screen_.mark_pastes(true);
    }
    screen_.clear_prompt();
    ::el_resize(editor_);
    ::el_wset(editor_, EL_REFRESH);
  }

  // Inserts what the terminal marks as pasted, up to the mark of its end.
  unsigned char paste() {
    constexpr std::wstring_view end = L"\033[201~";
    std::wstring text;
    wchar_t c = 0;
    while (!text.ends_with(end)) {
      if (::el_wgetc(editor_, &c) != 1) return CC_EOF;
      if (text.size() >= most_pasted + end.size()) {
        pasted_too_much_ = true;
        text.erase(text.size() - end.size(), 1);
      }
      text += c;
    }
    text.resize(text.size() - end.size());
    std::wstring clean;
    for (const wchar_t one : text) {
      if (one == L'\r' || one == L'\n')  // terminals send a carriage return for each line break
        clean += L'\n';
      else if (one == L'\t' || (one >= L' ' && one != 0x7f))
        clean += one;
    }
    while (clean.ends_with(L'\n')) clean.pop_back();
    if (clean.empty()) return CC_REFRESH;
    return ::el_winsertstr(editor_, clean.c_str()) == 0 ? CC_REFRESH : CC_ERROR;
  }

  unsigned char complete_word() {
    const auto* line = ::el_wline(editor_);
    const std::string begun = narrow({line->buffer, static_cast<std::size_t>(line->cursor - line->buffer)});
    std::vector<std::string_view> fitting;
    for (const auto word : completed_)
      if (!begun.empty() && word.starts_with(begun)) fitting.push_back(word);
    if (fitting.empty()) return CC_ERROR;
    auto common = fitting.front();
    for (const auto word : fitting)
      common = common.substr(0, static_cast<std::size_t>(std::ranges::mismatch(common, word).in1 - common.begin()));
    auto more = std::string(common.substr(begun.size()));
    if (fitting.size() == 1) more += ' ';
    if (more.empty()) return CC_ERROR;
    return ::el_winsertstr(editor_, wide(more).c_str()) == 0 ? CC_REFRESH : CC_ERROR;
  }

  terminals::terminal& screen_;
  std::span<const std::string_view> completed_;
  std::FILE* out_;
  EditLine* editor_ = nullptr;
  HistoryW* history_ = nullptr;
  std::wstring prompt_;
  std::string bytes_;  // of a character that is not complete
  bool interrupted_ = false, pasted_too_much_ = false;
};

line_editor::line_editor(terminals::terminal& screen, std::span<const std::string_view> completed) : screen_(screen) {
  set_character_locale();
  if (!screen.is_capable() || !terminals::can_ask()) return;
  if (signal_pipe[0] < 0 && ::pipe2(signal_pipe, O_CLOEXEC | O_NONBLOCK) != 0) return;
  const int fd = ::dup(STDERR_FILENO);  // stderr itself has no buffer
  std::FILE* out = fd < 0 ? nullptr : ::fdopen(fd, "w");
  if (out == nullptr) return;
  auto editor = std::make_unique<impl>(screen, completed, out);
  if (!editor->begin()) return;
  struct sigaction action{};
  action.sa_handler = on_screen_signal;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGWINCH, &action, nullptr);
  ::sigaction(SIGCONT, &action, nullptr);
  impl_ = std::move(editor);
}

line_editor::~line_editor() = default;

void line_editor::remember(std::string_view input) {
  if (impl_) impl_->remember(input);
}

std::expected<std::string, terminals::unanswered> line_editor::read(std::string_view prompt) {
  if (impl_) return impl_->read(prompt);
  screen_.prompt(prompt);
  return terminals::read_line({}, longest_plain_line);
}

}  // namespace mcpbx::cli::chat
