// Tests of the cost of joining what an endpoint sends: linear in the bytes. With quadratic work each of these would
// take from minutes to days.
#include "mcp/json/raw_json.hpp"
#include "providers/wire/openai/chat_delta.hpp"
#include "providers/wire/openai/delta_merge.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>

using namespace mcpbx;
using namespace mcpbx::providers::openai;

namespace {

// `many` members or elements, in which `#` is their number.
std::string list_of(int many, std::string_view text) {
  std::string all;
  for (int i = 0; i < many; ++i) {
    if (i > 0) all += ',';
    for (const char c : text) {
      if (c == '#')
        all += std::to_string(i);
      else
        all += c;
    }
  }
  return all;
}

constexpr int many = 300'000;

}  // namespace

TEST_CASE("G18: deltas of very many members or elements are merged in linear time") {
  const std::array objects{"{" + list_of(many, R"("k#":1)") + "}", "{" + list_of(many, R"("k#":2)") + R"(,"new":3})"};
  const auto merged = merged_deltas(objects);
  CHECK(merged == "{" + list_of(many, R"("k#":2)") + R"(,"new":3})");
  const std::array lists{"[" + list_of(many, R"({"index":#,"t":"a"})") + "]",
                         "[" + list_of(many, R"({"index":#,"t":"b"})") + "]"};
  CHECK(merged_deltas(lists) == "[" + list_of(many, R"({"index":#,"t":"ab"})") + "]");
}

TEST_CASE("G18: of very many vendor fields a thousand are kept, and custom content of too many values is left out") {
  vendor_fields fields;
  for (int i = 0; i < many; ++i) fields.add("reasoning" + std::to_string(i), "1");
  for (int i = 0; i < many; ++i) fields.add("reasoning" + std::to_string(i), "2");
  CHECK(fields.object().text() == "{" + list_of(1000, R"("reasoning#":2)") + "}");
  vendor_fields content;
  content.add("custom_content", "{" + list_of(60'000, R"("k#":1)") + "}");
  CHECK(content.object().text() == R"({"custom_content":{)" + list_of(60'000, R"("k#":1)") + "}}");
  content.add("custom_content", "{" + list_of(60'000, R"("k#":1)") + "}");
  content.add("custom_content", R"({"a":1})");
  CHECK(content.object().empty());
  CHECK(content.empty());
  content.add("reasoning", "\"so\"");
  CHECK(content.object().text() == R"({"reasoning":"so"})");
}

TEST_CASE("G18: a reasoning detail that comes in very many pieces grows in place") {
  vendor_fields fields;
  fields.add("reasoning_details", "[" + list_of(many, R"({"index":0,"type":"t","text":"#,"})") + "]");
  for (int i = 0; i < many; ++i)
    fields.add("reasoning_details", R"([{"type":"t","index":0,"text":"0123456789","id":"x","format":null}])");
  const auto text = std::string(fields.object().text());
  CHECK(text.starts_with(R"({"reasoning_details":[{"index":0,"type":"t","text":"0,1,2,3,)"));
  CHECK(text.ends_with(R"(01234567890123456789","id":"x","format":null}]})"));
  CHECK(text.size() > 10 * many);
}

TEST_CASE("pieces of a detail that is another one stay apart, byte for byte") {
  vendor_fields fields;
  fields.add("reasoning_details", R"([{ "index" : 0, "type":"a", "text":"x" }, {"index":1,"type":"a"}])");
  fields.add("reasoning_details", R"([{"index":1,"type":"b","text":null}])");
  fields.add("reasoning_details", R"([{"index":1,"type":"b","text":"\n"},5])");
  CHECK(fields.object().text() ==
        R"({"reasoning_details":[{ "index" : 0, "type":"a", "text":"x" },{"index":1,"type":"a"},)"
        R"({"index":1,"type":"b","text":"\n"},5]})");
}
