// The walk itself, and the parts about the configuration, programs and the state folder.
#include "daemon/cli/doctor/findings.hpp"

#include "daemon/cli/doctor/words.hpp"
#include "mcp/redact/cut_text.hpp"
#include "mcp/support/text.hpp"

#include <algorithm>
#include <array>

namespace mcpbx::cli::doctor {
namespace {

using namespace mcpbx::cli::doctor::checks;
using namespace mcpbx::json;
using namespace mcpbx::redact;
using look = path_facts::look;

// A folder with the sticky bit, such as /tmp, keeps others from replacing files of this user.
bool others_may_write(const path_facts& p) {
  return (p.mode & 022) != 0 && !(p.is == path_facts::kind::folder && (p.mode & 01000) != 0);
}

std::string what_is(const path_facts& p) {
  return (p.is == path_facts::kind::folder ? "the folder " : "the file ") + p.path;
}

finding too_open(const check_code& code, std::string subject, const path_facts& p, const facts& all, unsigned mode,
                 std::string why) {
  finding f{code, std::move(subject), what_is(p) + " " + std::move(why)};
  f.mend = "chmod " + octal(mode) + " " + shell_word(p.path);
  if (p.owner == all.user || all.user == 0) f.fix = {repair::kind::set_mode, p.path, mode};
  return f;
}

// Returns the command that installs a program that many tool servers are started with, or "".
std::string_view install_of(std::string_view program) {
  struct row {
    std::string_view program, command;
  };
  static constexpr std::array rows{row{"npx", "sudo apt install npm"},
                                   row{"npm", "sudo apt install npm"},
                                   row{"node", "sudo apt install nodejs"},
                                   row{"uvx", "pipx install uv"},
                                   row{"uv", "pipx install uv"},
                                   row{"pipx", "sudo apt install pipx"},
                                   row{"python", "sudo apt install python3"},
                                   row{"python3", "sudo apt install python3"},
                                   row{"docker", "sudo apt install docker.io"},
                                   row{"podman", "sudo apt install podman"},
                                   row{"git", "sudo apt install git"},
                                   row{"java", "sudo apt install default-jre"}};
  const auto name = program.substr(program.rfind('/') + 1);
  const auto found = std::ranges::find(rows, name, &row::program);
  return found == rows.end() ? std::string_view() : found->command;
}

std::string in_entry(const program_facts& p) {
  return p.entry_at.empty() ? " in its entry" : " in its entry, " + p.entry_at;
}

void judge_program(const program_facts& p, const facts& all, findings& out) {
  using enum program_facts::outcome;
  const std::string subject = "server " + p.server;
  for (const auto& sentence : p.missing) out.push_back({reference_missing, subject, sentence, export_for(sentence)});
  const std::string quoted = "\"" + p.program + "\"";
  const std::string correct = "correct \"command\"" + in_entry(p);
  switch (p.state) {
    case found:
      if (!p.missing.empty() || p.is_remote || p.found.empty()) break;
      out.push_back({program_ok, subject, "its program is " + p.found});
      if (p.not_for_service)
        out.push_back({program_not_for_service, subject,
                       "its program " + quoted +
                           " is found in this shell's PATH, but not in the PATH that systemd "
                           "gives to a service",
                       "write \"command\": \"" + p.found + "\"" + in_entry(p)});
      if (p.fetches)
        out.push_back({program_fetches, subject,
                       "it is fetched anew at each start by " + quoted +
                           ", so the first start is slow and its tools "
                           "may change; the version can be fixed, and a higher \"startTimeoutMs\" gives it time"});
      break;
    case missing: {
      const auto install = install_of(p.program);
      const auto blank = p.program.find(' ');
      const std::size_t words = blank == std::string::npos ? 0 : blank;
      out.push_back({program_missing, subject,
                     "there is no program " + quoted +
                         " in the PATH of the daemon or of "
                         "this shell",
                     words > 0 ? "write \"command\": \"" + p.program.substr(0, words) +
                                     "\" and the words behind it as \"args\"" + in_entry(p)
                     : install.empty() ? "install it, or " + correct
                                       : std::string(install)});
      break;
    }
    case only_in_shell: {
      const bool by_cli = all.daemon && find_member(all.daemon->hello, "idleExit").is_true();
      out.push_back({program_only_in_shell, subject,
                     "its program " + quoted + " is in this shell's PATH (" + p.found +
                         ") and not in that of the daemon, which was started elsewhere",
                     by_cli ? "mcpbx stop && mcpbx wait" : "write \"command\": \"" + p.found + "\"" + in_entry(p)});
      break;
    }
    case not_executable: {
      finding f{program_not_executable, subject, p.found + " is not executable", "chmod u+x " + shell_word(p.found)};
      if (p.of_user) f.fix = {repair::kind::set_mode, p.found, 0100};
      out.push_back(std::move(f));
      break;
    }
    case no_interpreter:
      out.push_back({interpreter_missing, subject,
                     p.found + " names the interpreter \"" + p.detail + "\", which does not exist",
                     install_of(p.detail).empty() ? "install " + p.detail : std::string(install_of(p.detail))});
      break;
    case no_directory:
      out.push_back({directory_missing, subject, "its working directory " + p.detail + " does not exist",
                     "mkdir -p " + shell_word(p.detail)});
      break;
    case broken:
      out.push_back({program_missing, subject, "its program cannot be run: " + p.detail, correct});
      break;
    case slow:
      out.push_back({program_slow, subject,
                     "its program could not be looked at within the time limit; it may be on a file system that does "
                     "not answer",
                     "correct \"command\" or the mount" + in_entry(p)});
      break;
  }
}

}  // namespace

std::string octal(unsigned mode) {
  std::string text;
  for (int shift = 6; shift >= 0; shift -= 3) text += static_cast<char>('0' + ((mode >> shift) & 7));
  return text;
}

std::string reason_behind(std::string_view detail) {
  for (const std::string_view said : {" could not be reached: ", " was refused: "})
    if (const auto at = detail.find(said); at != detail.npos) detail.remove_prefix(at + said.size());
  return detail.empty() ? "" : ": " + cut_for_people(detail, 500, {.mark = " …"});
}

bool speaks_no_tls(std::string_view detail) {
  // OpenSSL's words for a peer whose first bytes are no TLS record.
  return detail.contains("wrong version number") || detail.contains("packet length too long");
}

std::string mend_without_tls(std::string_view address, std::string_view member, std::string_view entry,
                             std::string_view correct) {
  const auto rest = address.substr(std::min(address.find("://") + 3, address.size()));
  const auto host = rest.substr(0, rest.starts_with('[') ? rest.find(']') + 1 : rest.find_first_of(":/"));
  const bool in_127 = host.starts_with("127.") && host.find_first_not_of("0123456789.") == host.npos;
  if (host == "localhost" || host == "[::1]" || in_127)
    return "write http:// instead of https:// as \"" + std::string(member) + "\" in " + std::string(entry);
  return std::string(correct) + "; a proxy or the login page of a network may have answered in its place";
}

std::string export_for(std::string_view sentence) {
  // conf::model::resolve says "… the environment variable NAME is not set …".
  constexpr std::string_view before = "environment variable ";
  const auto at = sentence.find(before);
  if (at == std::string_view::npos) return "correct the reference, then `mcpbx reload`";
  auto name = sentence.substr(at + before.size());
  name = name.substr(0, name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"));
  return name.empty() ? "correct the reference, then `mcpbx reload`"
                      : "export " + std::string(name) + "=… && mcpbx stop";
}

void judge_config(const facts& all, findings& out) {
  const std::string subject = "configuration";
  const auto& c = all.config;
  bool guarded = true;
  for (const auto& p : c.paths) {
    if (p.state == look::slow) {
      out.push_back({config_slow, subject, what_is(p) + " did not answer in time; it may be on a dead mount",
                     "mount it again, or name another file with MCPBX_CONFIG"});
    } else if (p.state == look::unreadable) {
      out.push_back({config_unreadable, subject, what_is(p) + " cannot be read: " + p.problem,
                     "chmod u+r " + shell_word(p.path)});
    } else if (p.state == look::there && p.owner != all.user && p.owner != 0) {
      out.push_back(
          {config_owner, subject,
           what_is(p) + " belongs to user " + std::to_string(p.owner) + ", who could change the configuration",
           "sudo chown " + std::to_string(all.user) + " " + shell_word(p.path)});
    } else if (p.state == look::there && others_may_write(p)) {
      out.push_back(too_open(config_mode, subject, p, all, p.mode & ~022u & 0777u,
                             "can be written by others, who could change the configuration"));
    } else {
      continue;
    }
    guarded = false;
  }
  // The loader names the same files in its own words.
  for (const auto& e : c.errors)
    if (guarded || !std::ranges::any_of(c.paths, [&](const auto& p) {
          return e.contains(p.path) && (e.contains("chmod ") || e.contains("chown ") || e.contains("Permission"));
        }))
      out.push_back({config_wrong, subject, e, "mend the file, then `mcpbx reload`"});
  for (const auto& n : c.notices) out.push_back({config_notice, subject, n});
  if (!c.errors.empty() || !guarded) return;
  if (c.files.empty()) {
    out.push_back(
        {config_none, subject, "there is no configuration file, so only the bundled tools are there", "mcpbx import"});
    return;
  }
  std::string files;
  for (const auto& f : c.files) files += (files.empty() ? "" : ", ") + f;
  out.push_back(
      {config_ok, subject, files + ": " + counted(c.servers, "tool server") + ", " + counted(c.models, "model")});
}

void judge_programs(const facts& all, findings& out) {
  for (const auto& p : all.programs)
    if (!p.disabled) judge_program(p, all, out);
}

void judge_hosts(const facts& all, findings& out) {
  const auto named = [](const std::vector<std::string>& names) {
    constexpr std::size_t most = 5;
    std::string text;
    for (std::size_t i = 0; i < names.size() && i < most; ++i) text += (i == 0 ? "" : ", ") + names[i];
    return names.size() > most ? text + ", …" : text;
  };
  for (const auto& h : all.hosts) {
    const std::string subject = "program " + h.name;
    if (!h.direct.empty())
      out.push_back(
          {host_direct, subject,
           h.title + " starts " + counted(h.direct.size(), "tool server") + " itself, past mcpbx: " + named(h.direct),
           "mcpbx install " + h.name});
    if (!h.more.empty())
      out.push_back(
          {host_more, subject,
           h.title + " has " + counted(h.more.size(), "tool server") + " that mcpbx does not have: " + named(h.more),
           "mcpbx import --from " + h.name});
    if (!h.sandbox.empty())
      out.push_back({host_sandboxed, subject,
                     h.title + " runs in a sandbox (" + h.sandbox +
                         "), from where it may reach "
                         "neither mcpbx nor its socket",
                     "give it http://127.0.0.1:PORT/mcp of \"http\" in the configuration, with the token as a Bearer"});
  }
}

void judge_state(const facts& all, findings& out) {
  const auto& s = all.state;
  const std::string subject = "state folder", journal = "journal";
  if (s.folder.state == look::slow) {
    out.push_back({state_slow, subject, what_is(s.folder) + " did not answer in time; it may be on a dead mount",
                   "mount it again, or set XDG_STATE_HOME"});
    return;
  }
  const std::size_t before = out.size();
  if (s.folder.state == look::unreadable || (s.folder.state == look::there && !s.folder.writable)) {
    out.push_back({state_unwritable, subject,
                   what_is(s.folder) + " cannot be written" + (s.folder.problem.empty() ? "" : ": " + s.folder.problem),
                   "chmod u+rwx " + shell_word(s.folder.path)});
    if (s.folder.owner == all.user && s.folder.state == look::there)
      out.back().fix = {repair::kind::set_mode, s.folder.path, 0700};
  } else if (s.folder.state == look::there && others_may_write(s.folder)) {
    out.push_back(too_open(state_mode, subject, s.folder, all, 0700, "can be written by others"));
  }
  if (s.free_bytes && *s.free_bytes < (8 << 20))
    out.push_back({disk_full, subject,
                   "its disk has " + std::to_string(*s.free_bytes >> 20) +
                       " MiB left, so runs "
                       "cannot be kept",
                   "df -h " + shell_word(s.folder.path)});
  else if (s.free_bytes && *s.free_bytes < (256 << 20))
    out.push_back({disk_low, subject, "its disk has " + std::to_string(*s.free_bytes >> 20) + " MiB left",
                   "df -h " + shell_word(s.folder.path)});
  if (out.size() == before)
    out.push_back({state_ok, subject,
                   s.folder.state == look::missing ? s.folder.path + " is made at the first start" : s.folder.path});
  if (s.has_journal && s.journal.state != look::missing) {
    const std::size_t so_far = out.size();
    if (s.journal.state != look::there || !s.journal.writable) {
      out.push_back({journal_unwritable, journal, what_is(s.journal) + " cannot be written, so runs are not kept",
                     "chmod u+rw " + shell_word(s.journal.path)});
      if (s.journal.state == look::there && s.journal.owner == all.user)
        out.back().fix = {repair::kind::set_mode, s.journal.path, 0600};
    } else if ((s.journal.mode & 077) != 0) {
      out.push_back(too_open(journal_mode, journal, s.journal, all, 0600,
                             "can be used by others, and it has what you asked and what tools answered"));
    }
    if (s.journal_is == state_facts::integrity::damaged)
      out.push_back({journal_damaged, journal, what_is(s.journal) + " is damaged: " + s.journal_detail,
                     "mcpbx stop; mv " + shell_word(s.journal.path) + " " + shell_word(s.journal.path + ".damaged")});
    else if (s.journal_is != state_facts::integrity::good && so_far == out.size())
      out.push_back(
          {journal_unchecked, journal,
           what_is(s.journal) + " was not checked" + (s.journal_detail.empty() ? "" : ": " + s.journal_detail)});
    if (so_far == out.size()) out.push_back({journal_ok, journal, s.journal.path + " is whole"});
  }
  if (!s.token_wanted) return;
  if (s.token.state == look::there && (s.token.mode & 077) != 0)
    out.push_back(too_open(token_mode, "HTTP token", s.token, all, 0600,
                           "can be used by others, so the HTTP port is refused at the next start"));
  else if (s.token.state == look::missing && all.daemon)
    out.push_back({token_missing, "HTTP token",
                   what_is(s.token) + " is gone, so no program can read the token; the "
                                      "next start makes one",
                   "mcpbx stop && mcpbx wait"});
}

findings findings_of(const facts& all) {
  findings out;
  judge_config(all, out);
  judge_daemon(all, out);
  judge_programs(all, out);
  judge_servers(all, out);
  judge_models(all, out);
  judge_hosts(all, out);
  judge_state(all, out);
  if (all.only.empty()) return out;
  // The socket and the configuration stay only where they are at fault: they may be the reason.
  std::erase_if(out, [&](const finding& f) {
    const bool about = f.subject == "server " + all.only || f.subject == "model " + all.only;
    return !about &&
           (f.code.level != severity::fault || f.subject.starts_with("server ") || f.subject.starts_with("model "));
  });
  return out;
}

}  // namespace mcpbx::cli::doctor
