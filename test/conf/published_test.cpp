// Compares the schema, the samples and the README with the code.
#include "conf/load.hpp"
#include "conf/model/key_document.hpp"
#include "conf/model/key_notes.hpp"
#include "conf/model/schema.hpp"
#include "conf/model/spec.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>
#include <utility>

using namespace mcpbx::conf;
using namespace mcpbx::conf::documents;
using namespace mcpbx::conf::loop;
using namespace mcpbx::conf::model;

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

TEST_CASE("D5: docs/configuration.md has the tables that the key table makes") {
  constexpr std::string_view begin = "<!-- made from the key table: begin -->\n\n",
                             end = "<!-- made from the key table: end -->\n";
  const std::string name = "../docs/configuration.md";
  const auto text = content(name);
  const auto from = text.find(begin.substr(0, begin.size() - 1)), to = text.find(end);
  REQUIRE(from != text.npos);
  REQUIRE(to != text.npos);
  const auto made = text.substr(0, from) + std::string(begin) + key_document() + text.substr(to);
  if (std::getenv("MCPBX_UPDATE") != nullptr) std::ofstream(folder + name, std::ios::binary) << made;
  const bool same = content(name) == made;
  CHECK_MESSAGE(
      same,
      "the tables of docs/configuration.md are not what conf/model/keys.cpp and conf/model/key_notes.cpp make: "
      "run this test once with MCPBX_UPDATE=1 and commit the file");
}

TEST_CASE("key notes: each one belongs to a key, and there is one for a key at most") {
  std::set<std::pair<std::string_view, std::string_view>> keys, noted;
  const std::function<void(const section_spec&)> visit = [&](const section_spec& s) {
    for (const auto& k : s.keys) {
      keys.emplace(s.title, k.name);
      if (k.inner) visit(*k.inner);
    }
  };
  visit(root_section());
  for (const auto& n : key_notes()) {
    CAPTURE(n.section);
    CAPTURE(n.key);
    CHECK(keys.contains({n.section, n.key}));
    CHECK(noted.emplace(n.section, n.key).second);
  }
}

TEST_CASE("key notes: each example is taken where its key stands") {
  // One file for each example, at the first path of its section.
  const std::function<void(const section_spec&, const std::string&, const std::string&)> visit =
      [&](const section_spec& s, const std::string& before, const std::string& behind) {
        for (const auto& k : s.keys) {
          if (const auto* note = find_key_note(s.title, k.name); note && !note->example.empty()) {
            const auto file = "{" + before + std::string(note->example) + behind + "}";
            CAPTURE(file);
            const std::array files{source_text{"example", file}};
            const auto errors = load(files, {}).error_text();
            // Other keys that are needed, and a profile that is named, are not there.
            for (const auto* wrong : {"unknown key", "must be", "expected", "empty list"})
              CHECK(errors.find(wrong) == errors.npos);
          }
          const auto name = "\"" + std::string(k.name) + "\":{";
          if (k.inner && k.kind == shape::named)
            visit(*k.inner, before + name + "\"n\":{", "}}" + behind);
          else if (k.inner)
            visit(*k.inner, before + name, "}" + behind);
        }
      };
  visit(root_section(), "", "");
}

TEST_CASE("docs/configuration.md: every key with its words and its range is explained") {
  const auto text = content("../docs/configuration.md");
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

TEST_CASE("README: the words of `api`, to which an error refers, are there") {
  const auto text = content("README.md");
  for (const auto w : loop::words_of<model_api>) {
    CAPTURE(w);
    CHECK(text.find("`" + std::string(w) + "`") != text.npos);
  }
}
