// The address of the HTTP port, and its token file, which is created on first use.
#include "daemon/app/http_port.hpp"

#include "conf/model/forms.hpp"
#include "conf/model/references.hpp"
#include "conf/places.hpp"
#include "daemon/guard/state_file.hpp"
#include "mcp/json/raw_json.hpp"
#include "mcp/redact/hidden_text.hpp"
#include "mcp/redact/secret.hpp"
#include "mcp/support/text.hpp"

#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

namespace mcpbx::daemon::app {
namespace {

constexpr std::size_t least_token = 16, most_token = 4096;

result<std::string> token_path(const conf::model::configuration& config, const references::start_values& values,
                               const conf::environment& env) {
  if (config.http.token_file) {
    auto named = values.value(*config.http.token_file);
    if (!named) return named;
    return conf::model::under_home(*named, env.filled("HOME").value_or("/"));
  }
  // Prefers the folder of the configuration. The machine's configuration lies where users cannot write, so the user's
  // own folder is used.
  if (!config.sources.empty()) {
    const auto folder = std::filesystem::absolute(config.sources.front()).parent_path();
    if (::access(folder.c_str(), W_OK) == 0) return (folder / "token").string();
  }
  if (const auto folder = conf::user_config_directory(env)) return (*folder / "token").string();
  return fail(errc::config, "http: there is no place for the token, because HOME is not set; set http.tokenFile");
}

result<std::string> new_token(const std::string& path) {
  std::array<unsigned char, 32> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    return fail(errc::io, "the system gave no random numbers for a token");
  std::string token;
  for (const auto b : bytes) token += hex(b, 2);
  if (auto written = guard::replace_state_file(path, token + "\n"); !written) return std::unexpected(written.error());
  return token;
}

// Refuses files of other permissions: a reader could enter with the token, a writer could replace it.
result<void> check_private(const std::string& path) {
  struct stat s{};
  if (::stat(path.c_str(), &s) != 0) return fail(errc::config, path + " cannot be looked at");
  if (s.st_uid != ::geteuid() && s.st_uid != 0)
    return fail(errc::config, "the token file " + path + " belongs to another user; make one of your own");
  if ((s.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    return fail(errc::config, "others may use the token file " + path + ": run `chmod 600 " + shell_word(path) + "`");
  return {};
}

// Returns the content of the token file, or nothing if the file does not exist.
result<std::optional<std::string>> token_there(const std::string& path) {
  const auto text = guard::read_state_file(path, most_token);
  if (!text) return std::unexpected(text.error());
  if (!*text) return std::nullopt;
  if (auto good = check_private(path); !good) return std::unexpected(good.error());
  std::string token(trimmed(**text));
  const auto is_plain = [](char c) { return c > ' ' && c < 0x7f; };
  if (token.size() < least_token || !std::ranges::all_of(token, is_plain))
    return fail(errc::config, "the token file " + path +
                                  " holds no token: expected at least 16 printable bytes without blanks; delete the "
                                  "file, and the next start makes one");
  return token;
}

result<std::string> token_in(const std::string& path) {
  // Reads before locking, because the folder may be read-only.
  auto there = token_there(path);
  if (!there) return std::unexpected(there.error());
  if (*there) return std::move(**there);
  if (auto made = guard::make_folder_of(path); !made) return std::unexpected(made.error());
  // Locks, so that two daemons starting at once create one token.
  auto lock = guard::state_lock::take(path);
  if (!lock) return std::unexpected(lock.error());
  there = token_there(path);
  if (!there) return std::unexpected(there.error());
  return *there ? result<std::string>(std::move(**there)) : new_token(path);
}

}  // namespace

result<std::optional<http_port>> http_port_of(const conf::model::configuration& config,
                                              const references::start_values& values, const conf::environment& env,
                                              std::string_view flag) {
  http_port port;
  port.address = flag;
  if (flag.empty()) {
    if (!config.http.address) return std::nullopt;
    auto address = values.value(*config.http.address);
    if (!address) return std::unexpected(address.error());
    const auto& form = conf::model::forms::loopback_address;
    if (!form.accepts(*address)) {
      // Omits the value if it may come from a secret.
      const auto got = conf::model::refers_to_secret(*config.http.address)
                           ? ""
                           : ", got " + json::json_quoted(redact::printable(*address));
      return fail(errc::config,
                  "http.address: expected " + std::string(form.says) + got + "; " + std::string(form.mend));
    }
    port.address = std::move(*address);
  }
  port.rules.on_port = true;
  if (config.http.auth == conf::model::http_auth::none) return port;
  auto path = token_path(config, values, env);
  if (!path) return std::unexpected(path.error());
  auto token = token_in(*path);
  if (!token) return std::unexpected(token.error());
  redact::redactor::add(redact::secret(*token));
  port.rules.token = std::move(*token);
  port.token_file = std::move(*path);
  return port;
}

}  // namespace mcpbx::daemon::app
