// A session as Markdown and as JSON lines.
#include "daemon/cli/text/session_text.hpp"

#include "test/support/contains.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using namespace mcpbx;
using namespace mcpbx::cli::text;
using namespace mcpbx::json;
using mcpbx::test::contains;

namespace {

session_export sample() {
  session_export s;
  s.head = raw_json::own(
      R"({"session":"ses_1","title":"What time?","createdMs":1700000000000,"usedMs":1700000060000,"runCount":2,"from":0,"total":4,"runs":[],"messages":[]})");
  s.runs = {raw_json::own(R"({"run":"a","model":"m","stopReason":"final","messages":3})"),
            raw_json::own(R"({"run":"b","model":"m","stopReason":"interrupted","messages":1})")};
  s.messages = {
      raw_json::own(R"({"role":"user","content":[{"type":"text","text":"What time?"}]})"),
      raw_json::own(
          R"({"role":"assistant","content":[{"type":"tool_call","id":"c","name":"clock","arguments":{"zone":"UTC"}}]})"),
      raw_json::own(
          R"({"role":"tool","content":[{"type":"tool_result","id":"c","name":"clock","isError":true,"result":{"content":[{"type":"text","text":"```\nnoon"}]}}]})"),
      raw_json::own(R"({"role":"user","content":[{"type":"text","text":"And now?"}]})")};
  return s;
}

}  // namespace

TEST_CASE("L17: a session as Markdown tells who said what, and nothing inside of a result can close its fence") {
  const auto text = markdown_of(sample());
  CHECK(text.starts_with("# What time?\n\nSession `ses_1`, 2023-11-14 22:13 to 2023-11-14 22:14 UTC.\n\n## User\n"));
  CHECK(contains(text, "## Assistant (m)\n\n### Call of clock\n\n```json\n{\"zone\":\"UTC\"}\n```\n"));
  CHECK(contains(text, "### Error of clock\n\n````\n```\nnoon\n````\n"));
  CHECK(text.ends_with("## User\n\nAnd now?\n\n*This run ended: interrupted.*\n"));
}

TEST_CASE("L17: a session as Markdown closes a fence that somebody left open, and no other") {
  const auto told = [](const std::string& text) {
    auto s = sample();
    s.messages[0] = raw_json::own(R"({"role":"user","content":[{"type":"text","text":)" + json_quoted(text) + "}]}");
    const auto all = markdown_of(s);
    const auto begin = all.find("## User\n\n") + 9;
    return all.substr(begin, all.find("\n\n## Assistant") - begin);
  };
  CHECK(told("See\n```md\nopen") == "See\n```md\nopen\n```");
  CHECK(told("  ~~~~~ sh\nopen\n") == "  ~~~~~ sh\nopen\n~~~~~");
  CHECK(told("````\n```\nnot closed by fewer\n~~~~\n````x") == "````\n```\nnot closed by fewer\n~~~~\n````x\n````");
  CHECK(told("```\nclosed\n ````\t\r\n```\nopen again") == "```\nclosed\n ````\t\r\n```\nopen again\n```");
  for (const char* closed :
       {"```\nclosed\n```", "~~~\nclosed\n~~~~  ", "a ``` in a line", "``", "```in a `line```", "    ```\nindented"})
    CHECK(told(closed) == closed);
}

TEST_CASE("L17: a session as Markdown tells which pictures and files were attached") {
  auto s = sample();
  s.messages.back() = raw_json::own(
      R"({"role":"user","content":[{"type":"text","text":"See"},{"type":"file","mimeType":"application/pdf","name":"a.pdf","data":"AA=="},)"
      R"({"type":"file","url":"https://x.example/b"},{"type":"image","mimeType":"image/png","data":"AA=="}]})");
  CHECK(
      contains(markdown_of(s),
               "See\n\n(a file, a.pdf, application/pdf)\n\n(a file, https://x.example/b)\n\n(a picture, image/png)\n"));
  CHECK_FALSE(contains(markdown_of(s), "AA=="));
}

TEST_CASE("G28: a session as Markdown tells the part of an answer that broke as such") {
  auto s = sample();
  s.runs[1] =
      raw_json::own(R"({"run":"b","model":"m","stopReason":"provider_error","messages":1,"partialText":"It is ha"})");
  CHECK(
      markdown_of(s).ends_with("## User\n\nAnd now?\n\n## Assistant (m), broken off\n\nIt is ha\n\n"
                               "*This run ended: provider_error.*\n"));
  CHECK(contains(json_lines_of(s), R"("partialText":"It is ha")"));
}

TEST_CASE("L17: a session as JSON lines has each message under its run") {
  const auto text = json_lines_of(sample());
  CHECK(text.starts_with(R"({"type":"session","session":"ses_1","title":"What time?",)"));
  CHECK_FALSE(contains(text, "total"));
  CHECK(contains(text, "\n{\"type\":\"run\",\"run\":\"a\",\"model\":\"m\","));
  CHECK(contains(text, "\n{\"type\":\"message\",\"run\":\"a\",\"role\":\"tool\","));
  CHECK(
      text.ends_with("{\"type\":\"message\",\"run\":\"b\",\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":"
                     "\"And now?\"}]}\n"));
  for (std::size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
    CHECK(raw_json::parse(text.substr(begin, end - begin)).has_value());
}

TEST_CASE("L17: a session as one object has all pages together") {
  const auto text = json_of(sample());
  CHECK(raw_json::parse(text).has_value());
  CHECK(contains(text, R"("runCount":2,"runs":[{"run":"a")"));
  CHECK(contains(text, R"("messages":[{"role":"user")"));
}
