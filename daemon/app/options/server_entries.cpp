// Options of the supervisor's servers, and the texts about them.
#include "daemon/app/options/server_entries.hpp"

#include "conf/model/secrets.hpp"
#include "daemon/app/options/guard.hpp"
#include "daemon/app/options/remote_entries.hpp"
#include "daemon/app/references/system_references.hpp"
#include "mcp/client/catalog/tool_names.hpp"
#include "mcp/client/connect/process/process_connector.hpp"
#include "mcp/support/text.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace mcpbx::daemon::options {
namespace {

bool needs_lane(const conf::model::server_entry& e) {
  if (e.env_file || (e.command && conf::model::needs_lane(*e.command)) || (e.cwd && conf::model::needs_lane(*e.cwd)))
    return true;
  for (const auto& a : e.args)
    if (conf::model::needs_lane(a)) return true;
  for (const auto& [name, value] : e.env)
    if (conf::model::needs_lane(value)) return true;
  return false;
}

// Returns a single reference as written, because it tells where the value comes from, and *** for any other value.
std::string hidden_value(const std::string& value) {
  const bool is_reference = value.starts_with("${") && value.find('}') + 1 == value.size() && !value.contains(":-");
  return is_reference ? value : "***";
}

// Parts of an identity, each behind its length, so that no two lists read the same.
class identity_text {
 public:
  void add(std::string_view part) {
    text_ += std::to_string(part.size());
    text_ += ':';
    text_ += part;
  }
  void add(const conf::model::reference_string& part) { add(part.text); }
  void add(const std::optional<conf::model::reference_string>& part) {
    if (part)
      add(*part);
    else
      text_ += '-';
  }
  template <class Parts>
  void add_all(const Parts& parts) {
    add(std::to_string(parts.size()));
    for (const auto& p : parts) add(p);
  }
  void add_all(const conf::model::reference_map& parts) {
    add(std::to_string(parts.size()));
    for (const auto& [name, value] : parts) {
      add(name);
      add(value);
    }
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

// Returns the place of the first = or : whose name before it is that of a secret (`--env=API_KEY=V`, `{"apiKey":"V"}`),
// or npos.
std::size_t secret_separator(std::string_view text) {
  for (auto at = text.find_first_of("=:"); at != std::string_view::npos; at = text.find_first_of("=:", at + 1)) {
    auto end = at;
    while (end > 0 && std::string_view("\"' ").contains(text[end - 1])) --end;
    auto begin = end;
    while (begin > 0 && (std::isalnum(static_cast<unsigned char>(text[begin - 1])) || text[begin - 1] == '_' ||
                         text[begin - 1] == '-'))
      --begin;
    while (begin < end && text[begin] == '-') ++begin;
    if (begin < end && conf::model::secret_name(text.substr(begin, end - begin))) return at;
  }
  return std::string_view::npos;
}

}  // namespace

std::string identity_of(const conf::model::server_entry& entry) {
  identity_text all;
  all.add(entry.command);
  all.add_all(entry.args);
  all.add_all(entry.env);
  all.add(entry.env_file);
  all.add_all(entry.pass_env);
  all.add(entry.cwd);
  all.add(entry.url);
  all.add_all(entry.headers);
  all.add(entry.transport);
  all.add(entry.ca_file);
  all.add(entry.client_cert_file);
  all.add(entry.client_key_file);
  all.add(entry.may_call ? "may call" : "");
  all.add(entry.orphans == conf::model::orphan_policy::keep ? "keep" : "end");
  return all.take();
}

std::string shown_command(const conf::model::server_entry& entry) {
  if (!entry.command) return "";
  std::string line = shell_word(entry.command->text);
  bool hide_all = false;  // the argument before was the name of a secret, such as --api-key
  for (const auto& arg : entry.args) {
    const std::string& text = arg.text;
    conf::model::register_url_passwords(text);
    if (text.contains("://") && !conf::model::has_references(text)) {
      references::system_references unused;
      conf::model::register_query_secrets(arg, unused);
    }
    const auto separator = secret_separator(text);
    line += ' ';
    if (hide_all && !text.starts_with("--"))
      line += hidden_value(text);
    else if (separator != std::string::npos)
      line += shell_word(text.substr(0, separator)) + text[separator] + hidden_value(text.substr(separator + 1));
    else
      line += shell_word(text);
    const auto first = text.find_first_not_of('-');
    hide_all = first != 0 && first != std::string::npos && text.find_first_of("=:") == std::string::npos &&
               conf::model::secret_name(text.substr(first));
  }
  return line;
}

mcp::catalogs::item_filter tool_filter_of(const conf::model::server_entry& entry) {
  mcp::catalogs::item_filter filter{entry.tools.allow, entry.tools.deny, {}};
  for (const auto& [from, to] : entry.tools.rename) filter.rename[from] = to;
  return filter;
}

std::vector<stored::server_terms> server_terms_of(const conf::model::configuration& all) {
  std::vector<std::string> names;
  for (const auto& entry : all.servers) names.push_back(entry.name);
  auto prefixes = mcp::catalogs::settle_prefixes(names);
  std::vector<stored::server_terms> terms;
  for (std::size_t i = 0; i < all.servers.size(); ++i) {
    const auto& entry = all.servers[i];
    if (entry.disabled) continue;
    stored::tool_naming naming{std::move(prefixes[i]), has_plain_names(entry, all), {}};
    for (const auto& [from, to] : entry.tools.rename) naming.rename.emplace(from, to);
    terms.push_back({entry.name, entry.tools.allow, entry.tools.deny, entry.approve, std::move(naming)});
  }
  return terms;
}

bool has_plain_names(const conf::model::server_entry& entry, const conf::model::configuration& all) {
  return entry.tool_names.value_or(all.tool_names) == conf::model::name_style::plain;
}

namespace {

// Returns true if some rule may keep a caller from a tool, prompt or resource of the server, or ask a person first. No
// such rule could hold for a method of an extension.
bool has_gate(const conf::model::server_entry& entry, const conf::model::configuration& all) {
  const auto filters = [](const auto& filter) { return !filter.allow.empty() || !filter.deny.empty(); };
  return filters(entry.tools) || filters(entry.prompts) || filters(entry.resources) || !entry.approve.empty() ||
         entry.pinning() == conf::model::pin_mode::block || all.loop.approve_destructive.value_or(false) ||
         all.loop.approve_after_output.value_or(false);
}

}  // namespace

mcp::protocol::extension_rules extension_rules_of(const conf::model::server_entry& entry,
                                                  const conf::model::configuration& all) {
  mcp::protocol::extension_rules rules;
  for (const auto& one : entry.extensions) rules.named[one.name] = one.methods;
  rules.open = !has_gate(entry, all);
  for (const auto& other : all.servers)
    if (&other != &entry && other.name != entry.name && !other.disabled)
      for (const auto& one : other.extensions)
        if (!one.methods.empty()) rules.elsewhere.insert(one.name);
  return rules;
}

namespace {

mcp::supervise::server_sharing sharing_of(const conf::model::server_entry& entry) {
  switch (entry.sharing) {
    case conf::model::sharing_mode::per_caller:
      return mcp::supervise::server_sharing::per_caller;
    case conf::model::sharing_mode::per_run:
      return mcp::supervise::server_sharing::per_run;
    case conf::model::sharing_mode::shared:
      break;
  }
  return mcp::supervise::server_sharing::shared;
}

mcp::connect::connector_factory process_of(const std::shared_ptr<const conf::model::server_entry>& shared,
                                           const server_means& with, const std::string& caller_cwd = {}) {
  const auto spec = [shared, own_folder = with.own_folder, caller_cwd] {
    return references::make_process_spec(*shared, own_folder, caller_cwd);
  };
  mcp::child::process_source source = [spec](const auto& then) { then(spec()); };
  if (needs_lane(*shared))
    source = [spec, shared, &references = with.references, executor = with.executor](const auto& then) {
      auto posted = references.post(shared->name, [spec, executor, then] {
        boost::asio::post(executor, [resolved = spec(), then]() mutable { then(std::move(resolved)); });
      });
      if (!posted) then(std::unexpected(std::move(posted.error())));
    };
  return
      [shared, source, lines = with.lines ? with.lines(shared->name) : nullptr, &launcher = with.launcher,
       &time = with.time] { return mcp::child::make_process_connector(shared->name, launcher, time, source, lines); };
}

}  // namespace

mcp::supervise::server_options make_server_options(const conf::model::server_entry& entry,
                                                   const conf::model::configuration& all, const server_means& with) {
  mcp::supervise::server_options o;
  o.name = entry.name;
  o.identity = identity_of(entry);
  o.command = shown_command(entry);
  o.origin = std::make_shared<const std::string>(origin_of(entry));
  o.disabled = entry.disabled;
  o.lazy = entry.start == conf::model::start_mode::lazy;
  o.tools = tool_filter_of(entry);
  o.prompts = {entry.prompts.allow, entry.prompts.deny};
  for (const auto& [from, to] : entry.prompts.rename) o.prompts.rename[from] = to;
  o.resources = {entry.resources.allow, entry.resources.deny};
  o.plain_names = has_plain_names(entry, all);
  o.protocol = entry.protocol;
  o.start_timeout = entry.start_timeout_ms;
  o.limits = {entry.call_timeout_ms, entry.call_hard_timeout_ms};
  o.idle_stop = entry.idle_stop_ms;
  o.max_concurrency = static_cast<int>(entry.max_concurrency);
  o.calls.serial_tools = entry.tools.serial;
  o.calls.retry = entry.tools.retry;
  o.calls.trust_annotations = entry.trust_annotations;
  o.calls.max_retries = static_cast<int>(entry.max_retries);
  o.calls.idle = entry.tools.call_timeout_ms;
  o.calls.hard = entry.tools.call_hard_timeout_ms;
  o.sharing = sharing_of(entry);
  o.max_instances = static_cast<std::size_t>(entry.max_instances);
  o.extensions = extension_rules_of(entry, all);
  const auto shared = std::make_shared<const conf::model::server_entry>(entry);
  if (!entry.command) {
    o.connect = remote_of(shared, with);
    if (o.sharing != mcp::supervise::server_sharing::shared) {
      o.connect_for = [shared, with](const std::string& principal) { return remote_of(shared, with, principal); };
      if (with.same_account)
        o.same_lists = [name = entry.name, same = with.same_account](const std::string& principal) {
          return same(name, principal);
        };
    }
    o.max_concurrency = o.max_concurrency == 0 ? most_remote_calls : std::min(o.max_concurrency, most_remote_calls);
    return o;
  }
  o.connect = process_of(shared, with);
  if (entry.runs_at_caller())
    o.connect_in = [shared, with](const std::string& cwd) { return process_of(shared, with, cwd); };
  return o;
}

std::vector<mcp::supervise::server_options> supervised_servers(const conf::model::configuration& all,
                                                               const server_means& with) {
  std::vector<mcp::supervise::server_options> list;
  for (const auto& entry : all.servers) list.push_back(make_server_options(entry, all, with));
  return list;
}

}  // namespace mcpbx::daemon::options
