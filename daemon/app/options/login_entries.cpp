// Resolves what logins need of an entry.
#include "daemon/app/options/login_entries.hpp"

#include "conf/places.hpp"
#include "daemon/app/options/remote_entries.hpp"
#include "daemon/app/references/system_references.hpp"
#include "daemon/guard/credentials/secret_service.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>

namespace mcpbx::daemon {
namespace {

constexpr std::chrono::milliseconds secret_service_limit{5'000};

using text_member = std::optional<conf::reference_string> conf::server_auth::*;
constexpr std::array<text_member, 4> auth_texts{&conf::server_auth::open, &conf::server_auth::client_metadata_url,
                                                &conf::server_auth::client_id, &conf::server_auth::client_secret};

result<login_settings> settings_of(const conf::server_entry& entry) {
  auto spec = make_remote_spec(entry);
  if (!spec) return std::unexpected(spec.error());
  login_settings s;
  s.url = std::move(spec->url);
  s.trust = std::move(spec->trust);
  if (!entry.auth) return s;
  system_references source;
  const auto text = [&](const std::optional<conf::reference_string>& written) -> result<std::string> {
    if (!written) return std::string();
    return conf::resolve(*written, source, conf::source_content::plain);
  };
  auto open = text(entry.auth->open), document = text(entry.auth->client_metadata_url),
       id = text(entry.auth->client_id);
  for (const auto* one : {&open, &document, &id})
    if (!*one) return std::unexpected(one->error());
  s.client_document = std::move(*document);
  s.client_id = std::move(*id);
  if (!open->empty()) {
    auto words = conf::split_words(*open);
    if (!words) return std::unexpected(words.error());
    s.open = std::move(*words);
  }
  if (entry.auth->client_secret) {
    auto resolved = conf::resolve_secret(*entry.auth->client_secret, source);
    if (!resolved) return std::unexpected(resolved.error());
    s.client_secret = std::move(*resolved);
  }
  return s;
}

std::string fingerprint_of(const conf::server_entry& entry) {
  std::string text = identity_of(entry);
  if (!entry.auth) return text;
  for (const auto member : auth_texts) text += "\n" + ((*entry.auth).*member ? ((*entry.auth).*member)->text : "");
  for (const auto& scope : entry.auth->scopes) text += "\n" + scope;
  text += entry.auth->private_addresses ? "\nprivate" : "\n";
  text += entry.auth->grant == conf::login_grant::client_credentials ? "\nalone" : "\n";
  return text;
}

}  // namespace

std::vector<login_entry> login_entries(const conf::configuration& all, const server_means& with) {
  std::vector<login_entry> list;
  for (const auto& entry : all.servers) {
    if (!entry.url || entry.disabled) continue;
    login_entry e;
    e.server = entry.name;
    e.address = shown_address(entry);
    e.fingerprint = fingerprint_of(entry);
    const auto shared = std::make_shared<const conf::server_entry>(entry);
    e.settings = [shared, &references = with.references, executor = with.executor](const auto& then) {
      auto posted = references.post(shared->name, [shared, executor, then] {
        boost::asio::post(executor, [resolved = settings_of(*shared), then]() mutable { then(std::move(resolved)); });
      });
      if (!posted) then(std::unexpected(std::move(posted.error())));
    };
    if (entry.auth) {
      e.scopes = entry.auth->scopes;
      e.opens = entry.auth->open.has_value();
      e.private_addresses = entry.auth->private_addresses;
      e.without_person = entry.auth->grant == conf::login_grant::client_credentials;
    }
    list.push_back(std::move(e));
  }
  return list;
}

logins::options login_options(const conf::environment& env) {
  auto folder = conf::state_directory(env);
  logins::options o{folder ? result<std::string>((*folder / "credentials.json").string())
                           : result<std::string>(std::unexpected(folder.error())),
                    {}};
  o.find_key = [credentials = env.filled("CREDENTIALS_DIRECTORY").value_or("")] {
    return find_credential_key(credentials, [] { return ask_secret_service("/proc/self/exe", secret_service_limit); });
  };
  return o;
}

}  // namespace mcpbx::daemon
