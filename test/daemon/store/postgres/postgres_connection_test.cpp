// One connection: requests, answers, and answers that never come.
#include "daemon/store/postgres/postgres_connection.hpp"

#include "test/daemon/store/postgres_proxy.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::postgres;
using namespace mcpbx::daemon::test;

namespace {

const libpq& library() {
  const auto loaded = libpq::load();
  REQUIRE_MESSAGE(loaded.has_value(), (loaded ? "" : loaded.error().message));
  return **loaded;
}

std::unique_ptr<postgres_connection> connected() {
  auto made = postgres_connection::open(library(), {.url = database()});
  REQUIRE_MESSAGE(made.has_value(), (made ? "" : made.error().what));
  return std::move(*made);
}

}  // namespace

TEST_CASE("postgres url: sentences name host and database, never user or password") {
  const auto place = [](const std::string& url) {
    const auto target = postgres_target_of(library(), url);
    return target ? target->place + "|" + target->password : target.error().message;
  };
  CHECK(place("postgresql://me:hush-1@db.example:5433/talk") == "postgresql://db.example:5433/talk|hush-1");
  CHECK(place("postgres://me@a.example,b.example/talk?password=hush%202") ==
        "postgresql://a.example,b.example/talk|hush 2");
  CHECK(place("postgresql://me@/talk?host=/run/pg") == "postgresql:///run/pg/talk|");
  for (const std::string wrong : {"postgresql://me:hush-1@h:1/d?nonesuch=hush-1", "postgresql://me:hush-1@[h/d"}) {
    CHECK(place(wrong).starts_with("store.url: it cannot be read as a PostgreSQL URL"));
    CHECK_FALSE(contains(place(wrong), "hush"));
  }
}

TEST_CASE("postgres: values come back as they were, but for a NUL" * postgres_only()) {
  const auto c = connected();
  const std::string odd("quote ' \\ \xc3\xa9 \n%s$1", 16);
  const std::vector<std::int64_t> numbers{-1, 0, 1LL << 62};
  const std::vector<std::string_view> texts{"", odd, "{a,b}"};
  const auto values = postgres_values()
                          .add(std::int64_t{-9'000'000'000})
                          .add(std::string_view(odd))
                          .add(std::string_view("a\0b", 3))
                          .add(std::span<const std::int64_t>(numbers))
                          .add(std::span<const std::string_view>(texts));
  std::vector<std::string> got;
  result<void> refused;
  const auto done = c->run(
      "SELECT $1, $2, $3, n, t FROM unnest($4, $5) AS u(n, t)", values,
      [&](const postgres_row& row) -> result<void> {
        CHECK((row.integer(0) == -9'000'000'000 && row.text(1) == odd));
        CHECK(row.text(2) ==
              "a\xef\xbf\xbd"
              "b");
        got.push_back(row.owned(3) + row.owned(4));
        return {};
      },
      refused);
  REQUIRE_MESSAGE(done.has_value(), (done ? "" : done.error().what));
  CHECK(got == std::vector<std::string>{"-1", "0" + odd, "4611686018427387904{a,b}"});
}

TEST_CASE("postgres: a refusal has its state and leaves the connection in order" * postgres_only()) {
  const auto c = connected();
  const auto refused = c->execute("SELECT 1; SELECT nonesuch");
  REQUIRE_FALSE(refused.has_value());
  CHECK((refused.error().state == "42703" && contains(refused.error().what, "nonesuch")));
  CHECK_FALSE(c->first("SELECT 1/$1", postgres_values().add(std::int64_t{0})).has_value());
  CHECK(c->alive());
  CHECK(c->first("SELECT 1", {}).value());
  CHECK(c->execute("BEGIN; COMMIT").value() == "COMMIT");
}

TEST_CASE("postgres: a sink that refuses ends the reading, and the connection goes on" * postgres_only()) {
  const auto c = connected();
  int rows = 0;
  result<void> refused;
  const auto done = c->run(
      "SELECT generate_series(1, 1000)", {},
      [&](const postgres_row&) -> result<void> { return ++rows < 3 ? result<void>() : fail(errc::parse, "enough"); },
      refused);
  CHECK(done.has_value());
  CHECK((rows == 3 && refused.error().message == "enough"));
  CHECK(c->first("SELECT 1", {}).value());
}

TEST_CASE("G25: a server that gives no answer is waited for no longer than the limit" * postgres_only()) {
  postgres_proxy proxy;
  auto c = postgres_connection::open(library(), {.url = proxy.url(), .answer_limit = milliseconds(50)});
  REQUIRE(c.has_value());
  CHECK((*c)->execute("SELECT 1").has_value());
  proxy.set(postgres_proxy::fault::silent);
  const auto refused = (*c)->execute("SELECT 1");
  REQUIRE_FALSE(refused.has_value());
  CHECK((refused.error().state.empty() && contains(refused.error().what, "no answer for 50 ms")));
  CHECK_FALSE((*c)->alive());
  CHECK_FALSE((*c)->execute("SELECT 1").has_value());
}

TEST_CASE("postgres: a statement that could not be prepared is tried again, also when others came in between" *
          postgres_only()) {
  const auto c = connected();
  const char* const later = "SELECT 1 FROM not_there_yet";
  const auto run = [&](const char* sql) {
    result<void> refused;
    const auto done = c->run(sql, {}, {}, refused);
    return done ? std::string() : done.error().state;
  };
  CHECK(run(later) == "42P01");
  CHECK(run("SELECT 1") == "");
  CHECK(run("SELECT 2") == "");
  CHECK(run(later) == "42P01");
  REQUIRE(c->execute("CREATE TEMPORARY TABLE not_there_yet(x int)").has_value());
  CHECK(run(later) == "");
  CHECK(run(later) == "");
}
