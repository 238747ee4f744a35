// Asio's own code, compiled once for all layers. Without its TLS part: that lives in mcp/http, so that the CLI links no
// OpenSSL.
#include <boost/asio/impl/src.hpp>
