// Output at a terminal; no peer's text can steer it (F8, G40).
#include "daemon/cli/terminal/terminal.hpp"

#include "daemon/cli/link/daemon_connection.hpp"
#include "daemon/cli/terminal/fitted_table.hpp"
#include "test/support/captured_output.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>
#include <thread>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::cli::link;
using namespace mcpbx::cli::terminals;
using mcpbx::test::captured_output;
using mcpbx::test::captured_terminal;
using mcpbx::test::changed_variable;

TEST_CASE("table: columns are as wide as their widest cell and lines have no blanks at the end") {
  CHECK(table({}) == "");
  CHECK(table({{"NAME", "STATE"}, {"files", "ready"}, {"a", ""}}) == "NAME   STATE\nfiles  ready\na\n");
}

TEST_CASE("table: width counts characters and cells are cleaned") {
  CHECK(table({{"žluť", "x"}, {"abcdef", "y"}}) == "žluť    x\nabcdef  y\n");
  CHECK(table({{"a\x1b[31mb\nc", "x"}}).find('\x1b') == std::string::npos);
  CHECK(table({{"two\nlines", "x"}}).find('\n') == table({{"two\nlines", "x"}}).size() - 1);
}

TEST_CASE("write_all: what a pipe has no room for waits for its reader, also where it does not block") {
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  ::fcntl(ends[1], F_SETFL, O_NONBLOCK);
  const std::string text(1 << 20, 'x');
  std::size_t got = 0;
  std::thread reader([&] {
    std::array<char, 4096> bytes{};
    for (ssize_t n; (n = ::read(ends[0], bytes.data(), bytes.size())) > 0;) got += static_cast<std::size_t>(n);
  });
  CHECK(write_all(ends[1], text));
  ::close(ends[1]);
  reader.join();
  CHECK(got == text.size());
  ::close(ends[0]);
}

TEST_CASE("E1: an output that cannot be written is told and is no success, and a reader that has left is") {
  const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  REQUIRE(full >= 0);
  int gone[2], said[2];
  REQUIRE(::pipe2(gone, O_CLOEXEC) == 0);
  REQUIRE(::pipe2(said, O_CLOEXEC) == 0);
  ::close(gone[0]);
  auto* const before = ::signal(SIGPIPE, SIG_IGN);
  std::array<int, 3> statuses{};
  {
    const test::replaced_output replaced(full, said[1]);
    terminal screen;
    screen.out("text");
    statuses[0] = screen.finish(done);
    statuses[1] = screen.finish(no_such);
  }
  {
    const test::replaced_output replaced(gone[1], said[1]);
    terminal screen;
    screen.out_line("line");
    statuses[2] = screen.finish(done);
  }
  ::signal(SIGPIPE, before);
  CHECK(statuses == std::array<int, 3>{no_answer, no_such, done});
  std::array<char, 1024> bytes{};
  const auto n = ::read(said[0], bytes.data(), bytes.size());
  const std::string sentence =
      "mcpbx: the output is not complete: standard output could not be written (No space left on device)\n";
  CHECK(std::string(bytes.data(), static_cast<std::size_t>(n)) == sentence + sentence);
  for (const int fd : {full, gone[1], said[0], said[1]}) ::close(fd);
}

TEST_CASE("write_all: who interrupts while the reader takes nothing does not wait for it") {
  for (const int flags : {0, O_NONBLOCK}) {
    CAPTURE(flags);
    int full[2], told[2];
    REQUIRE(::pipe2(full, O_CLOEXEC) == 0);
    REQUIRE(::pipe2(told, O_CLOEXEC) == 0);
    ::fcntl(full[1], F_SETFL, flags);
    // A process of its own: an interrupt is remembered for good.
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      catch_interrupts();
      (void)!::write(told[1], "x", 1);
      ::_exit(write_all(full[1], std::string(1 << 20, 'x')) ? 1 : 7);
    }
    char byte = 0;
    REQUIRE(::read(told[0], &byte, 1) == 1);
    // Again and again: the first may come before it waits.
    int status = 0;
    while (::waitpid(child, &status, WNOHANG) == 0) {
      ::kill(child, SIGINT);
      ::poll(nullptr, 0, 1);
    }
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 7);
    for (const int fd : {full[0], full[1], told[0], told[1]}) ::close(fd);
  }
}

