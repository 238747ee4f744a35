// Tool results as the model is shown them: empty ones replaced, large ones cut.
#include "daemon/loop/results/result_view.hpp"

#include "test/support/contains.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace mcpbx;
using namespace mcpbx::daemon::results;
using namespace mcpbx::json;
using mcpbx::test::contains;

namespace {

std::string view(std::string_view result, std::int64_t most = 102'400, bool is_error = false) {
  const auto seen = model_view(raw_json::own(result), is_error, most, "nothing", "call-1").shown;
  CHECK(raw_json::parse(seen.text()).has_value());
  return std::string(seen.text());
}

}  // namespace

TEST_CASE("L14: a result with something to say passes as its own bytes") {
  const auto result = raw_json::literal(R"({ "content" : [{"type":"text","text":"a","n":1.0}] , "x":1e400})");
  CHECK(model_view(result, false, 1000, "nothing", "").shown.text().data() == result.text().data());
  const auto structured = raw_json::literal(R"({"content":[],"structuredContent":{"a":1}})");
  CHECK(model_view(structured, false, 1000, "nothing", "").shown.text().data() == structured.text().data());
  CHECK(contains(view(R"({"content":[{"type":"image","data":"","mimeType":"image/png"}]})"), "image"));
}

TEST_CASE("L14: empty results become the configured text") {
  const std::string nothing = R"({"content":[{"type":"text","text":"nothing"}]})";
  for (const auto* empty :
       {R"({"content":[]})", "{}", R"({"content":[{"type":"text","text":""}]})",
        R"({"content":[{"type":"text","text":" \n"},{"type":"text","text":"\t"}]})", R"({"content":null})"}) {
    CAPTURE(empty);
    CHECK(view(empty) == nothing);
  }
  CHECK(view(R"({"content":[{"type":"text","text":")" + std::string(5000, ' ') + R"("}]})", 1000) == nothing);
  CHECK(contains(view("{}", 1000, true), "said nothing"));
  CHECK(contains(view("{}", 1000, true), "\"isError\":true"));
  CHECK(view(R"({"content":[{"type":"text","text":"\"x\""}]})") != nothing);
}

TEST_CASE("L14: a large text keeps head and tail with a notice of what is missing and how to read on") {
  const auto seen = view(
      R"({"content":[{"type":"text","text":")" + std::string(5'000, 'x') + std::string(5'000, 'y') + R"("}]})", 1000);
  CHECK(contains(seen, "\"" + std::string(750, 'x') + "\""));
  CHECK(contains(seen, "\"" + std::string(250, 'y') + "\""));
  CHECK(contains(seen, "was cut to the 1000 that are allowed; 9000 bytes of text are missing here"));
  CHECK(contains(seen, R"(Call mcpbx__read_result with {\"call\":\"call-1\",\"offset\":750} to read on.)"));
  CHECK(seen.size() < 1400);
}

TEST_CASE("L14: the parts of a text are cut as one, and a resource's text is text too") {
  const std::string a(800, 'a'), b(800, 'b'), c(800, 'c');
  const auto seen =
      view(R"({"content":[{"type":"text","text":")" + a + R"("},{"type":"resource","resource":{"uri":"u:1","text":")" +
               b + R"("}},{"type":"text","text":")" + c + R"("}]})",
           1200);
  CHECK(contains(seen, a + "\\n" + std::string(100, 'b') + "\""));
  CHECK(contains(seen, "\"" + std::string(300, 'c') + "\""));
  CHECK(contains(seen, "1200 bytes of text are missing"));
}

TEST_CASE("L14: a cut never splits a character") {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "\u00e4";
  const auto seen = view(R"({"content":[{"type":"text","text":")" + text + R"("}]})", 1001);
  CHECK(contains(seen, "1000 bytes of text are missing"));
}

TEST_CASE("L14: a cut never splits an escape, and nothing is unescaped for it") {
  for (const std::string escape : {R"(\n)", R"(\\)", R"(\u00e4)", R"(\ud83d\ude00)"}) {
    CAPTURE(escape);
    std::string text = "x";
    while (text.size() < 2000) text += escape;
    for (std::int64_t most = 400; most < 424; ++most) {
      const auto seen = view(R"({"content":[{"type":"text","text":")" + text + R"("}]})", most);
      const auto head = seen.find(R"("text":")") + 8, end = seen.find('"', head);
      CHECK((end - head - 1) % escape.size() == 0);
      CHECK(end - head > 280);
    }
  }
}

TEST_CASE("L14: large parts beside a long text leave it half of the room") {
  const std::string image = R"({"type":"image","data":")" + std::string(600, 'A') + R"(","mimeType":"image/png"})";
  const auto short_text = view(R"({"content":[{"type":"text","text":"see"},)" + image + "," + image + "]}", 1000);
  CHECK(contains(short_text, image));
  CHECK(contains(short_text, "1 part that is no text ("));
  CHECK_FALSE(contains(short_text, "read on"));
  const auto long_text =
      view(R"({"content":[)" + image + R"(,{"type":"text","text":")" + std::string(3000, 'x') + R"("}]})", 1000);
  CHECK_FALSE(contains(long_text, image));
  CHECK(contains(long_text, "2000 bytes of text are missing"));
}

TEST_CASE("L14: large parts that are no text are left out with their size") {
  const auto seen = view(R"({"content":[{"type":"text","text":"see"},{"type":"image","data":")" +
                             std::string(5000, 'A') + R"("}],"isError":true})",
                         1000, true);
  CHECK(contains(seen, "see"));
  CHECK_FALSE(contains(seen, "AAAA"));
  CHECK(contains(seen, "1 part that is no text ("));
  CHECK(contains(seen, "\"isError\":true"));
}

TEST_CASE("L14: structured content counts only where it is alone") {
  const auto big = R"({"data":")" + std::string(5000, 'B') + "\"}";
  const auto beside = view(R"({"content":[{"type":"text","text":"short"}],"structuredContent":)" + big + "}", 1000);
  CHECK(beside == R"({"content":[{"type":"text","text":"short"}]})");
  const auto alone = view(R"({"content":[],"structuredContent":)" + big + "}", 1000);
  CHECK(contains(alone, "BBBB"));
  CHECK(contains(alone, "was cut"));
}

TEST_CASE("F8: no model is shown what nobody sees, in texts, names of resource links and structured content") {
  CHECK(view(R"({"content":[{"type":"text","text":"a\u001b[31mb\u202ec\udb40\udd00d\r\n"},)"
             R"({"type":"resource_link","name":"n\udb40\udc41\u200b","uri":"u:\u20661"}]})") ==
        R"({"content":[{"type":"text","text":"a[31mbcd\r\n"},{"type":"resource_link","name":"n","uri":"u:1"}]})");
  CHECK(view(R"({"content":[],"structuredContent":{"k\ufeff":"\u200bv"}})") ==
        R"({"content":[],"structuredContent":{"k":"v"}})");
}

TEST_CASE("F8: of a result that was cut nothing is shown either, and one that only hides says nothing") {
  std::string text;
  while (text.size() < 9000) text += R"(x\u200b\udb40\udd00)";
  CHECK_FALSE(contains(view(R"({"content":[{"type":"text","text":")" + text + R"("}]})", 1000), "\\u"));
  CHECK(view(R"({"content":[{"type":"text","text":"\u200b\udb40\udc41"}]})") ==
        R"({"content":[{"type":"text","text":"nothing"}]})");
}
