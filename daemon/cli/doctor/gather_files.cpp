// The configuration and the state folder.
#include "conf/places.hpp"
#include "daemon/cli/doctor/gather.hpp"
#include "daemon/cli/doctor/path_looks.hpp"
#include "mcp/process/unique_fd.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <set>

namespace mcpbx::cli::doctor {
namespace {

namespace fs = std::filesystem;

// Returns true if a process listens at HOST:PORT. Binds and listens not, so that nobody is disturbed.
bool is_taken(const std::string& address) {
  const auto colon = address.rfind(':');
  if (colon == std::string::npos) return false;
  std::string host = address.substr(0, colon);
  if (host == "localhost") host = "127.0.0.1";
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  std::uint16_t port = 0;
  const char* const end = address.data() + address.size();
  if (std::from_chars(address.data() + colon + 1, end, port).ptr != end || port == 0) return false;
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  const bool is_v4 = ::inet_pton(AF_INET, host.c_str(), &v4.sin_addr) == 1;
  if (!is_v4 && ::inet_pton(AF_INET6, host.c_str(), &v6.sin6_addr) != 1) return false;
  v4.sin_family = AF_INET;
  v6.sin6_family = AF_INET6;
  v4.sin_port = v6.sin6_port = htons(port);
  const mcp::process::unique_fd probe(::socket(is_v4 ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  ::setsockopt(probe.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const auto* const where = is_v4 ? reinterpret_cast<const sockaddr*>(&v4) : reinterpret_cast<const sockaddr*>(&v6);
  return ::bind(probe.get(), where, is_v4 ? sizeof v4 : sizeof v6) != 0 && errno == EADDRINUSE;
}

}  // namespace

configuration_seen gather_config(const wish& w, path_looks& looks) {
  configuration_seen seen;
  const auto found = looks.configuration_files();
  if (!found) {
    path_facts folder;
    const auto user = conf::user_config_directory(conf::environment_for_places());
    folder.path = user ? user->string() : "/etc/mcpbx";
    folder.is = path_facts::kind::folder;
    folder.state = path_facts::look::slow;
    seen.facts.paths.push_back(std::move(folder));
    return seen;
  }
  std::vector<std::string> paths;
  std::set<std::string> folders;
  for (const auto& f : found->files) {
    paths.push_back(f);
    const auto parent = fs::path(f).parent_path().native();
    if (folders.insert(parent.empty() ? "." : parent).second)
      paths.push_back(*folders.find(parent.empty() ? "." : parent));
  }
  seen.facts.paths = looks.at(paths);
  for (const auto& p : seen.facts.paths)
    if (p.state == path_facts::look::slow) return seen;
  seen.loaded = conf::load_files(conf::environment_for_places(), file_options_of(w.place));
  seen.usable = true;
  const auto& config = seen.loaded.config;
  for (const auto& e : seen.loaded.errors) seen.facts.errors.push_back(e.text());
  for (const auto& n : config.notices) seen.facts.notices.push_back(n.text());
  seen.facts.files = config.sources;
  seen.facts.servers = config.servers.size();
  for (const auto& m : config.models)
    if (!m.built_in) ++seen.facts.models;
  return seen;
}

state_facts gather_state(const conf::model::configuration& config, const std::string& token, path_looks& looks) {
  state_facts s;
  const auto env = conf::environment_for_places();
  const auto folder = conf::state_directory(env);
  s.token_wanted = !token.empty();
  if (const auto& address = config.http.address; address && is_taken(address->text)) s.taken_port = address->text;
  if (!folder) return s;
  std::string journal;
  const std::string url = config.store.url ? config.store.url->text : "sqlite:";
  if (url.starts_with("sqlite:") && !conf::model::has_references(url)) {
    const std::string path = url.substr(7);
    journal = path.empty() ? (*folder / "mcpbx.db").string()
                           : conf::model::under_home(path, env.filled("HOME").value_or("/"));
  }
  const auto seen = looks.at({folder->string(), journal.empty() ? "/" : journal, token.empty() ? "/" : token});
  s.folder = seen[0];
  s.folder.is = path_facts::kind::folder;
  s.has_journal = !journal.empty();
  if (s.has_journal) s.journal = seen[1];
  if (s.token_wanted) s.token = seen[2];
  if (s.folder.state != path_facts::look::slow) s.free_bytes = looks.free_bytes(folder->string());
  return s;
}

}  // namespace mcpbx::cli::doctor
