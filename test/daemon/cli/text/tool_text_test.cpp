// Tool definitions in words.
#include "daemon/cli/text/tool_text.hpp"

#include "test/daemon/cli/terminal/text_of_lines.hpp"
#include "test/support/contains.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace mcpbx;
using namespace mcpbx::cli::text;
using namespace mcpbx::json;
using mcpbx::test::text_of;

namespace {

std::string arguments(std::string_view schema, std::size_t width = 0) {
  return text_of(argument_table(raw_json::own(schema)).lines(width));
}

}  // namespace

TEST_CASE("tools: each line fits the terminal, and a long name has its description below") {
  const auto list = raw_json::literal(
      R"([{"name":"files__read","description":"Reads a file and returns its text as it is\nMore."},)"
      R"({"name":"files__read_with_a_very_long_name","description":"Reads the lines of a file that match"},)"
      R"({"name":"files__bare"}])");
  CHECK(text_of(tool_lines(list, 40)) ==
        "files__read  Reads a file and returns i…\n"
        "files__read_with_a_very_long_name\n"
        "             Reads the lines of a file …\n"
        "files__bare\n");
  CHECK(tool_lines(raw_json::literal("[]"), 40).empty());
}

TEST_CASE("tools NAME: references that multiply each other are looked at within bounds") {
  std::string choices;
  for (int i = 0; i < 1000; ++i) choices += std::string(i == 0 ? "" : ",") + R"({"$ref":"#/$defs/A"})";
  const auto shown =
      arguments(R"({"properties":{"x":{"$ref":"#/$defs/A"}},"$defs":{"A":{"anyOf":[)" + choices + "]}}}");
  CHECK(mcpbx::test::contains(shown, "any"));
}

TEST_CASE("tools NAME: description, title, server and annotations in words") {
  const auto tool = raw_json::literal(
      R"({"name":"s__read","title":"Read","description":"Reads.\nAll of it.","annotations":{"title":"x",)"
      R"("readOnlyHint":true,"destructiveHint":false,"idempotentHint":false,"openWorldHint":true,"own":7}})");
  CHECK(text_of(tool_facts(tool, "s").lines(0)) ==
        "name         s__read\n"
        "server       s\n"
        "title        Read\n"
        "description  Reads.\n"
        "             All of it.\n"
        "annotations  read-only, destroys nothing, not repeatable, reaches the outside, own 7\n");
  CHECK(text_of(tool_facts(raw_json::literal(R"({"name":"x"})"), "").lines(0)) == "name  x\n");
}

TEST_CASE("tools NAME: arguments with types, marks of required ones, choices and defaults") {
  CHECK(arguments(R"({"type":"object","required":["path","mode"],"properties":{)"
                  R"("path":{"type":"string","description":"The file."},)"
                  R"("mode":{"enum":["r","w"],"type":"string"},)"
                  R"("lines":{"type":["integer","null"],"minimum":1,"default":10},)"
                  R"("tags":{"type":"array","items":{"type":"string"}},"x":true}})") ==
        "ARGUMENT  TYPE             REQUIRED  DESCRIPTION\n"
        "path      string           yes       The file.\n"
        "mode      string           yes       (one of: r, w)\n"
        "lines     integer or null  no        (default 10; at least 1)\n"
        "tags      array of string  no\n"
        "x         any              no\n");
}

TEST_CASE("tools NAME: references, alternatives and members of objects") {
  CHECK(arguments(
            R"({"$defs":{"place":{"type":"object","required":["x"],"properties":{"x":{"type":"number"}}}},)"
            R"("properties":{"at":{"$ref":"#/$defs/place"},"all":{"type":"array","items":{"$ref":"#/$defs/place"}},)"
            R"("n":{"anyOf":[{"type":"string"},{"type":"integer"}]},"far":{"$ref":"https://h/x"}}})") ==
        "ARGUMENT  TYPE               REQUIRED  DESCRIPTION\n"
        "at        object             no\n"
        "at.x      number             yes\n"
        "all       array of object    no\n"
        "all[].x   number             yes\n"
        "n         string or integer  no\n"
        "far       any                no\n");
  // A schema that contains itself has an end.
  CHECK(arguments(R"({"properties":{"a":{"$ref":"#"}}})") ==
        "ARGUMENT  TYPE    REQUIRED  DESCRIPTION\na         object  no\na.a       object  no\na.a.a     object  no\n");
  CHECK(argument_table(raw_json::literal(R"({"type":"object"})")).empty());
  CHECK(arguments(R"({"properties":{"a":{"$ref":"#/properties/a"}}})") ==
        "ARGUMENT  TYPE  REQUIRED  DESCRIPTION\na         any   no\n");
}

TEST_CASE("tools NAME: a schema of very many arguments is cut") {
  std::string many = R"({"properties":{"a":{})";
  for (int i = 0; i < 300; ++i) many += ",\"p" + std::to_string(i) + "\":{}";
  CHECK(arguments(many + "}}").ends_with("… and others\n"));
}
