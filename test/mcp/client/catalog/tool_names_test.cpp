// Names of tools: tables, and the property that names do not depend on which other servers are up.
#include "mcp/client/catalog/tool_names.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

using namespace mcpbx::mcp::catalogs;
using names = std::vector<std::string>;
using renames = std::map<std::string, std::string>;

namespace {

names prefixed(std::string_view prefix, const std::vector<std::string_view>& tools, const renames& r = {}) {
  return prefixed_names(prefix, tools, r).names;
}

bool is_exposable(const std::string& name) {
  return !name.empty() && name.size() <= longest_exposed_name && std::ranges::all_of(name, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-';
  });
}

}  // namespace

TEST_CASE("G38: prefixes are converted and distinct, and a name that needs no conversion is nobody else's") {
  const auto p = settle_prefixes(names{"git", "my__git", "my_git", "a b", "_x_", "\xC3\xA9", "mcpbx", "git"});
  CHECK(p[0] == "git");
  CHECK(p[1].starts_with("my_git_"));
  CHECK(p[2] == "my_git");
  CHECK(p[3] == "a_b");
  CHECK(p[4] == "x");
  CHECK(p[5].starts_with("server_"));
  CHECK(p[6].starts_with("mcpbx_"));
  CHECK(p[7].starts_with("git_"));
  CHECK(std::set(p.begin(), p.end()).size() == p.size());
  for (const auto& prefix : p) {
    CAPTURE(prefix);
    CHECK(is_exposable(prefix));
    CHECK(prefix.find("__") == std::string::npos);
    CHECK_FALSE(prefix.ends_with('_'));
  }
  CHECK(settle_prefixes(names{std::string(100, 'a')})[0].size() <= 32);
}

TEST_CASE("a tool is called by its server and its own name") {
  CHECK(prefixed("git", {"log", "a-b", "x_y"}) == names{"git__log", "git__a-b", "git__x_y"});
  CHECK(prefixed("git", {"a b", "\xC3\xA9t\xC3\xA9", "__", "-"}) == names{"git__a_b", "git___t_", "git____", "git__-"});
}

TEST_CASE("G38: names that collide after conversion are all reachable") {
  const auto n = prefixed("s", {"a.b", "a_b", "a/b"});
  CHECK(n[1] == "s__a_b");
  CHECK(n[0].starts_with("s__a_b_"));
  CHECK(n[2].starts_with("s__a_b_"));
  CHECK(n[0] != n[2]);
  SUBCASE("whatever the order of the list") {
    const auto again = prefixed("s", {"a/b", "a.b", "a_b"});
    CHECK(again == names{n[2], n[0], n[1]});
  }
  SUBCASE("a tool that is called like another one's hashed name is not pushed aside") {
    const auto third = prefixed("s", {"a.b", "a_b", std::string_view(n[0]).substr(3), "a/b"});
    CHECK(third[2] == n[0]);
    CHECK(std::set(third.begin(), third.end()).size() == 4);
  }
}

TEST_CASE("G38: names that are too long are cut and stay distinct and stable") {
  const std::string one = std::string(80, 'x') + "1", two = std::string(80, 'x') + "2";
  const auto n = prefixed("server", {one, two});
  CHECK(n[0].size() == 64);
  CHECK(n[0] != n[1]);
  CHECK(n == prefixed("server", {one, two}));
  CHECK(prefixed("server", {two})[0] == n[1]);
  CHECK(is_exposable(n[0]));
}

TEST_CASE("a rename replaces the tool's part and goes before the server's own names") {
  const auto n = prefixed_names("git", std::vector<std::string_view>{"history", "git_log"}, {{"git_log", "history"}});
  CHECK(n.names[1] == "git__history");
  CHECK(n.names[0].starts_with("git__history_"));
  CHECK(n.notices.size() == 1);
}

TEST_CASE("G38: plain names belong to the first server in file order and cannot shadow prefixed ones") {
  const names prefixes = {"a", "b", "git"};
  std::set<std::string, std::less<>> taken;
  const std::vector<std::string_view> of_a{"echo", "list"}, of_b{"echo", "git__log", "mcpbx__x", "a.b"};
  const auto a = plain_names(of_a, {}, prefixes, prefixed_names("a", of_a, {}), taken);
  const auto b = plain_names(of_b, {}, prefixes, prefixed_names("b", of_b, {}), taken);
  CHECK(a.names == names{"echo", "list"});
  CHECK(b.names == names{"b__echo", "b__git__log", "b__mcpbx__x", "a.b"});
  CHECK(b.notices.size() == 3);
}

TEST_CASE("G38: a plain name that is another one's is not given, also where nobody uses it now") {
  std::set<std::string, std::less<>> taken;
  const std::set<std::string, std::less<>> foreign{"log"};
  const std::vector<std::string_view> tools{"log", "echo"};
  const std::map<std::string, std::string> rename{{"log", "history"}};
  const auto n = plain_names(tools, rename, names{"a"}, prefixed_names("a", tools, rename), taken, &foreign);
  CHECK(n.names == names{"a__history", "echo"});
  CHECK(n.notices.size() == 1);
  CHECK(plain_name("log", rename) == "history");
  CHECK(plain_name("echo", rename) == "echo");
}

TEST_CASE("G38: for any servers and tools the exposed names are distinct, fit, and depend on nobody else") {
  std::mt19937 random(7);
  const auto word = [&](std::size_t most) {
    static constexpr std::string_view letters = "ab_.-/ \xC3\xA9";
    std::string w;
    for (std::size_t n = 1 + random() % most; n > 0; --n) w += letters[random() % letters.size()];
    return w;
  };
  for (int round = 0; round < 300; ++round) {
    std::set<std::string> unique;
    for (int i = 0; i < 6; ++i) unique.insert(word(round % 3 == 0 ? 60 : 4));
    const names servers(unique.begin(), unique.end());
    const auto prefixes = settle_prefixes(servers);
    std::set<std::string> all;
    std::size_t total = 0;
    for (const auto& prefix : prefixes) {
      std::set<std::string> own;
      for (int i = 0; i < 8; ++i) own.insert(word(round % 2 == 0 ? 90 : 4));
      const std::vector<std::string_view> tools(own.begin(), own.end());
      for (const auto& name : prefixed_names(prefix, tools, {}).names) {
        CAPTURE(name);
        REQUIRE(is_exposable(name));
        // The first double underscore ends the server's part, so no other server can have this name.
        REQUIRE(name.substr(0, name.find("__")) == prefix);
        all.insert(name);
        ++total;
      }
    }
    REQUIRE(all.size() == total);
  }
}