namespace {

using lines = std::vector<std::string>;

// Returns the screen of a terminal after each step.
template <class... Steps>
lines shown_at_terminal(Steps... steps) {
  lines all;
  captured_terminal captured;
  terminal t;
  const auto one = [&](auto& step) {
    step(t);
    all.push_back(captured.shown());
  };
  (one(steps), ...);
  return all;
}

lines painted_at_terminal() {
  lines all;
  for (const auto& text :
       shown_at_terminal([](terminal& t) { t.err_line(t.dim("x")); }, [](terminal& t) { t.out_line(t.bold("x")); },
                         [](terminal& t) { t.out_line(styled(look::red, "x")); },
                         [](terminal& t) { t.out_line(styled(look::green, "x")); }))
    all.push_back(text.substr(0, text.size() - 1));
  return all;
}

}  // namespace

TEST_CASE("output: piped text goes out byte for byte and statuses are lines on stderr") {
  std::string out, err;
  {
    const captured_output captured;
    terminal t;
    t.out("a\x1b[31mb");
    t.status("Using Files...");
    t.status("Done");
    t.error("no such tool");
    t.finish_line();
    out = captured.out();
    err = captured.err();
  }
  CHECK(out == "a\x1b[31mb\n");
  CHECK(err == "Using Files...\nDone\nmcpbx: no such tool\n");
}

TEST_CASE("F8: at a terminal escape sequences and bidi marks of a peer are taken out") {
  const changed_variable term("TERM", "xterm"), plain("NO_COLOR", "1");
  const auto shown = shown_at_terminal(
      [](terminal& t) {
        t.out(
            "a\x1b]0;title\x07 \xe2\x80\xae"
            "b\n\tc");
      },
      [](terminal& t) { t.finish_line(); }, [](terminal& t) { t.status("x\x1b[2Jy"); },
      [](terminal& t) { t.error("bad\x1b[1m"); });
  CHECK(shown == lines{"a]0;title b\n\tc", "\n", "\r\x1b[Kx[2Jy", "\r\x1b[Kmcpbx: bad[1m\n"});
}

TEST_CASE("status: one live line that is replaced and fits and leaves nothing behind") {
  const changed_variable term("TERM", "xterm"), plain("NO_COLOR", "1");
  const auto shown =
      shown_at_terminal([](terminal& t) { t.status("first"); }, [](terminal& t) { t.status(std::string(100, 'x')); },
                        [](terminal& t) { t.out("text"); }, [](terminal& t) { t.status("not over the text"); },
                        [](terminal& t) { t.err_line("a line"); }, [](terminal& t) { t.clear_status(); });
  CHECK(shown == lines{"\r\x1b[Kfirst", "\r\x1b[K" + std::string(39, 'x'), "\r\x1b[Ktext", "", "\na line\n", ""});
}

TEST_CASE("status: a line of its own leaves the live line below it, an error ends it") {
  const changed_variable term("TERM", "xterm"), plain("NO_COLOR", "1");
  const auto shown =
      shown_at_terminal([](terminal& t) { t.status("Using Files..."); }, [](terminal& t) { t.err_line("-> files"); },
                        [](terminal& t) { t.error("no"); }, [](terminal& t) { t.err_line("last"); });
  CHECK(shown ==
        lines{"\r\x1b[KUsing Files...", "\r\x1b[K-> files\n\r\x1b[KUsing Files...", "\r\x1b[Kmcpbx: no\n", "last\n"});
}

