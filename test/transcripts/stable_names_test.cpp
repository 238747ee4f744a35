// Tests of the names for what varies: nothing else is hidden.
#include "test/transcripts/stable_names.hpp"

#include <doctest/doctest.h>

using mcpbx::transcripts::names;

TEST_CASE("names: ids get a number when they are first seen, and keep it") {
  names n;
  CHECK(n.hide(R"({"run":"run_0123456789abcdef","session":"ses_0000000000000001"})") ==
        R"({"run":"@RUN1@","session":"@SESSION1@"})");
  CHECK(n.hide("run_fedcba9876543210 run_0123456789abcdef") == "@RUN2@ @RUN1@");
  CHECK(n.fill(R"({"run":"@RUN2@"})") == R"({"run":"run_fedcba9876543210"})");
}

TEST_CASE("names: what looks like an id and is none stays") {
  names n;
  for (const char* text :
       {"run_0123456789abcde", "run_0123456789abcdef0", "prun_0123456789abcdef", "run_0123456789ABCDEF"})
    CHECK(n.hide(text) == text);
}

TEST_CASE("names: times and sizes are hidden where a member of this name has a number, and nowhere else") {
  names n;
  CHECK(n.hide(R"({"durationMs":17,"pid":9,"bytes":1})") == R"({"durationMs":@MS@,"pid":@PID@,"bytes":@BYTES@})");
  for (const char* text :
       {R"({"pid":null,"durationMs":"17"})", R"({"inputTokens":17,"rounds":2})", R"({"text":"durationMs 17"})",
        R"({"code":-32600})", R"({"toolSha256":"abc"})", R"({"accepted":1})"})
    CHECK(n.hide(text) == text);
}

TEST_CASE("names: numbers of events, dates and a parked run's time are hidden where they come from the clock") {
  names n;
  CHECK(n.hide(R"({"seq":1795619658238002})") == R"({"seq":@SEQ@})");
  CHECK(n.hide(R"({"seq":12})") == R"({"seq":12})");
  CHECK(n.hide_with_number(R"({"seq":12})") == R"({"seq":@SEQ@})");
  CHECK(n.hide(R"({"pinnedAt":"2026-11-25T15:15:06.156Z"})") == R"({"pinnedAt":"@TIME@"})");
  CHECK(n.hide("Date: Wed, 25 Nov 2026 15:14:29 GMT") == "Date: @DATE@");
  CHECK(n.hide("<- one (12 ms)") == "<- one (@MS@ ms)");
  CHECK(n.hide(R"({"expiresMs":5,"elapsedMs":6})") == R"({"expiresMs":@TIME@})");
  CHECK(n.hide(R"({"depth":0,"elapsedMs":6})") == R"({"depth":0,"elapsedMs":@MS@})");
}

TEST_CASE("names: places are hidden longest first, and filled in again") {
  names n;
  n.place("@DIR@", "/tmp/x");
  n.place("@SERVER@", "/tmp/x/server");
  CHECK(n.hide("/tmp/x/server /tmp/x/s") == "@SERVER@ @DIR@/s");
  CHECK(n.fill("@SERVER@ @DIR@/s") == "/tmp/x/server /tmp/x/s");
}
