// Kinds of hosts, read from their text alone.
#include "mcp/auth/endpoint_rule.hpp"

#include "mcp/http/url.hpp"
#include "mcp/redact/cut_text.hpp"

#include <boost/asio/ip/address.hpp>

#include <string>

namespace mcpbx::auth {
namespace {

namespace ip = boost::asio::ip;

bool within(const ip::address_v4& a, std::uint32_t network, int bits) {
  return (a.to_uint() >> (32 - bits)) == (network >> (32 - bits));
}

reach reach_of_v4(const ip::address_v4& a) {
  if (a.is_loopback() || a.is_unspecified()) return reach::loopback;
  constexpr struct {
    std::uint32_t network;
    int bits;
  } inside[] = {{0x00000000, 8},  {0x0A000000, 8},  {0x64400000, 10}, {0xA9FE0000, 16}, {0xAC100000, 12},
                {0xC0000000, 24}, {0xC0A80000, 16}, {0xC6120000, 15}, {0xE0000000, 3}};
  for (const auto& n : inside)
    if (within(a, n.network, n.bits)) return reach::private_network;
  return reach::public_network;
}

reach reach_of_v6(const ip::address_v6& a) {
  if (a.is_loopback() || a.is_unspecified()) return reach::loopback;
  if (a.is_v4_mapped()) return reach_of_v4(ip::make_address_v4(ip::v4_mapped, a));
  const auto bytes = a.to_bytes();
  // 6to4 (RFC 3056) holds one behind its first two bytes.
  if (bytes[0] == 0x20 && bytes[1] == 0x02)
    return reach_of_v4(ip::address_v4(ip::address_v4::bytes_type{bytes[2], bytes[3], bytes[4], bytes[5]}));
  // NAT64 (RFC 6052) holds an IPv4 address at its end.
  if (bytes[0] == 0x00 && bytes[1] == 0x64 && bytes[2] == 0xFF && bytes[3] == 0x9B)
    return reach_of_v4(ip::address_v4(ip::address_v4::bytes_type{bytes[12], bytes[13], bytes[14], bytes[15]}));
  const bool unique_local = (bytes[0] & 0xFE) == 0xFC;
  if (a.is_link_local() || a.is_site_local() || a.is_multicast() || unique_local) return reach::private_network;
  return reach::public_network;
}

bool ends_with_label(std::string_view host, std::string_view label) {
  return host == label ||
         (host.size() > label.size() && host.ends_with(label) && host[host.size() - label.size() - 1] == '.');
}

// Returns true if some resolvers would read the name as an IPv4 address: its last label is a number (RFC 3986, 7.4).
bool ends_in_number(std::string_view host) {
  const auto last = host.substr(host.rfind('.') + 1);
  return !last.empty() && (last.find_first_not_of("0123456789") == std::string_view::npos || last.starts_with("0x"));
}

// Returns true for the addresses that proxies on this machine give to every name that they are asked for
// (198.18.0.0/15, RFC 2544): they say nothing about the host.
bool is_stand_in(std::string_view address) {
  boost::system::error_code no_address;
  const auto a = ip::make_address(std::string(address), no_address);
  return !no_address && a.is_v4() && within(a.to_v4(), 0xC6120000, 15);
}

// Returns true for such a name that is no address in the usual way: any machine may be meant, this one as well.
bool is_odd_number(std::string_view host) {
  boost::system::error_code no_address;
  ip::make_address(std::string(host), no_address);
  while (host.ends_with('.')) host.remove_suffix(1);
  return no_address && !host.contains(':') && ends_in_number(host);
}

}  // namespace

reach reach_of(std::string_view host) {
  while (host.ends_with('.')) host.remove_suffix(1);
  boost::system::error_code no_address;
  const auto address = ip::make_address(std::string(host.substr(0, host.find('%'))), no_address);
  if (!no_address) return address.is_v4() ? reach_of_v4(address.to_v4()) : reach_of_v6(address.to_v6());
  if (ends_with_label(host, "localhost") || host == "localhost.localdomain" || host == "ip6-localhost" ||
      host == "ip6-loopback")
    return reach::loopback;
  for (const std::string_view label : {"local", "internal", "lan", "home", "intranet", "localdomain"})
    if (ends_with_label(host, label)) return reach::private_network;
  return ends_in_number(host) ? reach::private_network : reach::public_network;
}

endpoint_rule endpoint_rule::of(std::string_view server_url, bool private_addresses) {
  const auto url = http::parse_url(server_url);
  if (!url) return {reach::public_network, private_addresses};
  return {url->socket.empty() ? reach_of(url->host) : reach::loopback, private_addresses, url->host};
}

result<void> endpoint_rule::check_address(std::string_view name, std::string_view address) const {
  if (name == host || is_stand_in(address)) return {};
  const reach there = reach_of(address);
  const std::string which = "it has the address " + std::string(address);
  if (there == reach::loopback && server != reach::loopback) return fail(errc::protocol, which + " of this machine");
  if (there == reach::private_network && server == reach::public_network && !private_addresses)
    return fail(errc::protocol,
                which +
                    " of a private network; if that is right, set \"auth\": {\"privateAddresses\": true} in the "
                    "server's entry");
  return {};
}

std::string endpoint_rule::name() const {
  return std::to_string(static_cast<int>(server)) + (private_addresses ? " private " : " ") + host;
}

result<void> endpoint_rule::check(std::string_view what, std::string_view url) const {
  const auto refuse = [&](const std::string& why) { return fail(errc::protocol, std::string(what) + " " + why); };
  const auto parts = http::parse_url(url);
  if (!parts) return refuse("is no address: " + redact::cut_for_people(parts.error().message, 300));
  if (!parts->socket.empty()) return refuse("is the address of a socket of this machine");
  if (is_odd_number(parts->host)) return refuse("has a host that some read as an address (" + parts->label + ")");
  const reach there = reach_of(parts->host);
  if (there == reach::loopback) {
    if (server == reach::loopback) return {};
    return refuse("is an address of this machine (" + parts->label + "), which the server is not");
  }
  if (there == reach::private_network && server == reach::public_network && !private_addresses)
    return refuse("is an address of a private network (" + parts->label +
                  "); if that is right, set \"auth\": {\"privateAddresses\": true} in the server's entry");
  if (!parts->tls) return refuse("must begin with https:// (" + parts->label + ")");
  return {};
}

}  // namespace mcpbx::auth
