// The connector to a tool server that has an address: Streamable HTTP of both eras, with sessions, streams and their
// resumption, and the deprecated HTTP+SSE as the last resort.
#pragma once
#include "mcp/client/connect/authorizer.hpp"
#include "mcp/client/connect/connector.hpp"
#include "mcp/client/connect/remote/remote_verdicts.hpp"
#include "mcp/http/client/http_client.hpp"
#include "mcp/rpc/line_framer.hpp"
#include "mcp/support/error.hpp"
#include "mcp/support/time.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace mcpbx::mcp::remote {

/// The way to a server, with every reference resolved. Secrets in it are known to the redactor.
struct remote_spec {
  std::string url;                    ///< http://, https:// or unix:/SOCKET:/PATH
  std::vector<http::header> headers;  ///< sent with each request; those that MCP itself sets are left out
  http::clients::trust trust;
  bool events_first = false;  ///< the entry says that it is an HTTP+SSE server: try that first
  milliseconds connect_timeout{10'000};
  std::shared_ptr<connect::authorizer> tokens =
      {};  ///< logs in where the server wants it; null: `headers` have all there is
};

/// Passes the spec of the server, or an error, to `then`; as process_source, called for every connection.
using remote_source = std::function<void(std::function<void(result<remote_spec>)> then)>;

/// The parts that remote connectors share; all must outlive the connectors and their links.
struct remote_means {
  http::clients::client& client;
  time_source& time;
  std::shared_ptr<remote_verdicts> verdicts;
  rpc::line_framer::options framing;
};

/// Returns a connector that asks nothing of the server before the conversation sends its first message. `address` is
/// shown to people. ask says goodbye (DELETE of the session); insist and force close all connections.
std::unique_ptr<connect::connector> make_remote_connector(std::string server, std::string address, remote_means with,
                                                          remote_source source);

}  // namespace mcpbx::mcp::remote
