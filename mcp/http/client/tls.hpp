// TLS for the client's connections: version 1.2 or newer; certificate and name of the peer are always verified.
#pragma once
#include "mcp/http/client/http_client.hpp"
#include "mcp/http/stream_socket.hpp"
#include "mcp/support/error.hpp"

#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>

#include <functional>
#include <memory>
#include <string>

namespace mcpbx::http::clients {

/// Settings of connections, with the certificates that they trust.
struct tls_context {
  std::shared_ptr<boost::asio::ssl::context> settings;
  /// Of the system's certificates only those of its folder are known, where each is read once a peer's chain names it.
  /// A chain that fails may still succeed with all of them.
  bool by_name = false;
};
using tls_stream = boost::asio::ssl::stream<stream_socket&>;

/// Returns the bundle of certificates of other systems than the one that OpenSSL was built on, for programs that have
/// OpenSSL in them; "" where the usual place exists, a variable names one (`named`), or there is none at all.
std::string bundle_elsewhere(bool named, const std::function<bool(const std::string& path)>& exists);

/// Returns the folders of the system's certificates (separated by ":") if one has files that OpenSSL finds by the hash
/// of a certificate's name (openssl-rehash(1)); "" where there is none, or SSL_CERT_FILE names a bundle.
std::string folders_by_name();

/// Reads the trusted certificates. The system's are looked up by name where its folder allows that, unless `all` are
/// wanted. Call it on a lane: the system's bundle takes tens of milliseconds.
result<tls_context> load_tls(const trust& t, bool all);

/// Returns true if the peer's chain has failed in a way in which other trusted certificates could help.
bool chain_failed(tls_stream& stream);

/// Makes a stream that accepts only a certificate for `host` (a name, sent as SNI, or an address).
result<std::unique_ptr<tls_stream>> make_tls_stream(stream_socket& socket, const tls_context& context,
                                                    const std::string& host);

/// Returns a clause about a peer that does not go on because of our certificate, or because we have shown none; "" for
/// another failure.
std::string client_certificate_failure(const boost::system::error_code& ec);

/// Returns the reason of a failed handshake as a clause: "its certificate is not trusted: self-signed certificate".
std::string tls_failure(tls_stream& stream, const boost::system::error_code& ec);

}  // namespace mcpbx::http::clients
