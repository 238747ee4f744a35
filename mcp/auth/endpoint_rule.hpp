// Decides which addresses an authorization may use: the documents that name them come from strangers, who must not be
// able to make mcpbx send requests into its own network (2026-07-28, authorization, "Server-Side Request Forgery").
#pragma once
#include "mcp/support/error.hpp"

#include <string>
#include <string_view>

namespace mcpbx::auth {

/// Kind of a host, by its text: a name counts as public.
enum class reach : unsigned char { loopback, private_network, public_network };

/// Returns the kind of a host name or address, without the brackets of an IPv6 address.
reach reach_of(std::string_view host);

/// The addresses that one server's authorization may use.
struct endpoint_rule {
  reach server = reach::public_network;  ///< the kind of the protected server itself
  bool private_addresses = false;        ///< the entry allows addresses of private networks
  std::string host = {};                 ///< of the protected server

  /// Makes the rule for a server's address.
  static endpoint_rule of(std::string_view server_url, bool private_addresses);
  /// Fails with a clause about `what` if the address may not be used: it must be https, or http on loopback, and no
  /// nearer than the server itself. `what` names it: "its token endpoint".
  result<void> check(std::string_view what, std::string_view url) const;
  /// Judges an address that a host's name has turned out to have, when it is about to be connected to; fails with a
  /// clause. The server's own host may be anywhere, since its entry names it.
  result<void> check_address(std::string_view name, std::string_view address) const;
  /// Returns a text that differs if the rule does.
  std::string name() const;
};

}  // namespace mcpbx::auth
