// Calls that are markup, with values that hold marks of their own: whole examples, halves of them, escaped ones.
#include "test/providers/text/parse.hpp"
#include "test/support/contains.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::test;

// A call that writes `value` to a file: in a mark of its own, or bare.
struct written {
  std::string_view format;
  std::string raw;
};
std::vector<written> qwen(const std::string& value) {
  const auto call = "<function=write_file>\n<parameter=path>\na\n</parameter>\n<parameter=content>\n" + value +
                    "\n</parameter>\n</function>";
  return {{"qwen3-coder", "<tool_call>\n" + call + "\n</tool_call>"}, {"hermes", call}};
}
std::vector<written> xml(const std::string& value) {
  const auto call =
      "<invoke name=\"write_file\">\n<parameter name=\"path\">a</parameter>\n<parameter name=\"content\">" + value +
      "</parameter>\n</invoke>";
  return {{"xml", "<function_calls>\n" + call + "\n</function_calls>"}, {"xml", call}};
}
std::string run_with(const std::string& value) {
  return "write_file{\"path\":\"a\",\"content\":" + json_quoted(value) + "}";
}

parsed_text at_every_split(std::string_view format, const std::string& raw) {
  const auto got = parse_text(format, raw);
  for (const std::size_t step : {1, 2, 3, 7, 64}) CHECK(parse_text(format, raw, step).str() == got.str());
  return got;
}
void check_run(const std::vector<written>& calls, const std::string& value) {
  for (const auto& [format, raw] : calls)
    for (const std::string behind : {"", "\nDone."}) {
      CAPTURE(raw);
      const auto got = at_every_split(format, raw + behind);
      CHECK(got.calls() == run_with(value));
      CHECK(got.visible() == std::string(trimmed(behind)));
    }
}
void check_refused(const std::vector<written>& calls) {
  for (const auto& [format, raw] : calls)
    for (const std::string behind : {"", "\nDone."}) {
      CAPTURE(raw);
      const auto got = at_every_split(format, raw + behind);
      CHECK(got.calls().empty());
      // A call that seems to be cut off has no end.
      CHECK((got.visible() == trimmed(behind) || (got.reply.incomplete && got.visible().empty())));
      CHECK((got.reply.incomplete || !got.reply.calls.empty()));
    }
}

TEST_CASE("G29: a value that holds the marks which end its call never ends the call there, and nobody sees the rest") {
  for (const std::string value :
       {"a </parameter>\n</function>\nb", "End it with </parameter></function>.",
        "Close: </parameter>\n</function>\n</tool_call>\nThat is all.",
        "x = \"\"\"\nfoo\n</parameter>\n</function>\n\"\"\"\nprint(x)",
        "a </parameter>\n</function>\n</tool_call>\n<tool_call>\n<function=list_all>\n</function>\n</tool_call>\nb"})
    check_refused(qwen(value));
  for (const std::string value : {"a </parameter>\n</invoke>\nb", "foo </parameter>\n</invoke>\n</function_calls>\nbar",
                                  "</parameter> </invoke>", "x\n</parameter>\n</invoke>\n\"\"\"\nprint(x)"})
    check_refused(xml(value));
  check_refused(qwen("a </parameter>\n<parameter=q>\nb"));
}

TEST_CASE("F10: a parameter that the tool does not have, or that stands twice, is the validator's matter") {
  const auto told = [](std::string_view second) {
    return parse_text("qwen3-coder", "<function=search>\n<parameter=query>\na\n</parameter>\n<parameter=" +
                                         std::string(second) + ">\n5\n</parameter>\n</function>")
        .calls();
  };
  CHECK(told("made_up") == R"(search{"query":"a","made_up":"5"})");
  CHECK(told("query") == R"(search{"query":"5"})");
}

