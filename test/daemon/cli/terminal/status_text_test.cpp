// The table of `mcpbx status`.
#include "daemon/cli/terminal/status_text.hpp"

#include <doctest/doctest.h>

using namespace mcpbx;

TEST_CASE("status: what is nested is words, not JSON") {
  const auto rows = cli::status_rows(raw_json::own(
      R"({"pid":7,"socket":"/s","runs":{"active":0,"depth":{"0":2,"1":1},"stops":{}},)"
      R"("servers":{"faulty":[{"name":"a","state":"failed"},{"name":"b","state":"restarting"}]},"list":[]})"));
  REQUIRE(rows.size() == 5);
  CHECK(rows[0] == std::vector<std::string>{"pid", "7"});
  CHECK(rows[1] == std::vector<std::string>{"socket", "/s"});
  CHECK(rows[2] == std::vector<std::string>{"runs", "active 0, depth (0 2, 1 1), stops (none)"});
  CHECK(rows[3] == std::vector<std::string>{"servers", "faulty name a, state failed; name b, state restarting"});
  CHECK(rows[4] == std::vector<std::string>{"list", "none"});
}

TEST_CASE("G8: the last error of a server has its time before it") {
  const auto trouble = [](std::string_view server) { return cli::trouble_of(raw_json::own(server)); };
  CHECK(trouble(R"({"lastError":"srv exited","lastErrorMs":1764115200000,"nextTryMs":9})") ==
        "2025-11-26 00:00 UTC: srv exited (next try in 9 ms)");
  CHECK(trouble(R"({"lastError":"srv exited","nextTryMs":null})") == "srv exited");
  CHECK(trouble(R"({"lastError":"","lastErrorMs":1764115200000})").empty());
}
