// Tool servers that are not ready, by the list of mcpbx/servers.
#include "daemon/cli/base/server_wait.hpp"

#include <doctest/doctest.h>

using namespace mcpbx;
using namespace mcpbx::cli;
using namespace mcpbx::json;

TEST_CASE("unready servers: ready, lazy and disabled ones are none of them") {
  CHECK(unready_in(raw_json::literal("[]")).none());
  CHECK(unready_in(raw_json::literal(R"([{"name":"a","state":"ready"},{"name":"b","state":"lazy"},)"
                                     R"({"name":"c","state":"disabled"}])"))
            .none());
}

TEST_CASE("unready servers: first starts are told from retries, which have no end") {
  const auto r = unready_in(
      raw_json::literal(R"([{"name":"a","state":"starting"},{"name":"b","state":"starting","startFailed":true},)"
                        R"({"name":"c","state":"crash_loop","lastError":"it ended"},)"
                        R"({"name":"d","state":"restarting"},{"name":"e","state":"stopped"}])"));
  CHECK_FALSE(r.none());
  CHECK(r.starting == "a, d");
  CHECK(r.waiting == "  a: starting\n  d: restarting\n  e: stopped\n");
  CHECK(r.hopeless == "  b: starting\n  c: crash_loop: it ended\n");
}
