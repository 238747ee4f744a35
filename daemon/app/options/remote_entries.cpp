// Resolves addresses, headers and certificates of entries.
#include "daemon/app/options/remote_entries.hpp"

#include "conf/model/secrets.hpp"
#include "daemon/app/references/system_references.hpp"
#include "mcp/redact/secret.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace mcpbx::daemon::options {
namespace {

bool may_block(const conf::model::server_entry& e) {
  for (const auto& [name, value] : e.headers)
    if (conf::model::needs_lane(value)) return true;
  return std::ranges::any_of(std::array{&e.url, &e.ca_file, &e.client_cert_file, &e.client_key_file},
                             [](const auto* one) { return *one && conf::model::needs_lane(**one); });
}

}  // namespace

result<mcp::remote::remote_spec> make_remote_spec(const conf::model::server_entry& entry) {
  references::system_references source;
  mcp::remote::remote_spec spec;
  auto url = conf::model::resolve(*entry.url, source);
  if (!url) return std::unexpected(url.error());
  conf::model::register_url_passwords(*url);
  conf::model::register_query_secrets(*entry.url, source);
  spec.url = std::move(*url);
  for (const auto& [name, value] : entry.headers) {
    auto resolved = conf::model::resolve(value, source);
    if (!resolved) return std::unexpected(resolved.error());
    conf::model::register_secrets(name, *resolved);
    // A server may repeat the token without the word before it.
    if (const auto blank = resolved->find(' '); blank != std::string::npos && conf::model::secret_name(name))
      redact::redactor::add(redact::secret(resolved->substr(blank + 1)));
    spec.headers.push_back({name, std::move(*resolved)});
  }
  const std::string home = source.env("HOME").value_or("/");
  using file = std::pair<const std::optional<conf::model::reference_string>*, std::string*>;
  for (const auto& [written, path] :
       {file(&entry.ca_file, &spec.trust.ca_file), file(&entry.client_cert_file, &spec.trust.cert_file),
        file(&entry.client_key_file, &spec.trust.key_file)}) {
    if (!*written) continue;
    auto resolved = conf::model::resolve(**written, source, conf::model::source_content::plain);
    if (!resolved) return std::unexpected(resolved.error());
    *path = conf::model::under_home(*resolved, home);
  }
  spec.events_first = entry.transport == "sse";
  spec.connect_timeout = std::min(spec.connect_timeout, entry.start_timeout_ms);
  return spec;
}

std::string shown_address(const conf::model::server_entry& entry) {
  if (!entry.url) return "";
  const std::string& text = entry.url->text;
  conf::model::register_url_passwords(text);
  // A question mark inside of a reference ends no path.
  return conf::model::has_references(text) ? text : text.substr(0, text.find_first_of("?#"));
}

mcp::connect::connector_factory remote_of(const std::shared_ptr<const conf::model::server_entry>& entry,
                                          const server_means& with, const std::string& principal) {
  const auto with_tokens = [entry, tokens = with.tokens, principal](result<mcp::remote::remote_spec> spec) {
    if (spec && tokens) spec->tokens = tokens(entry->name, spec->url, principal);
    return spec;
  };
  mcp::remote::remote_source source = [entry, with_tokens](const auto& then) {
    then(with_tokens(make_remote_spec(*entry)));
  };
  if (may_block(*entry))
    source = [entry, with_tokens, &references = with.references, executor = with.executor](const auto& then) {
      auto posted = references.post(entry->name, [entry, with_tokens, executor, then] {
        boost::asio::post(executor, [resolved = make_remote_spec(*entry), with_tokens, then]() mutable {
          then(with_tokens(std::move(resolved)));
        });
      });
      if (!posted) then(std::unexpected(std::move(posted.error())));
    };
  const mcp::remote::remote_means means{with.client, with.time, with.verdicts, with.framing};
  return [entry, source, means, address = shown_address(*entry)] {
    return mcp::remote::make_remote_connector(entry->name, address, means, source);
  };
}

}  // namespace mcpbx::daemon::options
