// Tool servers at a terminal.
#include "daemon/cli/text/server_text.hpp"

#include "test/daemon/cli/terminal/text_of_lines.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace mcpbx;
using namespace mcpbx::cli::terminals;
using namespace mcpbx::cli::text;
using namespace mcpbx::json;
using mcpbx::test::text_of;

namespace {

const auto list = raw_json::literal(
    R"([{"name":"files","state":"ready","era":"legacy","revision":"2025-11-25","command":"npx -y files","pid":17,)"
    R"("rssBytes":13107200,"tools":3,"prompts":2,"resources":1,"resourceTemplates":1,"restarts":0,"offers":["tools","prompts","io.x/ui"],"lastError":"","exit":"","stderr":"","nextTryMs":null,"openCalls":1,)"
    R"("queuedCalls":0,"noiseLines":0,"droppedAnswers":0,"withheldTools":1},)"
    R"({"name":"a-server-with-a-name","state":"failed","era":"unknown","revision":"","pid":null,"rssBytes":null,)"
    R"("tools":0,"prompts":0,"resources":0,"restarts":2,"lastError":"tool server \"a-server-with-a-name\" cannot be started: no such program in )"
    R"(PATH=/usr/local/bin:/usr/bin:/bin","lastErrorMs":1780000000000,"exit":"exit status 3","stderr":"one\ntwo",)"
    R"("nextTryMs":61000,"openCalls":0,"queuedCalls":0,"noiseLines":4,"droppedAnswers":0,"withheldTools":0}])");

raw_json server(std::size_t at) {
  raw_json found;
  for_each_element(list, [&](const raw_json& s) { return found = s, at-- > 0; });
  return found;
}

look look_of(const std::vector<styled>& lines, std::string_view word) {
  for (const auto& line : lines)
    for (const auto& piece : line.pieces())
      if (piece.text == word) return piece.how;
  return look::plain;
}

}  // namespace

TEST_CASE("servers: the table fits 80 columns, with each error below its row") {
  CHECK(text_of(server_table(list).lines(80)) ==
        "NAME                  STATE   TOOLS  PROMPTS  RESOURCES  PID  MEMORY    RESTARTS\n"
        "files                 ready   3      2        1          17   12.5 MiB  0\n"
        "a-server-with-a-name  failed  0      0        0                         2\n"
        "  2026-05-28 20:26 UTC: tool server \"a-server-with-a-name\" cannot be started: no\n"
        "  such program in PATH=/usr/local/bin:/usr/bin:/bin; next try in 61 s\n");
  CHECK(text_of(server_table(list).lines(40)).starts_with("NAME                  STATE   TOOLS\n"));
}

TEST_CASE("servers: a state has its colour") {
  const auto lines = server_table(list).lines(80);
  CHECK(look_of(lines, "ready") == look::green);
  CHECK(look_of(lines, "failed") == look::red);
  const auto other = raw_json::literal(R"([{"name":"a","state":"restarting"},{"name":"b","state":"disabled"}])");
  CHECK(look_of(server_table(other).lines(80), "restarting") == look::yellow);
  CHECK(look_of(server_table(other).lines(80), "disabled") == look::dim);
}

TEST_CASE("servers NAME: a server at an address shows how it is reached and the kind of trouble") {
  const auto far = raw_json::literal(
      R"({"name":"far","state":"failed","remote":{"address":"https://tools.example/mcp","transport":"sse","problem":"unauthorized"}})");
  const auto text = text_of(server_facts(far).lines(80));
  CHECK(text.contains("address     https://tools.example/mcp, by sse\n"));
  CHECK(text.contains("trouble     unauthorized\n"));
}

TEST_CASE("servers NAME: every known fact has a line") {
  CHECK(text_of(server_facts(server(0)).lines(80)) ==
        "name        files\n"
        "state       ready\n"
        "command     npx -y files\n"
        "pid         17\n"
        "memory      12.5 MiB\n"
        "restarts    0\n"
        "protocol    2025-11-25 (legacy)\n"
        "tools       3, 1 not offered\n"
        "lists       2 prompts, 1 resource, 1 resource template\n"
        "offers      tools, prompts, io.x/ui\n"
        "calls       1 open, 0 waiting\n"
        "last error  none\n");
  CHECK(text_of(server_facts(server(1)).lines(0)) ==
        "name         a-server-with-a-name\n"
        "state        failed, next try in 61 s\n"
        "restarts     2\n"
        "tools        0\n"
        "calls        0 open, 0 waiting\n"
        "noise lines  4\n"
        "last error   2026-05-28 20:26 UTC: tool server \"a-server-with-a-name\" cannot be started: no "
        "such "
        "program in PATH=/usr/local/bin:/usr/bin:/bin\n"
        "last exit    exit status 3\n"
        "stderr       one\n"
        "             two\n");
}

TEST_CASE("servers: one that is not shared shows its instances") {
  const auto own = raw_json::literal(
      R"([{"name":"own","state":"ready","tools":1,"openCalls":0,"queuedCalls":0,"noiseLines":0,"droppedAnswers":0,)"
      R"("instances":[{"for":"caller ide [pid 7]","state":"ready","pid":9,"openCalls":1,"lastError":""},)"
      R"({"for":"run r","state":"restarting","openCalls":0,"lastError":"it broke"}]}])");
  CHECK(text_of(server_table(own).lines(80)).find("\n  instances: 1 ready, 1 restarting\n") != std::string::npos);
  raw_json one;
  for_each_element(own, [&](const raw_json& s) { return one = s, false; });
  const auto facts = text_of(server_facts(one).lines(0));
  CHECK(facts.find("instances   1 ready, 1 restarting\n"
                   "  for       caller ide [pid 7]: ready, pid 9, 1 calls open\n"
                   "  for       run r: restarting, 0 calls open; it broke\n") != std::string::npos);
}
