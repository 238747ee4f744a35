// Resolves what logins need of an entry.
#include "daemon/app/options/login_entries.hpp"

#include "conf/places.hpp"
#include "daemon/app/options/remote_entries.hpp"
#include "daemon/app/references/system_references.hpp"
#include "daemon/guard/credentials/secret_service.hpp"
#include "daemon/store/records/principal.hpp"
#include "mcp/http/header.hpp"

#include <boost/asio/post.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>

namespace mcpbx::daemon::options {
namespace {

constexpr std::chrono::milliseconds secret_service_limit{5'000};

using text_member = std::optional<conf::model::reference_string> conf::model::server_auth::*;
constexpr std::array<text_member, 11> auth_texts{&conf::model::server_auth::issuer,
                                                 &conf::model::server_auth::open,
                                                 &conf::model::server_auth::client_metadata_url,
                                                 &conf::model::server_auth::client_id,
                                                 &conf::model::server_auth::client_secret,
                                                 &conf::model::server_auth::private_key,
                                                 &conf::model::server_auth::private_key_id,
                                                 &conf::model::server_auth::assertion,
                                                 &conf::model::server_auth::idp_token_url,
                                                 &conf::model::server_auth::idp_client_id,
                                                 &conf::model::server_auth::idp_client_secret};

auth::flow::grant_kind grant_of(conf::model::login_grant g) {
  switch (g) {
    case conf::model::login_grant::client_credentials:
      return auth::flow::grant_kind::client_credentials;
    case conf::model::login_grant::workload:
      return auth::flow::grant_kind::workload;
    case conf::model::login_grant::enterprise:
      return auth::flow::grant_kind::enterprise;
    case conf::model::login_grant::person:
      break;
  }
  return auth::flow::grant_kind::person;
}

result<logins::login_settings> settings_of(const conf::model::server_entry& entry) {
  auto spec = make_remote_spec(entry);
  if (!spec) return std::unexpected(spec.error());
  logins::login_settings s;
  s.url = std::move(spec->url);
  s.trust = std::move(spec->trust);
  if (!entry.auth) return s;
  references::system_references source;
  const auto& a = *entry.auth;
  using plain = std::pair<const std::optional<conf::model::reference_string>*, std::string*>;
  std::string open;
  for (const auto& [written, to] :
       {plain(&a.issuer, &s.issuer), plain(&a.open, &open), plain(&a.client_metadata_url, &s.client_document),
        plain(&a.client_id, &s.client_id), plain(&a.private_key_id, &s.key.id),
        plain(&a.idp_token_url, &s.provider.token_url), plain(&a.idp_client_id, &s.provider.client_id)}) {
    if (!*written) continue;
    auto resolved = conf::model::resolve(**written, source, conf::model::source_content::plain);
    if (!resolved) return std::unexpected(resolved.error());
    *to = std::move(*resolved);
  }
  using hidden = std::pair<const std::optional<conf::model::reference_string>*, redact::secret*>;
  for (const auto& [written, to] : {hidden(&a.client_secret, &s.client_secret), hidden(&a.private_key, &s.key.pem),
                                    hidden(&a.idp_client_secret, &s.provider.client_secret)}) {
    if (!*written) continue;
    auto resolved = conf::model::resolve_secret(**written, source);
    if (!resolved) return std::unexpected(resolved.error());
    *to = std::move(*resolved);
  }
  // A platform makes another one for each login, so that the redactor must not keep them all: the tokens of the entry
  // hold the last ones.
  if (a.assertion) {
    auto resolved = conf::model::resolve(*a.assertion, source, conf::model::source_content::plain);
    if (!resolved) return std::unexpected(resolved.error());
    s.assertion = redact::secret(std::move(*resolved));
  }
  if (!open.empty()) {
    auto words = conf::model::split_words(open);
    if (!words) return std::unexpected(words.error());
    s.open = std::move(*words);
  }
  return s;
}

std::string fingerprint_of(const conf::model::server_entry& entry) {
  std::string text = identity_of(entry);
  if (!entry.auth) return text;
  for (const auto member : auth_texts) text += "\n" + ((*entry.auth).*member ? ((*entry.auth).*member)->text : "");
  for (const auto& scope : entry.auth->scopes) text += "\n" + scope;
  text += entry.auth->private_addresses ? "\nprivate" : "\n";
  text += "\n" + std::to_string(static_cast<int>(entry.auth->grant));
  return text;
}

}  // namespace

std::vector<logins::login_entry> login_entries(const conf::model::configuration& all, const server_means& with) {
  std::vector<logins::login_entry> list;
  for (const auto& entry : all.servers) {
    if (!entry.url || entry.disabled) continue;
    logins::login_entry e;
    e.server = entry.name;
    e.address = shown_address(entry);
    e.own_authorization =
        std::ranges::any_of(entry.headers, [](const auto& h) { return http::is_word(h.first, "authorization"); });
    e.per_caller = entry.sharing != conf::model::sharing_mode::shared;
    e.fingerprint = fingerprint_of(entry) + (e.own_authorization ? "\nown" : "\n");
    const auto shared = std::make_shared<const conf::model::server_entry>(entry);
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
      e.grant = grant_of(entry.auth->grant);
    }
    list.push_back(std::move(e));
  }
  return list;
}

std::vector<std::string> login_callers(const conf::model::configuration& all) {
  std::vector<std::string> callers{std::string(stored::port_principal)};
  for (const auto& entry : all.servers)
    if (entry.may_call && !entry.disabled) callers.push_back(stored::principal_of_server(entry.name));
  return callers;
}

logins::logins::options login_options(const conf::environment& env) {
  auto folder = conf::state_directory(env);
  logins::logins::options o{folder ? result<std::string>((*folder / "credentials.json").string())
                                   : result<std::string>(std::unexpected(folder.error())),
                            {}};
  o.person = "uid:" + std::to_string(::geteuid());
  o.find_key = [credentials = env.filled("CREDENTIALS_DIRECTORY").value_or("")] {
    return credentials::find_credential_key(
        credentials, [] { return credentials::ask_secret_service("/proc/self/exe", secret_service_limit); });
  };
  return o;
}

}  // namespace mcpbx::daemon::options
