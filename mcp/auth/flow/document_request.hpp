// One request of an authorization and its answer, as values: the shell sends it, without following redirects.
#pragma once
#include "mcp/auth/form.hpp"
#include "mcp/http/header.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/redact/secret.hpp"
#include "mcp/support/error.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::auth::flow {

/// Returns true if a value that a server has made may be kept out of printed texts. One that could be an ordinary word
/// is not: a server could have any word blanked by it.
bool worth_hiding(std::string_view value);

struct document_request {
  std::string method = "GET", url;
  std::vector<http::header> headers = {};
  std::string body = {};

  /// Returns a POST of a form.
  static document_request form(std::string url, const form_fields& fields, std::vector<http::header> headers);
  /// Returns the secrets of a form request as they are sent, which a server may quote when it refuses them: the proof
  /// of the client, and the fields that hold tokens, codes and passwords, escaped or not.
  std::vector<redact::passing_secret> secrets() const;
};

/// The whole answer, at most longest_document bytes of it.
struct document_answer {
  int status = 0;
  std::string body = {};

  bool ok() const noexcept { return status == 200 || status == 201; }
  /// Returns the body as JSON, or a clause about the form that it has instead.
  result<json::raw_json> json() const;
  /// Returns a clause about an answer that is not ok(): the status, and the OAuth error in the body, if there is one.
  std::string refusal() const;
};

}  // namespace mcpbx::auth::flow
