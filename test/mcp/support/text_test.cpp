// Suggestions, cleaning, cutting, globs, hashes.
#include "mcp/support/text.hpp"

#include "mcp/redact/hidden_text.hpp"

#include <doctest/doctest.h>

#include <array>
#include <functional>
#include <string>
#include <string_view>

namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;

TEST_CASE("a misspelt word gets the nearest known one") {
  constexpr std::array known = {"servers"sv, "providers"sv, "listen"sv, "log"sv};
  CHECK(mcpbx::nearest("server", known) == "servers");
  CHECK(mcpbx::nearest("serevrs", known) == "servers");
  CHECK(mcpbx::nearest("provders", known) == "providers");
  CHECK(mcpbx::nearest("lgo", known) == "log");
  CHECK(mcpbx::nearest("xyz", known).empty());
  CHECK(mcpbx::nearest("", known).empty());
  CHECK(mcpbx::did_you_mean("lisen", known) == " (did you mean \"listen\"?)");
  CHECK(mcpbx::did_you_mean("something else", known).empty());
  constexpr std::array hostile = {"liste\n"sv, "liste\x1b"sv};
  CHECK(mcpbx::did_you_mean("liste", hostile).empty());
}

TEST_CASE("G18: a word is held against many in one pass of bounded work") {
  std::vector<std::string> words;
  for (int i = 0; i < 1000; ++i) words.push_back("server__some_longer_name_of_a_tool_" + std::to_string(i));
  const std::vector<std::string_view> known(words.begin(), words.end());
  std::size_t work = 0;
  CHECK(mcpbx::nearest_few("server__some_longer_name_of_a_tool_7", known, 5, &work).size() == 5);
  CHECK(mcpbx::nearest_few("server__some_longer_name_of_a_tool_7", known, 5).front() == words[7]);
  CHECK(work < 1000 * 40 * 17);
  work = 0;
  CHECK(mcpbx::nearest_few(std::string(1'000'000, 's'), known, 5, &work).empty());
  CHECK(work == 0);
}

TEST_CASE("the nearest words come by their distance, and of equal ones the first first") {
  const std::vector<std::string_view> known{"", "cart", "card", "cat", "dog", "cars", "act"};
  CHECK(mcpbx::nearest_few("car", known, 5) == std::vector<std::string_view>{"cart", "card", "cat", "cars"});
  CHECK(mcpbx::nearest_few("car", known, 2) == std::vector<std::string_view>{"cart", "card"});
  CHECK(mcpbx::nearest_few("ac", known, 9) == std::vector<std::string_view>{"act"});
  CHECK(mcpbx::nearest_few("cat", known, 9).front() == "cat");
  CHECK(mcpbx::nearest_few("act", known, 9) == std::vector<std::string_view>{"act", "cat"});
}

TEST_CASE("G40: text for people has no controls and nothing invisible") {
  CHECK(mcpbx::redact::printable("plain é€😀") == "plain é€😀");
  CHECK(mcpbx::redact::printable("\x1b[31mred\x1b[0m\x07\x7f") == "[31mred[0m");
  CHECK(mcpbx::redact::printable("a\0b"s) == "ab");
  CHECK(mcpbx::redact::printable("a\xC2\x9B"
                                 "31mb\xC2\x80") == "a31mb");
  CHECK(mcpbx::redact::printable("a\u202Eb\u2066c\u200Ed\u200Be\uFEFFf\u2060g\u061Ch\u2028i") == "abcdefghi");
  CHECK(mcpbx::redact::printable("a\U000E0041\U000E007Fb") == "ab");
  CHECK(mcpbx::redact::printable("a\xFF"
                                 "b\xE2\x82") == "ab");
  CHECK(mcpbx::redact::printable("a\tb\r\nc") == "abc");
  CHECK(mcpbx::redact::printable("a\tb\r\nc", true) == "a\tb\nc");
}

TEST_CASE("text is cut between characters") {
  CHECK(mcpbx::cut_utf8("abc", 5) == "abc");
  CHECK(mcpbx::cut_utf8("abc", 2) == "ab");
  CHECK(mcpbx::cut_utf8("a€b", 3) == "a");
  CHECK(mcpbx::cut_utf8("a€b", 4) == "a€");
  CHECK(mcpbx::cut_utf8("😀", 3).empty());
  CHECK(mcpbx::cut_utf8("é", 0).empty());
  CHECK(mcpbx::tail_utf8("abc", 2) == "bc");
  CHECK(mcpbx::tail_utf8("a€b", 3) == "b");
  CHECK(mcpbx::tail_utf8("a€b", 4) == "€b");
  CHECK(mcpbx::tail_utf8("a😀", 3).empty());
  CHECK(mcpbx::cut_utf8("\x80\x80\x80\x80\x80\x80", 5).size() == 5);
  CHECK(mcpbx::tail_utf8("\x80\x80\x80\x80\x80\x80", 5).size() == 5);
}

