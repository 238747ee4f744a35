// Inputs of several lines.
#include "daemon/cli/chat/typed_lines.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using mcpbx::cli::chat::typed_lines;

namespace {

// Returns the inputs that come of these lines; an open one at the end stands behind "…".
std::vector<std::string> inputs_of(const std::vector<std::string>& lines) {
  typed_lines t;
  std::vector<std::string> all;
  for (const auto& line : lines)
    if (t.add(line)) all.push_back(t.take());
  if (t.open()) all.push_back("…" + t.take());
  return all;
}

using texts = std::vector<std::string>;

}  // namespace

TEST_CASE("typed lines: a line is an input, and a backslash at its end takes the next line with it") {
  CHECK(inputs_of({"one", "", "two\r"}) == texts{"one", "", "two"});
  CHECK(inputs_of({"one\\", "two\\", "three", "four"}) == texts{"one\ntwo\nthree", "four"});
  CHECK(inputs_of({"open\\"}) == texts{"…open\n"});
}

TEST_CASE("typed lines: three quotes begin and end an input of several lines") {
  CHECK(inputs_of({R"(""")", "one", "", "  two \\", R"(""")", "next"}) == texts{"one\n\n  two \\", "next"});
  CHECK(inputs_of({R"(  """one)", R"(two""")"}) == texts{"one\ntwo"});
  CHECK(inputs_of({R"("""one""")", "two"}) == texts{"one", "two"});
  CHECK(inputs_of({R"(""" one)", R"(a """ in the middle)", R"(end """  )"}) ==
        texts{" one\na \"\"\" in the middle\nend "});
  CHECK(inputs_of({R"("""""")"}) == texts{""});
  CHECK(inputs_of({R"(""")", "one"}) == texts{"…one"});
}

TEST_CASE("typed lines: a pasted text is one line, also between quotes") {
  CHECK(inputs_of({"one\ntwo\nthree"}) == texts{"one\ntwo\nthree"});
  CHECK(inputs_of({"\"\"\"\none\ntwo\n\"\"\"", "next"}) == texts{"\none\ntwo\n", "next"});
}

TEST_CASE("typed lines: an input beyond 16 MiB says so and keeps no more") {
  typed_lines t;
  const std::string part(6u << 20, 'x');
  CHECK_FALSE(t.add(part + "\\"));
  CHECK_FALSE(t.add(part + "\\"));
  CHECK_FALSE(t.too_long());
  CHECK(t.add(part));
  CHECK(t.too_long());
  CHECK(t.take().size() == typed_lines::most);
  CHECK_FALSE(t.too_long());
}
