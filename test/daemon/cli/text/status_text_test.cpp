// The table of `mcpbx status`.
#include "daemon/cli/text/status_text.hpp"

#include "test/daemon/cli/terminal/text_of_lines.hpp"

#include <doctest/doctest.h>

using namespace mcpbx;
using namespace mcpbx::json;

TEST_CASE("status: what is nested is words, not JSON") {
  const auto rows = cli::text::status_rows(raw_json::own(
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
  const auto trouble = [](std::string_view server) { return cli::text::trouble_of(raw_json::own(server)); };
  CHECK(trouble(R"({"lastError":"srv exited","lastErrorMs":1764115200000,"nextTryMs":9})") ==
        "2025-11-26 00:00 UTC: srv exited (next try in 9 ms)");
  CHECK(trouble(R"({"lastError":"srv exited","nextTryMs":null})") == "srv exited");
  CHECK(trouble(R"({"lastError":"","lastErrorMs":1764115200000})").empty());
}

TEST_CASE("status: at a terminal numbers have units, zeros are left out, and each faulty server has a row") {
  const auto status = raw_json::literal(
      R"({"version":"0.1.0","protocol":1,"pid":7,"uptimeMs":7384000,"socket":"/run/s",)"
      R"("callers":{"open":1,"max":1024,"refused":0,"openRequests":1},)"
      R"("runs":{"active":0,"total":3,"depth":{"0":2,"1":0,"3-4":1},"stops":{"final":3}},)"
      R"("servers":{"total":2,"states":{"failed":1,"ready":1},"tools":5,"noiseLines":0,)"
      R"("faulty":[{"name":"far","state":"failed","lastError":"it has a url, which this version cannot use"}]},)"
      R"("memory":{"ownedBytes":0,"limitBytes":536870912,"rssBytes":13212057},"counters":{"faults":0},"later":"x"})");
  CHECK(mcpbx::test::text_of(cli::text::status_facts(status).lines(60)) ==
        "daemon    version 0.1.0, pid 7, for 2 h 3 min\n"
        "socket    /run/s\n"
        "callers   1 open, 1024 max, 1 open request\n"
        "runs      3 total, depth (0: 2, 3-4: 1), stops (3 final)\n"
        "servers   2 total, states (1 failed, 1 ready), 5 tools\n"
        "          far, failed: it has a url, which this version\n"
        "          cannot use\n"
        "memory    512 MiB limit, 12.5 MiB rss\n"
        "counters  none\n"
        "later     x\n");
}

TEST_CASE("G49: a journal that cannot be written has a row with the reason and the time") {
  const auto status = raw_json::literal(
      R"({"version":"0.1.0","pid":7,"store":{"problem":"no room on the disk","sinceMs":1764115200000}})");
  CHECK(mcpbx::test::text_of(cli::text::status_facts(status).lines(100)) ==
        "daemon  version 0.1.0, pid 7\n"
        "store   not written since 2025-11-26 00:00 UTC: no room on the disk\n");
  const auto rows = cli::text::status_rows(status);
  CHECK(rows.back() == std::vector<std::string>{"store", "problem no room on the disk, sinceMs 1764115200000"});
}
