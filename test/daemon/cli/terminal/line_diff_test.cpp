// Comparisons line by line.
#include "daemon/cli/terminal/line_diff.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::cli::terminals;
using namespace mcpbx::json;

namespace {

using lines = std::vector<std::string>;

std::string diff(const lines& before, const lines& after) {
  std::string all;
  for (const auto& line : line_diff(before, after)) all += line.mark + line.text + "|";
  return all;
}

}  // namespace

TEST_CASE("line diff: equal lines stay, and of a change the old lines come first") {
  CHECK(diff({}, {}) == "");
  CHECK(diff({"a"}, {"a"}) == " a|");
  CHECK(diff({"a", "b", "c"}, {"a", "x", "c"}) == " a|-b|+x| c|");
  CHECK(diff({"a", "b"}, {"b", "c"}) == "-a| b|+c|");
  CHECK(diff({"a", "b", "c", "d"}, {"b", "d", "e"}) == "-a| b|-c| d|+e|");
  CHECK(diff({}, {"a"}) == "+a|");
  CHECK(diff({"a"}, {}) == "-a|");
  CHECK(diff({"a", "a"}, {"a"}) == " a|-a|");
}

TEST_CASE("line diff: too many lines to compare all count as changed, but for those at both ends") {
  lines before{"first"}, after{"first"};
  for (int i = 0; i < 3000; ++i) {
    before.push_back("x" + std::to_string(i));
    after.push_back("y" + std::to_string(i));
  }
  before.emplace_back("last");
  after.emplace_back("last");
  const auto all = line_diff(before, after);
  REQUIRE(all.size() == 6002);
  CHECK(all.front() == diff_line{' ', "first"});
  CHECK(all[3000].mark == '-');
  CHECK(all[3001].mark == '+');
  CHECK(all.back() == diff_line{' ', "last"});
}

TEST_CASE("comparable lines: a text by its lines, JSON by its elements, tokens as they are") {
  CHECK(comparable_lines({}).empty());
  CHECK(comparable_lines(raw_json::literal(R"("one\ntwo")")) == lines{"one", "two"});
  CHECK(comparable_lines(raw_json::literal("1.0")) == lines{"1.0"});
  CHECK(comparable_lines(raw_json::literal(R"({"a":{"b":[1.0,"x\ny"],"c":{}},"d":[]})")) ==
        lines{"{", R"(  "a": {)", R"(    "b": [)", "      1.0,", R"(      "x\ny")", "    ],", R"(    "c": {})", "  },",
              R"(  "d": [])", "}"});
}
