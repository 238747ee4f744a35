// Connects verbs to the daemon: has an outdated daemon reload, replaces one that is idle, and warns about others.
#include "daemon/cli/base/daemon_calls.hpp"

#include "daemon/cli/base/session_choice.hpp"
#include "daemon/cli/link/daemon_age.hpp"
#include "daemon/cli/terminal/helping_command.hpp"
#include "mcp/json/json_writer.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <string>
#include <system_error>

namespace mcpbx::cli {

bool is_newer(std::string_view version, std::string_view than) {
  while (!version.empty()) {
    const auto take = [](std::string_view& text) {
      unsigned number = 0;
      const auto end = std::from_chars(text.data(), text.data() + text.size(), number).ptr;
      text.remove_prefix(std::min<std::size_t>(static_cast<std::size_t>(end - text.data()) + 1, text.size()));
      return number;
    };
    const unsigned ours = take(version), theirs = take(than);
    if (ours != theirs) return ours > theirs;
  }
  return false;
}

namespace {

std::string name_and_place(const introduction& who) {
  std::error_code ignored;
  std::string p;
  json::json_writer w(p);
  w.begin_object().member("name", who.name);
  w.filled("cwd", std::filesystem::current_path(ignored).string()).end_object();
  return p;
}

std::string bonds_of(const introduction& who) {
  std::string p;
  json::json_writer w(p);
  w.begin_object().member("name", who.name).filled("profile", who.profile);
  w.set("mcpOnly", who.mcp_only).end_object();
  return p;
}

link::daemon_news news_for(const link::daemon_connection& link, const json::raw_json& hello) {
  const auto there =
      link::variables_of(link::seen_process(link, json::find_member(hello, "pid").as_integer().value_or(-1)));
  return link::what_is_new(hello, link::own_variables(), there.value_or(nullptr));
}

// Stops an outdated daemon that a command started and nobody uses. Returns false if it is left running.
bool end_idle(link::daemon_connection& link, const json::raw_json& hello) {
  if (!json::find_member(hello, "idleExit").is_true()) return false;
  const link::daemon_end end(link, hello);
  const auto told = link.call("mcpbx/stop", R"({"ifIdle":true})");
  return told && !told->error && end.wait();
}

// Has a daemon that a command started read its files again. Returns true if the files are in force now, or if they are
// wrong: that is reported, and the earlier ones stay in force. Returns false if only a new daemon helps.
bool reloaded(context& c, link::connected& made, const json::raw_json& hello) {
  if (!json::find_member(hello, "idleExit").is_true()) return false;
  const auto told = made.link.call("mcpbx/reload", "{}");
  if (!told) return false;
  if (told->error) {
    const bool wrong =
        json::find_member(json::find_member(told->error, "data"), "cause").as_string() == to_string(errc::config);
    if (wrong) c.screen->err_line("mcpbx: " + told->error_message());
    return wrong;
  }
  bool whole = true;
  json::for_each_element(json::find_member(told->result, "fromNextStart"),
                         [&](const json::raw_json&) { return whole = false; });
  // Servers that came with it start now, as those of a new daemon do.
  if (whole) made.started = true;
  return whole;
}

// Says hello. Returns errc::timed_out, and has said so, if the daemon does not answer in time.
result<link::answer> say_hello(context& c, link::connected& made, const introduction& who) {
  using clock = std::chrono::steady_clock;
  const auto begun = clock::now();
  bool told = false, late = false;
  const auto wait = [&] {
    pollfd one{made.link.fd(), POLLIN, 0};
    while (!link::interrupted()) {
      const auto limit = told ? who.answers_within : who.answers_within / 3;
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(begun + limit - clock::now());
      if (left.count() > 0) {
        if (link::wait_ready_for({&one, 1}, left, nullptr) && one.revents != 0) return;
      } else if (!told) {
        told = true;
        c.screen->err_line("mcpbx: the daemon has not answered yet; `mcpbx doctor` tells more");
      } else {
        late = true;
        ::shutdown(made.link.fd(), SHUT_RDWR);  // ends the call
        return;
      }
    }
  };
  auto hello = made.link.call("mcpbx/hello", name_and_place(who), {}, {}, wait);
  if (!late) return hello;
  c.screen->error("the daemon does not answer; `mcpbx doctor` tells its process and how to end it");
  return fail(errc::timed_out, "the daemon does not answer");
}

// Returns the introduction for the second attempt, which accepts a daemon of any age. Otherwise two programs with
// different environments could replace each other's daemon without end.
introduction again(introduction who) {
  who.of_age = false;
  return who;
}

}  // namespace

result<link::connected> connect_or_explain(context& c, bool may_start, int& status, const introduction& who) {
  auto made = link::connect(c.place, may_start);
  if (!made) {
    status = explain(c, made.error());
    return made;
  }
  const bool bound = !who.profile.empty() || who.mcp_only;
  const auto hello = say_hello(c, *made, who);
  if (!hello && hello.error().code == errc::timed_out) {
    status = terminals::no_daemon;
    return std::unexpected(hello.error());
  }
  if (c.place.standalone && !bound) return made;
  if (hello && who.of_age && !c.place.standalone)
    if (const auto news = news_for(made->link, hello->result);
        !news.text.empty() && !(news.reload_helps && may_start && reloaded(c, *made, hello->result))) {
      if (may_start && end_idle(made->link, hello->result)) return connect_or_explain(c, true, status, again(who));
      const bool begun_by_us = json::find_member(hello->result, "idleExit").is_true();
      // A command that may start daemons has tried to reload.
      const bool reload = news.reload_helps && !(may_start && begun_by_us);
      c.screen->err_line("mcpbx: " + news.text + "; " +
                         (reload        ? "`mcpbx reload` has it read again"
                          : begun_by_us ? "`mcpbx stop` ends it, and the next command starts a new one"
                                        : "`mcpbx stop` ends it, and then start it as before"));
    }
  // A daemon may have run since before this program was replaced by a newer one.
  const std::string theirs = hello ? json::find_member(hello->result, "version").as_string().value_or("") : "";
  if (!theirs.empty() && is_newer(MCPBX_VERSION, theirs))
    c.screen->err_line("mcpbx: this program is version " MCPBX_VERSION ", the daemon is the older " + theirs +
                       "; `mcpbx stop` lets the next command start the new one");
  if (!bound) return made;
  const auto kept = made->link.call("mcpbx/hello", bonds_of(who));
  if (kept && !kept->error) return made;
  status = kept ? explain(c, *kept) : explain(c, kept.error());
  return fail(errc::invalid_argument, "the connection cannot be bound");
}

namespace {

// A list of errors with their places is of the files; other errors may be of their references, models or modes.
std::string_view command_for_config(std::string_view words) {
  return words.contains('\n') ? "`mcpbx edit` opens it" : terminals::command_for_status(terminals::no_answer);
}

}  // namespace

std::string cause_of(const link::answer& a) {
  return json::find_member(json::find_member(a.error, "data"), "cause").as_string().value_or("");
}

terminals::exit_status status_of(const error& e) {
  switch (e.code) {
    case errc::cancelled:
      return terminals::interrupted_exit;
    case errc::unavailable:
    case errc::io:
      return terminals::no_daemon;
    case errc::not_found:
      return terminals::no_such;
    case errc::config:
    case errc::invalid_argument:
      return terminals::usage;
    default:
      return terminals::no_answer;
  }
}

terminals::exit_status status_of(const link::answer& a) {
  // Configuration errors have no JSON-RPC code of their own; the member beside it names the kind.
  if (cause_of(a) == to_string(errc::config)) return terminals::usage;
  switch (a.error_code()) {
    case mcp::rpc::code::not_found:
      return terminals::no_such;
    case mcp::rpc::code::invalid_params:
    case mcp::rpc::code::invalid_request:
    case mcp::rpc::code::method_not_found:
      return terminals::usage;
    case mcp::rpc::code::cancelled:
      return terminals::interrupted_exit;
    default:
      return terminals::no_answer;
  }
}

int explain(context& c, const error& e) {
  const auto command =
      e.code == errc::config ? command_for_config(e.message) : terminals::command_for_status(status_of(e));
  if (e.code != errc::cancelled) c.screen->error(terminals::with_command(e.message, command));
  return status_of(e);
}

int explain(context& c, const link::answer& a, std::string_view hint) {
  const bool config = cause_of(a) == to_string(errc::config);
  const auto words = in_option_words(a.error_message(), c.given);
  const auto command = config ? command_for_config(words) : terminals::command_for_status(status_of(a));
  c.screen->error(terminals::with_hint(terminals::with_command(words, command), hint));
  return status_of(a);
}

result<json::raw_json> call_or_explain(context& c, link::daemon_connection& link, std::string_view method,
                                       std::string_view params, int& status) {
  auto got = link.call(method, params);
  if (!got) {
    status = explain(c, got.error());
    return std::unexpected(got.error());
  }
  if (got->error) {
    const bool unknown_session = method.starts_with("mcpbx/sessions/") && cause_of(*got) == to_string(errc::not_found);
    status = explain(c, *got, unknown_session ? near_session(link, params) : "");
    return fail(errc::peer, got->error_message());
  }
  return got->result;
}

}  // namespace mcpbx::cli
