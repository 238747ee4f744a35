// A daemon behind a daemon: the tools of the one at its /mcp are servers at an address of the other.
#include "test/e2e/harness/harness.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace mcpbx::e2e;

namespace {

// A daemon whose server "far" is the /mcp of another one.
config behind(const daemon_under_test& other, std::string_view more = "") {
  return config().entry("far",
                        R"({"url": "unix:)" + other.socket() + R"(:/mcp", "pin": "off")" + std::string(more) + "}");
}

}  // namespace

TEST_CASE("M3: the tools of a daemon are called through another one in both eras") {
  daemon_under_test inner(config().server("s"));
  inner.wait_ready({"s"});
  for (const std::string era : {"modern", "legacy"}) {
    CAPTURE(era);
    daemon_under_test outer(behind(inner, era == "legacy" ? R"(, "protocol": "2025-11-25")" : ""));
    outer.wait_ready({"far"});
    auto c = outer.session();
    const auto far = c.server("far");
    CHECK(text_at(far, "era") == era);
    CHECK(text_at(far, "remote.transport") == "streamable-http");
    CHECK(text_at(far, "remote.address") == "unix:" + inner.socket() + ":/mcp");
    for (int i = 0; i < 20; ++i) CHECK(c.call("far__s__echo", R"({"text":"over two hops"})").text() == "over two hops");
    const std::string large(1 << 20, 'x');
    CHECK(c.call("far__s__echo", R"({"text":")" + large + "\"}").text() == large);
    const auto open = c.start_call("far__s__never-answer");
    auto other = inner.session();
    const auto waits_there = [&] { return other.server("s").as_object().at("openCalls").to_number<int>(); };
    while (waits_there() == 0) {
    }
    c.cancel(open);
    while (waits_there() != 0) {
    }
    CHECK(c.call("far__s__echo", R"({"text":"after"})").text() == "after");
    CHECK(outer.stop().status == 0);
  }
}

TEST_CASE("remote: a daemon that was killed and came back is used again with the next call") {
  daemon_under_test inner(config().server("s"));
  inner.wait_ready({"s"});
  daemon_under_test outer(behind(inner, R"(, "protocol": "2025-11-25")"));
  outer.wait_ready({"far"});
  auto c = outer.session();
  CHECK(c.call("far__s__echo", R"({"text":"one"})").text() == "one");
  inner.stop(SIGKILL);
  inner.start();
  inner.wait_ready({"s"});
  outer.wait_ready({"far"});
  CHECK(c.call("far__s__echo", R"({"text":"two"})").text() == "two");
}
