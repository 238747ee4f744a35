// Calls that are markup, with values that hold marks of their own: whole examples, halves of them, escaped ones.
#include "test/providers/text/parse.hpp"
#include "test/support/contains.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace mcpbx;
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
