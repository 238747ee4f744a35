// `mcpbx auth login`, `auth status`, `auth logout`: logins to tool servers that want one.
#include "daemon/cli/base/daemon_calls.hpp"
#include "daemon/cli/base/verb.hpp"
#include "daemon/cli/link/daemon_connection.hpp"
#include "daemon/cli/terminal/approval.hpp"
#include "daemon/cli/terminal/fitted_table.hpp"
#include "daemon/cli/terminal/foreign_text.hpp"
#include "daemon/cli/text/session_text.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/process/started_apart.hpp"
#include "mcp/support/text.hpp"

#include <CLI/CLI.hpp>

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mcpbx::cli::verbs {
namespace {

constexpr std::array<std::string_view, 3> auth_actions{"login", "status", "logout"};
constexpr std::size_t longest_line = 16u << 10;

struct auth_options {
  std::string action, server, principal;
  bool no_browser = false;
};

// Returns the params that tell which login is meant.
std::string target(const auth_options& o, const std::string& address = {}) {
  std::string json;
  json::json_writer(json)
      .begin_object()
      .member("server", o.server)
      .filled("principal", o.principal)
      .filled("address", address)
      .end_object();
  return json;
}

// Starts the person's browser without waiting for it. Returns false if there is none to be found.
bool open_in_browser(const std::string& address) {
  const char* const own = std::getenv("BROWSER");
  const auto set = [](const char* name) { return std::getenv(name) != nullptr && *std::getenv(name) != '\0'; };
  if (own == nullptr && !set("DISPLAY") && !set("WAYLAND_DISPLAY")) return false;
  return mcp::process::start_apart({own != nullptr && *own != '\0' ? own : "xdg-open", address}).has_value();
}

// Reads what the person pastes, a line at a time, while the login waits.
class pasted_lines {
 public:
  // Waits until the daemon has said something or a line is complete; returns the line, or "".
  std::string wait(int daemon) {
    for (;;) {
      if (auto line = take(); !line.empty()) return line;
      std::array<pollfd, 2> any{pollfd{daemon, POLLIN, 0}, pollfd{open_ ? STDIN_FILENO : -1, POLLIN, 0}};
      if (!link::wait_ready(any) || any[0].revents != 0) return {};
      if (any[1].revents == 0) continue;
      std::array<char, 1024> bytes{};
      const ssize_t n = ::read(STDIN_FILENO, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n > 0)
        line_.append(bytes.data(), static_cast<std::size_t>(n));
      else
        open_ = false;
    }
  }

 private:
  // Returns the next complete line that is not blank, or "".
  std::string take() {
    for (auto end = line_.find('\n'); end != std::string::npos; end = line_.find('\n')) {
      std::string line(trimmed(std::string_view(line_).substr(0, end)));
      line_.erase(0, end + 1);
      if (!line.empty()) return line;
    }
    if (line_.size() > longest_line) line_.clear();
    return {};
  }

  std::string line_;
  bool open_ = true;
};

// Hands in a pasted address over a connection of its own, since the other one waits for the end of the login.
void hand_in(context& c, const auth_options& o, const std::string& address) {
  int status = 0;
  auto beside = connect_or_explain(c, false, status);
  if (!beside) return;
  static_cast<void>(call_or_explain(c, beside->link, "mcpbx/auth/complete", target(o, address), status));
}

std::string for_whom(const auth_options& o) {
  return o.principal.empty() ? "" : " for " + terminals::quoted_name(o.principal);
}

void show_invitation(context& c, const auth_options& o, const json::raw_json& invitation) {
  const auto width = c.screen->err_width();
  const auto row = [&](std::string_view head, const std::string& text) {
    if (!text.empty()) c.screen->err_line(std::string(trimmed(terminals::framed(head, text, width))));
  };
  c.screen->err_line(c.screen->bold("login to server " + terminals::quoted_name(o.server) + for_whom(o)));
  row("  authorized by: ", json::member_text(invitation, "issuer"));
  row("  for:           ", json::member_text(invitation, "resource"));
  std::string scopes;
  json::for_each_element(json::find_member(invitation, "scopes"), [&](const json::raw_json& s) {
    scopes += (scopes.empty() ? "" : " ") + s.as_string().value_or("");
    return true;
  });
  row("  rights:        ", scopes.empty() ? "those that the server gives by itself" : scopes);
}

std::string outcome(const auth_options& o, std::string_view state) {
  std::string json;
  json::json_writer(json)
      .begin_object()
      .member("server", o.server)
      .filled("principal", o.principal)
      .member("state", state)
      .end_object();
  return json;
}

// Returns true for the row of the login that was asked for: the person's own if no caller was named.
bool is_meant(const auth_options& o, const json::raw_json& row) {
  const std::string whose = json::member_text(row, "principal");
  return json::member_text(row, "server") == o.server &&
         (o.principal.empty() ? whose.empty() || whose.starts_with("uid:") : whose == o.principal);
}

int log_in(context& c, link::daemon_connection& link, const auth_options& o) {
  int status = 0;
  const auto invitation = call_or_explain(c, link, "mcpbx/auth/login", target(o), status);
  if (!invitation) return status;
  if (const std::string address = json::member_text(*invitation, "address"); !address.empty()) {
    show_invitation(c, o, *invitation);
    // Everybody on this machine can read the command line of a browser.
    const std::string once = json::member_text(*invitation, "openAddress");
    const bool opened = !o.no_browser && open_in_browser(once.empty() ? address : once);
    c.screen->err_line(opened ? "Your browser has been opened. If it shows nothing, open this address:"
                              : "Open this address in a browser:");
    c.screen->err_line("  " + address);
    c.screen->err_line("If the browser ends at a page that cannot be reached, paste its address here.");
    pasted_lines lines;
    const auto over = link.call("mcpbx/auth/wait", target(o), {}, {}, [&] {
      // A wrong address is reported, and the next one is tried.
      for (auto line = lines.wait(link.fd()); !line.empty(); line = lines.wait(link.fd())) hand_in(c, o, line);
    });
    if (!over) return explain(c, over.error());
    if (over->error) return explain(c, *over);
  }
  if (c.json) {
    c.screen->out_json(outcome(o, "logged_in"));
    return terminals::done;
  }
  c.screen->err_line("logged in to " + terminals::quoted_name(o.server) + for_whom(o));
  // Tokens that could not be written are gone with the daemon, which is to be known now.
  if (const auto report = link.call("mcpbx/auth/status", "{}", {}); report && !report->error)
    json::for_each_element(json::find_member(report->result, "servers"), [&](const json::raw_json& row) {
      const auto problem = json::member_text(row, "problem");
      if (is_meant(o, row) && !problem.empty()) c.screen->err_line("but " + problem);
      return true;
    });
  return terminals::done;
}

int log_out(context& c, link::daemon_connection& link, const auth_options& o) {
  int status = 0;
  if (!call_or_explain(c, link, "mcpbx/auth/logout", target(o), status)) return status;
  if (c.json)
    c.screen->out_json(outcome(o, "none"));
  else
    c.screen->err_line("logged out of " + terminals::quoted_name(o.server) + for_whom(o));
  return terminals::done;
}

std::string state_words(const json::raw_json& row) {
  const std::string state = json::member_text(row, "state");
  if (state == "logged_in") return "logged in";
  if (state == "under_way") return "login under way";
  if (state == "expired") return "has ended: log in again";
  return "not logged in";
}

int show_status(context& c, link::daemon_connection& link, const auth_options& o) {
  int status = 0;
  const auto report = call_or_explain(c, link, "mcpbx/auth/status", "{}", status);
  if (!report) return status;
  std::vector<std::vector<std::string>> rows{{"SERVER", "FOR", "STATE", "UNTIL (UTC)", "AUTHORIZED BY"}};
  std::string json = "[", problems;
  bool known = false, any_own = false;
  std::vector<std::string> names;
  json::for_each_element(json::find_member(*report, "servers"), [&](const json::raw_json& row) {
    const std::string name = json::member_text(row, "server");
    names.push_back(name);
    const std::string whose = json::member_text(row, "principal");
    if (!o.server.empty() && name != o.server) return true;
    known = true;
    if (!o.principal.empty() && whose != o.principal) return true;
    any_own = any_own || !whose.empty();
    json += (json.size() > 1 ? "," : "") + std::string(row.text());
    const auto until = json::find_member(row, "expiresAtMs").as_integer();
    std::string end = until ? text::date_of(*until) : std::string();
    if (json::find_member(row, "renews").is_true()) end += end.empty() ? "renewed" : ", renewed";
    rows.push_back({name,
                    whose.empty()               ? "all"
                    : whose.starts_with("uid:") ? "you"
                                                : whose,
                    state_words(row), end, json::member_text(row, "issuer")});
    if (const auto problem = json::member_text(row, "problem"); !problem.empty())
      problems += (problem.starts_with("server " + terminals::quoted_name(name)) ? "" : name + ": ") + problem + "\n";
    return true;
  });
  if (!o.server.empty() && !known) {
    c.screen->error("there is no server " + terminals::quoted_name(o.server) + " with a url" +
                    did_you_mean(o.server, std::vector<std::string_view>(names.begin(), names.end())) +
                    "; `mcpbx auth status` lists them");
    return terminals::no_such;
  }
  if (c.json) {
    c.screen->out_json(json + "]");
    return terminals::done;
  }
  if (rows.size() == 1 && !o.principal.empty()) {
    c.screen->err_line("no login for " + terminals::quoted_name(o.principal) + " is known");
    return terminals::done;
  }
  if (rows.size() == 1) {
    c.screen->err_line("no server of the configuration has a url, so none can need a login");
    return terminals::done;
  }
  // The column says nothing about entries that are all shared.
  if (!any_own)
    for (auto& row : rows) row.erase(row.begin() + 1);
  c.screen->out(terminals::table(rows));
  if (!problems.empty()) c.screen->out(problems);
  const std::string protection = json::member_text(*report, "protection");
  c.screen->err_line(protection == "none"
                         ? "the tokens are not encrypted: there is neither a Secret Service nor a systemd "
                           "credential mcpbx-credentials (the file is readable by you alone)"
                         : "the tokens are encrypted with a key of " +
                               std::string(protection == "systemd" ? "systemd" : "the Secret Service"));
  return terminals::done;
}

int authorize(context& c, const auth_options& o) {
  if (std::ranges::find(auth_actions, o.action) == auth_actions.end()) {
    c.screen->error("`auth` knows no `" + o.action + "`" + did_you_mean(o.action, auth_actions) +
                    "; see `mcpbx auth --help`");
    return terminals::usage;
  }
  if (o.action != "status" && o.server.empty()) {
    c.screen->error("auth " + o.action + " needs the name of a server; `mcpbx auth status` lists those with a login");
    return terminals::usage;
  }
  int status = 0;
  auto made = connect_or_explain(c, true, status);
  if (!made) return status;
  if (o.action == "login") return log_in(c, made->link, o);
  return o.action == "logout" ? log_out(c, made->link, o) : show_status(c, made->link, o);
}

verb_action declare_auth(CLI::App& page) {
  const auto o = std::make_shared<auth_options>();
  o->action = "status";
  page.add_option("ACTION", o->action, "login, status or logout; status unless given")->type_name("");
  page.add_option("NAME", o->server, "the server, as `mcpbx servers` lists it")->type_name("");
  page.add_option("--for", o->principal, "another caller's login, where an entry is not shared: http, server:NAME")
      ->type_name("CALLER");
  page.add_flag("--no-browser", o->no_browser, "only print the address, for a browser elsewhere");
  return [o](context& c) { return authorize(c, *o); };
}

}  // namespace

verb verb_auth() {
  return {.name = "auth",
          .place = 12,
          .summary = "log in to remote tool servers",
          .more = "Example:\n  mcpbx auth login saas --no-browser",
          .declare = declare_auth,
          .actions = auth_actions};
}

}  // namespace mcpbx::cli::verbs
