// One request of an authorization and its answer, as values: the shell sends it, without following redirects.
#pragma once
#include "mcp/auth/form.hpp"
#include "mcp/http/header.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/support/error.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::auth {

struct document_request {
  std::string method = "GET", url;
  std::vector<http::header> headers = {};
  std::string body = {};

  /// Returns a POST of a form.
  static document_request form(std::string url, const form_fields& fields, std::vector<http::header> headers);
};

/// The whole answer, at most longest_document bytes of it.
struct document_answer {
  int status = 0;
  std::string body = {};

  bool ok() const noexcept { return status == 200 || status == 201; }
  /// Returns the body as JSON, or a clause that says what it is instead.
  result<raw_json> json() const;
  /// Returns a clause about an answer that is not ok(): the status, and the OAuth error in the body, if there is one.
  std::string refusal() const;
};

}  // namespace mcpbx::auth
