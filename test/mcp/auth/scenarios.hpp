// The authorizations whose transcripts are in test/transcripts/auth: each demand that the specification and the
// official conformance suite make of a client (docs/interop.md), as a world and what happens in it.
#pragma once
#include "test/mcp/auth/scripted_authorization.hpp"

#include <functional>
#include <string_view>
#include <vector>

namespace mcpbx::test {

/// One authorization of a scenario. The grant of the one before is in the options already.
struct scenario_leg {
  std::string_view challenge;  ///< the WWW-Authenticate header with which the server refused
  std::function<void(scripted_authorization& world, auth::flow::authorization::options& o)> change = {};
};

struct auth_scenario {
  std::string_view name;   ///< of the file
  std::string_view title;  ///< one sentence
  std::vector<scenario_leg> legs;
  bool renews = false;  ///< the token is renewed at the end
  bool ends_well = true;
};

const std::vector<auth_scenario>& auth_scenarios();

}  // namespace mcpbx::test
