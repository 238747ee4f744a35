// The documented exit statuses, by kind of failure.
#include "daemon/cli/verbs.hpp"

#include <doctest/doctest.h>

#include <utility>

using namespace mcpbx;
using namespace mcpbx::cli;

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
  const std::pair<int, int> table[] = {{mcp::code::not_found, 5},       {mcp::code::invalid_params, 2},
                                       {mcp::code::invalid_request, 2}, {mcp::code::method_not_found, 2},
                                       {mcp::code::cancelled, 130},     {mcp::code::internal_error, 1}};
  for (const auto& [code, status] : table) {
    CAPTURE(code);
    cli::answer a;
    a.error = *raw_json::parse("{\"code\":" + std::to_string(code) + ",\"message\":\"no\"}");
    CHECK(status_of(a) == status);
    CHECK(a.error_message() == "no");
  }
}

TEST_CASE("versions are compared number by number") {
  CHECK(mcpbx::cli::is_newer("0.2.0", "0.1.9"));
  CHECK(mcpbx::cli::is_newer("0.10.0", "0.9.0"));
  CHECK(mcpbx::cli::is_newer("1.0", "0.99.99"));
  CHECK_FALSE(mcpbx::cli::is_newer("0.1.0", "0.1.0"));
  CHECK_FALSE(mcpbx::cli::is_newer("0.1.0", "0.1.1"));
  CHECK_FALSE(mcpbx::cli::is_newer("", "0.1.0"));
}
