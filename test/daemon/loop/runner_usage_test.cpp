// Usage of model calls that gave no reply.
#include "test/daemon/loop/loop_fixture.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

using namespace mcpbx;
using namespace mcpbx::daemon::stored;
using namespace mcpbx::daemon::test;
using namespace mcpbx::json;

namespace {

constexpr providers::usage half_an_answer{.input = 100, .output = 7, .estimated = true};

/// Returns "input output" of the result, after "about" if some of it is an estimate.
std::string counted(const fixture& f) {
  const auto usage = find_member(f.caller_.done.at(0), "usage");
  return (find_member(usage, "estimated").is_true() ? "about " : "") +
         std::string(find_member(usage, "inputTokens").text()) + " " +
         std::string(find_member(usage, "outputTokens").text());
}

/// Returns the same from the records alone.
std::string folded(const fixture& f) {
  const auto u = fold(f.written(), f.written().size()).facts().usage;
  return (u.estimated ? "about " : "") + std::to_string(u.input) + " " + std::to_string(u.output);
}

}  // namespace

TEST_CASE("L16: what a model call used up before it broke is in the usage, marked as an estimate") {
  fixture f;
  providers::model_error broken;
  broken.type = providers::model_error::kind::cut;
  broken.message = "it broke.";
  broken.usage = half_an_answer;
  f.model->script = {calls({lookup("a")}), breaks(broken)};
  f.run();
  CHECK(f.caller_.member("stopReason") == "provider_error");
  CHECK(counted(f) == "about 110 12");
  CHECK(folded(f) == "about 110 12");

  fixture refused;
  broken.usage = {};
  refused.model->script = {calls({lookup("a")}), breaks(broken)};
  refused.run();
  CHECK(counted(refused) == "10 5");
}

TEST_CASE("L16 L18: a cancel and the end of the run's time count what the model call had used up by then") {
  for (const bool in_time : {true, false}) {
    CAPTURE(in_time);
    fixture f;
    f.model->spent = half_an_answer;
    f.model->script = {calls({lookup("a")}), silent()};
    run_limits l;
    l.timeout_ms = 1'000;
    const auto run = f.run(fixture::ask(l));
    if (in_time)
      CHECK(f.runs->cancel(run, ""));
    else
      f.time.advance(milliseconds(1'000));
    f.settle();
    CHECK(f.caller_.member("stopReason") == (in_time ? "cancelled" : "timeout"));
    CHECK(counted(f) == "about 110 12");
    CHECK(folded(f) == "about 110 12");
  }
}

TEST_CASE("L15 L16: status lines that come too late, break or are not needed any more count what they used up") {
  enum class line { late, broken, needless, cancelled };
  for (const auto how : {line::late, line::broken, line::needless, line::cancelled}) {
    CAPTURE(static_cast<int>(how));
    fixture f;
    f.server->hold["lookup"] = how != line::needless;
    f.quick->spent = half_an_answer;
    f.model->script = {calls({lookup("a")}), says("done")};
    if (how == line::broken) {
      providers::model_error e;
      e.usage = half_an_answer;
      f.quick->script = {breaks(e)};
    }
    auto r = fixture::ask();
    r.limits.status = status_mode::model;
    r.limits.status_model = "quick";
    const auto run = f.run(std::move(r));
    if (how == line::late) f.time.advance(milliseconds(2'000));
    f.settle();
    if (how == line::cancelled) CHECK(f.runs->cancel(run, ""));
    f.server->release();
    f.settle();
    CHECK(counted(f) == (how == line::cancelled ? "about 110 12" : "about 120 17"));
    CHECK(folded(f) == counted(f));
    CHECK(f.quick->open == 0);
  }
}
