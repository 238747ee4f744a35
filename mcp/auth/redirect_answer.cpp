// The checks of a redirect: first `state`, then `iss`, and only then its code or error.
#include "mcp/auth/redirect_answer.hpp"

#include "mcp/auth/form.hpp"
#include "mcp/redact/cut_text.hpp"
#include "mcp/redact/secret.hpp"

#include <openssl/crypto.h>

namespace mcpbx::auth {
namespace {

constexpr std::size_t longest_answer = std::size_t{16} << 10;

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace

redirect_answer read_redirect(std::string_view query_or_address, const expected_answer& expected) {
  using kind = redirect_answer::kind;
  if (query_or_address.size() > longest_answer) return {kind::not_ours, "the answer is too long"};
  auto query = query_or_address.substr(0, query_or_address.find('#'));
  if (const auto mark = query.find('?'); mark != std::string_view::npos) query.remove_prefix(mark + 1);
  const auto fields = read_form(query);
  if (!fields) return {kind::not_ours, "the answer has a parameter twice, or too many of them"};
  if (!equal_in_constant_time(form_value(*fields, "state"), expected.state))
    return {kind::not_ours, "the answer does not belong to this login (its state is another one)"};
  bool has_issuer = false;
  for (const auto& [name, value] : *fields) has_issuer = has_issuer || name == "iss";
  if (has_issuer ? form_value(*fields, "iss") != expected.issuer : expected.tells_issuer)
    return {kind::forged, has_issuer ? "the answer came from another authorization server than the one asked"
                                     : "the answer does not say which authorization server it is from, which this "
                                       "server promises to say"};
  if (const auto error = form_value(*fields, "error"); !error.empty()) {
    const redact::passing_secret hidden{redact::secret(std::string(form_value(*fields, "code")))};
    const auto words = form_value(*fields, "error_description");
    return {kind::refused, "the authorization server answered " + redact::cut_for_people(error, 80) +
                               (words.empty() ? "" : ": " + redact::cut_for_people(words, 300))};
  }
  const auto code = form_value(*fields, "code");
  if (code.empty()) return {kind::refused, "the authorization server answered without a code"};
  return {kind::code, std::string(code)};
}

}  // namespace mcpbx::auth
