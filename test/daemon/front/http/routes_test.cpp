// The table of HTTP: how a row is found, and the rows that there are.
#include "daemon/front/http/routes.hpp"

#include "daemon/front/exchange/route.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string_view>
#include <vector>

using namespace mcpbx::daemon::http_door;
using namespace mcpbx::daemon::routes;

namespace {

void handle(const std::shared_ptr<exchange>&) {}

constexpr route table[] = {
    {"GET", "/things", handle},       {"POST", "/things", handle, body_kind::json},
    {"GET", "/things/first", handle}, {"DELETE", "/things/{id}", handle},
    {"GET", "/things/{id}", handle},
};
static_assert(is_sound(table));

using methods = std::vector<std::string_view>;

}  // namespace

TEST_CASE("route: a path that no row has has no methods either") {
  for (const auto* path : {"", "/", "/thing", "/thingss", "/Things", "/%74hings", "//things", "things", "/things?"}) {
    CAPTURE(path);
    const auto found = find_route(table, "GET", path);
    CHECK(found.row == nullptr);
    CHECK(found.methods.empty());
  }
}

TEST_CASE("route: two rows of one path are told apart by their methods") {
  CHECK(find_route(table, "GET", "/things").row == &table[0]);
  const auto post = find_route(table, "POST", "/things");
  CHECK(post.row == &table[1]);
  CHECK(post.row->body == body_kind::json);
  CHECK(post.methods == methods{"GET", "POST"});
}

TEST_CASE("route: a method that a known path does not take finds no row, but the methods that it takes") {
  for (const auto* method : {"PUT", "get", "HEAD", "OPTIONS", ""}) {
    CAPTURE(method);
    const auto found = find_route(table, method, "/things");
    CHECK(found.row == nullptr);
    CHECK(found.methods == methods{"GET", "POST"});
  }
}

TEST_CASE("route: a parameter takes all that follows, as it was sent") {
  struct one {
    std::string_view path, parameter;
  };
  for (const auto& [path, parameter] :
       {one{"/things/a", "a"}, one{"/things/", ""}, one{"/things/a/b/", "a/b/"}, one{"/things/a%20b%2Fc", "a%20b%2Fc"},
        one{"/things/%zz", "%zz"}, one{"/things/{id}", "{id}"}}) {
    CAPTURE(path);
    const auto found = find_route(table, "DELETE", path);
    CHECK(found.row == &table[3]);
    CHECK(found.parameter == parameter);
    CHECK(found.methods == methods{"DELETE", "GET"});
  }
}

TEST_CASE("route: of two rows that a request fits the first has it") {
  CHECK(find_route(table, "GET", "/things/first").row == &table[2]);
  CHECK(find_route(table, "GET", "/things/firsts").row == &table[4]);
  CHECK(find_route(table, "DELETE", "/things/first").row == &table[3]);
  CHECK(find_route(table, "PUT", "/things/first").methods == methods{"GET", "DELETE"});
}

TEST_CASE("route: a table with a row that nothing reaches, or that has no sense, is not sound") {
  constexpr route twice[] = {{"GET", "/a", handle}, {"POST", "/a", handle}, {"GET", "/a", handle}};
  constexpr route hidden[] = {{"GET", "/a/{b}", handle}, {"GET", "/a/c", handle}};
  constexpr route same[] = {{"GET", "/a/{b}", handle}, {"GET", "/a/{c}", handle}};
  constexpr route fine[] = {{"GET", "/a/", handle}, {"GET", "/a/{b}", handle}, {"PUT", "/a/", handle}};
  constexpr route relative[] = {{"GET", "a", handle}};
  constexpr route nobody[] = {{"GET", "/a", nullptr}};
  constexpr route no_method[] = {{"", "/a", handle}};
  constexpr route middle[] = {{"GET", "/a/{b}/c", handle}};
  constexpr route half[] = {{"GET", "/a/b{c}", handle}};
  constexpr route unclosed[] = {{"GET", "/a/{b", handle}};
  CHECK_FALSE(is_sound(twice));
  CHECK_FALSE(is_sound(hidden));
  CHECK_FALSE(is_sound(same));
  CHECK(is_sound(fine));
  CHECK_FALSE(is_sound(relative));
  CHECK_FALSE(is_sound(nobody));
  CHECK_FALSE(is_sound(no_method));
  CHECK_FALSE(is_sound(middle));
  CHECK_FALSE(is_sound(half));
  CHECK_FALSE(is_sound(unclosed));
}

TEST_CASE("routes: Chat Completions and the models have their rows") {
  const auto rows = http_routes();
  const auto chat = find_route(rows, "POST", "/v1/chat/completions");
  REQUIRE(chat.row != nullptr);
  CHECK(chat.row->body == body_kind::json);
  CHECK(find_route(rows, "GET", "/v1/models").row != nullptr);
  CHECK(find_route(rows, "GET", "/v1/models/a%2Fb").parameter == "a%2Fb");
  CHECK(find_route(rows, "GET", "/v1/models").row != find_route(rows, "GET", "/v1/models/").row);
  CHECK(find_route(rows, "HEAD", "/v1/models").methods == methods{"GET"});
}
