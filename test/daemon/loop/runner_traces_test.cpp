// The trace of a run's caller: passed on to models and tool servers, kept in the journal, and taken up again.
#include "daemon/loop/core/recovery.hpp"
#include "mcp/support/log.hpp"
#include "test/daemon/loop/next_process.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::core;
using namespace mcpbx::daemon::run;
using namespace mcpbx::daemon::stored;
using namespace mcpbx::daemon::test;
using namespace mcpbx::json;
using namespace mcpbx::trace;

// A name of its own, since several sources of these tests are compiled as one.
namespace mcpbx::daemon::test::runner_traces {

const trace_context trace{"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", R"(a=1,b="\)"};
const std::string meta =
    R"(,"_meta":{"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01","tracestate":"a=1,b=\"\\"})";

run_request traced(run_request r = fixture::ask()) {
  r.trace = trace;
  return r;
}

TEST_CASE("E3: all model calls of a run have the trace of its caller, and each tools/call in its _meta") {
  std::vector<std::string> logged;
  log::install(log::level::info, [&](log::level, std::string_view line) { logged.emplace_back(line); });
  fixture f;
  f.model->script = {calls({lookup("a", R"({"x" : 1})")}), says("done")};
  f.quick->script = {says("Looking")};
  auto r = traced();
  r.run = "sums";
  r.limits.status = status_mode::model;
  r.limits.status_model = "quick";
  f.run(std::move(r));
  log::install(log::level::off, {});
  REQUIRE(f.model->requests.size() == 2);
  for (const auto& q : f.model->requests) CHECK(q.trace == trace);
  REQUIRE(f.quick->requests.size() == 1);
  CHECK(f.quick->requests[0].trace == trace);
  REQUIRE(f.server->params.size() == 1);
  CHECK(f.server->params[0] == R"({"name":"lookup","arguments":{"x" : 1})" + meta + "}");
  CHECK(std::get<record::run_started>(f.written().front()).trace == trace);
  CHECK(folded(f.written()).trace_id == "0af7651916cd43dd8448eb211c80319c");
  REQUIRE_FALSE(logged.empty());
  CHECK(logged.front() == "run sums: belongs to the trace 0af7651916cd43dd8448eb211c80319c of its caller");
}

TEST_CASE("E3: a run without a trace sends none, and a tools/call has no _meta") {
  fixture f;
  f.model->script = {calls({lookup("a", "{}")}), says("done")};
  f.run();
  REQUIRE(f.server->params.size() == 1);
  CHECK(f.server->params[0] == R"({"name":"lookup","arguments":{}})");
  CHECK(f.model->requests.at(0).trace.empty());
  CHECK(folded(f.written()).trace_id.empty());
}

TEST_CASE("E3: a run that the next process takes up belongs to the trace that it began with") {
  std::vector<run_record> left;
  {
    fixture f;
    f.offer({"guarded"});
    f.model->script = {calls({call("a", "srv__guarded")})};
    f.run(traced(detached("long")));
    left = f.written();
  }
  next_process f;
  f.offer({"guarded"});
  f.model->script = {says("done")};
  f.resume(std::move(left));
  std::string question;
  caller watcher;
  watcher.read(**f.runs->find("long"));
  question = watcher.of("question").empty() ? "" : member_text(*raw_json::parse(watcher.of("question")[0]), "question");
  REQUIRE_FALSE(question.empty());
  f.runs->answer("long", question, raw_json::literal(R"({"approve":true})"), [](const result<void>&) {});
  f.settle();
  REQUIRE(f.server->params.size() == 1);
  CHECK(f.server->params[0].ends_with(meta + "}"));
  REQUIRE_FALSE(f.model->requests.empty());
  CHECK(f.model->requests.back().trace == trace);
}

}  // namespace mcpbx::daemon::test::runner_traces
