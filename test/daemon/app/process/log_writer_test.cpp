// The log's lines: safe whatever a peer wrote, and bounded.
#include "daemon/app/process/log_writer.hpp"

#include "mcp/redact/secret.hpp"
#include "test/support/captured_output.hpp"

#include <doctest/doctest.h>

#include <sys/stat.h>

#include <algorithm>
#include <string>

using namespace mcpbx;
using namespace mcpbx::daemon::process;
using namespace mcpbx::redact;

TEST_CASE("G47: control characters are escaped so that no text of a peer fakes a line") {
  CHECK(safe_log_line("plain žluť") == "plain žluť");
  CHECK(safe_log_line("a\n2026-01-01 info  all is well") == "a\\n2026-01-01 info  all is well");
  CHECK(safe_log_line("a\r\tb\x1b[2J\x7f") == "a\\x0d b\\x1b[2J\\x7f");
  CHECK(safe_log_line(std::string("a\0b", 3)) == "a\\x00b");
  CHECK(safe_log_line("C1 \xc2\x9b"
                      "2J, bidi \xe2\x80\xae, tag \xf3\xa0\x81\xa1") == "C1 \\u{9b}2J, bidi \\u{202e}, tag \\u{e0061}");
  CHECK(safe_log_line("bad \xff\xc3 utf8") == "bad \xef\xbf\xbd\xef\xbf\xbd utf8");
}

TEST_CASE("G35: registered secrets are taken out of every line") {
  redactor::add(secret("canary-5f2c"));
  CHECK(safe_log_line("key=canary-5f2c, again canary-5f2c") == "key=***, again ***");
  redactor::clear();
}

TEST_CASE("G47: one call writes one line with level and time") {
  const mcpbx::test::changed_variable journal("JOURNAL_STREAM", nullptr);
  std::string err;
  {
    const mcpbx::test::captured_output captured;
    {
      const log_writer lane(log::level::info);
      log::warn("first\nsecond");
      log::debug("below the threshold");
    }
    err = captured.err();
  }
  CHECK(err.ends_with(" warning first\\nsecond\n"));
  CHECK(std::count(err.begin(), err.end(), '\n') == 1);
}

TEST_CASE("log: messages of the start have a priority in the journal, line by line") {
  std::string err;
  {
    const mcpbx::test::captured_output captured;
    say("one\ntwo\n");
    struct stat s{};
    REQUIRE(::fstat(2, &s) == 0);
    const auto stream = std::to_string(s.st_dev) + ":" + std::to_string(s.st_ino);
    const mcpbx::test::changed_variable journal("JOURNAL_STREAM", stream.c_str());
    say("three\n\nfour\n");
    say("ready", log::level::info);
    err = captured.err();
  }
  CHECK(err == "one\ntwo\n<3>three\n<3>\n<3>four\n<6>ready");
}

TEST_CASE("log: the journal gets priorities and no time of ours") {
  std::string err;
  {
    const mcpbx::test::captured_output captured;
    struct stat s{};
    REQUIRE(::fstat(2, &s) == 0);
    const auto stream = std::to_string(s.st_dev) + ":" + std::to_string(s.st_ino);
    const mcpbx::test::changed_variable journal("JOURNAL_STREAM", stream.c_str());
    {
      const log_writer lane(log::level::trace);
      log::error("bad");
      log::info("good");
    }
    err = captured.err();
  }
  CHECK(err == "<3>bad\n<6>good\n");
}

TEST_CASE("log: an inherited JOURNAL_STREAM of another stream takes no time and level away") {
  const mcpbx::test::changed_variable journal("JOURNAL_STREAM", "8:1");
  std::string err;
  {
    const mcpbx::test::captured_output captured;
    {
      const log_writer lane(log::level::info);
      log::warn("here");
    }
    err = captured.err();
  }
  CHECK(err.ends_with(" warning here\n"));
}

TEST_CASE("log: what does not fit is dropped and counted and told") {
  std::string err;
  std::uint64_t dropped = 0;
  {
    const mcpbx::test::captured_output captured;
    {
      const log_writer lane(log::level::info, 100);
      log::info(std::string(101, 'x'));
      log::info(std::string(200, 'y'));
      log::info("short");
      dropped = lane.dropped();
    }
    err = captured.err();
  }
  CHECK(dropped == 2);
  CHECK(err.find("xxx") == std::string::npos);
  CHECK(err.find("short\n") != std::string::npos);
  CHECK(err.find("2 log lines were dropped") != std::string::npos);
}
