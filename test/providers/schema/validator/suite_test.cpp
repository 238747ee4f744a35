// The required tests of json-schema-org/JSON-Schema-Test-Suite for 2020-12, every one. The documents that they refer
// to, the metaschema among them, are given as known schemas. The table of what passes, in the README of
// test/data/json-schema-test-suite, is held against the run.
#include "providers/schema/validator/json_schema.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

namespace json = boost::json;
namespace fs = std::filesystem;
using mcpbx::providers::schema::json_schema;
using mcpbx::providers::schema::known_schema;

std::string read(const fs::path& file) {
  std::ifstream in(file);
  REQUIRE(in.good());
  return {std::istreambuf_iterator<char>(in), {}};
}

// The documents below `folder`, each under `base` and its path there.
void add_known(std::vector<known_schema>& all, const fs::path& folder, const std::string& base, bool with_extension) {
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    auto name = entry.path().lexically_relative(folder);
    if (name.extension() != ".json") continue;
    if (!with_extension) name.replace_extension();
    all.push_back({base + name.generic_string(), mcpbx::json::raw_json::own(read(entry.path()))});
  }
}

struct counts {
  int passed = 0, total = 0;
};

counts run(const std::string& file, const boost::json::value& groups, const std::vector<known_schema>& known) {
  counts c;
  for (const auto& group : groups.as_array()) {
    const std::string name(group.at("description").as_string());
    const auto text = boost::json::serialize(group.at("schema"));
    const auto made = json_schema::compile(mcpbx::json::raw_json::own(text), known);
    INFO(file << ": " << name);
    REQUIRE(made.has_value());
    CHECK_MESSAGE(made->notes().empty(),
                  (made->notes().empty() ? "" : mcpbx::providers::schema::describe(made->notes(), "schema")));
    for (const auto& test : group.at("tests").as_array()) {
      ++c.total;
      const auto verdict = made->check(mcpbx::json::raw_json::own(boost::json::serialize(test.at("data"))));
      const bool right = verdict.violations.empty() == test.at("valid").as_bool();
      if (right) ++c.passed;
      INFO(test.at("description").as_string());
      INFO(mcpbx::providers::schema::describe(verdict.violations, "value"));
      CHECK(right);
    }
  }
  return c;
}

}  // namespace

TEST_CASE("json_schema: every required test of the 2020-12 suite passes and the README says how many") {
  const auto data = fs::path(MCPBX_SOURCE_DIR) / "test/data";
  const auto suite = data / "json-schema-test-suite";
  std::vector<known_schema> known;
  add_known(known, suite / "remotes/draft2020-12", "http://localhost:1234/draft2020-12/", true);
  add_known(known, data / "json-schema-metaschema", "https://json-schema.org/draft/2020-12/", false);
  REQUIRE(known.size() == 27);
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(suite / "draft2020-12")) files.push_back(entry.path());
  std::ranges::sort(files);
  REQUIRE(files.size() == 46);
  std::string table;
  counts all;
  const auto line = [](const std::string& name, const counts& c) {
    return "| " + name + " | " + std::to_string(c.passed) + "/" + std::to_string(c.total) + " |\n";
  };
  for (const auto& file : files) {
    const auto c = run(file.filename().string(), boost::json::parse(read(file)), known);
    table += line(file.filename().string(), c);
    all.passed += c.passed;
    all.total += c.total;
  }
  table += line("all", all);
  CHECK(all.passed == all.total);
  INFO("the table must be:\n" << table);
  CHECK(read(fs::path(MCPBX_SOURCE_DIR) / "test/data/json-schema-test-suite/README.md").find(table) !=
        std::string::npos);
}
