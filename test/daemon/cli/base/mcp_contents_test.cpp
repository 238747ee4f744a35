// Arguments of prompts as words, and binary contents.
#include "daemon/cli/base/mcp_contents.hpp"

#include "daemon/cli/input/prompt_words.hpp"
#include "test/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::cli;
using namespace mcpbx::cli::input;
using namespace mcpbx::json;

namespace {

const auto definition = raw_json::literal(
    R"({"name":"p","arguments":[{"name":"style","required":true},{"name":"lines"},{"name":"who","required":true}]})");

}  // namespace

TEST_CASE("prompts: arguments are strings whatever they look like") {
  CHECK(prompt_arguments({"n=42", "text=a=b", "empty="}) == R"({"n":"42","text":"a=b","empty":""})");
  CHECK(prompt_arguments({}) == "{}");
  CHECK(prompt_arguments({"word"}).error().message == "`word` is no argument; write key=value");
  CHECK(prompt_arguments({"=x"}).error().code == errc::invalid_argument);
  CHECK(prompt_arguments({"a=1", "a=2"}).error().message == "the argument a is given twice");
}

TEST_CASE("prompts: missing arguments and unknown ones are named") {
  CHECK(missing_arguments(definition, {"lines=3"}) == "style and who");
  CHECK(missing_arguments(definition, {"style=x", "who=me"}).empty());
  CHECK(unknown_arguments(definition, {"style=x", "lines=3"}).empty());
  const auto hints = unknown_arguments(definition, {"sytle=x"});
  REQUIRE(hints.size() == 1);
  CHECK(hints[0] == "the prompt has no argument \"sytle\" (did you mean \"style\"?); it is sent as it was given");
}

TEST_CASE("prompts: a wrong name gets the nearest one") {
  CHECK(near_name("something else", {definition}, "name").empty());
  CHECK(near_name("promt", {raw_json::literal(R"({"name":"prompt"})")}, "name") == " (did you mean \"prompt\"?)");
}

TEST_CASE("resources: contents are written into a file that is replaced, and a failure names it") {
  const test::temporary_directory folder;
  const std::string path = folder / "out";
  REQUIRE(write_file(path, "a longer text"));
  REQUIRE(write_file(path, std::string("a\0b", 3)));
  std::ifstream in(path, std::ios::binary);
  CHECK(std::string(std::istreambuf_iterator<char>(in), {}) == std::string("a\0b", 3));
  const auto failed = write_file(folder / "no/such/folder", "x");
  REQUIRE_FALSE(failed);
  CHECK(failed.error().message == "cannot write " + folder / "no/such/folder" + ": No such file or directory");
}

TEST_CASE("resources: a list is one array of its items as they came") {
  CHECK(array_of({raw_json::literal(R"({"uri": "a"})"), raw_json::literal("{}")}) == R"([{"uri": "a"},{}])");
  CHECK(array_of({}) == "[]");
}

TEST_CASE("contents: a block that is no text is named with its size") {
  const auto told = [](const std::string& json) { return told_block(raw_json::own(json)); };
  CHECK(told(R"({"type":"image","mimeType":"image/png","data":")" + std::string(34 * 1024 / 3 * 4, 'A') + "\"}") ==
        "[image/png, 34 KiB]");
  CHECK(told(R"({"type":"image","mimeType":"image/png","data":"QUI="})") == "[image/png, 2 bytes]");
  CHECK(told(R"({"type":"resource","resource":{"uri":"x","mimeType":"application/pdf","blob":"QQ=="}})") ==
        "[application/pdf, 1 byte]");
  CHECK(told(R"({"type":"audio","data":")" + std::string(4u << 20, 'A') + "\"}") == "[audio, 3 MiB]");
  CHECK(told(R"({"type":"resource_link","uri":"file:///x"})") == "[resource_link]");
  CHECK(told("{}") == "[]");
}
