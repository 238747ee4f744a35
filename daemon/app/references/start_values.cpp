// Reading of the values from files and programs that are needed at start.
#include "daemon/app/references/start_values.hpp"

#include "conf/model/forms.hpp"
#include "conf/model/secrets.hpp"
#include "daemon/app/references/system_references.hpp"

#include <chrono>
#include <optional>
#include <string_view>
#include <vector>

namespace mcpbx::daemon::references {
namespace {

// Bounds all programs together, because a command that starts the daemon waits 15 s for it.
constexpr milliseconds all_programs{8'000};

// A source that reads each file and runs each program once, however many strings refer to it, and although addresses
// are resolved a second time to find their secrets.
class asked_once final : public conf::model::reference_source {
 public:
  asked_once(conf::model::reference_source& source, const start_values::clock& now)
      : source_(source), now_(now), until_(now() + all_programs) {}
  std::optional<std::string> env(std::string_view name) override { return source_.env(name); }
  result<std::string> file(const std::string& path) override {
    const auto [at, is_new] = files_.try_emplace(path);
    if (is_new) at->second = source_.file(path);
    return at->second;
  }
  result<std::string> command(const std::vector<std::string>& words) override {
    const auto [at, is_new] = commands_.try_emplace(words);
    if (is_new) at->second = run(words);
    return at->second;
  }

 private:
  result<std::string> run(const std::vector<std::string>& words) {
    if (now_() >= until_)
      return fail(errc::timed_out,
                  "it was not run, because those before it took more than 8 s; give their values in "
                  "another way");
    return source_.command(words);
  }

  conf::model::reference_source& source_;
  const start_values::clock& now_;
  time_point until_;
  std::map<std::string, result<std::string>> files_;
  std::map<std::vector<std::string>, result<std::string>> commands_;
};

}  // namespace

start_values::start_values(const conf::model::configuration& all) {
  system_references source;
  read(all, source, [] { return std::chrono::steady_clock::now(); });
}

start_values::start_values(const conf::model::configuration& all, conf::model::reference_source& source,
                           const clock& now) {
  read(all, source, now);
}

void start_values::read(const conf::model::configuration& all, conf::model::reference_source& from, const clock& now) {
  asked_once source(from, now);
  using conf::model::source_content;
  const auto keep = [&](const std::optional<conf::model::reference_string>& s,
                        source_content given = source_content::secret) {
    if (!s || !conf::model::needs_lane(*s)) return;
    // Resolves without the place in the file: other strings may have the same text, and one of them may be a secret.
    kept_.emplace(s->text, conf::model::resolve({s->text, "", s->server_entry}, source, given));
  };
  for (const auto& m : all.models) {
    for (const auto* s : {&m.model, &m.base_url, &m.api_version, &m.ca_file, &m.script}) keep(*s);
    // A prompt is no secret: otherwise its lines would be removed from logs and recordings.
    keep(m.system, source_content::plain);
    // Registers secrets of the query, because endpoints may repeat it in errors.
    if (m.base_url && conf::model::needs_lane(*m.base_url)) conf::model::register_query_secrets(*m.base_url, source);
  }
  // Folders are no secrets either.
  for (const auto& s : all.servers)
    for (const auto& root : s.roots) keep(root.uri, source_content::plain);
  for (const auto& p : all.profiles) keep(p.system, source_content::plain);
  keep(all.http.address);
  keep(all.http.token_file);
  // The journal resolves the URL of a database itself, for each connection.
  if (all.store.url && !conf::model::forms::is_postgres_url(all.store.url->text)) keep(all.store.url);
}

result<std::string> start_values::value(const conf::model::reference_string& s) const {
  if (!conf::model::needs_lane(s)) {
    system_references source;
    return conf::model::resolve(s, source);
  }
  const std::string place = "in \"" + s.where + "\": ";
  const auto kept = kept_.find(s.text);
  if (kept == kept_.end()) return fail(errc::internal, place + "its value was not read when the daemon started");
  if (!kept->second) return fail(errc::config, place + kept->second.error().message);
  return kept->second;
}

}  // namespace mcpbx::daemon::references
