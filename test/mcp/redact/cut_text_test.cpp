// No part of a secret is left where a text is cut.
#include "mcp/redact/cut_text.hpp"

#include "mcp/redact/secret.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

namespace {

using namespace mcpbx;
using namespace mcpbx::redact;

const std::string key = "sk-canary-0123456789";

struct one_secret {
  one_secret() {
    redactor::clear();
    redactor::add(secret(key));
  }
  ~one_secret() { redactor::clear(); }
};

TEST_CASE_FIXTURE(one_secret, "G35: wherever a text is cut no part of a secret is shown") {
  for (std::size_t before = 0; before < 40; ++before) {
    CAPTURE(before);
    const std::string text = std::string(before, '.') + key + std::string(50, '.');
    const auto shown = cut_for_people(text, 30);
    CHECK(shown.find("sk-c") == std::string::npos);
    CHECK(shown.size() <= 30);
    CHECK(shown.starts_with(std::string(std::min<std::size_t>(before, 30), '.')));
    CHECK(tail_for_people(std::string(50, '.') + key + std::string(before, '.'), 30).find("6789") == std::string::npos);
    CHECK(cut_for_log(text, 30).find("sk-c") == std::string::npos);
  }
}

TEST_CASE_FIXTURE(one_secret, "G35: a secret longer than what is shown does not show in part") {
  const std::string token = "eyJ" + std::string(9'000, 'x') + "end";
  redactor::add(secret(token));
  CHECK(cut_for_people("token " + token, 300) == "token ***");
  CHECK(cut_for_people("token " + token.substr(0, 8'000), 300, {.cut = {.front = false, .back = true}}) == "token ***");
  CHECK(tail_for_people(token + " token", 300) == "*** token");
  // Neither its beginning nor its end is there.
  CHECK(redacted_part(token.substr(100, 500), {.front = true, .back = true}) == "***");
}

TEST_CASE_FIXTURE(one_secret,
                  "G35: a part of a secret at an end that was cut is taken out, at a whole end it is text") {
  const std::string half = "key " + key.substr(0, 12);
  CHECK(redacted_part(half, {}) == half);
  CHECK(redacted_part(half, {.front = false, .back = true}) == "key ***");
  CHECK(redacted_part("6789 is it", {.front = true, .back = false}) == "*** is it");
  CHECK(redacted_part("789 is it", {.front = true, .back = false}) == "789 is it");
  SUBCASE("also of one that begins with another") {
    redactor::add(secret("sk-canary"));
    CHECK(redacted_part(half, {.front = false, .back = true}) == "key ***");
    CHECK(redacted_part(half, {}) == "key ***-01");
  }
}

TEST_CASE_FIXTURE(one_secret, "a text is cut at a character and marked when something was left out") {
  CHECK(cut_for_people("short", 5, {.mark = "…"}) == "short");
  CHECK(cut_for_people("longer", 5, {.mark = "…"}) == "longe…");
  CHECK(cut_for_people("aä", 2) == "a");
  CHECK(cut_for_people(std::string(1 << 20, 'x'), 5, {.mark = "…"}) == "xxxxx…");
  CHECK(cut_for_people("a\nb\x1b", 9) == "ab");
  CHECK(cut_for_people("a\nb\x1b", 9, {.keep_lines = true}) == "a\nb");
  CHECK(cut_for_log("a\nb\x1b", 9) == "a\nb\x1b");
  CHECK(cut_for_log(std::string(9, 'x') + key, 11, "…") == std::string(9, 'x') + "**…");
  CHECK(tail_for_people("one two", 3) == "two");
}

TEST_CASE_FIXTURE(one_secret, "G35: a secret of several lines is known line by line, and with escaped slashes") {
  redactor::add(secret("-----BEGIN KEY-----\ncanary/line/one\r\nshort\ncanary/line/two\n-----END KEY-----"));
  CHECK(redactor::redact("line canary/line/one, canary/line/two, short") == "line ***, ***, short");
  CHECK(redactor::redact(R"({"a":"canary\/line\/two"})") == R"({"a":"***"})");
}

}  // namespace
