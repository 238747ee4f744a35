// Traces of callers: which are taken, how a long state is shortened, and that nothing else of a header gets through.
#include "mcp/trace/trace_context.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace mcpbx;
using namespace mcpbx::trace;

constexpr std::string_view good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

std::string parent_of(std::string_view text) {
  return read_trace(text, {}).parent;
}

std::string state_of(const std::vector<std::string_view>& fields) {
  return read_trace(good, fields).state;
}

TEST_CASE("E3: a traceparent is taken as it stands, and its trace id can be asked for") {
  const auto trace = read_trace(good, {});
  CHECK(trace.parent == good);
  CHECK(trace.id() == "0af7651916cd43dd8448eb211c80319c");
  CHECK(trace.state.empty());
  CHECK(parent_of("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00").ends_with("-00"));
  CHECK(trace_context().id().empty());
}

TEST_CASE("E3: a traceparent in another form gives no trace, and no state either") {
  for (const std::string_view bad : {"", "t", "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
                                     "00-00000000000000000000000000000000-b7ad6b7169203331-01",
                                     "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
                                     "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
                                     "0g-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
                                     "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0",
                                     "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0x",
                                     "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
                                     "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01 ",
                                     "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01.more",
                                     "00_0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
                                     "00-0af7651916cd43dd8448eb211c8031\r\n-b7ad6b7169203331-01"}) {
    const std::string_view state = "a=1";
    const auto trace = read_trace(bad, {&state, 1});
    CHECK_MESSAGE(trace.empty(), bad);
    CHECK(trace.state.empty());
    CHECK(trace.id().empty());
  }
}

TEST_CASE("E3: a traceparent of a later version counts as one of version 00, with the flags that this one has") {
  CHECK(parent_of("cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01") == good);
  CHECK(parent_of("cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-ff-what-else") ==
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-03");
  CHECK(parent_of(std::string("01") + std::string(good.substr(2)) + "-" + std::string(1 << 20, 'x')) == good);
}

TEST_CASE("E3: a tracestate is joined from its fields, and left out whole if one of its entries is wrong") {
  CHECK(state_of({"rojo=00f067aa0ba902b7"}) == "rojo=00f067aa0ba902b7");
  CHECK(state_of({"a=1,\t b=2 ,,", "fw529a3039@dt=FfAy \"\\;"}) == "a=1,b=2,fw529a3039@dt=FfAy \"\\;");
  for (const std::string_view bad : {"a", "=1", "a=", "A=1", "a=1,b", "a=b=c", "a@=1", "a@b@c=1", "a b=1", "a=\x7f",
                                     "a=1\r\nAuthorization: x", "a=\xC3\xA9", "a=\x01"})
    CHECK_MESSAGE(state_of({bad}).empty(), bad);
  CHECK(state_of({std::string(257, 'a') + "=1"}).empty());
  CHECK(state_of({"a=" + std::string(257, 'x')}).empty());
  std::string many = "k0=v";
  for (int i = 1; i < 32; ++i) many += ",k" + std::to_string(i) + "=v";
  CHECK(state_of({many}) == many);
  CHECK(state_of({many, "one=more"}).empty());
  CHECK(state_of({std::string(1 << 20, ',')}).empty());
}

TEST_CASE("E3: a long tracestate loses its large entries first, and then the last ones") {
  const std::string small(100, 'x'), large(200, 'y');
  const std::string text = "a=" + small + ",b=" + large + ",c=" + small + ",d=" + large;
  CHECK(state_of({text}) == "a=" + small + ",c=" + small);
  std::string rest;
  for (char name = 'a'; name <= 'f'; ++name) rest += (rest.empty() ? "" : ",") + std::string(1, name) + "=" + small;
  const auto kept = state_of({rest});
  CHECK(kept.size() <= trace_context::longest_state);
  CHECK(kept == rest.substr(0, 4 * 103 - 1));
}

}  // namespace
