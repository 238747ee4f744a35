// The facts of a dry run as a table.
#include "daemon/cli/base/run_beginning.hpp"

#include "test/daemon/cli/terminal/text_of_lines.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace mcpbx;
using namespace mcpbx::cli;
using namespace mcpbx::json;

namespace {

std::string shown(const char* json) {
  return test::text_of(beginning_table(raw_json::own(json)).lines(120));
}

}  // namespace

TEST_CASE("dry run: model, endpoint, cost, tools and size stand in a row each") {
  const auto all = shown(
      R"({"dryRun":true,"model":"gpt","id":"gpt-5","api":"openai-chat","host":"api.example","cost":"provider",)"
      R"("session":"ses_1","tools":["a__b","c__d"],"leftOut":["e__f"],"messages":2,"promptBytes":400,"toolBytes":1,)"
      R"("estimatedTokens":101,"notFetched":["p"]})");
  CHECK(all.find("gpt (gpt-5)") != std::string::npos);
  CHECK(all.find("api.example") != std::string::npos);
  CHECK(all.find("may charge for it") != std::string::npos);
  CHECK(all.find("2: a__b, c__d") != std::string::npos);
  CHECK(all.find("e__f") != std::string::npos);
  CHECK(all.find("ses_1") != std::string::npos);
  CHECK(all.find("400 bytes in 2 messages, and 1 byte of tools") != std::string::npos);
  const auto none = shown(
      R"({"model":"demo","cost":"none","tools":[],"messages":1,"promptBytes":4,"toolBytes":0,"estimatedTokens":2})");
  CHECK(none.find("none: no endpoint is asked") != std::string::npos);
  CHECK(none.find("profile") == std::string::npos);
  CHECK(shown(R"({"cost":"local"})").find("runs on this machine") != std::string::npos);
}
