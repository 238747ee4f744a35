// The screen of `mcpbx top` as lines.
#include "daemon/cli/text/top_text.hpp"

#include "daemon/cli/terminal/fitted_table.hpp"
#include "test/daemon/cli/terminal/text_of_lines.hpp"
#include "test/support/contains.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace mcpbx;
using namespace mcpbx::json;
using mcpbx::test::contains;
using mcpbx::test::text_of;

namespace {

raw_json live_with(std::string_view servers) {
  return raw_json::own(R"({"version":"1.2.3","uptimeMs":7200000,"callers":1,"openRequests":1,)"
                       R"("runs":{"active":2,"total":140,"rounds":3,"calls":4},)"
                       R"("memory":{"rssBytes":11534336,"ownedBytes":1},"servers":[)" +
                       std::string(servers) + "]}");
}

std::string server(const std::string& name, const std::string& speed, const std::string& more = "") {
  return R"({"name":")" + name + R"(","state":"ready","restarts":0,"openCalls":0,"queuedCalls":0,"calls":7,)" +
         R"("failedCalls":0,"callsPerSecond":)" + speed + more + "}";
}

}  // namespace

TEST_CASE("top: the busiest server is first and others keep their order") {
  const auto text = text_of(cli::text::top_lines(
      live_with(server("idle", "0") + "," + server("other", "0") + "," + server("busy", "12.5", R"(,"p95Ms":0.42)")),
      100, 0));
  CHECK(contains(
      text, "mcpbx 1.2.3, up 2 h 0 min, 11 MiB\n1 caller, 2 active of 140 runs, 3 of 3 servers ready, 12.5 calls/s"));
  CHECK(text.find("busy") < text.find("idle"));
  CHECK(text.find("idle") < text.find("other"));
  CHECK(contains(text, "0.42 ms"));
}

TEST_CASE("top: durations have few digits in every range") {
  for (const auto& [ms, shown] : std::vector<std::pair<std::string, std::string>>{{"0.004", "0.00 ms"},
                                                                                  {"0.042", "0.04 ms"},
                                                                                  {"1.26", "1.3 ms"},
                                                                                  {"49.6", "50 ms"},
                                                                                  {"1250", "1.3 s"},
                                                                                  {"61000", "61 s"}})
    CHECK(contains(text_of(cli::text::top_lines(live_with(server("s", "1", ",\"p95Ms\":" + ms)), 100, 0)), shown));
}

TEST_CASE("top: no line is wider than the terminal and no screen is higher") {
  std::string many;
  for (int i = 0; i < 50; ++i)
    many += (i == 0 ? "" : ",") + server("server-with-a-long-name-" + std::to_string(i), "0");
  for (const std::size_t width : {50u, 80u, 200u})
    for (const std::size_t height : {3u, 5u, 10u, 24u, 100u}) {
      CAPTURE(width);
      CAPTURE(height);
      const auto lines = cli::text::top_lines(live_with(many), width, height);
      CHECK(lines.size() <= height);
      for (const auto& line : lines) {
        std::string all;
        for (const auto& piece : line.pieces()) all += piece.text;
        CHECK(cli::terminals::display_columns(all) <= width);
      }
    }
  CHECK(contains(text_of(cli::text::top_lines(live_with(many), 100, 10)), "and 45 servers more"));
}

TEST_CASE("top: a daemon without servers says how to add some") {
  CHECK(contains(text_of(cli::text::top_lines(live_with(""), 100, 24)), "`mcpbx add`"));
}
