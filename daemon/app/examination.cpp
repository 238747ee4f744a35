// All addresses are tried at the same time, each with one request without credentials: any answer at all is a good one.
#include "daemon/app/examination.hpp"

#include "conf/model/references.hpp"
#include "conf/places.hpp"
#include "daemon/app/base_parts.hpp"
#include "daemon/app/configuration.hpp"
#include "daemon/app/journal/store.hpp"
#include "daemon/app/models/models.hpp"
#include "daemon/app/references/start_values.hpp"
#include "daemon/app/references/system_references.hpp"
#include "daemon/store/sqlite/sqlite_check.hpp"
#include "mcp/async/lane.hpp"
#include "mcp/async/system_time.hpp"
#include "mcp/http/client/http_client.hpp"
#include "mcp/http/url.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/redact/secret.hpp"

#include <boost/asio/io_context.hpp>

#include <unistd.h>

#include <algorithm>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::daemon::app {
namespace {

constexpr milliseconds address_limit{6'000};
constexpr std::chrono::milliseconds journal_limit{1'500};
constexpr std::size_t most_addresses = 256;

// Values of variables and files. A program might ask the user something, so none is run.
class quiet_references final : public conf::model::reference_source {
 public:
  std::optional<std::string> env(std::string_view name) override { return system_.env(name); }
  result<std::string> file(const std::string& path) override { return system_.file(path); }
  result<std::string> command(const std::vector<std::string>&) override {
    return fail(errc::unavailable, "a program gives it, which is not run for a check");
  }

 private:
  references::system_references system_;
};

// One address and the result for it.
class trial final : public http::clients::response_events {
 public:
  /// Calls `ended` once it has an outcome.
  trial(std::string name, std::function<void()> ended) : name_(std::move(name)), ended_(std::move(ended)) {}
  bool open() const noexcept { return exchange_ && !done_; }
  void unchecked(std::string why) { detail_ = std::move(why); }
  void start(http::clients::client& client, const std::string& url, http::clients::trust trust) {
    const auto parts = http::parse_url(url);
    if (!parts) return unchecked(parts.error().message);
    shown_ = parts->origin;
    http::clients::request r;
    r.method = "GET";
    // The path and the query may hold a key.
    r.url = parts->socket.empty() ? parts->origin + "/" : parts->origin + ":/";
    r.limits = {address_limit, address_limit, address_limit, address_limit, 1u << 20};
    r.trust = std::move(trust);
    state_ = "slow";
    exchange_ = client.start(std::move(r), *this);
  }
  void on_head(int, const std::vector<http::header>&) override { end("answers", ""); }
  void on_body(std::string_view) override {}
  void on_end() override { end("answers", ""); }
  void on_failure(http::clients::failure f) override {
    if (done_) return;
    using enum http::clients::stage;
    if (f.stage == resolve)
      end("unresolved", f.why.message);
    else if (f.why.code == errc::timed_out)
      end("slow", f.why.message);
    else if (f.stage == connect)
      end("unreachable", f.why.message);
    else if (f.stage == tls)
      end("certificate", f.why.message);
    else
      end("unreachable", f.why.message);
  }
  void write(json::json_writer& w) const {
    w.begin_object().members("name", name_, "address", redact::redactor::redact(shown_), "state", state_);
    w.filled("detail", redact::redactor::redact(detail_)).end_object();
  }
  void forget() { exchange_.reset(); }

 private:
  void end(std::string_view state, std::string detail) {
    if (std::exchange(done_, true)) return;
    state_ = state;
    detail_ = std::move(detail);
    ended_();
  }
  std::string name_, shown_, detail_;
  std::string_view state_ = "unchecked";
  std::function<void()> ended_;
  bool done_ = false;
  std::unique_ptr<http::clients::exchange> exchange_;
};

void try_address(trial& t, http::clients::client& client, const std::optional<conf::model::reference_string>& written,
                 const std::optional<conf::model::reference_string>& ca_file, conf::model::reference_source& source) {
  const auto url = conf::model::resolve(*written, source);
  if (!url) return t.unchecked(url.error().message);
  http::clients::trust trust;
  if (ca_file) {
    const auto path = conf::model::resolve(*ca_file, source);
    if (!path) return t.unchecked(path.error().message);
    trust.ca_file = conf::model::under_home(*path, source.env("HOME").value_or("/"));
  }
  t.start(client, *url, std::move(trust));
}

void write_trials(json::json_writer& w, std::string_view key, const std::list<trial>& trials) {
  w.key(key).begin_array();
  for (const auto& t : trials) t.write(w);
  w.end_array();
}

void write_journal(json::json_writer& w, const conf::model::configuration& config,
                   const references::start_values& values) {
  const auto path = journals::sqlite_path(config, values, conf::environment_for_places());
  w.key("journal").begin_object();
  if (!path || path->empty()) {
    w.member("state", "none").end_object();
    return;
  }
  const auto checked = sqlite::check_sqlite_file(*path, journal_limit);
  w.member("path", *path);
  if (checked)
    w.member("state", "good");
  else
    w.member("state", checked.error().code == errc::parse         ? "damaged"
                      : checked.error().code == errc::unavailable ? "in_use"
                      : checked.error().code == errc::not_found   ? "none"
                                                                  : "unchecked")
        .member("detail", redact::redactor::redact(checked.error().message));
  w.end_object();
}

void write_all_of(const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto n = ::write(STDOUT_FILENO, text.data() + at, text.size() - at);
    if (n <= 0) return;
    at += static_cast<std::size_t>(n);
  }
}

}  // namespace

int examine(const process::command_line& o) {
  const auto loaded = load_configuration(o);
  if (!loaded.ok()) return exit_configuration;
  const auto& config = loaded.config;
  quiet_references source;
  const references::start_values values(config, source, [] { return std::chrono::steady_clock::now(); });

  boost::asio::io_context context;
  async::system_time time(context.get_executor());
  async::lane compute("compute", 1);
  http::clients::client client(context.get_executor(), time, compute, http_options());
  std::list<trial> models, servers;
  // Connections that are kept for more requests would keep the loop busy, so end it after the last outcome.
  const auto ended = [&] {
    const auto open = [](const trial& t) { return t.open(); };
    if (std::ranges::none_of(models, open) && std::ranges::none_of(servers, open)) context.stop();
  };
  for (const auto& e : config.models) {
    if (e.api == conf::model::model_api::rehearsal || e.api == conf::model::model_api::replay) continue;
    if (models.size() >= most_addresses) break;
    auto& t = models.emplace_back(e.name, ended);
    const auto base = models::base_url_of(e, values);
    if (base)
      try_address(t, client, conf::model::reference_string{*base, "", false}, e.ca_file, source);
    else
      t.unchecked(base.error().message);
  }
  for (const auto& e : config.servers)
    if (e.url && !e.disabled && std::ranges::find(o.examined, e.name) != o.examined.end() &&
        servers.size() < most_addresses)
      try_address(servers.emplace_back(e.name, ended), client, e.url, e.ca_file, source);
  context.run_for(address_limit + milliseconds(500));
  for (auto* all : {&models, &servers})
    for (auto& t : *all) t.forget();

  std::string text;
  json::json_writer w(text);
  w.begin_object();
  write_trials(w, "models", models);
  write_trials(w, "servers", servers);
  write_journal(w, config, values);
  w.end_object();
  write_all_of(text + "\n");
  // A look-up or a disk that does not answer must not keep the program.
  ::_exit(0);
}

}  // namespace mcpbx::daemon::app
