// The configuration, the state folder, and paths in general.
#include "conf/places.hpp"
#include "daemon/cli/doctor/gather.hpp"
#include "daemon/cli/doctor/in_time.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/process/unique_fd.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <set>

namespace mcpbx::cli::doctor {
namespace {

namespace fs = std::filesystem;

// The bytes that a child sends about a path.
struct seen_path {
  path_facts::look state = path_facts::look::missing;
  path_facts::kind is = path_facts::kind::file;
  unsigned mode = 0;
  uid_t owner = 0;
  bool writable = false;
  std::int64_t inode = 0;
  int number = 0;
};

seen_path see(const std::string& path) {
  seen_path seen;
  struct stat s{};
  if (::stat(path.c_str(), &s) != 0) {
    seen.number = errno;
    struct stat link{};
    const bool gone = (errno == ENOENT || errno == ENOTDIR) && ::lstat(path.c_str(), &link) != 0;
    seen.state = gone ? path_facts::look::missing : path_facts::look::unreadable;
    return seen;
  }
  seen.state = path_facts::look::there;
  seen.is = S_ISREG(s.st_mode)    ? path_facts::kind::file
            : S_ISDIR(s.st_mode)  ? path_facts::kind::folder
            : S_ISSOCK(s.st_mode) ? path_facts::kind::socket
                                  : path_facts::kind::other;
  seen.mode = s.st_mode & 01777;
  seen.owner = s.st_uid;
  seen.inode = static_cast<std::int64_t>(s.st_ino);
  seen.writable = ::access(path.c_str(), W_OK) == 0;
  if (::access(path.c_str(), R_OK) != 0) {
    seen.number = errno;
    seen.state = path_facts::look::unreadable;
  }
  return seen;
}

conf::file_options options_of(const wish& w) {
  conf::file_options o;
  if (!w.place.config.empty()) o.flag = w.place.config;
  return o;
}

// Returns the files of the configuration, or the reason why they cannot be told; nullopt: the search hangs.
struct found_files {
  std::vector<std::string> files;
  std::string fault;
};
std::optional<found_files> find_in_time(const wish& w) {
  const auto answer = in_time(1, [&](std::size_t) {
    const auto files = conf::find_files(conf::environment_for_places(), options_of(w));
    std::string json;
    json_writer out(json);
    out.begin_object();
    if (!files) {
      out.member("fault", files.error().message);
    } else {
      out.key("files").begin_array();
      for (const auto& f : *files) out.value(f.native());
      out.end_array();
    }
    out.end_object();
    return json;
  });
  if (!answer[0]) return std::nullopt;
  const auto told = raw_json::own(*answer[0]);
  found_files found{{}, member_text(told, "fault")};
  for_each_element(find_member(told, "files"), [&](const raw_json& f) {
    found.files.push_back(f.as_string().value_or(""));
    return true;
  });
  return found;
}

std::optional<std::int64_t> free_bytes_at(const std::string& path) {
  const auto answer = in_time(1, [&](std::size_t) {
    struct statvfs s{};
    for (fs::path at = path; !at.empty(); at = at.parent_path()) {
      if (::statvfs(at.c_str(), &s) == 0)
        return std::to_string(static_cast<std::int64_t>(s.f_bavail) * static_cast<std::int64_t>(s.f_frsize));
      if (at == at.parent_path()) break;
    }
    return std::string();
  });
  if (!answer[0] || answer[0]->empty()) return std::nullopt;
  return std::stoll(*answer[0]);
}

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
  const mcp::unique_fd probe(::socket(is_v4 ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  ::setsockopt(probe.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const auto* const where = is_v4 ? reinterpret_cast<const sockaddr*>(&v4) : reinterpret_cast<const sockaddr*>(&v6);
  return ::bind(probe.get(), where, is_v4 ? sizeof v4 : sizeof v6) != 0 && errno == EADDRINUSE;
}

}  // namespace

std::vector<path_facts> look_at(const std::vector<std::string>& paths) {
  const auto answers = in_time(paths.size(), [&](std::size_t i) {
    const seen_path seen = see(paths[i]);
    return std::string(reinterpret_cast<const char*>(&seen), sizeof seen);
  });
  std::vector<path_facts> all;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    path_facts p;
    p.path = paths[i];
    seen_path seen;
    if (!answers[i] || answers[i]->size() != sizeof seen) {
      p.state = path_facts::look::slow;
    } else {
      std::memcpy(&seen, answers[i]->data(), sizeof seen);
      p.state = seen.state;
      p.is = seen.is;
      p.mode = seen.mode;
      p.owner = seen.owner;
      p.writable = seen.writable;
      p.inode = seen.inode;
      if (seen.state == path_facts::look::unreadable) p.problem = std::strerror(seen.number);
    }
    all.push_back(std::move(p));
  }
  return all;
}

configuration_seen gather_config(const wish& w) {
  configuration_seen seen;
  const auto found = find_in_time(w);
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
  seen.facts.paths = look_at(paths);
  for (const auto& p : seen.facts.paths)
    if (p.state == path_facts::look::slow) return seen;
  seen.loaded = conf::load_files(conf::environment_for_places(), options_of(w));
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

state_facts gather_state(const conf::configuration& config, const std::string& token) {
  state_facts s;
  const auto env = conf::environment_for_places();
  const auto folder = conf::state_directory(env);
  s.token_wanted = !token.empty();
  if (const auto& address = config.http.address; address && is_taken(address->text)) s.taken_port = address->text;
  if (!folder) return s;
  std::string journal;
  const std::string url = config.store.url ? config.store.url->text : "sqlite:";
  if (url.starts_with("sqlite:") && !conf::has_references(url)) {
    const std::string path = url.substr(7);
    journal = path.empty() ? (*folder / "mcpbx.db").string() : conf::under_home(path, env.filled("HOME").value_or("/"));
  }
  const auto seen = look_at({folder->string(), journal.empty() ? "/" : journal, token.empty() ? "/" : token});
  s.folder = seen[0];
  s.folder.is = path_facts::kind::folder;
  s.has_journal = !journal.empty();
  if (s.has_journal) s.journal = seen[1];
  if (s.token_wanted) s.token = seen[2];
  if (s.folder.state != path_facts::look::slow) s.free_bytes = free_bytes_at(folder->string());
  return s;
}

}  // namespace mcpbx::cli::doctor
