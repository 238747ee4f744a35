// Texts of a run for people and for the model: titles, reasons, guidance, time spans.
#include "daemon/loop/run_words.hpp"
#include "mcp/support/text.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

TEST_CASE("L15: names become titles") {
  CHECK(mcpbx::daemon::loop::words::title_case("lookup_tool") == "Lookup Tool");
  CHECK(mcpbx::daemon::loop::words::title_case("file_read") == "File Read");
  CHECK(mcpbx::daemon::loop::words::title_case("read-my__file_") == "Read My File");
  CHECK(mcpbx::daemon::loop::words::using_tool("lookup_tool", "") == "Using Lookup Tool...");
  CHECK(mcpbx::daemon::loop::words::using_tool("x", "The\x1b[31m Title") == "Using The[31m Title...");
}

TEST_CASE("L11: a sentence for people starts and ends once") {
  CHECK(mcpbx::daemon::loop::words::unable("no key") == "Unable to complete task: no key.");
  CHECK(mcpbx::daemon::loop::words::unable("Unable to complete task: no key.") == "Unable to complete task: no key.");
  CHECK(mcpbx::daemon::loop::words::stopped("Unable to complete task: no key.") == "Stopped: no key.");
  CHECK(mcpbx::daemon::loop::words::stopped("no key.") == "Stopped: no key.");
}

TEST_CASE("L7: the guidance tells names only and not endlessly many") {
  std::vector<std::string> names;
  for (int i = 0; i < 100; ++i) names.push_back("tool" + std::to_string(i));
  const auto text = mcpbx::daemon::loop::words::guidance(names);
  CHECK(text.find("tool63 and 36 more.") != std::string::npos);
  CHECK(mcpbx::daemon::loop::words::has_guidance("be brief\n\n" + text));
  CHECK_FALSE(mcpbx::daemon::loop::words::has_guidance("be brief"));
}

TEST_CASE("L8: what is counted once is told in the singular") {
  CHECK(mcpbx::counted(0, "round") == "0 rounds");
  CHECK(mcpbx::counted(1, "round") == "1 round");
  CHECK(mcpbx::counted(2, "round") == "2 rounds");
}

TEST_CASE("L8: spans of time read as people say them") {
  CHECK(mcpbx::daemon::loop::words::span_of(250) == "250 ms");
  CHECK(mcpbx::daemon::loop::words::span_of(1500) == "1.5 s");
  CHECK(mcpbx::daemon::loop::words::span_of(120'000) == "120 s");
}
