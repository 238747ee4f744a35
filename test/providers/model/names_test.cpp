// Names for models, and back.
#include "providers/model/names.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace mcpbx::providers;

TEST_CASE("F8: names become letters, digits, _ and -, a letter first, at most 64") {
  CHECK(model_name("files__read_file") == "files__read_file");
  CHECK(model_name("a.b/c d") == "a_b_c_d");
  CHECK(model_name("9lives") == "t_9lives");
  CHECK(model_name("") == "t_");
  const auto cut = model_name(std::string(100, 'x'));
  CHECK(cut.size() == 64);
  CHECK(is_model_name(cut));
  CHECK(cut != model_name(std::string(101, 'x')));
}

TEST_CASE("F8: names are reversible without collisions, whatever their order") {
  const std::string cut(80, 'q');
  std::vector<std::string_view> names{"a.b", "a/b", "a_b", "plain", cut, "\xC3\xA4"};
  const auto shown = shown_names(names);
  REQUIRE(shown.size() == names.size());
  std::map<std::string, std::string_view> originals;
  for (std::size_t i = 0; i < names.size(); ++i) {
    CHECK(is_model_name(shown[i]));
    CHECK(originals.emplace(shown[i], names[i]).second);
  }
  CHECK(shown[2] == "a_b");
  CHECK(shown[3] == "plain");
  auto reversed = names;
  std::reverse(reversed.begin(), reversed.end());
  const auto other = shown_names(reversed);
  for (std::size_t i = 0; i < names.size(); ++i) CHECK(other[names.size() - 1 - i] == shown[i]);
}

TEST_CASE("F8: a name that a model made up and no API takes back gets another, always the same and no tool's") {
  CHECK(fitting_name("files__read_file") == "files__read_file");
  const std::string longest(64, 'x'), longer(100, 'x');
  CHECK(fitting_name(longest) == longest);
  for (const auto& name :
       {std::string("multi_tool_use.parallel"), std::string("functions.t__ok"), std::string("no such tool!"), longer,
        std::string("t__ok "), std::string("_ok"), std::string("9"), std::string(), std::string("a\0b", 3)}) {
    CAPTURE(name);
    CHECK(is_model_name(fitting_name(name)));
    CHECK(fitting_name(name) == fitting_name(name));
    CHECK(fitting_name(name) != model_name(name));
    // Not even the one under which a tool of that name is shown beside others.
    const auto clash = model_name(name);
    const std::vector<std::string_view> names{name, clash};
    CHECK(fitting_name(name) != shown_names(names)[0]);
  }
  CHECK(fitting_name("t__ok ") != fitting_name("t__ok!"));
  CHECK(fitting_name(longer) != fitting_name(longer + "x"));
}

}  // namespace