TEST_CASE("signs: at a terminal whose locale is not UTF-8 our own ones are ASCII, and texts of others stay") {
  const changed_variable term("TERM", "xterm"), plain("NO_COLOR", "1");
  const auto shown = [](const char* all, const char* type, const char* language) {
    const changed_variable a("LC_ALL", all), c("LC_CTYPE", type), l("LANG", language);
    captured_terminal screen;
    terminal t;
    fitted_table table({{""}, {""}});
    table.add({{"a → b", "Größe and more words than there is room for in this line"}});
    show(t, table);
    return std::string(t.cut_mark()) + " " + screen.shown();
  };
  for (const auto& said : {shown("", "", "C"), shown("C", "C.UTF-8", "C.UTF-8"), shown("", "POSIX", "en_US.UTF-8"),
                           shown("", "", ""), shown("", "", "de_DE.ISO-8859-1")}) {
    CHECK_MESSAGE(said.starts_with("... a -> b"), said);
    CHECK(said.contains("Größe"));
    CHECK_FALSE(said.contains("…"));
  }
  for (const auto& said : {shown("", "", "en_US.UTF-8"), shown("C.utf8", "C", "C"), shown("", "de_DE.UTF-8", "C")}) {
    CHECK_MESSAGE(said.starts_with("… a → b"), said);
    CHECK(said.contains("Größe"));
  }
}

TEST_CASE("colours: on a terminal only and not with NO_COLOR or a dumb terminal") {
  lines piped;
  {
    const captured_output captured;
    terminal t;
    t.err_line(t.dim("x"));
    t.out_line(t.bold("x"));
    piped = {captured.err(), captured.out()};
  }
  CHECK(piped == lines{"x\n", "x\n"});
  {
    const changed_variable term("TERM", "xterm"), plain("NO_COLOR", nullptr);
    CHECK(painted_at_terminal() == lines{"\x1b[2mx\x1b[0m", "\x1b[1mx\x1b[0m", "\x1b[31mx\x1b[0m", "\x1b[32mx\x1b[0m"});
  }
  {
    const changed_variable term("TERM", "dumb"), plain("NO_COLOR", nullptr);
    CHECK(painted_at_terminal() == lines(4, "x"));
  }
  const changed_variable term("TERM", "xterm"), plain("NO_COLOR", "1");
  CHECK(painted_at_terminal() == lines(4, "x"));
}

TEST_CASE("F8: whatever is printed to a terminal is cleaned on its way, colours stay") {
  const changed_variable term("TERM", "xterm"), plain("NO_COLOR", nullptr);
  const std::string evil = "a\u009b31m\x1b[31m\u202E\U000E0041b";
  const auto shown = shown_at_terminal([&](terminal& t) { t.out_line(evil); }, [&](terminal& t) { t.err_line(evil); },
                                       [&](terminal& t) { t.err_line(t.dim(evil) + ": " + evil); },
                                       [&](terminal& t) { t.out_line(t.bold(evil)); },
                                       [&](terminal& t) { t.prompt(evil); }, [&](terminal& t) { t.out(evil + "\n"); },
                                       [&](terminal& t) { t.status(evil); }, [&](terminal& t) { t.error(evil); });
  const std::string clean = "a31m[31mb";
  CHECK(shown == lines{clean + "\n", clean + "\n", "\x1b[2m" + clean + "\x1b[0m: " + clean + "\n",
                       "\x1b[1m" + clean + "\x1b[0m\n", clean, clean + "\n", "\r\x1b[K\x1b[2m" + clean + "\x1b[0m",
                       "\r\x1b[K\x1b[31mmcpbx:\x1b[0m " + clean + "\n"});
}

TEST_CASE("F8: JSON at a terminal means the same and steers nothing, and piped it is what it was") {
  const std::string json = "{\"a\":\"\u009b31m\u202E\U000E0041\x7f\"}";
  const auto shown = shown_at_terminal([&](terminal& t) { t.out_json(json); },
                                       [&](terminal& t) {
                                         // In pieces, as the shim has it.
                                         for (const char c : json) t.out_bytes({&c, 1});
                                       });
  CHECK(shown == lines{"{\"a\":\"\\u009b31m\\u202e\\udb40\\udc41\\u007f\"}\n",
                       "{\"a\":\"\\u009b31m\\u202e\\udb40\\udc41\\u007f\"}"});
  std::string out;
  {
    const captured_output captured;
    terminal t;
    t.out_json(json);
    t.out_bytes(json);
    out = captured.out();
  }
  CHECK(out == json + "\n" + json);
}
