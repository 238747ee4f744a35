// The question of a run at a terminal (L19): a process of its own sits at a pseudo-terminal, and somebody types.
#include "daemon/cli/terminal/approval.hpp"

#include "daemon/cli/link/daemon_connection.hpp"
#include "test/support/contains.hpp"

#include <doctest/doctest.h>

#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::cli::link;
using namespace mcpbx::cli::terminals;
using namespace mcpbx::json;
using mcpbx::test::contains;

namespace {

constexpr std::string_view prompt = "[y/N/a/s] ";

std::string question(std::string_view arguments) {
  return R"({"type":"question","tool":"files__rm\u001b[2J","server":"files","reason":"it deletes things","arguments":)" +
         std::string(arguments) + "}";
}

enum class said { no, yes, always, interrupted, withdrawn, nobody_to_ask, odd };

// Asks the question at the terminal of this process and exits with the answer as the status.
[[noreturn]] void ask_here(const std::string& event, const question_watch& watch) {
  ::setenv("NO_COLOR", "1", 1);
  catch_interrupts();
  auto answer = said::nobody_to_ask;
  if (can_ask()) {
    terminal screen;
    const auto given = ask_person(screen, raw_json::own(event), watch);
    answer = !given            ? (interrupted() ? said::interrupted : said::withdrawn)
             : !given->approve ? (given->always ? said::odd : said::no)
             : given->always   ? said::always
                               : said::yes;
  }
  ::_exit(static_cast<int>(answer));
}

struct sitting {
  said answer = said::odd;
  std::string shown;  // with what was typed, as a terminal echoes it
};

// Each of `keys` is typed when the question is there (again), `ahead` before it is.
sitting at_a_terminal(const std::vector<std::string>& keys, std::string_view arguments = R"({"path":"/tmp/x"})",
                      const question_watch& watch = {}, std::string_view ahead = {}) {
  const std::string event = question(arguments);
  int master = -1;
  const pid_t child = ::forkpty(&master, nullptr, nullptr, nullptr);
  REQUIRE(child >= 0);
  if (child == 0) {
    pollfd typed_ahead{STDIN_FILENO, POLLIN, 0};
    if (!ahead.empty()) (void)::poll(&typed_ahead, 1, 60'000);
    ask_here(event, watch);
  }
  REQUIRE(::write(master, ahead.data(), ahead.size()) == static_cast<ssize_t>(ahead.size()));
  sitting o;
  std::array<char, 4096> buffer{};
  std::size_t typed = 0, looked_at = 0;
  // The end of the process closes its side, which ends the reading.
  for (ssize_t n; (n = ::read(master, buffer.data(), buffer.size())) > 0;) {
    o.shown.append(buffer.data(), static_cast<std::size_t>(n));
    const auto asked = o.shown.find(prompt, looked_at);
    if (asked == std::string::npos || typed == keys.size()) continue;
    looked_at = asked + prompt.size();
    const auto& key = keys[typed++];
    REQUIRE(::write(master, key.data(), key.size()) == static_cast<ssize_t>(key.size()));
  }
  ::close(master);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  if (WIFEXITED(status)) o.answer = static_cast<said>(WEXITSTATUS(status));
  return o;
}

}  // namespace

TEST_CASE("L19: at a terminal a person says yes or no or always, and nothing else is a yes") {
  struct row {
    std::vector<std::string> keys;
    said answer;
  };
  const row rows[] = {
      {{"y\n"}, said::yes},        {{"YES\n"}, said::yes},
      {{" y \n"}, said::yes},      {{"n\n"}, said::no},
      {{"no\n"}, said::no},        {{"\n"}, said::no},
      {{"a\n"}, said::always},     {{"always\n"}, said::always},
      {{"yo\n", "n\n"}, said::no}, {{"yess\n", "a\n"}, said::always},
  };
  for (const auto& r : rows) {
    CAPTURE(r.keys.front());
    const auto o = at_a_terminal(r.keys);
    CHECK(o.answer == r.answer);
    CHECK(contains(o.shown, "write y, n, a or s") == (r.keys.size() > 1));
  }
}

TEST_CASE("L19: what was typed before a question was there is no answer to it") {
  CHECK(at_a_terminal({"n\n"}, "{}", {}, "y\n").answer == said::no);
  CHECK(at_a_terminal({"y\n"}, "{}", {}, "n\nno\n").answer == said::yes);
}

TEST_CASE("L19: the end of input is a no, and an interrupt is no answer") {
  CHECK(at_a_terminal({"\x04"}).answer == said::no);
  CHECK(at_a_terminal({"\x03"}).answer == said::interrupted);
}

TEST_CASE("L19: a question that somebody else has answered stands no more, and one that is still open does") {
  std::array<int, 2> pipe{};
  REQUIRE(::pipe(pipe.data()) == 0);
  REQUIRE(::write(pipe[1], "12", 2) == 2);
  // The first byte changes nothing, the second one is the other's answer.
  const question_watch watch{pipe[0], [fd = pipe[0]] {
                               char c = 0;
                               return ::read(fd, &c, 1) == 1 && c == '1';
                             }};
  const auto o = at_a_terminal({}, "{}", watch);
  CHECK(o.answer == said::withdrawn);
  CHECK(contains(o.shown, prompt));
  ::close(pipe[0]);
  ::close(pipe[1]);
}

TEST_CASE("L19 F8: the question shows tool, server, arguments and why, and no escape sequence of a peer") {
  const auto o = at_a_terminal({"n\n"});
  const auto head = o.shown.find("  server:    \"files\"\r\n  tool:      \"files__rm\\u{1b}[2J\"\r\n  arguments: ");
  CHECK(head != std::string::npos);
  CHECK(contains(o.shown, R"({"path":"/tmp/x"})"));
  CHECK(contains(o.shown, "it deletes things"));
  CHECK_FALSE(contains(o.shown, "\x1b[2J"));
}

TEST_CASE("L19: long arguments are cut with a sign of it, show tells all of them, and then the question stands again") {
  const std::string arguments = R"({"text":")" + std::string(900, 'x') + R"( the end"})";
  const auto o = at_a_terminal({"s\n", "y\n"}, arguments);
  CHECK(o.answer == said::yes);
  const auto first = o.shown.find(prompt);
  REQUIRE(first != std::string::npos);
  CHECK(contains(o.shown.substr(0, first), "of " + std::to_string(arguments.size()) + " left out here; s shows all"));
  CHECK(contains(o.shown.substr(0, first), "the end\"}"));
  std::string whole = o.shown.substr(first);
  for (auto at = whole.find("\r\n  | "); at != std::string::npos; at = whole.find("\r\n  | ")) whole.erase(at, 6);
  CHECK(contains(whole, arguments));
}

TEST_CASE("G39: what a person approves is shown as it is executed, and a line says what is not seen of it") {
  const auto o = at_a_terminal({"n\n"}, "{\"to\":\"a\U000E0041\u200B\uFE0Eb\u202E\"}");
  CHECK(contains(o.shown, "{\"to\":\"a\\u{e0041}\\u{200b}\\u{fe0e}b\\u{202e}\"}"));
  CHECK(contains(o.shown, "it has characters that are not seen"));
}

TEST_CASE("G39: line breaks and long lines of arguments begin no line of their own") {
  const auto o = at_a_terminal({"n\n"}, "{\"a\":1,\r\n\"b\":\"" + std::string(200, ' ') + "yes, no, always\"}");
  const auto from = o.shown.find("arguments: "), to = o.shown.find("  why:");
  REQUIRE(to != std::string::npos);
  for (auto at = o.shown.find('\n', from); at < to && at + 1 < to; at = o.shown.find('\n', at + 1))
    CHECK(o.shown.substr(at + 1, 4) == (at + 1 == to ? "  wh" : "  | "));
}
