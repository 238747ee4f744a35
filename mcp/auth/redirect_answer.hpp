// The answer of an authorization endpoint, as it comes back through the browser (RFC 6749, section 4.1.2; RFC 9207).
// Anyone who can make the browser open an address can forge it.
#pragma once
#include "mcp/support/error.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace mcpbx::auth {

/// The values that an answer is checked against; recorded before the browser is sent away.
struct expected_answer {
  std::string state;
  std::string issuer;
  bool tells_issuer = false;  ///< the server's metadata says that it sends `iss`
};

struct redirect_answer {
  enum class kind : std::uint8_t {
    code,      ///< `text` is the authorization code
    refused,   ///< the person or the server said no: `text` says so
    not_ours,  ///< not the answer to this request (no or a wrong `state`): the wait goes on
    forged     ///< right state and a wrong `iss`: the authorization is over
  };
  kind type = kind::not_ours;
  std::string text;  ///< the code, or a clause for people
};

/// Reads the query of the redirect, or a whole address that somebody pasted.
redirect_answer read_redirect(std::string_view query_or_address, const expected_answer& expected);

}  // namespace mcpbx::auth
