// The stdio shim keeps its own answer from the host, however the bytes are cut.
#include "daemon/cli/answer_filter.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using mcpbx::cli::answer_filter;

namespace {

const std::string hello = R"({"jsonrpc":"2.0","id":"mcpbx-shim-hello","result":{"version":"1"}})"
                          "\n";
const std::string answer = R"({"jsonrpc":"2.0","id":1,"result":{"tools":[]}})"
                           "\n";

std::string fed(answer_filter& filter, std::string_view bytes, std::size_t step) {
  std::string out;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(step, bytes.size()))) out += filter.pass(bytes.substr(0, step));
  return out;
}

}  // namespace

TEST_CASE("shim: the answer to its own request never reaches the host") {
  for (const std::size_t step : {1, 2, 7, 64, 100'000}) {
    CAPTURE(step);
    answer_filter filter;
    CHECK_FALSE(filter.settled());
    CHECK(fed(filter, answer + hello + answer, step) == answer + answer);
    CHECK(filter.settled());
    CHECK_FALSE(filter.mid_line());
  }
}

TEST_CASE("shim: a line of the host's is not held back until its end") {
  answer_filter filter;
  CHECK(filter.pass(R"({"jsonrpc":"2.0","id":")").empty());  // it may still be ours
  CHECK(filter.mid_line());
  CHECK(filter.pass("7\",") == R"({"jsonrpc":"2.0","id":"7",)");
  CHECK(filter.mid_line());
  CHECK(filter.pass("\"result\":{}}\n") == "\"result\":{}}\n");
  CHECK_FALSE(filter.mid_line());
}

TEST_CASE("shim: what looks like an answer of ours in the middle of a line passes") {
  answer_filter filter;
  const std::string line =
      R"({"jsonrpc":"2.0","id":9,"result":{"text":"x)" + hello.substr(0, hello.size() - 1) + "\"}}\n";
  CHECK(fed(filter, line, 5) == line);
  CHECK_FALSE(filter.settled());
}

TEST_CASE("shim: a line that begins like ours and goes on for ever passes") {
  answer_filter filter;
  const std::string line = R"({"jsonrpc":"2.0","id":"mcpbx-shim-other",)" + std::string(10'000, ' ');
  CHECK(fed(filter, line, 1'000) == line);
  CHECK(fed(filter, "}\n" + hello, 3) == "}\n");
  CHECK(filter.settled());
}
