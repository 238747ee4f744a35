// The seal of a requestState: opens what it closed, and nothing else.
#include "mcp/seal/state_seal.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

namespace state_seal_test {

using namespace mcpbx;
using namespace mcpbx::mcp::seal;

TEST_CASE("state_seal: opens what it closed, of every length up to its limit") {
  state_seal s;
  for (std::size_t n = 0; n <= state_seal::most_bytes; n += n < 40 ? 1 : 59) {
    CAPTURE(n);
    const std::string plain(n, 'p');
    const auto text = s.close(plain);
    REQUIRE(text);
    CHECK(text->size() <= state_seal::longest_text);
    CHECK(s.claims(*text));
    CHECK(state_seal::has_form(*text));
    CHECK(text->find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.") ==
          std::string::npos);
    CHECK(s.open(*text) == plain);
  }
  CHECK(s.close(std::string(state_seal::most_bytes + 1, 'p')).error().code == errc::limit);
}

TEST_CASE("state_seal: a text with any one character changed, cut or added is refused") {
  state_seal s;
  const std::string text = s.close("plain bytes").value();
  for (std::size_t at = 0; at < text.size(); ++at) {
    CAPTURE(at);
    for (const char c : {'A', 'b', '-', '.', '=', '\n', ' ', '\0'}) {
      std::string changed = text;
      if (changed[at] == c) continue;
      changed[at] = c;
      CHECK_FALSE(s.open(changed));
      changed = text;
      changed.insert(at, 1, c);
      CHECK_FALSE(s.open(changed));
    }
    CHECK_FALSE(s.open(text.substr(0, at)));
  }
  CHECK_FALSE(s.open(text + "A"));
  CHECK_FALSE(s.open(text + text));
  CHECK_FALSE(s.open(text + std::string(5000, 'A')));
  CHECK(s.open(text) == "plain bytes");
}

TEST_CASE("state_seal: the text of another process is neither claimed nor opened, even under our mark") {
  state_seal ours, theirs;
  const std::string mine = ours.close("x").value(), other = theirs.close("x").value();
  CHECK_FALSE(ours.claims(other));
  CHECK(state_seal::has_form(other));
  CHECK_FALSE(ours.open(other));
  const std::size_t mark = mine.rfind('.') + 1;
  CHECK_FALSE(ours.open(mine.substr(0, mark) + other.substr(mark)));
}

TEST_CASE("state_seal: equal bytes never give equal texts") {
  state_seal s;
  std::set<std::string> texts;
  for (int i = 0; i < 500; ++i) texts.insert(s.close("same").value());
  CHECK(texts.size() == 500);
}

TEST_CASE("state_seal: one that has sealed nothing claims and opens nothing") {
  const state_seal s;
  for (const std::string_view text : {"", "mcpbx.", "mcpbx.0123456789abcdef.", "mcpbx.0123456789abcdef.AAAA"}) {
    CHECK_FALSE(s.claims(text));
    CHECK_FALSE(s.open(text));
  }
}

}  // namespace state_seal_test
