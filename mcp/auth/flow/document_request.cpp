// Makes form requests, and reads answers that are JSON or should be.
#include "mcp/auth/flow/document_request.hpp"

#include "mcp/auth/metadata.hpp"
#include "mcp/redact/cut_text.hpp"
#include "mcp/support/text.hpp"

#include <utility>

namespace mcpbx::auth {
namespace {

constexpr int deepest_document = 32;

}  // namespace

document_request document_request::form(std::string url, const form_fields& fields, std::vector<http::header> headers) {
  headers.push_back({"Content-Type", "application/x-www-form-urlencoded"});
  headers.push_back({"Accept", "application/json"});
  return {"POST", std::move(url), std::move(headers), form_text(fields)};
}

result<raw_json> document_answer::json() const {
  if (body.size() > longest_document)
    return fail(errc::limit, "is larger than " + std::to_string(longest_document) + " bytes");
  auto parsed = raw_json::parse(trimmed(body), deepest_document);
  if (parsed) return parsed;
  if (trimmed(body).starts_with('<')) return fail(errc::protocol, "is a web page, not JSON");
  return fail(errc::protocol, "is no JSON");
}

std::string document_answer::refusal() const {
  std::string text = "HTTP status " + std::to_string(status);
  if (status >= 300 && status < 400) return text + ", a redirect, which mcpbx does not follow here";
  const auto parsed = json();
  if (!parsed) return text;
  if (const auto error = find_member(*parsed, "error").as_string()) {
    text += " (" + cut_for_people(*error, 80);
    if (const auto words = find_member(*parsed, "error_description").as_string())
      text += ": " + cut_for_people(*words, 300);
    text += ")";
  }
  return text;
}

}  // namespace mcpbx::auth
