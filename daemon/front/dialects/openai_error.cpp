// Body, status and headers of an error answer.
#include "daemon/front/dialects/openai_error.hpp"

#include "mcp/json/json_writer.hpp"

#include <utility>

namespace mcpbx::daemon::dialects {
namespace {

void write_text_or_null(json::json_writer& w, std::string_view key, const std::string& text) {
  if (text.empty())
    w.member(key, json::raw_json());
  else
    w.member(key, text);
}

}  // namespace

std::string_view openai_error_type(int status) {
  if (status == 429) return "rate_limit_exceeded";
  return status < 500 ? "invalid_request_error" : "server_error";
}

std::string openai_error_body(const request_fault& f) {
  std::string out;
  json::json_writer w(out);
  w.begin_object().key("error").begin_object().member("message", f.message).member("type", openai_error_type(f.status));
  write_text_or_null(w, "param", f.param);
  write_text_or_null(w, "code", f.code);
  w.end_object().end_object();
  return out;
}

http::servers::server_answer error_answer(const request_fault& f, std::vector<http::header> headers) {
  headers.push_back({"Content-Type", "application/json"});
  return {f.status, std::move(headers), openai_error_body(f)};
}

}  // namespace mcpbx::daemon::dialects
