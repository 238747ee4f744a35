// Small parts: the stderr log of a server, and the window of unsent requests.
#include "mcp/client/connect/process/stderr_log.hpp"
#include "mcp/client/session/write_window.hpp"
#include "mcp/redact/secret.hpp"
#include "mcp/support/log.hpp"
#include "test/support/in_pieces.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace mcpbx;
using namespace mcpbx::mcp::child;
using namespace mcpbx::mcp::session;
using namespace mcpbx::redact;

namespace {

/// Collects the log as long as it lives.
struct log_catcher {
  log_catcher() {
    log::install(log::level::info, [this](log::level, std::string_view line) {
      ++lines;
      bytes += line.size() + 1;
      text += std::string(line) + "\n";
    });
  }
  ~log_catcher() { log::install(log::level::off, {}); }
  log_catcher(const log_catcher&) = delete;
  log_catcher& operator=(const log_catcher&) = delete;
  std::size_t lines = 0, bytes = 0;
  std::string text;
};

constexpr time_point start{std::chrono::hours(1)};

}  // namespace

TEST_CASE("G8: the last bytes of stderr are kept, printable and without secrets") {
  stderr_log e("srv", 64 << 10);
  CHECK(e.tail(4096).empty());
  CHECK(e.last_line().empty());
  redactor::add(secret("canary-4711"));
  e.feed("first\nkey canary-4711\x1b[31m refused\n\n", start);
  CHECK(e.tail(4096) == "first\nkey ***[31m refused\n\n");
  CHECK(e.last_line() == "key ***[31m refused");
  redactor::clear();
  e.begin_process();
  CHECK(e.last_line().empty());
  CHECK(e.tail(4096).starts_with("first"));
  e.feed("second", start);
  CHECK(e.last_line() == "second");
  e.feed(std::string(200'000, 'x') + "end", start);
  CHECK(e.tail(4096).size() == 4096);
  CHECK(e.tail(1 << 20).size() == 64 << 10);
  CHECK(e.tail(3) == "end");
  CHECK(e.last_line().size() == 200);
}

TEST_CASE("G8: the line of stderr that is quoted is the one that tells of an error, else the last one") {
  struct row {
    std::string_view said, quoted;
  };
  for (const row& r : {
           row{"starting\nready\n", "ready"},
           row{"node:internal/modules/cjs/loader:1228\n  throw err;\n  ^\n\nError: Cannot find module 'x'\n"
               "Require stack:\n- /srv/index.js\n    at Module._resolveFilename (node:internal:1:2)\n"
               "    at throwError (node:internal:3:4) {\n  code: 'MODULE_NOT_FOUND',\n  requireStack: []\n}\n\n"
               "Node.js v24.21.0\n",
               "Error: Cannot find module 'x'"},
           row{"Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n    import x\n"
               "ModuleNotFoundError: No module named 'x'\n",
               "ModuleNotFoundError: No module named 'x'"},
           row{"Traceback (most recent call last):\n  File \"a.py\", line 1\n    raise Gone(1)\nshop.Gone: 1\nbye\n",
               "shop.Gone: 1"},
           row{"panic: no port\n\ngoroutine 1 [running]:\nmain.main()\n\t/srv/main.go:4 +0x1d\nexit status 2\n",
               "panic: no port"},
           row{"thread 'main' panicked at src/main.rs:2:5:\nno port\nnote: run with `RUST_BACKTRACE=1`\n",
               "thread 'main' panicked at src/main.rs:2:5:"},
           row{"FATAL: no licence\r\n}\r\n", "FATAL: no licence"},
           row{"sh: 1: cannot open /x\ndone", "sh: 1: cannot open /x"},
           row{"error one\nerror two\n   \n", "error two"},
           row{"Traceback (most recent call last):\n  File", "  File"},
       }) {
    CAPTURE(r.said);
    stderr_log e("srv", 64 << 10);
    e.begin_process();
    e.feed(r.said, start);
    CHECK(e.error_line() == r.quoted);
    e.begin_process();
    CHECK(e.error_line().empty());
  }
  stderr_log e("srv", 64 << 10);
  redactor::add(secret("canary-4711"));
  e.feed("Error: canary-4711 " + std::string(500, 'x') + "\nnext\n", start);
  CHECK(e.error_line().starts_with("Error: *** xxx"));
  CHECK(e.error_line().size() == 200);
  std::string flood;
  while (flood.size() < 5000) flood += "listening\n";
  e.feed(flood, start);
  CHECK(e.error_line() == "listening");
  redactor::clear();
}

TEST_CASE("G8: a line that tells of no errors is not quoted as one") {
  const auto quoted = [](const std::string& line) {
    stderr_log e("srv", 64 << 10);
    e.begin_process();
    e.feed("FATAL: no licence\n" + line + "\n", start);
    return e.error_line();
  };
  for (const std::string line : {
           "0 errors so far",
           "done, 0 Errors, 3 warnings",
           "done (0 error(s))",
           "compiled with 0 fatal errors",
           "zero errors",
           "No errors found",
           "no error",
           "started without errors.",
           "no fatal error",
           "error: 0",
           "Errors: 0 warnings: 3",
           "errors = 0",
           "errors=0 warnings=3",
           "requests=7,errors=0,exceptions=0",
           "{\"requests\":7,\"errors\":0}",
           "error_count: 0",
           "errorCount=0",
           "ERROR COUNT: 0",
           "no errors, 0 exceptions\r",
       }) {
    CAPTURE(line);
    CHECK(quoted(line) == "FATAL: no licence");
  }
  for (const std::string line : {
           "10 errors",
           "1.0 errors",
           "errors: 01",
           "errors=0.5",
           "error: 0 arguments given, 1 expected",
           "0 errors before, error now",
           "no errors in a, cannot open b",
           "no error handler for x",
           "error: none of 0",
           "error code: 0",
           "Error",
           "errors = 10",
       }) {
    CAPTURE(line);
    CHECK(quoted(line) == line);
  }
}

TEST_CASE("stderr: what a server prints is kept and logged the same in pieces of any size") {
  std::string said;
  for (const std::size_t size : test::awkward_sizes)
    if (size < 9'000)
      said += test::filler_words(size) + (size % 2 == 0 ? "\r\n" : "\n") + "\xC3\xA4 key canary-4711 end\n";
  redactor::add(secret("canary-4711"));
  std::string whole;
  test::check_in_any_pieces(said + "half", [&](std::string_view bytes, std::size_t size) {
    log_catcher log;
    stderr_log e("srv", 4096);
    e.begin_process();
    test::in_pieces(bytes, size, [&](std::string_view piece) { e.feed(piece, start); });
    const auto last = e.last_line();
    e.end_process(start);
    return whole = log.text + "|" + e.tail(4096) + "|" + last;
  });
  redactor::clear();
  CHECK(whole.ends_with("|half"));
  CHECK(whole.find("canary") == std::string::npos);
}

TEST_CASE("G35: no part of a secret is in the log or among the last lines of stderr, wherever it is cut") {
  log_catcher log;
  const std::string key = "canary-" + std::string(2'000, 'k') + "-end";
  redactor::clear();
  redactor::add(secret(key));
  for (const std::size_t before : {std::size_t{0}, std::size_t{1'000}, std::size_t{1'016}, std::size_t{1'024}}) {
    CAPTURE(before);
    const std::string line = std::string(before, '.') + key + "\n";
    for (const std::size_t split : {before + 10, before + 1'500}) {
      stderr_log e("srv", 64 << 10);
      e.feed(line.substr(0, split), start);
      // Only part of the secret has been read.
      CHECK(e.tail(4096) == std::string(before, '.') + "***");
      CHECK(e.last_line().find("cana") == std::string::npos);
      e.feed(line.substr(split), start);
      CHECK(e.tail(4096) == std::string(before, '.') + "***\n");
      CHECK(e.last_line().find("cana") == std::string::npos);
    }
  }
  SUBCASE("also when the process dies in the middle of it") {
    stderr_log e("srv", 64 << 10);
    e.feed("key " + key.substr(0, 100), start);
    e.end_process(start);
    CHECK(log.text.ends_with("stderr: key ***\n"));
  }
  SUBCASE("also when only its end is kept") {
    stderr_log e("srv", 1024);
    e.feed(key + " was refused", start);
    CHECK(e.tail(4096) == "*** was refused");
    CHECK(e.last_line() == "*** was refused");
  }
  CHECK(log.lines >= 8);
  CHECK(log.text.find("cana") == std::string::npos);
  CHECK(log.text.find("kkkk") == std::string::npos);
  redactor::clear();
}

TEST_CASE("G9: 50 MiB of stderr cost at most 1 MiB of log and say how much was dropped") {
  log_catcher log;
  stderr_log e("srv", 64 << 10);
  std::string block;
  while (block.size() < 64 << 10) block += "some line of noise that a server prints\n";
  time_point now = start;
  for (std::size_t fed = 0; fed < std::size_t{50} << 20; fed += block.size()) {
    e.feed(block, now);
    now += milliseconds(10);
  }
  e.end_process(now);
  CHECK(log.bytes < std::size_t{1} << 20);
  CHECK(log.text.find("bytes were not logged, it writes too fast") != std::string::npos);
  CHECK(e.dropped() > std::size_t{40} << 20);
  SUBCASE("and lines that never end are cut") {
    stderr_log endless("srv", 64 << 10);
    const auto before = log.lines;
    for (int i = 0; i < 100; ++i) endless.feed(std::string(64 << 10, 'x'), now);
    CHECK(log.lines - before == 1);
  }
}

TEST_CASE("stderr becomes one log line per line, whatever its pieces, and no line can be faked") {
  log_catcher log;
  stderr_log e("srv", 1024);
  e.feed("one", start);
  e.feed(" line\r\nand\x1b[2K a", start);
  e.feed("nother\n\nlast", start);
  CHECK(log.text == "server srv stderr: one line\nserver srv stderr: and[2K another\n");
  e.end_process(start);
  CHECK(log.text.ends_with("server srv stderr: last\n"));
}

TEST_CASE("the window counts requests until they are written and sees when nobody reads") {
  write_window w;
  CHECK(w.next_time() == never);
  CHECK(w.idle());
  w.begin(start);
  const int one = 0, two = 0;
  w.sent_request(100, &one);
  w.sent(50);
  w.sent_request(100, &two);
  CHECK_FALSE(w.idle());
  CHECK(w.requests(250) == 2);
  CHECK(w.requests(151) == 2);
  CHECK(w.requests(150) == 1);
  CHECK(w.unwritten().front().asker == &two);
  CHECK(w.unwritten().front().bytes == 100);
  CHECK(w.requests(1) == 1);
  CHECK(w.next_time() == start + write_window::most_stall);
  CHECK_FALSE(w.stalled(1, start + milliseconds(30'000)));  // the server has read something since
  CHECK_FALSE(w.stalled(1, start + milliseconds(59'999)));
  CHECK(w.stalled(1, start + milliseconds(60'000)));
  w.drained();
  CHECK(w.idle());
  CHECK(w.next_time() == never);
  CHECK(w.requests(0) == 0);
}
