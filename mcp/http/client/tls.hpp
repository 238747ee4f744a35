// TLS as every connection of the client uses it: 1.2 or newer, the peer's certificate and name verified, always.
#pragma once
#include "mcp/http/client/http_client.hpp"
#include "mcp/http/stream_socket.hpp"
#include "mcp/support/error.hpp"

#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>

#include <memory>
#include <string>

namespace mcpbx::http {

using tls_context = std::shared_ptr<boost::asio::ssl::context>;
using tls_stream = boost::asio::ssl::stream<stream_socket&>;

/// Reads the trusted certificates: tens of milliseconds for the system's bundle, so not for the speaking thread.
result<tls_context> load_tls(const trust& t);

/// A stream that will accept nothing but a certificate for `host` (a name, sent as SNI, or an address).
result<std::unique_ptr<tls_stream>> make_tls_stream(stream_socket& socket, const tls_context& context,
                                                    const std::string& host);

/// Why a handshake failed, as a clause: "its certificate is not trusted: self-signed certificate".
std::string tls_failure(tls_stream& stream, const boost::system::error_code& ec);

}  // namespace mcpbx::http
