// Makes form requests, and reads answers that are JSON or should be.
#include "mcp/auth/flow/document_request.hpp"

#include "mcp/auth/metadata.hpp"
#include "mcp/redact/cut_text.hpp"
#include "mcp/support/encodings.hpp"
#include "mcp/support/percent.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace mcpbx::auth::flow {
namespace {

constexpr int deepest_document = 32;

}  // namespace

document_request document_request::form(std::string url, const form_fields& fields, std::vector<http::header> headers) {
  headers.push_back({"Content-Type", "application/x-www-form-urlencoded"});
  headers.push_back({"Accept", "application/json"});
  return {"POST", std::move(url), std::move(headers), form_text(fields)};
}

bool worth_hiding(std::string_view value) {
  constexpr std::size_t longest_word = 15;
  if (value.size() > longest_word) return true;
  bool digit = false, letter = false;
  for (const char c : value) {
    const bool is_digit = c >= '0' && c <= '9', is_letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
    if (!is_digit && !is_letter && c != '-' && c != '_' && c != '=') return false;
    digit |= is_digit;
    letter |= is_letter;
  }
  return digit && letter;
}

std::vector<redact::passing_secret> document_request::secrets() const {
  std::vector<redact::passing_secret> all;
  const auto hide = [&all](std::string_view value) {
    if (worth_hiding(value)) all.emplace_back(redact::secret(std::string(value)));
  };
  const auto proof = http::find_header(headers, "Authorization");
  const auto pair = proof.substr(std::min(proof.find(' ') + 1, proof.size()));
  hide(pair);
  // A server may quote the password in it (RFC 7617, section 2), too, as it was escaped or as it is.
  if (const auto plain = base64_bytes(pair); plain && plain->contains(':')) {
    const std::string password = plain->substr(plain->find(':') + 1);
    hide(password);
    if (const auto decoded = percent_decoded(password); decoded != password) hide(decoded);
  }
  constexpr std::array<std::string_view, 7> hidden = {"code",      "code_verifier",    "client_secret", "refresh_token",
                                                      "assertion", "client_assertion", "subject_token"};
  std::string_view rest = body;
  while (!rest.empty()) {
    const auto end = std::min(rest.find('&'), rest.size());
    const auto field = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const auto mark = std::min(field.find('='), field.size());
    if (std::ranges::find(hidden, field.substr(0, mark)) == hidden.end()) continue;
    const auto escaped = field.substr(std::min(mark + 1, field.size()));
    hide(escaped);
    if (const auto read = read_form(field); read && !read->empty() && read->front().second != escaped)
      hide(read->front().second);
  }
  return all;
}

result<json::raw_json> document_answer::json() const {
  if (body.size() > longest_document)
    return fail(errc::limit, "is larger than " + std::to_string(longest_document) + " bytes");
  auto parsed = json::raw_json::parse(trimmed(body), deepest_document);
  if (parsed) return parsed;
  if (trimmed(body).starts_with('<')) return fail(errc::protocol, "is a web page, not JSON");
  return fail(errc::protocol, "is no JSON");
}

std::string document_answer::refusal() const {
  std::string text = "HTTP status " + std::to_string(status);
  if (status >= 300 && status < 400) return text + ", a redirect, which mcpbx does not follow here";
  const auto parsed = json();
  if (!parsed) return text;
  if (const auto error = json::find_member(*parsed, "error").as_string()) {
    text += " (" + redact::cut_for_people(*error, 80);
    if (const auto words = json::find_member(*parsed, "error_description").as_string())
      text += ": " + redact::cut_for_people(*words, 300);
    text += ")";
  }
  return text;
}

}  // namespace mcpbx::auth::flow
