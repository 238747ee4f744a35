// The TCP port that serves HTTP, and the token that a request needs there (docs/guarantees.md, G43).
#pragma once
#include "conf/environment.hpp"
#include "conf/model/model.hpp"
#include "daemon/app/references/start_values.hpp"
#include "daemon/front/base/http_access.hpp"
#include "mcp/support/error.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace mcpbx::daemon {

struct http_port {
  std::string address;     ///< HOST:PORT
  http_rules rules;        ///< what is asked of those who come there
  std::string token_file;  ///< where the token is, or ""
};

/// What `--http` (`flag`, or "") and the configuration ask for; nothing when neither does. Reads the token, or makes
/// one (64 hexadecimal digits, mode 0600) where its file is not there yet; it is registered as a secret. errc::config:
/// a value that cannot be had, a token file that others may read, or one that holds no token.
result<std::optional<http_port>> http_port_of(const conf::configuration& config, const start_values& values,
                                              const conf::environment& env, std::string_view flag);

}  // namespace mcpbx::daemon
