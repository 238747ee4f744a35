// The ranking of tools by words.
#include "mcp/client/views/tool_search.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::mcp::catalogs;
using namespace mcpbx::mcp::views;

namespace {

entry_ptr tool(const std::string& name, const std::string& description, const std::string& title = "") {
  auto e = std::make_shared<catalog_entry>();
  e->name = name;
  e->description = description;
  e->definition = raw_json::own(title.empty() ? "{}" : R"({"title":")" + title + R"("})");
  return e;
}

const std::vector<entry_ptr> some{
    tool("files__read_text", "Reads a file"),
    tool("files__write", "Writes a file. Read it with another tool."),
    tool("mail__send", "Sends a letter", "Read receipts"),
    tool("git__readTree", "Shows a tree"),
    tool("clock__now", "Tells the time"),
};

std::vector<std::string> name_list(std::string_view words, std::size_t most = 10) {
  std::vector<std::string> all;
  for (const auto& one : search_tools(some, words, most)) all.push_back(one.tool->name);
  return all;
}

using list = std::vector<std::string>;

}  // namespace

TEST_CASE("tool search: a word in the name counts more than in the title and that more than in the description") {
  CHECK(name_list("READ") == list{"files__read_text", "git__readTree", "mail__send", "files__write"});
}

TEST_CASE("tool search: tools with more of the words come first") {
  CHECK(name_list("tree read") == list{"git__readTree", "files__read_text", "mail__send", "files__write"});
  CHECK(search_tools(some, "file read", 1).at(0).words == 2);
}

TEST_CASE("tool search: a rare word decides among words that many tools have") {
  const std::vector<entry_ptr> few{tool("a__one", "common"), tool("b__two", "common"), tool("c__three", "rare")};
  const auto found = search_tools(few, "common rare", 10);
  REQUIRE(found.size() == 3);
  CHECK(found.front().tool->name == "c__three");
}

TEST_CASE("tool search: nothing is found without words, without a match, or beyond the number asked for") {
  CHECK(name_list("").empty());
  CHECK(name_list("zebra").empty());
  CHECK(name_list("read", 2).size() == 2);
  CHECK(name_list("read", 0).empty());
}
