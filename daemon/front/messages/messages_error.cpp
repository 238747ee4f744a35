// Words and bodies of errors (platform.claude.com, Errors).
#include "daemon/front/messages/messages_error.hpp"

#include "mcp/json/json_writer.hpp"

#include <utility>

namespace mcpbx::daemon::messages {

std::string_view messages_error_type(int status) {
  switch (status) {
    case 401:
      return "authentication_error";
    case 403:
      return "permission_error";
    case 404:
      return "not_found_error";
    case 413:
      return "request_too_large";
    case 429:
      return "rate_limit_error";
    case 503:
    case 529:
      return "overloaded_error";
    case 504:
      return "timeout_error";
    default:
      return status < 500 ? "invalid_request_error" : "api_error";
  }
}

std::string messages_error_body(const dialects::request_fault& f) {
  std::string out;
  json::json_writer w(out);
  w.begin_object().member("type", "error").key("error").begin_object();
  w.member("type", messages_error_type(f.status)).member("message", f.message).filled("param", f.param);
  w.end_object().end_object();
  return out;
}

http::servers::server_answer messages_error_answer(const dialects::request_fault& f,
                                                   std::vector<http::header> headers) {
  headers.push_back({"Content-Type", "application/json"});
  return {f.status, std::move(headers), messages_error_body(f)};
}

}  // namespace mcpbx::daemon::messages
