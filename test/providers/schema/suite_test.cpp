// The required tests of json-schema-org/JSON-Schema-Test-Suite for 2020-12. Only groups that need another document are
// exempt, each by name; one that needs none any more fails, so the list can only shrink. The table of what passes in
// providers/schema/README.md is held against the run.
#include "providers/schema/json_schema.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace json = boost::json;
namespace fs = std::filesystem;
using mcpbx::providers::json_schema;

struct exemption {
  std::string_view file, group;
};
// Both need documents that would have to be fetched: the metaschemas and the suite's "remotes".
constexpr std::array exempt{
    exemption{"defs.json", "validate definition against metaschema"},
    exemption{"dynamicRef.json", "strict-tree schema, guards against misspelled properties"},
    exemption{"dynamicRef.json", "tests for implementation dynamic anchor and reference link"},
    exemption{"dynamicRef.json", "$ref and $dynamicAnchor are independent of order - $defs first"},
    exemption{"dynamicRef.json", "$ref and $dynamicAnchor are independent of order - $ref first"},
    exemption{"dynamicRef.json", "$ref to $dynamicRef finds detached $dynamicAnchor"},
    exemption{"ref.json", "remote ref, containing refs itself"},
    exemption{"refRemote.json", "*"},
    exemption{"vocabulary.json", "schema that uses custom metaschema with with no validation vocabulary"},
};

std::string read(const fs::path& file) {
  std::ifstream in(file);
  REQUIRE(in.good());
  return {std::istreambuf_iterator<char>(in), {}};
}

bool is_exempt(const std::string& file, std::string_view group) {
  return std::ranges::any_of(
      exempt, [&](const exemption& e) { return e.file == file && (e.group == "*" || e.group == group); });
}

struct counts {
  int passed = 0, total = 0, exempted = 0;
};

counts run(const std::string& file, const json::value& groups) {
  counts c;
  for (const auto& group : groups.as_array()) {
    const std::string name(group.at("description").as_string());
    const auto text = json::serialize(group.at("schema"));
    const auto made = json_schema::compile(mcpbx::raw_json::own(text));
    INFO(file << ": " << name);
    REQUIRE(made.has_value());
    const auto tests = static_cast<int>(group.at("tests").as_array().size());
    if (is_exempt(file, name)) {
      // The custom metaschema alone is named by $schema, which is not even looked at.
      if (file != "vocabulary.json") CHECK_FALSE(made->notes().empty());
      c.exempted += tests;
      continue;
    }
    CHECK_MESSAGE(made->notes().empty(), (made->notes().empty() ? "" : describe(made->notes(), "schema")));
    for (const auto& test : group.at("tests").as_array()) {
      ++c.total;
      const auto verdict = made->check(test.at("data"));
      const bool right = verdict.violations.empty() == test.at("valid").as_bool();
      if (right) ++c.passed;
      INFO(test.at("description").as_string());
      INFO(describe(verdict.violations, "value"));
      CHECK(right);
    }
  }
  return c;
}

}  // namespace

TEST_CASE("json_schema: every required test of the 2020-12 suite passes and the README says how many") {
  const fs::path source(MCPBX_SOURCE_DIR);
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(source / "test/data/json-schema-test-suite/draft2020-12"))
    files.push_back(entry.path());
  std::ranges::sort(files);
  REQUIRE(files.size() == 46);
  std::string table;
  counts all;
  const auto line = [](const std::string& name, const counts& c) {
    return "| " + name + " | " + std::to_string(c.passed) + "/" + std::to_string(c.total) + " | " +
           (c.exempted > 0 ? std::to_string(c.exempted) : std::string()) + " |\n";
  };
  for (const auto& file : files) {
    const auto c = run(file.filename().string(), json::parse(read(file)));
    table += line(file.filename().string(), c);
    all.passed += c.passed;
    all.total += c.total;
    all.exempted += c.exempted;
  }
  table += line("all", all);
  CHECK(all.passed == all.total);
  INFO("the table must be:\n" << table);
  CHECK(read(source / "providers/schema/README.md").find(table) != std::string::npos);
}
