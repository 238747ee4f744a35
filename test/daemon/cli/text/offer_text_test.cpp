// Prompts and resources at a terminal.
#include "daemon/cli/text/offer_text.hpp"

#include "test/daemon/cli/terminal/text_of_lines.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::cli::terminals;
using namespace mcpbx::cli::text;
using namespace mcpbx::json;
using mcpbx::test::text_of;

namespace {

std::vector<raw_json> items(std::string_view array) {
  std::vector<raw_json> all;
  for_each_element(raw_json::own(array), [&](const raw_json& one) {
    all.push_back(one);
    return true;
  });
  return all;
}

}  // namespace

TEST_CASE("prompts: the list shows arguments, those that may be left out in brackets") {
  const auto rows = prompt_rows(items(R"([
    {"name":"git__commit","description":"Writes a message.\nMore.","arguments":[{"name":"diff","required":true},{"name":"style"}]},
    {"name":"plain","title":"A title"}])"));
  CHECK(table(rows) ==
        "NAME         ARGUMENTS     DESCRIPTION\n"
        "git__commit  diff [style]  Writes a message.\n"
        "plain                      A title\n");
  CHECK(text_of(offer_table(rows).lines(80)) ==
        "NAME         ARGUMENTS\n"
        "git__commit  diff [style]\n"
        "  Writes a message.\n"
        "plain\n"
        "  A title\n");
}

TEST_CASE("resources: the table keeps the whole URI where it can and drops other columns first") {
  const std::string uri = "file:///home/me/" + std::string(50, 'x') + ".md";
  const auto rows = resource_rows(items(
      R"([{"uri":")" + uri + R"(","name":"notes","mimeType":"text/markdown","size":1234,"description":"Mine."}])"));
  CHECK(text_of(offer_table(rows).lines(80)) ==
        "URI                                                                    NAME\n" + uri + "  notes\n  Mine.\n");
  for (const auto& line : offer_table(rows).lines(40)) CHECK(display_columns(text_of({line})) <= 41);
  CHECK(template_rows(items(R"([{"uriTemplate":"a://{b}","name":"n"}])"))[1] ==
        std::vector<std::string>{"a://{b}", "n", "", ""});
}

TEST_CASE("prompts: messages are shown behind their roles, and what is no text by a line about it") {
  const auto result = raw_json::literal(R"({"description":"About it","messages":[
    {"role":"user","content":{"type":"text","text":"one\ntwo"}},
    {"role":"assistant","content":{"type":"image","data":"aGVsbG8=","mimeType":"image/png"}},
    {"role":"user","content":{"type":"resource","resource":{"uri":"a://b","text":"inside"}}},
    {"role":"user","content":{"type":"resource","resource":{"uri":"a://c","blob":"AAAA"}}},
    {"role":"user","content":{"type":"resource_link","uri":"a://d","name":"d"}},
    {"role":"user","content":[{"type":"text","text":"x"},{"type":"text","text":"y"}]}]})");
  CHECK(text_of(prompt_lines(result)) ==
        "About it\n"
        "\n"
        "user:\n  one\n  two\n"
        "assistant:\n  [image, image/png, 5 bytes; --json has them]\n"
        "user:\n  inside\n"
        "user:\n  [resource a://c, 3 bytes; --json has them]\n"
        "user:\n  a://d\n"
        "user:\n  x\n  y\n");
}