TEST_CASE("globs match whole names") {
  CHECK(mcpbx::glob_match("*", ""));
  CHECK(mcpbx::glob_match("*", "anything"));
  CHECK(mcpbx::glob_match("", ""));
  CHECK_FALSE(mcpbx::glob_match("", "a"));
  CHECK(mcpbx::glob_match("get_*", "get_user"));
  CHECK_FALSE(mcpbx::glob_match("get_*", "forget_user"));
  CHECK(mcpbx::glob_match("*_user", "get_user"));
  CHECK(mcpbx::glob_match("a*b*c", "a__b_b__c"));
  CHECK_FALSE(mcpbx::glob_match("a*b*c", "a__b_b__"));
  CHECK(mcpbx::glob_match("a?c", "abc"));
  CHECK(mcpbx::glob_match("a?c", "a€c"));
  CHECK_FALSE(mcpbx::glob_match("a?c", "ac"));
  CHECK(mcpbx::glob_match("**a**", "bab"));
  CHECK_FALSE(mcpbx::glob_match("[ab]", "a"));
}

TEST_CASE("a glob matches as its definition says however short its parts are") {
  const std::function<bool(std::string_view, std::string_view)> defined = [&](std::string_view p, std::string_view n) {
    if (p.empty()) return n.empty();
    if (p.front() == '*') return defined(p.substr(1), n) || (!n.empty() && defined(p, n.substr(1)));
    return !n.empty() && (p.front() == '?' || p.front() == n.front()) && defined(p.substr(1), n.substr(1));
  };
  const auto word = [](unsigned number, std::string_view letters) {
    std::string out;
    for (; number > 0; number /= static_cast<unsigned>(letters.size() + 1))
      if (const auto at = number % (letters.size() + 1); at > 0) out += letters[at - 1];
    return out;
  };
  for (unsigned p = 0; p < 1024; ++p)
    for (unsigned n = 0; n < 81; ++n) {
      const auto pattern = word(p, "ab*"), name = word(n, "ab");
      if (mcpbx::glob_match(pattern, name) != defined(pattern, name)) FAIL(pattern << " and " << name);
    }
}

TEST_CASE("a glob with many stars takes no exponential time") {
  std::string pattern;
  for (int i = 0; i < 30; ++i) pattern += "a*";
  CHECK_FALSE(mcpbx::glob_match(pattern + "b", std::string(2000, 'a')));
  CHECK(mcpbx::glob_match(pattern, std::string(2000, 'a')));
}

TEST_CASE("hashes are the same for ever") {
  CHECK(mcpbx::stable_hash("") == 0xcbf29ce484222325u);
  CHECK(mcpbx::stable_hash("a") == 0xaf63dc4c8601ec8cu);
  CHECK(mcpbx::stable_hash("foobar") == 0x85944171f73967e8u);
  CHECK(mcpbx::hex(0x123456789abcdef0u, 16) == "123456789abcdef0");
  CHECK(mcpbx::hex(0x123456789abcdef0u, 4) == "def0");
  CHECK(mcpbx::hex(0, 1) == "0");
}

TEST_CASE("a word of a command that people are told is safe for a shell") {
  CHECK(mcpbx::shell_word("run_1") == "run_1");
  CHECK(mcpbx::shell_word("two words") == "'two words'");
  CHECK(mcpbx::shell_word("it's;$(x)") == R"('it'\''s;$(x)')");
  CHECK(mcpbx::shell_word("") == "''");
}

}  // namespace

TEST_CASE("text: globs match as one that tries every possibility, with long names too") {
  // The definition, without any thought for its cost.
  struct plain {
    static bool match(std::string_view p, std::string_view n) {
      if (p.empty()) return n.empty();
      if (p[0] == '*') return match(p.substr(1), n) || (!n.empty() && match(p, n.substr(1)));
      return !n.empty() && (p[0] == '?' || p[0] == n[0]) && match(p.substr(1), n.substr(1));
    }
  };
  std::uint64_t seed = 1;
  const auto random = [&](std::uint64_t n) {
    return (seed = seed * 6364136223846793005u + 1442695040888963407u) >> 33 % n;
  };
  for (int i = 0; i < 20'000; ++i) {
    std::string pattern, name;
    for (auto k = random(8) % 8; k > 0; --k) pattern += "ab*?"[random(4) % 4];
    for (auto k = random(10) % 10; k > 0; --k) name += "ab"[random(2) % 2];
    CAPTURE(pattern);
    CAPTURE(name);
    CHECK(mcpbx::glob_match(pattern, name) == plain::match(pattern, name));
  }
  const std::string many(1000, 'a');
  CHECK(mcpbx::glob_match("*" + many + "*", many));
  CHECK(mcpbx::glob_match("a*?" + many.substr(2), many));
  CHECK_FALSE(mcpbx::glob_match("*" + many + "b", many));
  CHECK(mcpbx::glob_match("*b", many + "b"));
  CHECK(mcpbx::glob_match("*??", "\u20ac\u20ac"));
  CHECK_FALSE(mcpbx::glob_match("*??", "\u20ac"));
  CHECK(mcpbx::glob_match("a?c", "a\u20acc"));
}

TEST_CASE("text: a thousand globs that nearly match cost no more than their bits") {
  // Quadratic matching takes minutes here; the watchdog of the suite ends that.
  const std::string name(128, 'a'), glob = "*" + std::string(100, 'a') + "b*";
  int found = 0;
  for (int i = 0; i < 200'000; ++i) found += mcpbx::glob_match(glob, name) ? 1 : 0;
  CHECK(found == 0);
}
