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

using tls_context = std::shared_ptr<boost::asio::ssl::context>;
using tls_stream = boost::asio::ssl::stream<stream_socket&>;

/// Returns the bundle of certificates of other systems than the one that OpenSSL was built on, for programs that have
/// OpenSSL in them; "" where the usual place exists, a variable names one (`named`), or there is none at all.
std::string bundle_elsewhere(bool named, const std::function<bool(const std::string& path)>& exists);

/// Reads the trusted certificates. Call it on a lane: the system's bundle takes tens of milliseconds.
result<tls_context> load_tls(const trust& t);

/// Makes a stream that accepts only a certificate for `host` (a name, sent as SNI, or an address).
result<std::unique_ptr<tls_stream>> make_tls_stream(stream_socket& socket, const tls_context& context,
                                                    const std::string& host);

/// Returns a clause about a peer that does not go on because of our certificate, or because we have shown none; "" for
/// another failure.
std::string client_certificate_failure(const boost::system::error_code& ec);

/// Returns the reason of a failed handshake as a clause: "its certificate is not trusted: self-signed certificate".
std::string tls_failure(tls_stream& stream, const boost::system::error_code& ec);

}  // namespace mcpbx::http::clients
