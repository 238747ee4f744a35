// One request for one kind of names. The deadline is a signal, because connecting to a stopped daemon may block, too.
#include "daemon/cli/completion/live_names.hpp"

#include "mcp/json/json_writer.hpp"
#include "mcp/json/raw_json.hpp"

#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <string>

namespace mcpbx::cli::completion {
namespace {

extern "C" void too_late(int) {
  ::_exit(0);
}

void end_after(suseconds_t us) {
  struct sigaction action{};
  action.sa_handler = too_late;
  ::sigaction(SIGALRM, &action, nullptr);
  sigset_t alarm;
  ::sigemptyset(&alarm);
  ::sigaddset(&alarm, SIGALRM);
  ::sigprocmask(SIG_UNBLOCK, &alarm, nullptr);  // the parent of the shell may have blocked it
  const itimerval once{{0, 0}, {0, us}};
  ::setitimer(ITIMER_REAL, &once, nullptr);
}

std::string text_of(const json::raw_json& object, std::string_view key) {
  return json::find_member(object, key).as_string().value_or("");
}

json::raw_json ask(link::daemon_connection& link, std::string_view method, std::string_view params) {
  const auto got = link.call(method, params);
  return got ? got->result : json::raw_json();
}

void add_names(std::vector<candidate>& all, link::daemon_connection& link, std::string_view of,
               std::string_view begun) {
  json::for_each_element(ask(link, "mcpbx/names", json::json_object("of", of, "prefix", begun)),
                         [&](const json::raw_json& name) {
                           all.push_back({name.as_string().value_or(""), ""});
                           return true;
                         });
}

}  // namespace

std::vector<candidate> live_names(const link::place& p, name_kind kind, std::string_view begun) {
  std::vector<candidate> all;
  if (kind == name_kind::none || kind == name_kind::files) return all;
  end_after(300'000);
  const auto where = link::choose_socket(p);
  if (!where) return all;
  const auto fd = link::connect_to(*where);
  if (!fd) return all;
  link::daemon_connection link(*fd);
  if (kind == name_kind::tools || kind == name_kind::tools_and_servers) add_names(all, link, "tools", begun);
  if (kind == name_kind::servers || kind == name_kind::tools_and_servers || kind == name_kind::servers_and_models)
    add_names(all, link, "servers", begun);
  if (kind == name_kind::models || kind == name_kind::servers_and_models)
    json::for_each_element(ask(link, "mcpbx/models", "{}"), [&](const json::raw_json& m) {
      all.push_back({text_of(m, "name"), text_of(m, "model")});
      return true;
    });
  if (kind == name_kind::sessions || kind == name_kind::runs)
    json::for_each_element(json::find_member(ask(link, "mcpbx/sessions/list", R"({"limit":100})"), "sessions"),
                           [&](const json::raw_json& s) {
                             const auto id = text_of(s, kind == name_kind::sessions ? "session" : "running");
                             if (!id.empty()) all.push_back({id, text_of(s, "title")});
                             return true;
                           });
  return all;
}

}  // namespace mcpbx::cli::completion
