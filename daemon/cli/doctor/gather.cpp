// The whole walk, in the order in which one fact helps to find the next.
#include "daemon/cli/doctor/gather.hpp"

#include "conf/places.hpp"
#include "daemon/cli/doctor/in_time.hpp"
#include "daemon/cli/link/daemon_start.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/support/text.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <thread>

namespace mcpbx::cli::doctor {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds checks_limit{12'000}, examination_limit{10'000}, list_limit{35'000}, chat_limit{60'000};

address_facts::outcome outcome_of(std::string_view word) {
  using enum address_facts::outcome;
  if (word == "answers") return answers;
  if (word == "unresolved") return unresolved;
  if (word == "unreachable") return unreachable;
  if (word == "certificate") return certificate;
  return word == "slow" ? slow : unchecked;
}

address_facts address_in(const json::raw_json& told) {
  return {outcome_of(json::member_text(told, "state")), json::member_text(told, "address"),
          json::member_text(told, "detail")};
}

std::string program_beside() {
  std::array<char, 4096> buffer;
  const ssize_t n = ::readlink("/proc/self/exe", buffer.data(), buffer.size());
  const std::string path(buffer.data(), n > 0 ? static_cast<std::size_t>(n) : 0);
  return path.substr(0, path.rfind('/')) + "/mcpbxd";
}

std::string token_path(const conf::model::configuration& config) {
  if (!config.http.address || config.http.auth == conf::model::http_auth::none) return "";
  const auto env = conf::environment_for_places();
  if (config.http.token_file)
    return conf::model::has_references(config.http.token_file->text)
               ? ""
               : conf::model::under_home(config.http.token_file->text, env.filled("HOME").value_or("/"));
  if (!config.sources.empty()) {
    const auto folder = std::filesystem::path(config.sources.front()).parent_path();
    if (::access(folder.c_str(), W_OK) == 0) return (folder / "token").string();
  }
  const auto folder = conf::user_config_directory(env);
  return folder ? (*folder / "token").string() : "";
}

constexpr std::string_view small_question = "Reply with the word ok.";

bool delete_session(link::daemon_connection& link, std::string_view session) {
  // A run that has just been cancelled holds its session until its end is written.
  constexpr int tries = 20;
  constexpr std::chrono::milliseconds between{100};
  for (int i = 0; i < tries; ++i) {
    if (ask(link, "mcpbx/sessions/delete", json::json_object("session", session), milliseconds(5'000))) return true;
    std::this_thread::sleep_for(between);
  }
  return false;
}

// Ends a run whose answer has not come, and deletes the session that it began.
void forget_run(link::daemon_connection& link, const std::string& run, std::int64_t begun_ms) {
  constexpr milliseconds limit(5'000);
  // The answer comes when the end is in the journal, and so is the session.
  (void)ask(link, "mcpbx/cancel", json::json_object("run", run), limit);
  const auto listed = ask(link, "mcpbx/sessions/list", R"({"limit":50})", limit);
  if (!listed) return;
  json::for_each_element(json::find_member(*listed, "sessions"), [&](const json::raw_json& s) {
    if (json::find_member(s, "createdMs").as_integer().value_or(0) < begun_ms) return true;
    const auto session = json::member_text(s, "session");
    const auto whole = ask(link, "mcpbx/sessions/get", json::json_object("session", session, "limit", 0), limit);
    bool ours = false;
    if (whole)
      json::for_each_element(json::find_member(*whole, "runs"), [&](const json::raw_json& one) {
        ours = ours || json::member_text(one, "run") == run;
        return !ours;
      });
    if (ours) delete_session(link, session);
    return !ours;
  });
}

// Makes one request to a model, and forgets the session that it made, also after an interrupt or the end of the time.
// Returns false after an interrupt.
bool ask_model(const wish& who, link::daemon_connection& link, model_facts& m) {
  const auto begun = std::chrono::duration_cast<milliseconds>(std::chrono::system_clock::now().time_since_epoch());
  const auto run = "doctor_" + std::to_string(::getpid()) + "_" + std::to_string(begun.count());
  std::string params;
  json::json_writer w(params);
  w.begin_object().members("input", small_question, "model", m.name, "status", "off", "approve", "none", "run", run);
  w.member("stream", false).key("tools").begin_array().end_array();
  w.key("limits").begin_object().members("maxRounds", 1, "timeoutMs", 45'000).end_object().end_object();
  m.asked = true;
  const auto got = ask(link, "mcpbx/chat", params, chat_limit);
  if (!got) {
    const bool stop = link::interrupted();
    m.answer_problem = stop ? "the request was interrupted" : "the request failed";
    while (link::forget_interrupt()) {
    }
    link::place again = who.place;
    again.config.clear();
    // The connection may have been given up.
    if (ask(link, "mcpbx/hello", "{}", milliseconds(5'000)))
      forget_run(link, run, begun.count());
    else if (auto other = again.standalone ? fail(errc::unavailable, "") : link::connect(again, false))
      forget_run(other->link, run, begun.count());
    return !stop;
  }
  const auto reason = json::member_text(*got, "stopReason");
  if (reason != "final" && reason != "truncated" && reason != "max_rounds") {
    m.answer_problem = json::member_text(*got, "reason");
    if (m.answer_problem.empty()) m.answer_problem = "the run ended with \"" + reason + "\"";
  }
  if (const auto session = json::member_text(*got, "session"); !session.empty()) delete_session(link, session);
  return true;
}

void take_models(link::daemon_connection& link, facts& all) {
  const auto list = ask(link, "mcpbx/models", "{}", list_limit);
  if (!list) return;
  json::for_each_element(*list, [&](const json::raw_json& row) {
    const auto found = std::ranges::find(all.models, json::member_text(row, "name"), &model_facts::name);
    if (found == all.models.end()) return true;
    found->problem = json::member_text(row, "problem");
    found->is_default = json::find_member(row, "default").is_true();
    return true;
  });
}

std::string state_of(const json::raw_json& servers, std::string_view name) {
  std::string state;
  json::for_each_element(servers, [&](const json::raw_json& s) {
    if (json::member_text(s, "name") == name) state = json::member_text(s, "state");
    return true;
  });
  return state;
}

bool any_starting(const json::raw_json& servers, std::string_view only) {
  bool any = false;
  json::for_each_element(servers, [&](const json::raw_json& s) {
    const auto state = json::member_text(s, "state");
    if (!only.empty() && json::member_text(s, "name") != only) return true;
    any = any || (state == "starting" && !json::find_member(s, "startFailed").is_true()) ||
          (!only.empty() && state == "restarting");
    return true;
  });
  return any;
}

// Waits until a server that was asked for by name, or every one of a private daemon, is ready, has failed, or its time
// is up. A lazy one that was asked for is started.
void wait_for_servers_of(link::daemon_connection& link, facts& all) {
  if (!all.only.empty() && state_of(all.daemon->servers, all.only) == "lazy") {
    std::string one;
    json::json_writer(one).begin_object().member("server", all.only).end_object();
    if (!ask(link, "mcpbx/restart", one, milliseconds(5'000))) return;
    all.daemon->servers = ask(link, "mcpbx/servers", "{}", milliseconds(5'000)).value_or(all.daemon->servers);
  }
  const auto deadline = std::chrono::steady_clock::now() + milliseconds(35'000);
  while (any_starting(all.daemon->servers, all.only) && std::chrono::steady_clock::now() < deadline &&
         !link::interrupted()) {
    ::usleep(50'000);
    const auto list = ask(link, "mcpbx/servers", "{}", milliseconds(5'000));
    if (!list) return;
    all.daemon->servers = *list;
  }
}

}  // namespace

void gather_addresses(const wish& w, facts& into) {
  // A daemon knows how its servers are; without one, a lazy server is asked only by its name.
  std::vector<std::string> asked;
  if (!into.daemon || !into.daemon->servers)
    for (const auto& p : into.programs)
      if (p.is_remote && (!p.is_lazy || p.server == w.only)) asked.push_back(p.server);
  const bool any_address = !asked.empty() || std::ranges::any_of(into.models, &model_facts::has_endpoint);
  const auto& journal_file = into.state.journal;
  const bool looks_at_journal = into.state.has_journal && journal_file.state != path_facts::look::missing &&
                                !(into.daemon && holder_of_lock(journal_file, "POSIX") != 0);
  if (into.state.has_journal && !looks_at_journal) into.state.journal_is = state_facts::integrity::good;
  if (!any_address && !looks_at_journal) return;
  std::vector<std::string> words{program_beside(), "--examine"};
  if (!w.place.config.empty()) words.insert(words.end(), {"--config", w.place.config});
  for (const auto& name : asked) words.push_back("--examine-server=" + name);
  const auto told = output_of(words, examination_limit);
  const auto parsed = told ? json::raw_json::parse(trimmed(*told)) : fail(errc::timed_out, "");
  if (!parsed) {
    into.state.journal_detail = "mcpbxd could not look at it";
    return;
  }
  json::for_each_element(json::find_member(*parsed, "models"), [&](const json::raw_json& one) {
    const auto found = std::ranges::find(into.models, json::member_text(one, "name"), &model_facts::name);
    if (found != into.models.end()) found->address = address_in(one);
    return true;
  });
  json::for_each_element(json::find_member(*parsed, "servers"), [&](const json::raw_json& one) {
    const auto found = std::ranges::find(into.programs, json::member_text(one, "name"), &program_facts::server);
    if (found != into.programs.end()) found->address = address_in(one);
    return true;
  });
  const auto journal = json::find_member(*parsed, "journal");
  const auto state = json::member_text(journal, "state");
  using enum state_facts::integrity;
  into.state.journal_is = state == "good" || state == "in_use" || state == "none" ? good
                          : state == "damaged"                                    ? damaged
                                                                                  : unchecked;
  into.state.journal_detail = json::member_text(journal, "detail");
}

facts gather(const wish& w, const server_trial& trial) {
  facts all;
  all.user = ::geteuid();
  all.version = MCPBX_VERSION;
  all.only = w.only;
  all.online = w.online;
  path_looks looks(w.place);
  auto config = gather_config(w, looks);
  all.config = std::move(config.facts);
  all.unit = gather_unit(looks);
  auto daemon = gather_daemon(w, looks);
  all.socket = std::move(daemon.socket);
  all.daemon = std::move(daemon.daemon);
  if (!config.usable) {
    all.state = gather_state({}, "", looks);
    return all;
  }
  check_list checks;
  add_entry_checks(checks, config.loaded, daemon.variable, all.unit.enabled && !all.unit.has_path, all);
  if (w.only.empty()) add_host_checks(checks, config.loaded.config, all);
  checks.run({.all = checks_limit});
  all.state = gather_state(config.loaded.config, token_path(config.loaded.config), looks);
  if (config.loaded.ok()) gather_addresses(w, all);
  auto* const link = daemon.link ? &daemon.link->link : nullptr;
  if (link != nullptr && all.daemon) {
    take_models(*link, all);
    if (!all.only.empty() || w.place.standalone) wait_for_servers_of(*link, all);
  } else if (const auto* entry = config.loaded.config.find_server(w.only); entry != nullptr && trial) {
    if (!entry->disabled && entry->command) all.trials.push_back(trial(*entry));
  }
  if (!w.online) return all;
  link::catch_interrupts();
  for (auto& m : all.models) {
    if (all.interrupted) break;
    if (!m.has_endpoint || (!w.only.empty() && m.name != w.only)) continue;
    if (link != nullptr && all.daemon && m.problem.empty() && m.missing.empty())
      all.interrupted = !ask_model(w, *link, m);
    else if (link == nullptr)
      m.answer_problem = "no request was made, since no daemon runs";
  }
  return all;
}

}  // namespace mcpbx::cli::doctor
