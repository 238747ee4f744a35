// The ranking of tools by words.
#include "mcp/client/catalog/tool_search.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::mcp;

namespace {

entry_ptr searched_tool(const std::string& name, const std::string& description, const std::string& title = "") {
  auto e = std::make_shared<catalog_entry>();
  e->name = name;
  e->description = description;
  e->definition = raw_json::own(title.empty() ? "{}" : R"({"title":")" + title + R"("})");
  return e;
}

const std::vector<entry_ptr> searched{
    searched_tool("files__read_text", "Reads a file"),
    searched_tool("files__write", "Writes a file. Read it with another tool."),
    searched_tool("mail__send", "Sends a letter", "Read receipts"),
    searched_tool("git__readTree", "Shows a tree"),
    searched_tool("clock__now", "Tells the time"),
};

std::vector<std::string> ranked(std::string_view words, std::size_t most = 10) {
  std::vector<std::string> all;
  for (const auto& one : search_tools(searched, words, most)) all.push_back(one.tool->name);
  return all;
}

using found_names = std::vector<std::string>;

}  // namespace

TEST_CASE("tool search: a word in the name counts more than in the title and that more than in the description") {
  CHECK(ranked("READ") == found_names{"files__read_text", "git__readTree", "mail__send", "files__write"});
}

TEST_CASE("tool search: tools with more of the words come first") {
  CHECK(ranked("tree read") == found_names{"git__readTree", "files__read_text", "mail__send", "files__write"});
  CHECK(search_tools(searched, "file read", 1).at(0).words == 2);
}

TEST_CASE("tool search: a rare word decides among words that many tools have") {
  CHECK(ranked("files time").front() == "clock__now");
}

TEST_CASE("tool search: nothing is found without words, without a match, or beyond the number asked for") {
  CHECK(ranked("").empty());
  CHECK(ranked("zebra").empty());
  CHECK(ranked("read", 2).size() == 2);
  CHECK(ranked("read", 0).empty());
}
