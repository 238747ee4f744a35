// Reads the WWW-Authenticate header with which a protected server asks for a token (RFC 9110, section 11.6.1; RFC 6750,
// section 3; RFC 9728, section 5.1).
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::auth {

/// The parameters of a Bearer challenge; "" for those that are missing.
struct bearer_challenge {
  std::string resource_metadata;  ///< address of the protected-resource metadata
  std::string error;              ///< "invalid_token", "insufficient_scope" …
  std::string description;        ///< error_description: the server's words
  std::optional<std::string> scope;
};

/// Returns the first Bearer challenge of a header, which may hold challenges of several schemes; nullopt if there is
/// none or the header is longer than 16 KiB. A malformed parameter ends the reading; those before it count.
std::optional<bearer_challenge> read_bearer_challenge(std::string_view header);

/// Returns the words of a `scope` parameter (RFC 6749, section 3.3), each once, at most 200 of at most 256 bytes. Words
/// with other characters than a scope may have are left out.
std::vector<std::string> scope_words(std::string_view scope);
/// Returns the words with blanks between them.
std::string joined_scopes(const std::vector<std::string>& words);
/// Returns the words of both, those of `first` first, with the bounds of scope_words().
std::vector<std::string> united_scopes(const std::vector<std::string>& first, const std::vector<std::string>& second);

}  // namespace mcpbx::auth
