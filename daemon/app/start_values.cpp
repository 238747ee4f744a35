// See start_values.hpp.
#include "daemon/app/start_values.hpp"

#include "conf/forms.hpp"
#include "conf/secrets.hpp"
#include "daemon/app/system_references.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace mcpbx::daemon {
namespace {

// Each file and each program once, however many strings refer to it, and though an address is read a second time for
// what is secret in its parts.
class asked_once final : public conf::reference_source {
 public:
  std::optional<std::string> env(std::string_view name) override { return source_.env(name); }
  result<std::string> file(const std::string& path) override {
    const auto [at, is_new] = files_.try_emplace(path);
    if (is_new) at->second = source_.file(path);
    return at->second;
  }
  result<std::string> command(const std::vector<std::string>& words) override {
    const auto [at, is_new] = commands_.try_emplace(words);
    if (is_new) at->second = source_.command(words);
    return at->second;
  }

 private:
  system_references source_;
  std::map<std::string, result<std::string>> files_;
  std::map<std::vector<std::string>, result<std::string>> commands_;
};

}  // namespace

start_values::start_values(const conf::configuration& all) {
  asked_once source;
  using conf::source_content;
  const auto keep = [&](const std::optional<conf::reference_string>& s, source_content given = source_content::secret) {
    if (!s || !conf::needs_lane(*s) || kept_.contains(s->text)) return;
    // Without a place: other strings may have the same text.
    kept_.emplace(s->text, conf::resolve({s->text, "", s->server_entry}, source, given));
  };
  for (const auto& m : all.models) {
    for (const auto* s : {&m.model, &m.base_url, &m.api_version, &m.ca_file, &m.script}) keep(*s);
    // A prompt is no secret: its lines would be taken out of logs and recordings.
    keep(m.system, source_content::plain);
    // What is sent in the query comes back in what endpoints say of the request.
    if (m.base_url && conf::needs_lane(*m.base_url)) conf::register_query_secrets(*m.base_url, source);
  }
  for (const auto& p : all.profiles) keep(p.system, source_content::plain);
  keep(all.http.address);
  keep(all.http.token_file);
  // What is a database's URL on its face is its journal's to resolve, for each connection.
  if (all.store.url && !conf::forms::is_postgres_url(all.store.url->text)) keep(all.store.url);
}

result<std::string> start_values::value(const conf::reference_string& s) const {
  if (!conf::needs_lane(s)) {
    system_references source;
    return conf::resolve(s, source);
  }
  const std::string place = "in \"" + s.where + "\": ";
  const auto kept = kept_.find(s.text);
  if (kept == kept_.end()) return fail(errc::internal, place + "its value was not read when the daemon started");
  if (!kept->second) return fail(errc::config, place + kept->second.error().message);
  return kept->second;
}

}  // namespace mcpbx::daemon
