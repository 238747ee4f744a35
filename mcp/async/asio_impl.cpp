// Compiles Asio's own code once for all rooms. Its TLS part is compiled in mcp/http, so that the CLI links no OpenSSL.
#include <boost/asio/impl/src.hpp>
