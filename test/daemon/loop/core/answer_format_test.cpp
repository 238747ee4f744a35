// Search for a part of a schema that no answer can fit, with work that grows with the schema's bytes.
#include "daemon/loop/core/answer_format.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace mcpbx;
using namespace mcpbx::json;
using mcpbx::daemon::core::empty_choice;

TEST_CASE("L23: a required member that no value fits is named by its place") {
  CHECK(empty_choice(raw_json::own(R"({"enum":[]})")) == ".enum");
  CHECK(empty_choice(raw_json::own(R"({"enum":[1]})")).empty());
  CHECK(
      empty_choice(raw_json::own(
          R"({"type":"object","required":["b","a"],"properties":{"a":{"enum":[]},"b":{"type":"object","required":["c"],)"
          R"("properties":{"c":{"enum":[ ]}}}}})")) == ".properties.b.properties.c.enum");
  CHECK(empty_choice(raw_json::own(R"({"type":"object","properties":{"a":{"enum":[]}}})")).empty());
}

TEST_CASE("G18: names that are required again and again are looked at once, at every level") {
  std::string schema = "{}";
  for (int level = 0; level < 100; ++level)
    schema = R"({"type":"object","required":["a","a","a"],"properties":{"a":)" + schema + "}}";
  CHECK(empty_choice(raw_json::own(schema)).empty());
  std::string names, properties;
  for (int i = 0; i < 9'999; ++i) {
    names += (i == 0 ? "\"p" : ",\"p") + std::to_string(i) + "\"";
    properties += (i == 0 ? "\"p" : ",\"p") + std::to_string(i) + (i == 9'998 ? R"(":{"enum":[]})" : R"(":{})");
  }
  CHECK(empty_choice(raw_json::own(R"({"type":"object","required":[)" + names + R"(],"properties":{)" + properties +
                                   "}}")) == ".properties.p9998.enum");
}
