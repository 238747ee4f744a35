// The trace of an HTTP request at each door that begins runs.
#include "daemon/front/exchange/request_trace.hpp"

#include "test/daemon/front/door_on_sockets.hpp"
#include "test/support/contains.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace mcpbx;
using namespace mcpbx::daemon::routes;
using namespace mcpbx::test;
using namespace mcpbx::trace;

// A name of its own, since several sources of these tests are compiled as one.
namespace mcpbx::test::request_traces {

const std::string parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const std::string other = "00-11111111111111111111111111111111-b7ad6b7169203331-01";
const std::string fields = "Traceparent: " + parent + "\r\nTracestate: a=1\r\ntracestate: b=2\r\n";

struct door {
  const char* path;
  std::string body;
};
const std::string message = R"("messages":[{"role":"user","content":"hi"}])";
const door doors[] = {{"/v1/chat/completions", R"({"model":"m",)" + message + "}"},
                      {"/v1/messages", R"({"model":"m","max_tokens":9,)" + message + "}"},
                      {"/v1/responses", R"({"model":"m","input":"hi"})"},
                      {"/api/chat", R"({"input":"hi"})"}};

trace_context taken(const door& at, const std::string& headers) {
  door_on_sockets d;
  d.write(d.enter(), door_on_sockets::post(at.body, headers, at.path));
  REQUIRE_MESSAGE(d.backend.started.size() == 1, at.path);
  return d.backend.started[0].trace;
}

TEST_CASE("E3: the trace of the headers becomes that of the run, at each door") {
  for (const auto& at : doors) {
    CHECK_MESSAGE((taken(at, fields) == trace_context{parent, "a=1,b=2"}), at.path);
    CHECK_MESSAGE(taken(at, "") == trace_context(), at.path);
    CHECK_MESSAGE(taken(at, "traceparent: 00-x-y-01\r\ntracestate: a=1\r\n") == trace_context(), at.path);
  }
}

TEST_CASE("E3: two headers traceparent count as none") {
  CHECK(trace_of({{"traceparent", parent}, {"TRACEPARENT", parent}}).empty());
  CHECK(trace_of({{"traceparent", parent}, {"x", "y"}}) == trace_context{parent, ""});
}

TEST_CASE(
    "E3: api: the trace of a body's _meta is nearer to the run than the header's, which counts where it has none") {
  const auto with = [](const std::string& meta) { return door{"/api/chat", R"({"input":"hi","_meta":)" + meta + "}"}; };
  CHECK(taken(with(R"({"traceparent":")" + other + "\"}"), fields) == trace_context{other, ""});
  // A state without its parent belongs to no trace, so it is not joined with another's.
  for (const std::string none : {"{}", "7", R"({"vendor":1})", R"({"traceparent":"00-x-y-01","tracestate":"c=3"})",
                                 R"({"tracestate":"c=3"})", R"({"traceparent":[1],"traceparent":"x"})"}) {
    CHECK_MESSAGE((taken(with(none), fields) == trace_context{parent, "a=1,b=2"}), none);
    CHECK_MESSAGE((taken(with(none), "traceparent: " + parent + "\r\n") == trace_context{parent, ""}), none);
    CHECK_MESSAGE(taken(with(none), "").empty(), none);
  }
}

TEST_CASE("E3: api: a streamed and a detached run get the trace of the header too") {
  for (const std::string body : {R"({"input":"hi"})", R"({"input":"hi","detach":true})"})
    CHECK(taken({"/api/chat", body}, fields + "Accept: text/event-stream\r\n").parent == parent);
}

}  // namespace mcpbx::test::request_traces
