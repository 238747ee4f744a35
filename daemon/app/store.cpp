// A relative path starts at the home directory, as everywhere in the configuration: where the daemon was started from
// means nothing.
#include "daemon/app/store.hpp"

#include "conf/places.hpp"
#include "conf/references.hpp"
#include "daemon/app/system_references.hpp"
#include "daemon/loop/recovery.hpp"
#include "daemon/store/sqlite_journal.hpp"

#include <boost/asio/awaitable.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace mcpbx::daemon {
namespace {

constexpr std::string_view sqlite_scheme = "sqlite:";

class unavailable_journal final : public journal {
 public:
  explicit unavailable_journal(std::string why) : why_(std::move(why)) {}
  std::unique_ptr<run_journal> open_run(const std::string&) override { return std::make_unique<one>(why_); }

 private:
  struct one final : run_journal {
    explicit one(std::string w) : why(std::move(w)) {}
    boost::asio::awaitable<result<void>> append(std::vector<run_record>, bool) override {
      co_return fail(errc::io, why);
    }
    std::string why;
  };
  std::string why_;
};

// The value of store.url; files and programs would have to be waited for.
result<std::string> url_of(const conf::configuration& config) {
  if (!config.store.url) return std::string("none");
  if (conf::needs_lane(*config.store.url))
    return fail(errc::config, "store.url: ${file:…} and ${cmd:…} work for credentials only; use ${env:…} here");
  system_references source;
  return conf::resolve(*config.store.url, source);
}

result<sqlite_file::options> place_of(std::string_view path, const conf::environment& env) {
  sqlite_file::options o;
  if (path.empty()) {
    auto folder = conf::state_directory(env);
    if (!folder) return std::unexpected(folder.error());
    o.path = (*folder / "mcpbx.db").string();
    o.make_folder = true;
    return o;
  }
  const std::string home = env.filled("HOME").value_or("/");
  o.path = conf::expand_home(path, home);
  if (!o.path.starts_with('/')) o.path = home + "/" + o.path;
  return o;
}

}  // namespace

std::unique_ptr<journal> make_journal(const conf::configuration& config, const conf::environment& env,
                                      boost::asio::any_io_executor executor, time_source& time) {
  const auto url = url_of(config);
  if (!url) return std::make_unique<unavailable_journal>(url.error().message);
  if (!url->starts_with(sqlite_scheme)) return std::make_unique<memory_journal>();
  auto place = place_of(std::string_view(*url).substr(sqlite_scheme.size()), env);
  if (!place) return std::make_unique<unavailable_journal>(place.error().message);
  sqlite_journal::options o;
  o.file = std::move(*place);
  o.recovery = recovery_of;
  return std::make_unique<sqlite_journal>(std::move(executor), time, std::move(o));
}

}  // namespace mcpbx::daemon
