// Selects the proxy for an address, by HTTPS_PROXY, HTTP_PROXY and NO_PROXY as other programs read them. No I/O.
#pragma once
#include "mcp/http/url.hpp"
#include "mcp/support/error.hpp"

#include <boost/asio/ip/address.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::http::clients {

struct proxy {
  std::string host;
  std::uint16_t port = 80;
  std::string label;          ///< host:port, for sentences
  std::string authorization;  ///< the value of Proxy-Authorization, a secret; or ""
};

/// The rules, read once. Addresses of this machine (localhost, loopback, Unix sockets) never go through a proxy.
class proxy_rules {
 public:
  /// Makes rules without any proxy.
  proxy_rules() = default;
  /// Reads environment variables; `variable` returns "" for unset ones. Lower-case names win over upper-case ones.
  /// Registers user name and password with the redactor.
  static proxy_rules from(const std::function<std::string(const char* name)>& variable);
  static proxy_rules of_process();

  /// Finds the proxy for an address; null: connect directly. errc::config names a variable without a usable proxy, but
  /// not its value.
  result<const proxy*> find(const url_parts& to) const;

 private:
  struct exception {
    std::string name;  ///< this host and its subdomains
    std::optional<boost::asio::ip::address> network;
    unsigned prefix = 0;     ///< bits of `network` that count
    std::uint16_t port = 0;  ///< 0: any
  };
  using choice = std::optional<result<proxy>>;
  void add_exception(std::string_view text);
  bool is_exempt(const url_parts& to) const;

  choice http_, https_;
  bool none_ = false;  ///< NO_PROXY is "*"
  std::vector<exception> exceptions_;
};

}  // namespace mcpbx::http::clients
