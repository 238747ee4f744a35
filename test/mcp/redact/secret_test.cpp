// Tests that secrets are not printed.
#include "mcp/redact/secret.hpp"

#include "mcp/json/raw_json.hpp"
#include "mcp/redact/cut_text.hpp"

#include <doctest/doctest.h>

#include <string>

namespace {

using mcpbx::redact::redactor;
using mcpbx::redact::secret;

struct fixture {
  fixture() { redactor::clear(); }
  ~fixture() { redactor::clear(); }
};

TEST_CASE_FIXTURE(fixture, "G35: a secret that is another one's escaped form has forms of its own") {
  redactor::add(secret(R"(pass"word)"));
  redactor::add(secret(R"(pass\"word)"));
  CHECK(redactor::redact("got " + mcpbx::json::json_quoted(R"(pass\"word)")) == R"(got "***")");
}

TEST_CASE_FIXTURE(fixture, "registered secrets are redacted wherever they stand") {
  redactor::add(secret("sk-123456"));
  CHECK(redactor::redact("key sk-123456, again:sk-123456") == "key ***, again:***");
  CHECK(redactor::redact("sk-12345") == "sk-12345");
  CHECK(redactor::redact("") == "");
  CHECK(mcpbx::redact::to_string(secret("sk-123456")) == "***");
}

TEST_CASE_FIXTURE(fixture, "G35: a passing secret is redacted as long as somebody holds it") {
  {
    const mcpbx::redact::passing_secret first(secret("token-one")), second(secret("token-one"));
    {
      mcpbx::redact::passing_secret moved(secret("token-two"));
      CHECK(redactor::redact("token-one token-two") == "*** ***");
      moved = mcpbx::redact::passing_secret(secret("token-six"));
      CHECK(redactor::redact("token-two token-six") == "token-two ***");
    }
    CHECK(redactor::redact("token-one token-six") == "*** token-six");
  }
  CHECK(redactor::redact("token-one") == "token-one");
  redactor::add(secret("token-one"));
  {
    const mcpbx::redact::passing_secret again(secret("token-one"));
  }
  CHECK(redactor::redact("token-one") == "***");
}

TEST_CASE_FIXTURE(fixture, "a secret that contains another one is covered whole") {
  redactor::add(secret("abcdef"));
  redactor::add(secret("abcdefghij"));
  CHECK(redactor::redact("abcdefghij abcdef") == "*** ***");
}

TEST_CASE_FIXTURE(fixture, "a secret is redacted in its JSON form too") {
  redactor::add(secret("pass\"word\\"));
  CHECK(redactor::redact(R"({"a":"pass\"word\\"})") == R"({"a":"***"})");
}

TEST_CASE_FIXTURE(fixture, "G35: of a value with many lines the first 256 are known, each alone, and the whole") {
  std::string bundle;
  for (int i = 0; i < 40'000; ++i) bundle += "certificate line " + std::to_string(i) + "\n";
  redactor::add(secret(bundle));
  redactor::add(secret(bundle));
  CHECK(redactor::redact("a certificate line 255 b") == "a *** b");
  CHECK(redactor::redact("of certificate line 300, b") == "of ***0, b");  // it begins as line 30 does
  CHECK(redactor::redact("<" + bundle + ">") == "<***>");
}

TEST_CASE_FIXTURE(fixture,
                  "G35: a secret that repeats itself is covered whole, and two that follow each other are two") {
  redactor::add(secret("abababab"));
  CHECK(redactor::redact("x" + std::string(100'000, ' ') + "abababababab y") ==
        "x" + std::string(100'000, ' ') + "*** y");
  redactor::add(secret("sk-123456"));
  CHECK(redactor::redact("sk-123456sk-123456") == "******");
}

TEST_CASE_FIXTURE(fixture, "a value too short to be a secret garbles nothing") {
  redactor::add(secret("abc"));
  redactor::add(secret("a\nb\nc"));
  redactor::add(secret(""));
  CHECK(redactor::redact("abc a\\nb\\nc") == "abc a\\nb\\nc");
}

TEST_CASE_FIXTURE(fixture, "G35: a secret is redacted in JSON whatever its writer escapes") {
  redactor::add(secret("at-canary+0123/abc<&>'=="));
  for (const auto* text :
       {R"(at-canary+0123/abc<&>'\u003d\u003d)", R"(at-canary\u002B0123/abc<&>'==)",
        R"(at-canary\u002b0123\/abc<&>'==)", R"(at-canary+0123\/abc\u003c\u0026\u003E\u0027\u003D\u003d)",
        R"(\u0061t\u002Dcanary+0123\u002fabc<&>'==)"}) {
    CAPTURE(text);
    CHECK(redactor::redact(R"({"m":"token )" + std::string(text) + R"( is \u201Cbad\u201D"})") ==
          R"({"m":"token *** is \u201Cbad\u201D"})");
  }
  redactor::add(secret(R"(pass"and\word)"));
  CHECK(redactor::redact(R"({"m":"pass\u0022and\u005Cword"})") == R"({"m":"***"})");
  // A text without a secret stays as it is, and a backslash before a backslash begins no escape.
  for (const auto* text : {R"({"m":"a\u003db\/c"})", R"({"m":"at-canary+0123/abc<&>'\\u003d="})", R"(a\u00)", R"(\)"})
    CHECK(redactor::redact(text) == text);
}

TEST_CASE_FIXTURE(fixture, "G35: an escape that was cut does not show the secret before it") {
  redactor::add(secret("at-canary==0123"));
  for (const auto* text :
       {R"(bad at-canary\)", R"(bad at-canary\u)", R"(bad at-canary\u00)", R"(bad at-canary\u003d\u003)"})
    CHECK(mcpbx::redact::redacted_part(text, {.front = false, .back = true}) == "bad ***");
}

}  // namespace
