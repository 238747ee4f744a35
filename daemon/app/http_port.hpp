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

namespace mcpbx::daemon::app {

struct http_port {
  std::string address;      ///< HOST:PORT
  front::http_rules rules;  ///< the conditions for requests on the port
  std::string token_file;   ///< path of the token file, or ""
};

/// Returns the port that `--http` (`flag`, or "") or the configuration asks for, or nothing. Reads the token, or
/// creates one (64 hexadecimal digits, mode 0600) if the file is missing, and registers it as a secret. errc::config: a
/// value cannot be resolved, others may read the token file, or it holds no token.
result<std::optional<http_port>> http_port_of(const conf::model::configuration& config,
                                              const references::start_values& values, const conf::environment& env,
                                              std::string_view flag);

}  // namespace mcpbx::daemon::app
