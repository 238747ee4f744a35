// Tests of access control over HTTP on a port.
#include "daemon/front/base/http_access.hpp"

#include "daemon/front/base/handed_calls.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::front;
using namespace mcpbx::json;

namespace {

const http_rules port{.on_port = true, .token = "0123456789abcdef"};

int status_of(const std::vector<http::header>& headers, const http_rules& rules = port) {
  const auto refused = check_access({"GET", "/", headers}, rules);
  if (refused) CHECK(refused->message.ends_with('.'));
  return refused ? refused->status : 200;
}

}  // namespace

TEST_CASE("G43: this machine is told from others by its names and addresses only") {
  for (const auto* host :
       {"localhost", "LOCALHOST:80", "127.0.0.1", "127.0.0.1:8421", "127.9.9.9:1", "[::1]", "[::1]:80"})
    CHECK_MESSAGE(is_this_machine(host), host);
  for (const auto* host : {"", "example.org", "localhost.example.org", "127.0.0.1.example.org", "127.0.0.1:80@evil",
                           "evil:127", "[::2]", "::1", "0.0.0.0", "10.0.0.1", "localhost:x"})
    CHECK_MESSAGE(!is_this_machine(host), host);
}

TEST_CASE("G43: a port asks for the token, this machine as host, and no page of elsewhere as origin") {
  const http::header host{"Host", "127.0.0.1:8421"}, good{"authorization", "bearer 0123456789abcdef"};
  CHECK(status_of({host, good}) == 200);
  CHECK(status_of({host}) == 401);
  CHECK(status_of({host, {"Authorization", "Bearer 0123456789abcdeF"}}) == 401);
  CHECK(status_of({host, {"Authorization", "Bearer 0123456789abcde"}}) == 401);
  CHECK(status_of({host, {"Authorization", "Bearer "}}) == 401);
  CHECK(status_of({host, {"Authorization", "Basic 0123456789abcdef"}}) == 401);
  CHECK(status_of({{"Host", "evil.example"}, good}) == 403);
  CHECK(status_of({good}) == 403);
  CHECK(status_of({host, good, {"Origin", "https://evil.example"}}) == 403);
  CHECK(status_of({host, good, {"Origin", "null"}}) == 403);
  CHECK(status_of({host, good, {"Origin", "http://localhost:3000"}, {"Origin", "https://evil.example"}}) == 403);
  CHECK(status_of({host, good, {"Origin", "http://localhost:3000"}}) == 200);
}

TEST_CASE("G43: without a token the checks of host and origin stay, the socket asks for nothing") {
  const http_rules open{.on_port = true, .token = ""};
  CHECK(status_of({{"Host", "localhost"}}, open) == 200);
  CHECK(status_of({{"Host", "evil.example"}}, open) == 403);
  CHECK(status_of({{"Host", "localhost"}, {"Origin", "https://evil.example"}}, open) == 403);
  CHECK(status_of({}, http_rules{}) == 200);
}

TEST_CASE("L21: results find the run that waits for exactly them, once, and the oldest of too many is given up") {
  handed_calls waiting;
  CHECK_FALSE(waiting.keep({"first", 1, {"a", "b"}, 9}));
  const auto results = [](const std::vector<std::string>& ids) {
    std::vector<daemon::stored::record::caller_result> all;
    for (const auto& id : ids) all.push_back({id, raw_json::literal("{}")});
    return all;
  };
  CHECK_FALSE(waiting.take(2, results({"a", "b"}), ""));
  CHECK_FALSE(waiting.take(1, results({"a"}), ""));
  CHECK_FALSE(waiting.take(1, results({"a", "b", "c"}), ""));
  CHECK_FALSE(waiting.take(1, {}, ""));
  CHECK_FALSE(waiting.take(1, results({"b", "a"}), "somebody else"));
  const auto taken = waiting.take(1, results({"b", "a"}), "");
  REQUIRE(taken);
  CHECK(taken->run == "first");
  CHECK(taken->seen == 9);
  CHECK_FALSE(waiting.take(1, results({"b", "a"}), ""));
  for (std::size_t i = 0; i < handed_calls::most; ++i) CHECK_FALSE(waiting.keep({std::to_string(i), 1, {"x"}, 0}));
  CHECK(waiting.keep({"last", 1, {"x"}, 0}) == "0");
}
