// Resource links in results: found, told to the model, and read as the result of a tool.
#include "daemon/loop/results/result_links.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::results;
using namespace mcpbx::json;

namespace {

const auto linking =
    raw_json::literal(R"({"content":[{"type":"text","text":"see"},{"type":"resource_link","uri":"x://a","name":"a"},)"
                      R"({"type":"resource","resource":{"uri":"x://b","text":"b"}}]})");

}  // namespace

TEST_CASE("links: only resource links count and their number is bounded") {
  CHECK(links_in(linking) == std::vector<std::string>{"x://a"});
  CHECK(links_in(raw_json::literal("{}")).empty());
  std::string many = R"({"content":[)";
  for (int i = 0; i < 100; ++i) many += std::string(i == 0 ? "" : ",") + R"({"type":"resource_link","uri":"x://a"})";
  CHECK(links_in(raw_json::own(many + "]}")).size() == most_links);
}

TEST_CASE("links: a URI counts as linked while the result that has it is kept") {
  kept_results kept;
  kept.keep("1", linking);
  CHECK(has_link(kept, "x://a"));
  CHECK_FALSE(has_link(kept, "x://b"));
  for (std::size_t i = 0; i < kept_results::max_kept; ++i) kept.keep("n" + std::to_string(i), raw_json::literal("{}"));
  CHECK_FALSE(has_link(kept, "x://a"));
}

TEST_CASE("links: the model is told how to read them behind the result") {
  const auto shown = with_link_hint(linking);
  std::vector<raw_json> parts;
  for_each_element(find_member(shown, "content"), [&](const raw_json& part) {
    parts.push_back(part);
    return true;
  });
  REQUIRE(parts.size() == 4);
  CHECK(parts[1].text() == R"({"type":"resource_link","uri":"x://a","name":"a"})");
  CHECK(find_member(parts[3], "text").as_string() ==
        "[Call mcpbx__read_result with {\"uri\":…} to read a resource that is linked here.]");
}

TEST_CASE("links: a read resource becomes the result of a tool with its images as images") {
  CHECK(resource_as_result(
            raw_json::literal(
                R"({"contents":[{"uri":"x://a","text":"t"},{"uri":"x://i","mimeType":"image/png","blob":"AAAA"}]})"))
            .text() == R"({"content":[{"type":"resource","resource":{"uri":"x://a","text":"t"}},)"
                       R"({"type":"image","data":"AAAA","mimeType":"image/png"}]})");
  CHECK(resource_as_result(raw_json::literal("{}")).text() == R"({"content":[]})");
}
