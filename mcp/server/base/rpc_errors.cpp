// Maps kinds of errors to JSON-RPC codes and words.
#include "mcp/server/base/rpc_errors.hpp"

#include "mcp/json/json_writer.hpp"
#include "mcp/redact/secret.hpp"

#include <utility>

namespace mcpbx::mcp::server {

namespace {

int code_of(errc kind) {
  switch (kind) {
    case errc::invalid_argument:
    case errc::parse:
      return rpc::code::invalid_params;
    case errc::not_found:
      return rpc::code::not_found;
    case errc::limit:
      return rpc::code::overloaded;
    case errc::cancelled:
      return rpc::code::cancelled;
    case errc::internal:
      return rpc::code::internal_error;
    case errc::timed_out:
    case errc::unavailable:
    case errc::peer:
    case errc::protocol:
    case errc::io:
    case errc::config:
      break;
  }
  return rpc::code::server_error;
}

}  // namespace

rpc::rpc_error to_rpc_error(const error& e, std::string_view server) {
  std::string json;
  json::json_writer data(json);
  data.begin_object();
  if (!server.empty()) data.member("server", server);
  data.member("cause", mcpbx::to_string(e.code));
  if (e.code == errc::limit || e.code == errc::unavailable) data.member("retryable", true);
  data.end_object();
  return {code_of(e.code), redact::redactor::redact(e.message), data.json()};
}

rpc::rpc_error invalid_params(std::string text) {
  return {rpc::code::invalid_params, std::move(text), {}};
}

}  // namespace mcpbx::mcp::server