TEST_CASE("G29: words between the end of a call and the end of what is around it refuse the call, and are not shown") {
  const std::string call = "<function=search>\n<parameter=query>\na\n</parameter>\n</function>";
  for (const std::string& raw : {"<tool_call>\n" + call + "\nb\n</tool_call>", "<tool_call>\n" + call + "\nb",
                                 "<tool_call>\n" + call + "\nb\n</tool_c", call + "\nb\n</tool_call>"}) {
    CAPTURE(raw);
    const auto got = at_every_split("hermes", raw);
    CHECK(got.calls().empty());
    CHECK(got.visible().empty());
    CHECK_FALSE(got.reply.calls.empty());
  }
  const auto next = at_every_split("hermes", "<tool_call>" + call + "b<tool_call>" + call + "</tool_call>");
  CHECK(next.calls() == R"(search{"query":"a"})");
  CHECK(next.visible().empty());
  // Other texts at that place.
  for (const std::string& raw :
       {"<tool_call>\n" + call + "<|im_end|>", "<tool_call>" + call + "\n</tool_call>\nDone.",
        "<tool_call>" + call + "</function>\n</tool_call>", call + "\n</tool_call></tool_call>",
        "<tool_call>" + call + "\n</tool_c", "```\n<tool_call>\n" + call + "\n</tool_call>\n```", call + "\nDone.",
        call + " <b>Done</b>: a <parameter=b>1</parameter>."}) {
    CAPTURE(raw);
    CHECK(at_every_split("hermes", raw).calls() == R"(search{"query":"a"})");
  }
}

TEST_CASE("G29: marks that close what nothing opened, far behind calls, refuse them, and nobody sees these marks") {
  const std::string call =
      "<tool_call>\n<function=search>\n<parameter=query>\na\n</parameter>\n</function>\n</tool_call>";
  const std::string words(20000, 'w');
  const auto got = parse_text("hermes", call + "\n" + words + "\n</parameter>\n</function>\n</tool_call>");
  CHECK(got.calls().empty());
  CHECK(got.visible() == words);
  CHECK(parse_text("hermes", call + "\n" + words + "\n</parameter>\n</function>\n</tool_call>", 7).str() == got.str());
  CHECK(parse_text("hermes", call + "\n" + words, 7).calls() == R"(search{"query":"a"})");
}

TEST_CASE("G29: a value that holds whole examples of calls is run as it is") {
  for (const std::string value :
       {"Example:\n<function=foo>\n<parameter=q>\n1\n</parameter>\n</function>\nend",
        "<function=foo>\n<parameter=q>\n1\n</parameter>\n<parameter=r>\n2\n</parameter>\n</function>",
        "<tool_call>\n<function=foo>\n<parameter=q>\n1\n</parameter>\n</function>\n</tool_call>\nend",
        "<invoke name=\"a\">\n<parameter name=\"x\">1</parameter>\n</invoke>\nend",
        "<function_calls>\n<invoke name=\"a\">\n<parameter name=\"x\">1</parameter>\n</invoke>\n</function_calls>",
        "<parameter name=\"x\">1</parameter>", "see <parameter=q>1</parameter> here", "<function=f>\nx\n</function>"}) {
    check_run(qwen(value), value);
    check_run(xml(value), value);
  }
  for (const std::string value : {"</parameter> </invoke>", "<parameter name=\"x\">1</parameter> </invoke>"})
    check_run(qwen(value), value);
}

TEST_CASE("G29: an example that is not whole leaves the end of its value open, and nobody sees anything of it") {
  for (const std::string value :
       {"<function=foo>\n<parameter=q>\n1\n</function>\nend", "<parameter=q>\n1\n<parameter=r>\n2\n</parameter>",
        "<function=foo>\n<parameter=q>\n1\n</parameter>\n</parameter>\n</function>\nend"})
    check_refused(qwen(value));
}

TEST_CASE("F10: marks in a value of XML that are escaped, or stand in CDATA, are a part of it whatever they are") {
  const auto escaped = [](std::string_view text, bool greater) {
    std::string out;
    for (const char c : text)
      out += c == '<' ? "&lt;" : c == '>' && greater ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
    return out;
  };
  for (const std::string value :
       {"<parameter=q>1</parameter>\n<parameter=r>2</parameter>", "a </parameter>", "</parameter>", "<parameter=q>",
        "<parameter name=\"q\">1</parameter>\n<parameter name=\"r\">2</parameter>", "a </parameter>\n</invoke>\nb",
        "&lt;parameter=q&gt;1&lt;/parameter&gt;\n&lt;parameter=r&gt;2&lt;/parameter&gt;"}) {
    check_run(xml(escaped(value, true)), value);
    check_run(xml(escaped(value, false)), value);
    check_run(xml("<![CDATA[" + value + "]]>"), value);
  }
  // A border that lost some bytes behind a smaller-than sign is none.
  for (const std::string border : {"/parameter>\n<paramter", "parameter>\n<paramter", "</parametr\n<parametr"}) {
    const auto got = at_every_split("xml", "<invoke name=\"search\"><parameter name=\"query\">i &lt; 2" + border +
                                               " name=\"limit\">6</parameter></invoke>");
    CHECK(got.calls().empty());
    CHECK(got.visible().empty());
  }
}

}  // namespace
