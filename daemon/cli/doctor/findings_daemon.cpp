// Findings about the socket, the daemon, other daemons and the unit.
#include "daemon/cli/doctor/findings.hpp"
#include "daemon/cli/doctor/words.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>

namespace mcpbx::cli::doctor {
namespace {

using namespace mcpbx::cli::doctor::checks;
using namespace mcpbx::json;
using look = path_facts::look;

// True if `version`, as "1.2.3", is older than this program's.
bool is_older(std::string_view version, std::string_view own) {
  const auto next = [](std::string_view& text) {
    unsigned long number = 0;
    std::size_t i = 0;
    for (; i < text.size() && text[i] >= '0' && text[i] <= '9' && i < 9; ++i)
      number = number * 10 + static_cast<unsigned long>(text[i] - '0');
    text.remove_prefix(std::min(text.size(), i + 1));
    return number;
  };
  while (!version.empty() || !own.empty()) {
    const auto a = next(version), b = next(own);
    if (a != b) return a < b;
  }
  return false;
}

void judge_paths(const facts& all, findings& out) {
  const auto& s = all.socket;
  if (s.folder.state == look::there && s.folder.owner != all.user && s.folder.owner != 0 &&
      (s.folder.mode & 01000) == 0)
    out.push_back({socket_folder, "socket",
                   "the folder " + s.folder.path + " belongs to user " + std::to_string(s.folder.owner) +
                       ", who could replace the socket",
                   "export MCPBX_SOCKET=PATH in a folder of your own"});
  else if (s.folder.state == look::there && (s.folder.mode & 022) != 0 && (s.folder.mode & 01000) == 0) {
    out.push_back({socket_folder, "socket",
                   "the folder " + s.folder.path + " can be written by others, who could replace the socket",
                   "chmod go-w " + shell_word(s.folder.path)});
    if (s.folder.owner == all.user)
      out.back().fix = {repair::kind::set_mode, s.folder.path, s.folder.mode & 0777u & ~022u};
  }
  if (s.file.state == look::there && s.file.is == path_facts::kind::socket && (s.file.mode & 077) != 0) {
    out.push_back({socket_mode, "socket",
                   "the socket " + s.file.path + " has mode " + octal(s.file.mode) + ", and others might connect",
                   "chmod 600 " + shell_word(s.file.path)});
    if (s.file.owner == all.user) out.back().fix = {repair::kind::set_mode, s.file.path, 0600};
  }
}

void judge_socket(const facts& all, findings& out) {
  using enum socket_facts::outcome;
  const auto& s = all.socket;
  const std::string subject = "daemon";
  const std::string process = s.holder > 0 ? "process " + std::to_string(s.holder) : "a process";
  switch (s.state) {
    case answers:
      break;
    case none:
      if (s.lock_held)
        out.push_back({daemon_busy, subject,
                       process + " holds " + s.lock.path + " and has no socket yet: a daemon is starting or stopping",
                       "mcpbx wait"});
      else
        out.push_back({daemon_none, subject,
                       "no daemon answers at " + s.file.path + "; most commands start one, and this one does not",
                       "mcpbx servers"});
      break;
    case refused:
      if (s.lock_held) {
        out.push_back({daemon_busy, subject,
                       process + " holds " + s.lock.path + " and does not listen: a daemon is starting or stopping",
                       "mcpbx wait"});
      } else {
        out.push_back({socket_stale,
                       "socket",
                       s.file.path + " was left by a daemon that has ended; the next one "
                                     "replaces it",
                       "rm " + shell_word(s.file.path),
                       {repair::kind::remove_socket, s.file.path}});
      }
      break;
    case silent:
      out.push_back({daemon_hangs, subject, process + " listens at " + s.file.path + " and does not answer",
                     s.holder > 0 ? "kill " + std::to_string(s.holder) : "end the process that `ss -xlp` shows there"});
      break;
    case denied:
      out.push_back({daemon_denied, subject, "the socket " + s.file.path + " refuses this user: " + s.problem,
                     "export MCPBX_SOCKET=PATH in a folder of your own"});
      break;
    case unusable:
      if (s.file.state == look::there && s.file.is != path_facts::kind::socket)
        out.push_back({socket_blocked, "socket", s.file.path + " is there and is not a socket",
                       "mv " + shell_word(s.file.path) + " " + shell_word(s.file.path + ".old")});
      else
        out.push_back({socket_path, "socket", s.problem, "export MCPBX_SOCKET=PATH, a shorter or an existing one"});
      break;
  }
}

void judge_answers(const facts& all, const daemon_facts& d, findings& out) {
  const std::string subject = "daemon";
  const auto version = member_text(d.hello, "version");
  const auto pid = find_member(d.hello, "pid").as_integer().value_or(0);
  const std::string name = "version " + version + ", process " + std::to_string(pid);
  if (is_older(version, all.version))
    out.push_back({daemon_version, subject, "it is the older " + name + "; this program is version " + all.version,
                   "mcpbx stop"});
  if (!d.news.empty()) {
    out.push_back({daemon_outdated, subject, d.news, d.reload_helps ? "mcpbx reload" : "mcpbx stop && mcpbx wait"});
    if (d.reload_helps) out.back().fix = {repair::kind::reload};
  }
  if (const auto store = find_member(d.status, "store"))
    out.push_back({journal_trouble, "journal", "runs are not kept: " + member_text(store, "problem"),
                   "df -h " + shell_word(all.state.folder.path)});
  out.push_back({daemon_ok, subject, name + ", answers at " + all.socket.file.path});
}

}  // namespace

void judge_daemon(const facts& all, findings& out) {
  judge_paths(all, out);
  judge_socket(all, out);
  if (all.daemon) {
    judge_answers(all, *all.daemon, out);
    for (const auto& other : all.daemon->others) {
      const std::string pid = std::to_string(other.pid);
      out.push_back({daemon_second, "daemon",
                     "another daemon of this user runs, process " + pid +
                         (other.socket.empty() ? "" : " at " + other.socket) +
                         "; each starts the tool servers for itself",
                     other.socket.empty() ? "kill " + pid : "mcpbx --socket " + shell_word(other.socket) + " stop"});
    }
  }
  if (!all.daemon && !all.socket.lock_held && !all.state.taken_port.empty())
    out.push_back({port_taken, "HTTP port",
                   "another process listens at " + all.state.taken_port + ", so no daemon can start",
                   "choose another port in \"http.address\", or end that process: ss -ltnp"});
  const auto& u = all.unit;
  if (u.name.empty() || (!u.enabled && u.active != "failed")) return;
  if (u.active == "failed")
    out.push_back({unit_failed, "service", "the unit " + u.name + " has failed", "systemctl --user restart " + u.name});
  else
    out.push_back(
        {unit_ok, "service", "the unit " + u.name + " is enabled" + (u.active.empty() ? "" : " and " + u.active)});
}

}  // namespace mcpbx::cli::doctor
