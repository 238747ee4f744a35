// Compares the schema, the samples and the README with the code.
#include "conf/load.hpp"
#include "conf/model/schema.hpp"
#include "conf/model/spec.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>

using namespace mcpbx::conf;

namespace {

const std::string folder = std::string(MCPBX_SOURCE_DIR) + "/conf/";

std::string content(const std::string& name) {
  std::ifstream in(folder + name, std::ios::binary);
  REQUIRE_MESSAGE(in, name);
  return {std::istreambuf_iterator<char>(in), {}};
}

loaded load_sample(const std::string& name) {
  const std::array files{source_text{name, content(name)}};
  return load(files, {});
}

}  // namespace

TEST_CASE("D5: the committed schema is the one that the key table makes") {
  const auto made = json_schema();
  if (std::getenv("MCPBX_UPDATE") != nullptr) std::ofstream(folder + "mcpbx.schema.json", std::ios::binary) << made;
  const bool same = content("mcpbx.schema.json") == made;
  CHECK_MESSAGE(
      same,
      "conf/mcpbx.schema.json is not what conf/model/keys.cpp makes: run this test once with MCPBX_UPDATE=1 and "
      "commit the file");
}

TEST_CASE("samples: they load without errors and without notices") {
  for (const char* name : {"samples/config.json", "samples/demo.json"}) {
    CAPTURE(name);
    const auto made = load_sample(name);
    CHECK(made.error_text() == "");
    CHECK(listing(made.config.notices) == "");
    CHECK(made.config.default_model == "demo");
    CHECK(made.config.find_server("toolbox"));
  }
}

TEST_CASE("samples: what is commented out is right too") {
  auto text = content("samples/config.json");
  // An example is a comment line that starts with a quote, a bracket or a closing one.
  std::string opened;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find('\n', begin), text.size());
    auto line = text.substr(begin, end - begin);
    const auto slashes = line.find("// ");
    if (slashes != line.npos) {
      const auto first = line.find_first_not_of(' ', slashes + 2);
      if (first != line.npos && (line[first] == '"' || line[first] == '}')) line.replace(slashes, 2, "  ");
    }
    opened += line + "\n";
    begin = end + 1;
  }
  const std::array files{source_text{"opened", opened}};
  const auto made = load(files, {});
  CHECK(made.error_text() == "");
  CHECK(made.config.servers.size() == 4);
  CHECK(made.config.models.size() == 5);
}

TEST_CASE("README: every key with its words and its range is explained") {
  const auto text = content("README.md");
  const std::function<void(const section_spec&)> visit = [&](const section_spec& s) {
    for (const auto& k : s.keys) {
      CAPTURE(k.name);
      CHECK(text.find("`" + std::string(k.name) + "`") != text.npos);
      if (k.kind == shape::word)
        for (const auto w : k.words) {
          CAPTURE(w);
          CHECK(text.find("`" + std::string(w) + "`") != text.npos);
        }
      if (k.kind == shape::whole)
        CHECK(text.find(" " + std::to_string(k.low) + " … " + std::to_string(k.high) + " |") != text.npos);
      if (k.inner) visit(*k.inner);
    }
  };
  visit(root_section());
}
