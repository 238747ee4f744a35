// Tests of the forms that servers ask people to fill in: reading, checking, defaults, and words that people type.
#include "mcp/protocol/questions/elicitation.hpp"

#include "mcp/protocol/questions/input_formats.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::mcp::questions;

namespace {

raw_json json_of_form(std::string_view text) {
  auto made = raw_json::parse(text);
  REQUIRE_MESSAGE(made, std::string(text));
  return *made;
}

// Returns the params of a form with these properties.
raw_json form_with(std::string_view properties, std::string_view required = "[]") {
  return json_of_form(R"({"message":"m","requestedSchema":{"type":"object","properties":{)" + std::string(properties) +
                      R"(},"required":)" + std::string(required) + "}}");
}

input_request form_of(std::string_view properties, std::string_view required = "[]") {
  auto read = read_input_request(form_with(properties, required));
  REQUIRE_MESSAGE(read, read.error().message);
  return *read;
}

std::string refusal(const raw_json& params) {
  const auto read = read_input_request(params);
  return read ? "read" : read.error().message;
}

std::string text_of(const result<raw_json>& value) {
  return value ? std::string(value->text()) : value.error().message;
}

}  // namespace

TEST_CASE("every property that the specification knows becomes a field") {
  const auto form = form_of(R"("name":{"type":"string","title":"Name","description":"d","minLength":1,"maxLength":3},
    "mail":{"type":"string","format":"email","default":"a@b.c"},
    "age":{"type":"integer","minimum":0,"maximum":150,"default":7},"size":{"type":"number","default":1.5},
    "sure":{"type":"boolean","default":true},"colour":{"type":"string","enum":["r","g"],"enumNames":["Red","Green"]},
    "one":{"type":"string","oneOf":[{"const":"a","title":"A"},{"const":"b","title":"B"}],"default":"b"},
    "some":{"type":"array","minItems":1,"maxItems":2,"items":{"type":"string","enum":["x","y","z"]}},
    "titled":{"type":"array","items":{"anyOf":[{"const":"x","title":"X"}]},"default":["x"]})",
                            R"(["name","age"])");
  REQUIRE(form.fields.size() == 9);
  CHECK(form.message == "m");
  CHECK_FALSE(form.is_url);
  const auto& name = form.fields[0];
  CHECK((name.kind == input_kind::text && name.required && name.title == "Name" && name.description == "d"));
  CHECK((name.least == 1 && name.most == 3 && !name.usual));
  CHECK((form.fields[1].format == "email" && form.fields[1].usual.text() == "\"a@b.c\"" && !form.fields[1].required));
  CHECK((form.fields[2].kind == input_kind::integer && form.fields[2].required && form.fields[2].maximum == 150));
  CHECK((form.fields[3].kind == input_kind::number && form.fields[3].usual.text() == "1.5"));
  CHECK((form.fields[4].kind == input_kind::boolean && form.fields[4].usual.is_true()));
  REQUIRE(form.fields[5].options.size() == 2);
  CHECK((form.fields[5].kind == input_kind::choice && form.fields[5].options[1].label == "Green"));
  CHECK((form.fields[6].options[0].value == "a" && form.fields[6].usual.text() == "\"b\""));
  CHECK(
      (form.fields[7].kind == input_kind::choices && form.fields[7].least == 1 && form.fields[7].options.size() == 3));
  CHECK((form.fields[8].options[0].label == "X" && form.fields[8].usual.text() == "[\"x\"]"));
}

TEST_CASE("a default that does not fit its field is none") {
  const auto form =
      form_of(R"("n":{"type":"integer","maximum":3,"default":4},"c":{"type":"string","enum":["a"],"default":"b"})");
  CHECK_FALSE(form.fields[0].usual);
  CHECK_FALSE(form.fields[1].usual);
}

