// The type of socket for HTTP connections, on either side.
#pragma once
#include <boost/asio/generic/stream_protocol.hpp>

namespace mcpbx::http {

using stream_socket = boost::asio::generic::stream_protocol::socket;  // TCP or Unix

}  // namespace mcpbx::http
