// Every step of a login goes wrong in every way: those who wait are told, nothing stays under way, and the next login
// ends well.
#include "test/daemon/logins/login_world.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

namespace {

using namespace mcpbx;
using namespace mcpbx::daemon::logins;
using namespace mcpbx::test;
using reply = authorization_server::reply;

// The ends of a step: the connection is dropped, the server refuses, fails or answers with a page, or it is silent and
// then somebody logs out, the entry changes, or the daemon ends.
enum class fault : unsigned char { dropped, refused, failed, page, logout, change, stop };

reply reply_of(fault how) {
  switch (how) {
    case fault::dropped:
      return {reply::hung_up, ""};
    case fault::refused:
      return {400, R"({"error":"invalid_grant"})"};
    case fault::failed:
      return {500, ""};
    case fault::page:
      return {200, "<html>log in to the network</html>"};
    default:
      return {reply::none, ""};
  }
}

constexpr const char* steps[] = {"/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-authorization-server",
                                 "/register", "/token"};
constexpr fault ends[] = {fault::dropped, fault::refused, fault::failed, fault::page,
                          fault::logout,  fault::change,  fault::stop};

TEST_CASE("logins: an end at any step of a login is told, leaves nothing under way, and the next one ends well") {
  for (const std::string step : steps)
    for (const auto how : ends) {
      // A server that has no document is one of 2025-03-26, to which the login goes on in another way.
      if (how == fault::refused && step == steps[0]) continue;
      CAPTURE(step);
      CAPTURE(static_cast<int>(how));
      login_world world;
      world.as.instead[step] = [&](const std::string&) { return reply_of(how); };
      std::optional<login_invitation> told;
      std::optional<error> problem;
      world.all->begin({"files"}, nullptr, [&](result<login_invitation> i) {
        if (i)
          told = *std::move(i);
        else
          problem = i.error();
      });
      REQUIRE(world.loop.until([&] { return told || problem || world.as.asked[step] > 0; }));
      if (step == "/token") {
        REQUIRE(told);
        world.all->when_over({"files"}, nullptr, [&](const result<void>& o) {
          if (!o) problem = o.error();
        });
        CHECK(get(world.loop, authorization_server::redirect_of(told->address)).status == 200);
        REQUIRE(world.loop.until([&] { return problem || world.as.asked[step] > 0; }));
      }
      if (how == fault::logout) world.all->log_out({"files"}, [](const result<void>&) {});
      if (how == fault::change) world.all->set_entries({});
      if (how == fault::stop) {
        world.all = world.daemon_beside();
      } else {
        REQUIRE(world.loop.until([&] { return problem.has_value(); }));
        CHECK(problem->message.find("server \"files\"") != std::string::npos);
      }
      if (how == fault::change || how == fault::stop) world.all->set_entries({world.entry()});
      CHECK(world.status().state == "none");
      CHECK(world.status().address.empty());
      CHECK(world.tokens().header().empty());
      world.as.instead.clear();
      const int before = world.as.asked["/token"];
      world.log_in();
      CHECK(world.as.asked["/token"] == before + 1);
      CHECK(world.status().state == "logged_in");
      CHECK(world.tokens().header() == "Bearer token-number-1");
    }
}

TEST_CASE("logins: an end at any step of a renewal lets its calls go on and the next renewal ends well") {
  for (const auto how : ends) {
    if (how == fault::stop) continue;
    CAPTURE(static_cast<int>(how));
    login_world world;
    world.log_in();
    const std::string old = world.tokens().header();
    world.as.instead["/token"] = [&](const std::string&) { return reply_of(how); };
    int told = 0;
    for (int i = 0; i < 100; ++i)
      world.tokens().refused(401, "Bearer", old, [&](bool again) { told += again ? 1000 : 1; });
    const int before = world.as.asked["/token"];
    REQUIRE(world.loop.until([&] { return told > 0 || world.as.asked["/token"] > before; }));
    if (how == fault::logout) world.all->log_out({"files"}, [](const result<void>&) {});
    if (how == fault::change) world.all->set_entries({});
    REQUIRE(world.loop.until([&] { return told >= 100; }));
    CHECK(told == 100);
    // A kept connection that is closed is taken for a stale one, and replaced once.
    CHECK(world.as.asked["/token"] <= before + (how == fault::dropped ? 2 : 1));
    if (how == fault::change) world.all->set_entries({world.entry()});
    world.as.instead.clear();
    if (how == fault::refused || how == fault::logout) {
      CHECK(world.prepared().empty());  // nothing is left that could be renewed
      world.log_in();
    } else {
      // The file still has the tokens, so that they are renewed as if nothing had been.
      CHECK(world.prepared() == old);
      CHECK(world.refuse());
    }
    CHECK(world.tokens().header() == "Bearer token-number-2");
  }
}

TEST_CASE("logins: two servers are logged in to at once, each with an answer of its own") {
  login_world world;
  auto second = world.entry();
  second.server = "mails";
  world.all->set_entries({world.entry(), second});
  std::vector<login_invitation> told;
  for (const char* const server : {"files", "mails"})
    world.all->begin({server}, nullptr, [&](result<login_invitation> i) { told.push_back(std::move(i).value()); });
  REQUIRE(world.loop.until([&] { return told.size() == 2; }));
  CHECK(told[0].address != told[1].address);
  CHECK(told[0].redirect_uri != told[1].redirect_uri);
  // The answer to one of them is none to the other.
  CHECK_FALSE(world.all->complete({"mails"}, authorization_server::redirect_of(told[0].address)));
  int over = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    world.all->when_over({i == 0 ? "files" : "mails"}, nullptr, [&](const result<void>& o) { over += o ? 1 : 100; });
    CHECK(get(world.loop, authorization_server::redirect_of(told[i].address)).status == 200);
  }
  REQUIRE(world.loop.until([&] { return over >= 2; }));
  CHECK(over == 2);
  CHECK(world.all->tokens_of("files")->header() != world.all->tokens_of("mails")->header());
}

}  // namespace
