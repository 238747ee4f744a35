// The documented exit statuses, by kind of failure.
#include "daemon/cli/base/daemon_calls.hpp"
#include "daemon/cli/base/follow_run.hpp"
#include "daemon/cli/base/run_end.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>

using namespace mcpbx;
using namespace mcpbx::cli;
using namespace mcpbx::json;

TEST_CASE("exit status: a failed call by its kind") {
  const std::pair<errc, int> table[] = {
      {errc::unavailable, 3},      {errc::io, 3},          {errc::not_found, 5}, {errc::config, 2},
      {errc::invalid_argument, 2}, {errc::cancelled, 130}, {errc::peer, 1},      {errc::timed_out, 1}};
  for (const auto& [code, status] : table) {
    CAPTURE(static_cast<int>(code));
    CHECK(status_of(error{code, "x"}) == status);
  }
}

TEST_CASE("exit status: an error answer by its code") {
  const std::pair<int, int> table[] = {{mcp::rpc::code::not_found, 5},       {mcp::rpc::code::invalid_params, 2},
                                       {mcp::rpc::code::invalid_request, 2}, {mcp::rpc::code::method_not_found, 2},
                                       {mcp::rpc::code::cancelled, 130},     {mcp::rpc::code::internal_error, 1}};
  for (const auto& [code, status] : table) {
    CAPTURE(code);
    link::answer a;
    a.error = *raw_json::parse("{\"code\":" + std::to_string(code) + ",\"message\":\"no\"}");
    CHECK(status_of(a) == status);
    CHECK(a.error_message() == "no");
  }
}

TEST_CASE("L11: exit status: a run without an answer by its stop reason, with the sentence of the run") {
  const std::string why = "Unable to complete task: so it is.";
  const std::pair<std::string, int> table[] = {
      {"final", 1},        {"max_rounds", 1},     {"consecutive_errors", 1}, {"tool_error", 1},
      {"timeout", 1},      {"token_budget", 1},   {"call_budget", 1},        {"refused", 1},
      {"truncated", 1},    {"needs_approval", 1}, {"caller_tools", 1},       {"provider_error", 4},
      {"context_full", 1}, {"store_error", 1},    {"interrupted", 1},        {"repeated_calls", 1}};
  for (const auto& [reason, status] : table) {
    CAPTURE(reason);
    const auto with = [&](const std::string& more) {
      return raw_json::own(R"({"text":"said beside a call","stopReason":")" + reason + "\"" + more + "}");
    };
    const auto end = end_of(with(",\"reason\":\"" + why + "\""), false);
    CHECK(end.status == status);
    CHECK(end.why == why);
    CHECK(end_of(with(",\"reason\":\"" + why + R"(","cause":"config")"), false).status == 2);
    if (reason != "final") CHECK(end_of(with(""), false).why == "the run ended without an answer (" + reason + ")");
  }
  const auto cancelled = raw_json::literal(R"({"stopReason":"cancelled","reason":"Unable to complete task: enough."})");
  CHECK(end_of(cancelled, false).status == 1);
  CHECK(end_of(cancelled, false).why == "the run was cancelled");
  CHECK(end_of(cancelled, true).status == 130);
  CHECK(end_of(cancelled, true).why.empty());
}

TEST_CASE("L5 L11: exit status: an answer is one, also when it was made at a limit, and then the limit is told") {
  CHECK(end_of(raw_json::literal(R"({"text":"42","stopReason":"final"})"), false).status == 0);
  CHECK(end_of(raw_json::literal(R"({"text":"42","stopReason":"final"})"), false).why.empty());
  for (const std::string reason : {"max_rounds", "call_budget", "repeated_calls"}) {
    CAPTURE(reason);
    const std::string note = "the limit was reached; the answer was made from what was known by then.";
    const auto end =
        end_of(raw_json::own(R"({"text":"42","stopReason":")" + reason + R"(","reason":")" + note + "\"}"), false);
    CHECK(end.status == 0);
    CHECK(end.why == note);
  }
}

TEST_CASE("L21: exit status: calls that are handed to the caller are an outcome, with how to go on") {
  const auto end = end_of(raw_json::literal(R"({"run":"a b","stopReason":"caller_tools","toolCalls":[)"
                                            R"({"id":"c","name":"mine","arguments":{},"pending":true}]})"),
                          false);
  CHECK(end.status == 0);
  CHECK(
      end.why.starts_with("the run waits for the result of this call; `mcpbx ask --run='a b' --results FILE` goes on"));
}

TEST_CASE("a told command takes a run's name for a name, also when it begins as an option does") {
  CHECK(run_operand("nightly") == "nightly");
  CHECK(run_operand("two words") == "'two words'");
  CHECK(run_operand("-v") == "-- -v");
}

TEST_CASE("versions are compared number by number") {
  CHECK(mcpbx::cli::is_newer("0.2.0", "0.1.9"));
  CHECK(mcpbx::cli::is_newer("0.10.0", "0.9.0"));
  CHECK(mcpbx::cli::is_newer("1.0", "0.99.99"));
  CHECK_FALSE(mcpbx::cli::is_newer("0.1.0", "0.1.0"));
  CHECK_FALSE(mcpbx::cli::is_newer("0.1.0", "0.1.1"));
  CHECK_FALSE(mcpbx::cli::is_newer("", "0.1.0"));
}
