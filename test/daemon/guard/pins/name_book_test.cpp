// The owner of a plain name (G38).
#include "daemon/guard/pins/name_book.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace mcpbx::daemon::pins;

namespace {

using tool_names = std::vector<std::string_view>;
using names = std::set<std::string, std::less<>>;

const plain_name_of own = [](std::string_view tool) { return std::string(tool); };

}  // namespace

TEST_CASE("G38: a plain name belongs to the server that had it first, wherever others stand in the file") {
  name_book book;
  const std::vector<naming_server> before{{"b", &own, tool_names{"read", "list"}}};
  CHECK(name_claims(book, before).settle());
  const std::vector<naming_server> later{{"a", &own, tool_names{"read", "new"}},
                                         {"b", &own, tool_names{"read", "list"}}};
  name_claims claims(book, later);
  CHECK(claims.settle());
  CHECK(claims.without_name("a") == names{"read"});
  CHECK(claims.without_name("b").empty());
  CHECK_FALSE(claims.settle());
  CHECK(book.at("new") == std::vector<name_holder>{{"a", "new"}});
}

TEST_CASE("G38: a name stays with a server that is not up, is disabled or lists the tool no more") {
  name_book book{{"read", {{"b", "read"}}}};
  const std::vector<naming_server> down{{"a", &own, tool_names{"read"}}, {"b", &own, {}}};
  name_claims claims(book, down);
  CHECK_FALSE(claims.settle());
  CHECK(claims.without_name("a") == names{"read"});
}

TEST_CASE("G38: a name whose holder is not configured for it any more goes to the next, and comes back with it") {
  name_book book{{"read", {{"b", "read"}}}};
  const std::vector<naming_server> alone{{"a", &own, tool_names{"read"}}};
  name_claims taken(book, alone);
  CHECK(taken.settle());
  CHECK(taken.without_name("a").empty());
  const plain_name_of renamed = [](std::string_view tool) { return "b_" + std::string(tool); };
  const std::vector<naming_server> other{{"a", &own, tool_names{"read"}}, {"b", &renamed, tool_names{"read"}}};
  name_claims moved(book, other);
  CHECK(moved.settle());
  CHECK(moved.without_name("a").empty());
  CHECK(moved.without_name("b").empty());
  // Another one that comes first in the file is a newcomer all the same.
  const std::vector<naming_server> third{{"c", &own, tool_names{"read"}}, {"a", &own, tool_names{"read"}}};
  CHECK(name_claims(book, third).without_name("c") == names{"read"});
  const std::vector<naming_server> back{{"a", &own, tool_names{"read"}}, {"b", &own, tool_names{"read"}}};
  CHECK(name_claims(book, back).without_name("a") == names{"read"});
}

TEST_CASE("G38: of a name that nobody has had, the first server in the file gets it") {
  name_book book;
  const std::vector<naming_server> both{{"a", &own, tool_names{"read"}}, {"b", &own, tool_names{"read"}}};
  name_claims claims(book, both);
  CHECK(claims.without_name("a") == names{"read"});  // as long as nothing is settled
  CHECK(claims.settle());
  CHECK(claims.without_name("a").empty());
  CHECK(claims.without_name("b") == names{"read"});
}

TEST_CASE("G38: a server that changes its names for ever fills no book, and keeps what it lists") {
  name_book book{{"other", {{"b", "other"}}}};
  for (int round = 0; round < 5; ++round) {
    std::vector<std::string> words{"stays"};
    for (int i = 0; i < 9'000; ++i) words.push_back("t" + std::to_string(round) + "_" + std::to_string(i));
    const std::vector<naming_server> one{{"s", &own, tool_names(words.begin(), words.end())}};
    name_claims claims(book, one);
    CHECK(claims.settle());
    CHECK(claims.without_name("s").empty());
    CHECK(book.size() <= 20'002);
  }
  CHECK(book.contains("stays"));
  CHECK(book.contains("other"));
}

TEST_CASE("G38: a server that is forgotten, or a tool of it, leaves its names") {
  name_book book{{"read", {{"b", "read"}, {"a", "read"}}}, {"list", {{"b", "list"}}}};
  forget_names(book, "b", "list");
  CHECK(book.size() == 1);
  forget_names(book, "b");
  CHECK(book.at("read") == std::vector<name_holder>{{"a", "read"}});
}
