// Grants as entries of the file of credentials: read, written, and searched for. Blocks as the file does.
#pragma once
#include "daemon/guard/credentials/credential_file.hpp"
#include "daemon/logins/entry_tokens.hpp"
#include "mcp/support/error.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mcpbx::daemon::logins {

/// Returns the name of the entry of this place.
std::string entry_name(const grant_place& at);

/// Reads the grant of a place at this time in milliseconds since 1970; nullopt: none is there. errc::parse: it cannot
/// be understood.
grant_keeper::found grant_in(credentials::credential_file& file, const grant_place& at, std::int64_t now_ms);

/// Writes a grant unless a later one is there, or removes it (nullopt). errc::not_found: it `replaces` one that is
/// gone.
result<void> save_grant(credentials::credential_file& file, const grant_place& at, const std::optional<kept_grant>& g,
                        bool replaces, std::int64_t now_ms);

/// A login on the disk of a caller at an entry that is not shared.
struct kept_login {
  std::string server, principal;
};

/// Returns the logins of callers at these places, whose principal is "", that the file has: 256 at most.
std::vector<kept_login> logins_in(credentials::credential_file& file, const std::vector<grant_place>& places);

}  // namespace mcpbx::daemon::logins
