// Choice of the journal by store.url. A relative path starts at the home directory, as everywhere in the configuration,
// because the daemon may be started from any folder.
#include "daemon/app/journal/store.hpp"

#include "conf/model/forms.hpp"
#include "conf/model/references.hpp"
#include "conf/places.hpp"
#include "daemon/app/options/journal_options.hpp"
#include "daemon/app/process/daemon_identity.hpp"
#include "daemon/app/references/system_references.hpp"
#include "daemon/store/postgres/postgres_store.hpp"
#include "daemon/store/sqlite/sqlite_store.hpp"
#include "mcp/support/log.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace mcpbx::daemon::journals {
namespace {

constexpr std::string_view sqlite_scheme = "sqlite:";

// Journal whose every call fails with the reason, so that only runs are out of service.
class unavailable_journal final : public store::journal {
 public:
  unavailable_journal(boost::asio::any_io_executor executor, std::int64_t since_ms, std::string why)
      : executor_(std::move(executor)), since_ms_(since_ms), why_(std::move(why)) {}
  std::unique_ptr<store::run_journal> open_run(const std::string&) override { return std::make_unique<one>(why_); }
  bool keeps_sessions() const override { return true; }
  std::optional<store::journal_trouble> trouble() const override { return store::journal_trouble{why_, since_ms_}; }
  void load_history(std::string, answer<history> then) override { refuse(std::move(then)); }
  void list_sessions(stored::session_query, answer<std::vector<stored::session_row>> then) override {
    refuse(std::move(then));
  }
  void read_session(std::string, answer<stored::session_contents> then) override { refuse(std::move(then)); }
  void erase_session(std::string, answer<void> then) override { refuse(std::move(then)); }
  void take_unfinished(answer<std::vector<store::unfinished_run>> then) override { refuse(std::move(then)); }
  void find_ended(std::string, answer<std::vector<stored::run_record>> then) override { refuse(std::move(then)); }
  void find_owner(std::string, answer<std::optional<std::string>> then) override { refuse(std::move(then)); }

 private:
  struct one final : store::run_journal {
    explicit one(std::string w) : why(std::move(w)) {}
    boost::asio::awaitable<result<void>> append(std::vector<stored::run_record>, bool) override {
      co_return fail(errc::io, why);
    }
    std::string why;
  };
  template <class T>
  void refuse(answer<T> then) {
    boost::asio::post(executor_, [then = std::move(then), why = why_] { then(fail(errc::io, why)); });
  }
  boost::asio::any_io_executor executor_;
  std::int64_t since_ms_;
  std::string why_;
};

// Returns the value of store.url. A database's URL is returned unresolved, since its journal resolves it.
result<std::string> url_of(const conf::model::configuration& config, const references::start_values& values) {
  if (!config.store.url) return std::string(sqlite_scheme);
  if (conf::model::forms::is_postgres_url(config.store.url->text)) return config.store.url->text;
  return values.value(*config.store.url);
}

result<sqlite::sqlite_store::options> place_of(std::string_view path, const conf::environment& env) {
  sqlite::sqlite_store::options o;
  o.boot = process::boot_identity();
  if (path.empty()) {
    auto folder = conf::state_directory(env);
    if (!folder) return std::unexpected(folder.error());
    o.path = (*folder / "mcpbx.db").string();
    o.make_folder = true;
    return o;
  }
  const std::string home = env.filled("HOME").value_or("/");
  o.path = conf::model::under_home(path, home);
  return o;
}

std::unique_ptr<store::run_store> postgres_of(const conf::model::reference_string& url, const conf::environment& env,
                                              bool passing) {
  postgres::postgres_store::options o;
  o.url = [url] {
    references::system_references source;
    return conf::model::resolve(url, source);
  };
  if (passing)
    o.owner = [id = process::passing_identity()] { return result<std::string>(id); };
  else
    o.owner = [env] { return process::daemon_identity(env); };
  o.label = process::daemon_label();
  return std::make_unique<postgres::postgres_store>(std::move(o));
}

// Opens the SQLite journal. Without a place, runs are kept in memory if the key is missing; otherwise they fail with
// the reason.
result<std::unique_ptr<store::run_store>> file_of(const conf::model::configuration& config,
                                                  const conf::environment& env, const std::string& url, bool passing) {
  if (conf::model::forms::is_postgres_url(url)) return postgres_of(*config.store.url, env, passing);
  auto place = place_of(std::string_view(url).substr(sqlite_scheme.size()), env);
  if (!place) return std::unexpected(std::move(place.error()));
  return std::make_unique<sqlite::sqlite_store>(std::move(*place));
}

}  // namespace

result<std::string> sqlite_path(const conf::model::configuration& config, const references::start_values& values,
                                const conf::environment& env) {
  const auto url = url_of(config, values);
  if (!url) return url;
  if (!url->starts_with(sqlite_scheme)) return std::string();
  auto place = place_of(std::string_view(*url).substr(sqlite_scheme.size()), env);
  if (!place) return std::unexpected(std::move(place.error()));
  return std::move(place->path);
}

std::unique_ptr<store::journal> make_journal(const conf::model::configuration& config,
                                             const references::start_values& values, const conf::environment& env,
                                             boost::asio::any_io_executor executor, time_source& time, bool by_default,
                                             decltype(store::record_rules::closed) closed) {
  if (!config.store.url && !by_default) return std::make_unique<store::memory_journal>();
  const auto url = url_of(config, values);
  const auto unavailable = [&](std::string why) {
    return std::make_unique<unavailable_journal>(executor, time.wall_ms(), std::move(why));
  };
  if (!url) return unavailable(url.error().message);
  if (*url == "none") return std::make_unique<store::memory_journal>();
  if (!url->starts_with(sqlite_scheme) && !conf::model::forms::is_postgres_url(*url))
    return unavailable("store.url: its value is neither none nor a URL with sqlite: or postgresql://");
  auto file = file_of(config, env, *url, !by_default);
  if (!file && !config.store.url) {
    log::warn("runs are not kept: " + file.error().message);
    return std::make_unique<store::memory_journal>();
  }
  if (!file) return unavailable(file.error().message);
  auto options = options::journal_options(config, std::move(closed));
  return std::make_unique<store::lane_journal>(std::move(executor), time, std::move(*file), std::move(options));
}

}  // namespace mcpbx::daemon::journals
