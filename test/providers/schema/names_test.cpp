// Names for models, and back.
#include "providers/schema/names.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
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
  std::vector<std::string> names{"a.b", "a/b", "a_b", "plain", std::string(80, 'q'), "\xC3\xA4"};
  const name_table table(names);
  for (std::size_t i = 0; i < names.size(); ++i) {
    CHECK(is_model_name(table.shown(i)));
    CHECK(table.original(table.shown(i)) == names[i]);
  }
  CHECK(table.shown(2) == "a_b");
  CHECK(table.original("nobody").empty());
  auto reversed = names;
  std::reverse(reversed.begin(), reversed.end());
  const name_table other(reversed);
  for (std::size_t i = 0; i < names.size(); ++i) CHECK(other.shown(names.size() - 1 - i) == table.shown(i));
}

}  // namespace