TEST_CASE("an address is read with the host that it leads to") {
  const auto read = read_input_request(json_of_form(
      R"({"mode":"url","message":"m","url":"HTTPS://bank.example@evil.example:8443/a?b","elicitationId":"e1"})"));
  REQUIRE(read);
  CHECK((read->is_url && read->host == "evil.example" && read->id == "e1"));
  CHECK(host_of_url("http://[::1]:80/x") == "[::1]");
  for (const auto* bad : {"", "x", "ftp://a/", "https://", "https:///a", "https://a b/", "https://a\\@b/",
                          "file:///etc", "javascript:alert(1)", "https://[::1"})
    CHECK_MESSAGE(host_of_url(bad).empty(), bad);
}

TEST_CASE("questions that are no question in the sense of the specification are refused with a clause") {
  CHECK(refusal(json_of_form("{}")) == "message is no text");
  CHECK(refusal(json_of_form(R"({"message":"m","mode":"pigeon"})")) == "the mode is neither form nor url");
  CHECK(refusal(json_of_form(R"({"message":"m"})")) == "requestedSchema is no object");
  CHECK(refusal(json_of_form(R"({"message":"m","requestedSchema":{"type":"array"}})")) ==
        "requestedSchema has a type other than object");
  CHECK(refusal(json_of_form(R"({"message":"m","requestedSchema":{"properties":1}})")) ==
        "requestedSchema.properties is no object");
  CHECK(refusal(json_of_form(R"({"message":"m","mode":"url","url":"file:///x"})")) ==
        "url is no address of http or https");
  CHECK(refusal(form_with(R"("a":1)")) == "requestedSchema.properties.\"a\" is no object");
  CHECK(refusal(form_with(R"("a":{"type":"object"})")) ==
        "requestedSchema.properties.\"a\" has a type that forms do not have: \"object\"");
  CHECK(refusal(form_with(R"("a":{"type":"array","items":{"type":"string"}})")) ==
        "requestedSchema.properties.\"a\" has no list of texts to choose from");
  CHECK(refusal(form_with(R"("a":{"type":"string","enum":[1]})")) ==
        "requestedSchema.properties.\"a\" has no list of texts to choose from");
  CHECK(refusal(form_with(R"("a":{"type":"string"},"a":{"type":"string"})")) ==
        "requestedSchema.properties has \"a\" twice");
}

TEST_CASE("a question is bounded in bytes and fields and options") {
  CHECK(refusal(json_of_form("{\"message\":" + json_quoted(std::string(most_input_bytes, 'x')) + "}")) ==
        "the question has more than 262144 bytes");
  std::string many;
  for (std::size_t i = 0; i <= most_input_fields; ++i)
    many += (i > 0 ? ",\"f" : "\"f") + std::to_string(i) + R"(":{"type":"string"})";
  CHECK(refusal(form_with(many)) == "the form has more than 64 fields");
  std::string options;
  for (std::size_t i = 0; i <= most_input_options; ++i) options += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\"";
  CHECK(refusal(form_with(R"("a":{"type":"string","enum":[)" + options + "]}")) ==
        "requestedSchema.properties.\"a\" has no list of texts to choose from");
}

TEST_CASE("a value is checked against its field and the fault tells what is expected") {
  struct row {
    std::string_view field, value, fault;
  };
  const row rows[] = {
      {R"({"type":"string"})", "\"\"", ""},
      {R"({"type":"string"})", "7", "expected a text, got 7"},
      {R"({"type":"string","minLength":2})", "\"é\"", "expected at least 2 characters, got 1"},
      {R"({"type":"string","maxLength":2})", "\"éé\"", ""},
      {R"({"type":"string","maxLength":2})", "\"abc\"", "expected at most 2 characters, got 3"},
      {R"({"type":"string","format":"email"})", "\"a@b.c\"", ""},
      {R"({"type":"string","format":"email"})", "\"ab\"",
       "expected an address of e-mail, such as a@example.com, got \"ab\""},
      {R"({"type":"string","format":"colour"})", "\"ab\"", ""},
      {R"({"type":"integer"})", "7", ""},
      {R"({"type":"integer"})", "7.0", ""},
      {R"({"type":"integer"})", "7.5", "expected a whole number, got 7.5"},
      {R"({"type":"integer"})", "\"7\"", "expected a whole number, got \"7\""},
      {R"({"type":"number","minimum":1.5})", "1", "expected at least 1.5, got 1"},
      {R"({"type":"number","maximum":10})", "1e2", "expected at most 10, got 1e2"},
      {R"({"type":"boolean"})", "false", ""},
      {R"({"type":"boolean"})", "\"yes\"", "expected true or false, got \"yes\""},
      {R"({"type":"string","enum":["a","b"]})", "\"b\"", ""},
      {R"({"type":"string","enum":["a","b"]})", "\"c\"", "expected one of \"a\", \"b\", got \"c\""},
      {R"({"type":"array","items":{"enum":["a","b"]}})", "[]", ""},
      {R"({"type":"array","items":{"enum":["a","b"]}})", "[\"b\",\"a\"]", ""},
      {R"({"type":"array","items":{"enum":["a","b"]}})", "\"a\"", "expected a list of texts, got \"a\""},
      {R"({"type":"array","items":{"enum":["a","b"]}})", "[\"c\"]", "expected only \"a\", \"b\", got \"c\""},
      {R"({"type":"array","items":{"enum":["a","b"]}})", "[\"a\",\"a\"]", "expected each only once, got \"a\" twice"},
      {R"({"type":"array","minItems":1,"items":{"enum":["a","b"]}})", "[]", "expected at least 1 of the list, got 0"},
      {R"({"type":"array","maxItems":1,"items":{"enum":["a","b"]}})", "[\"a\",\"b\"]",
       "expected at most 1 of the list, got 2"},
  };
  for (const auto& r : rows) {
    CAPTURE(r.field);
    CAPTURE(r.value);
    CHECK(fault_of(form_of("\"f\":" + std::string(r.field)).fields[0], json_of_form(r.value)) == r.fault);
  }
}

TEST_CASE("formats of texts accept what they stand for and nothing near it") {
  struct row {
    std::string_view format, good, bad;
  };
  const row rows[] = {
      {"email", "a.b+c@d.example", "@b"},
      {"email", "a@b", "a@.b"},
      {"email", "a@b", "a b@c"},
      {"email", "a@b", "a@b@c"},
      {"email", "a@b", "a@b..c"},
      {"uri", "urn:x", "x"},
      {"uri", "https://a/b?c", "https: //a"},
      {"uri", "a+b:c", "1a:b"},
      {"uri", "a:b", ":b"},
      {"date", "2024-02-29", "2023-02-29"},
      {"date", "2000-02-29", "1900-02-29"},
      {"date", "2026-12-31", "2026-13-01"},
      {"date", "2026-01-01", "2026-1-1"},
      {"date", "2026-01-01", "2026-01-01T"},
      {"date-time", "2026-07-28T09:30:00Z", "2026-07-28 09:30:00Z"},
      {"date-time", "2026-07-28t23:59:60.25+05:30", "2026-07-28T24:00:00Z"},
      {"date-time", "2026-07-28T00:00:00-00:00", "2026-07-28T00:00:00"},
      {"date-time", "2026-07-28T00:00:00z", "2026-07-28T00:00:00.Z"},
      {"date-time", "2026-07-28T00:00:00z", "2026-07-28T00:00Z"},
  };
  for (const auto& r : rows) {
    CAPTURE(r.bad);
    CHECK(unmet_format(r.format, r.good).empty());
    CHECK_FALSE(unmet_format(r.format, r.bad).empty());
  }
  CHECK(unmet_format("", "anything").empty());
}

TEST_CASE("words that a person types become a value of the field or a reason") {
  struct row {
    std::string_view field, typed, value;
  };
  const row rows[] = {
      {R"({"type":"string"})", " a \"b\" ", "\" a \\\"b\\\" \""},
      {R"({"type":"integer"})", " 42 ", "42"},
      {R"({"type":"integer"})", "forty", "expected a whole number, got \"forty\""},
      {R"({"type":"number"})", "true", "expected a number, got \"true\""},
      {R"({"type":"number"})", "-1.5e3", "-1.5e3"},
      {R"({"type":"boolean"})", "YES", "true"},
      {R"({"type":"boolean"})", "n", "false"},
      {R"({"type":"boolean"})", "maybe", "expected yes or no, got \"maybe\""},
      {R"({"type":"string","enum":["red","2"]})", "2", "\"2\""},
      {R"({"type":"string","enum":["red","green"]})", "2", "\"green\""},
      {R"({"type":"string","enum":["r","g"],"enumNames":["Red","Green"]})", "green", "\"g\""},
      {R"({"type":"string","enum":["r","g"]})", "3", "expected one of the list, got \"3\""},
      {R"({"type":"array","items":{"enum":["a","b","c"]}})", "3, a,3", "[\"c\",\"a\"]"},
      {R"({"type":"array","items":{"enum":["a","b"]}})", "a,d", "expected some of the list, got \"d\""},
      {R"({"type":"array","minItems":2,"items":{"enum":["a","b"]}})", "a", "expected at least 2 of the list, got 1"},
  };
  for (const auto& r : rows) {
    CAPTURE(r.typed);
    CHECK(text_of(value_of_words(form_of("\"f\":" + std::string(r.field)).fields[0], r.typed)) == r.value);
  }
}

TEST_CASE("what a list of options shows means what it shows, whatever values the server gave them") {
  const auto chosen = [](std::string_view field, std::string_view typed) {
    return text_of(value_of_words(form_of("\"f\":" + std::string(field)).fields[0], typed));
  };
  const std::string_view crossed =
      R"({"type":"string","oneOf":[{"const":"no","title":"Keep my files"},{"const":"1","title":"Delete everything"}]})";
  CHECK(chosen(crossed, "1") == "\"no\"");
  CHECK(chosen(crossed, " 2 ") == "\"1\"");
  CHECK(chosen(crossed, "01") == "\"no\"");
  CHECK(chosen(crossed, "delete everything") == "\"1\"");
  const std::string_view swapped =
      R"({"type":"string","oneOf":[{"const":"no","title":"yes"},{"const":"YES","title":"no"},{"const":"30","title":"x"}]})";
  CHECK(chosen(swapped, "yes") == "\"no\"");
  CHECK(chosen(swapped, "YES") == "\"no\"");
  CHECK(chosen(swapped, "no") == "\"YES\"");
  CHECK(chosen(swapped, "30") == "\"30\"");
  CHECK(chosen(R"({"type":"array","items":{"anyOf":[{"const":"2","title":"a"},{"const":"1","title":"b"}]}})", "1") ==
        "[\"2\"]");
}

TEST_CASE("the content of an answer has the fields of the form and all required ones") {
  const auto form = form_of(R"("name":{"type":"string"},"age":{"type":"integer"})", R"(["name"])");
  const auto fault = [&](std::string_view content) {
    const auto right = check_content(form, content.empty() ? raw_json() : json_of_form(content));
    return right ? "" : right.error().message;
  };
  CHECK(fault(R"({"name":"a"})").empty());
  CHECK(fault(R"({"name":"a","age":3})").empty());
  CHECK(fault("") == "content: expected an object with the fields of the form, got nothing");
  CHECK(fault("[]") == "content: expected an object with the fields of the form, got []");
  CHECK(fault("{}") == "content.name: expected a value, got nothing");
  CHECK(fault(R"({"name":"a","age":"3"})") == "content.age: expected a whole number, got \"3\"");
  CHECK(fault(R"({"name":"a","aeg":3})") == "content.aeg: the form has no such field (did you mean \"age\"?)");
}

TEST_CASE("defaults fill in a form unless a required field has none") {
  CHECK(text_of(usual_content(form_of(R"("a":{"type":"string","default":"x"},"b":{"type":"integer"})"))) ==
        R"({"a":"x"})");
  CHECK(text_of(usual_content(form_of(R"("a":{"type":"string"},"b":{"type":"integer"})", R"(["a","b"])"))) ==
        R"(the form has no default for "a", "b")");
  CHECK(input_answer("decline").text() == R"({"action":"decline"})");
  CHECK(input_answer("accept", json_of_form(R"({"a":1})")).text() == R"({"action":"accept","content":{"a":1}})");
}
