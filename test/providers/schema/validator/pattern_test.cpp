// Patterns: the syntax of ECMA-262 that schemas use, and what keeps a hostile pattern cheap.
#include "providers/schema/validator/schema_pattern.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using mcpbx::providers::schema::categories_named;
using mcpbx::providers::schema::category_of;
using mcpbx::providers::schema::pattern;

namespace {

bool matches(std::string_view text, std::string_view in) {
  const auto p = pattern::compile(text);
  INFO(text);
  REQUIRE(p.has_value());
  std::size_t steps = 100'000;
  const auto found = p->search(in, steps);
  REQUIRE(found != pattern::outcome::unknown);
  return found == pattern::outcome::match;
}
bool refused(std::string_view text) {
  return !pattern::compile(text).has_value();
}

}  // namespace

TEST_CASE("pattern: alternatives and repetitions and groups") {
  CHECK(matches("", ""));
  CHECK(matches("b", "abc"));
  CHECK_FALSE(matches("^b", "abc"));
  CHECK(matches("^(a|b|)c$", "c"));
  CHECK(matches("^(?:ab)+$", "ababab"));
  CHECK_FALSE(matches("^(?:ab)+$", "aba"));
  CHECK(matches("^a{2,3}$", "aaa"));
  CHECK_FALSE(matches("^a{2,3}$", "aaaa"));
  CHECK(matches("^a{2,}$", "aaaaa"));
  CHECK_FALSE(matches("^a{2}$", "a"));
  CHECK(matches("^(?<year>\\d{4})-\\d\\d$", "2024-05"));
  CHECK(matches("^a*?b??$", "aab"));
  CHECK(matches("^(a|b|c|d)*$", "abcdabcd"));
  CHECK(matches("^(a*)*$", "aaa"));
  CHECK(matches("^(|a)+b$", "aab"));
  CHECK(matches("^((a{2}){2}){2}$", "aaaaaaaa"));
  CHECK(matches("^((a|bc){2}|d)$", "bca"));
  CHECK(matches("x{", "x{"));
  CHECK(matches("^x{,3}$", "x{,3}"));
}

TEST_CASE("pattern: classes and escapes over code points") {
  CHECK(matches("^[a-cx]+$", "abcx"));
  CHECK(matches("^[^a-c]$", "d"));
  CHECK_FALSE(matches("^[^a-c]$", "b"));
  CHECK(matches("^[\\w.-]+@[\\d\\-]+$", "a_b.c-d@1-2"));
  CHECK(matches("^[^\\S]$", " "));
  CHECK(matches("^[\\D]$", "x"));
  CHECK_FALSE(matches("^[\\D]$", "5"));
  CHECK(matches("^.$", "🐲"));
  CHECK(matches("^[🐲-🐳]$", "🐳"));
  CHECK(matches("^\\uD83D\\uDC32$", "🐲"));
  CHECK(matches("^\\u{1F432}\\x41\\cJ$", "🐲A\n"));
  CHECK_FALSE(matches("^.$", "\n"));
  CHECK_FALSE(matches("^a$", "a\n"));
  CHECK_FALSE(matches("^\\d$", "߀"));
  CHECK(matches("^\\s$", "\u00a0"));
  CHECK(matches("\\bfoo\\b", "a foo b"));
  CHECK_FALSE(matches("\\bfoo\\b", "afoo"));
  CHECK(matches("a\\Bb", "ab"));
  CHECK(matches("^[]$|^x$", "x"));
  CHECK(matches("^[^]$", "x"));
  CHECK(matches("^[a\\-z]$", "-"));
  CHECK(matches("^\\/\\.\\$$", "/.$"));
}

TEST_CASE("pattern: general categories") {
  CHECK(matches("^\\p{Letter}+$", "πρᾶξις"));
  CHECK(matches("^\\p{Lu}\\p{Ll}+$", "Ätna"));
  CHECK_FALSE(matches("^\\p{Lu}", "ä"));
  CHECK(matches("^[\\p{L}\\p{N}]+$", "a1٣"));
  CHECK(matches("^\\P{L}$", "1"));
  CHECK(matches("^[^\\p{L}]$", "1"));
  CHECK(matches("^\\p{gc=Nd}$", "٣"));
  CHECK(category_of(0x100) == categories_named("Lu"));  // in an alternating run
  CHECK(category_of(0x101) == categories_named("Ll"));
  CHECK(category_of(0x10FFFF) == categories_named("Cn"));
  CHECK(category_of(U'🐲') == categories_named("So"));
  CHECK(categories_named("Nonsense") == 0);
}

TEST_CASE("pattern: look-ahead") {
  CHECK(matches("^(?=.*\\d)(?=.*[a-z]).{4,}$", "abc1"));
  CHECK_FALSE(matches("^(?=.*\\d)(?=.*[a-z]).{4,}$", "abcd"));
  CHECK(matches("^(?!foo).*$", "bar"));
  CHECK_FALSE(matches("^(?!foo).*$", "foobar"));
  CHECK(matches("^((?!--)[a-z-])+$", "a-b-c"));
  CHECK_FALSE(matches("^((?!--)[a-z-])+$", "a--b"));
}

TEST_CASE("pattern: what is not supported or broken is refused with a reason") {
  for (const auto* text : {"(?<=a)b", "(?<!a)b", "(a)\\1", "\\k<n>", "\\p{Script=Greek}", "(?i)a", "(", ")", "[",
                           "[b-a]", "a{3,2}", "*", "a\\", "\\q", "(((((a{99}){99}){99}){99}){99}"})
    CHECK_MESSAGE(refused(text), text);
  CHECK(refused(std::string(1000, '(') + std::string(1000, ')')));
}

TEST_CASE("G18: what a pattern writes out and drops again, or repeats without any effect, is bounded") {
  CHECK(matches("^(?:){9999999}a$", "a"));
  CHECK(matches("^(?:(?:){9999999}){9999999}a(?:)*$", "a"));
  CHECK(matches("^(?:a{1990}){0}b$", "b"));
  const auto work_of = [](int repeats) {
    std::string text;
    for (int i = 0; i < repeats; ++i) text += "(?:a{19990}){0}";
    std::size_t work = 0;
    CHECK(pattern::compile(text, &work).has_value() == (repeats == 1));
    return work;
  };
  CHECK(work_of(1) > 19'990);
  for (const int repeats : {10, 1000, 10'000}) CHECK(work_of(repeats) <= pattern::max_work + pattern::max_instructions);
}

TEST_CASE("pattern: a hostile pattern stays cheap and a long search ends at the budget") {
  CHECK_FALSE(matches("^(a+)+$", std::string(1000, 'a') + "b"));
  CHECK_FALSE(matches("^(a|a)*$", std::string(1000, 'a') + "b"));
  const auto p = pattern::compile("(x+x+)+y").value();
  std::size_t steps = 1000;
  CHECK(p.search(std::string(100'000, 'x'), steps) == pattern::outcome::unknown);
  CHECK(steps == 0);
}
