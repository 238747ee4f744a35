// Tests of the form in which conversations are compared, and of the redaction of recordings.
#include "mcp/redact/secret.hpp"
#include "test/providers/replay/replayed_conversation.hpp"

#include <doctest/doctest.h>

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::providers;
using namespace mcpbx::providers::replay;
using namespace mcpbx::redact;
using namespace mcpbx::test;

namespace {

struct secrets {
  explicit secrets(std::initializer_list<const char*> values) {
    for (const char* v : values) redactor::add(secret(v));
  }
  ~secrets() { redactor::clear(); }
  secrets(const secrets&) = delete;
  secrets& operator=(const secrets&) = delete;
};

std::string clean(std::string_view json) {
  return std::string(without_secrets(raw_json::own(json)).text());
}

}  // namespace

TEST_CASE("replay: ids, origins, blanks and the order of members make no difference") {
  auto one = calls({call_of("a", "s__add", R"({"b": [1, 2], "a": "\u00e9"})")});
  auto two = calls({call_of("b", "s__add", "{\"a\":\"\xc3\xa9\",\"b\":[1,2]}")});
  CHECK(canonical(*one).text() == canonical(*two).text());
  CHECK(canonical(*one).text() ==
        "{\"role\":\"assistant\",\"calls\":[{\"name\":\"s__add\",\"arguments\":{\"a\":\"\xc3\xa9\",\"b\":[1,2]}}]}");
  CHECK(canonical(*results({result_of("a", "x", R"(,"_meta":{"ms":1})")})).text() ==
        canonical(*results({result_of("b", "x")})).text());
}

TEST_CASE("replay: roles, texts, names, arguments, order and results make a difference") {
  const auto differ = [](const message_ptr& a, const message_ptr& b) {
    return canonical(*a).text() != canonical(*b).text();
  };
  CHECK(differ(user_message("x"), system_message("x")));
  CHECK(differ(user_message("x"), user_message("y")));
  const auto a = call_of("1", "s__a", "{}"), b = call_of("2", "s__b", "{}"), c = call_of("1", "s__a", R"({"x":1})");
  CHECK(differ(calls({a, b}), calls({b, a})));
  CHECK(differ(calls({a}), calls({c})));
  CHECK(differ(results({result_of("1", "x")}), results({result_of("1", "y")})));
  auto image = std::make_shared<message>(), other = std::make_shared<message>();
  image->blocks.emplace_back(image_block{"image/png", "aGVsbG8=", ""});
  other->blocks.emplace_back(image_block{"image/png", "aGVsbG9=", ""});
  CHECK(differ(image, other));
  CHECK(canonical(*image).text().find("aGVsbG8=") == std::string_view::npos);
  auto file = std::make_shared<message>(), renamed = std::make_shared<message>();
  file->blocks.emplace_back(file_block{"application/pdf", "a.pdf", "aGVsbG8=", ""});
  renamed->blocks.emplace_back(file_block{"application/pdf", "b.pdf", "aGVsbG8=", ""});
  CHECK(differ(file, renamed));
  CHECK(differ(file, image));
  CHECK(canonical(*file).text().find("aGVsbG8=") == std::string_view::npos);
}

TEST_CASE("replay: secrets are taken out of every place of a message") {
  const secrets known{"canary-1", "77123456", "a\"quote/1"};
  auto m = std::make_shared<message>();
  m->role = role::assistant;
  m->origin = {"openai-chat", "https://canary-1@x.example", "m"};
  m->raw = raw_json::own("{\"content\":\"canary\\u002d1\",\n\"args\":\"{\\\"k\\\":\\\"canary\\\\u002d1\\\"}\"}");
  m->blocks.emplace_back(text_block{"is canary-1"});
  m->blocks.emplace_back(reasoning_block{"canary-1", raw_json::own(R"({"canary-1":77123456})")});
  m->blocks.emplace_back(refusal_block{"no canary-1"});
  m->blocks.emplace_back(opaque_block{raw_json::own(R"(["canary-1"])")});
  m->blocks.emplace_back(call_of("", "t", R"({"k":"a\"quote\/1"})"));
  m->blocks.emplace_back(call_of("", "t", "{}"));
  const auto safe = without_secrets(*m);
  std::string line = to_line(exchange{0, {canonical(*m)}, {}, {}, reply_of(safe)});
  CHECK(line.find("canary") == std::string::npos);
  CHECK(line.find("77123456") == std::string::npos);
  CHECK(line.find("quote") == std::string::npos);
  CHECK(line.find('\n') == line.size() - 1);
  CHECK(raw_json::parse(line).has_value());
  CHECK(safe->raw.text() == R"({"content":"***","args":"{\"k\":\"***\"}"})");
  CHECK(safe->calls()[0]->id == "call-1");
  CHECK(safe->calls()[1]->id == "call-2");
}

TEST_CASE("replay: JSON without secrets stays what it was, but for blanks") {
  const secrets known{"canary-1"};
  CHECK(clean("{ \"b\" : [1.50, -0, 1e9, true, null, {}, [ ]],\n \"a\":\"\\u20ac\\/\" }") ==
        "{\"b\":[1.50,-0,1e9,true,null,{},[]],\"a\":\"\xe2\x82\xac/\"}");
  const std::string deep = std::string(600, '[') + "\n" + std::string(600, ']');
  CHECK(clean(deep).find('\n') == std::string::npos);
  const std::string hidden = std::string(600, '[') + "\"canary-1\"" + std::string(600, ']');
  CHECK(raw_json::parse(clean(hidden), 600).has_value());
  CHECK(clean(hidden).find("canary") == std::string::npos);
}

TEST_CASE("replay: JSON in strings in JSON, however deep, is walked to a bounded depth") {
  const secrets known{"canary-1"};
  std::string text = R"({"k":"canary\u002d1"})";
  for (int i = 0; i < 8; ++i) text = std::string(200, '[') + json_quoted(text) + std::string(200, ']');
  CHECK(raw_json::parse(clean(text)).has_value());
  CHECK(clean(std::string(100, '[') + json_quoted(R"({"k":"canary\u002d1"})") + std::string(100, ']')).find("canary") ==
        std::string::npos);
}

TEST_CASE("replay: a secret that came in two pieces is taken out") {
  const secrets known{"canary-1"};
  pieces p;
  p.add(false, "is can");
  p.add(true, "hm");
  p.add(false, "ary-1!");
  CHECK(p.take() == std::vector<piece>{{false, "is ***!"}, {true, "hm"}});
  for (int i = 0; i < 5'000; ++i) p.add(false, "x");
  p.add(true, "y");
  const auto many = p.take();
  CHECK(many.size() == 4'097);
  CHECK(many[4'095].text.size() == 905);
}
