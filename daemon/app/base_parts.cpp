// Creation of the base parts. Signals are handled before any socket is open, because every caller may ask the daemon to
// stop.
#include "daemon/app/base_parts.hpp"

#include "daemon/app/options/process_settings.hpp"
#include "mcp/support/shared_bytes.hpp"

#include <signal.h>

#include <utility>

namespace mcpbx::daemon::app {

http::clients::client::options http_options() {
  http::clients::client::options o;
  o.proxies = http::clients::proxy_rules::of_process();
  return o;
}

void stop_wish::express(const std::string& why) {
  if (carry_out_) return carry_out_(why);
  if (kept_.empty()) kept_ = why;
}

void stop_wish::carried_out_by(carrier carry_out) {
  carry_out_ = std::move(carry_out);
  if (!kept_.empty()) carry_out_(std::exchange(kept_, {}));
}

base_parts::base_parts(const process::command_line& o, const conf::model::configuration& config)
    : log(options::log_level_of(o, config), 1u << 20, o.log_file) {
  byte_account::set_limit(options::byte_limit_of(config));
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGCHLD}) signals.add(number);
  if (!o.log_file.empty()) signals.add(SIGUSR1);
}

}  // namespace mcpbx::daemon::app
