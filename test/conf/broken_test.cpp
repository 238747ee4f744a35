// Broken files as people write them: each error has file, line, column, place and mend, and all come at once.
#include "conf/load.hpp"
#include "test/support/broken_configurations.hpp"

#include <doctest/doctest.h>

#include <array>

using namespace mcpbx::conf;

namespace {

loaded load_broken(const std::string& text) {
  const std::array files{source_text{"c.json", text}};
  return load(files, {});
}

}  // namespace

TEST_CASE("G34: at least twenty broken files are refused with all their errors at once") {
  const auto files = mcpbx::test::broken_configurations();
  CHECK(files.size() >= 20);
  for (const auto& f : files) {
    CAPTURE(f.text);
    const auto made = load_broken(f.text);
    CAPTURE(made.error_text());
    REQUIRE(made.errors.size() == f.errors.size());
    for (std::size_t i = 0; i < f.errors.size(); ++i) {
      const auto text = made.errors[i].text();
      CAPTURE(text);
      CHECK(text.starts_with(std::string("c.json:") + f.errors[i]));
      CHECK_FALSE(made.errors[i].mend.empty());
    }
  }
}

TEST_CASE("load: a flood of wrong keys is cut with a word about it") {
  std::string text = "{";
  for (int i = 0; i < 5000; ++i) text += "\"key" + std::to_string(i) + "\": 1,";
  const auto made = load_broken(text + "}");
  CHECK(made.errors.size() < 300);
  CHECK(made.error_text().find("too many findings") != std::string::npos);
}

TEST_CASE("load: names with control characters do not reach the terminal") {
  const auto made = load_broken("{\"a\\u001b[31mb\": 1}");
  REQUIRE(made.errors.size() == 1);
  CHECK(made.error_text().find('\x1b') == std::string::npos);
}
