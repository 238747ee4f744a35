// `mcpbx bench`: what a call costs through the daemon, next to the tool server alone.
#include "conf/config_files.hpp"
#include "conf/places.hpp"
#include "daemon/cli/base/daemon_calls.hpp"
#include "daemon/cli/base/server_wait.hpp"
#include "daemon/cli/base/verb.hpp"
#include "daemon/cli/direct/direct_server.hpp"
#include "daemon/cli/input/given_arguments.hpp"
#include "daemon/cli/input/option_checks.hpp"
#include "daemon/cli/link/text_lists.hpp"
#include "daemon/cli/terminal/fitted_table.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/text.hpp"

#include <CLI/CLI.hpp>

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::cli::verbs {
namespace {

constexpr std::string_view usual_tool = "toolbox__calculate", usual_arguments = R"({"expression":"6 * 7"})";
constexpr std::size_t at_once = 16;
constexpr std::chrono::seconds phase_limit{60}, start_limit{60};

struct bench_options {
  std::string tool = std::string(usual_tool);
  input::given_arguments arguments;
  std::int64_t calls = 200;
  bool yes = false;
};

// The times of one side, in microseconds.
struct side {
  double p50 = 0, p95 = 0, per_second = 0;
  std::size_t calls = 0;
};

double microseconds(std::chrono::nanoseconds t) {
  return static_cast<double>(t.count()) / 1000;
}

// Measures one call after another, and then several at once. A few calls before warm both sides up.
result<side> measure(direct::line_peer& peer, const std::string& params, std::size_t calls) {
  const auto deadline = std::chrono::steady_clock::now() + phase_limit;
  if (auto warm = peer.repeat("tools/call", params, std::min<std::size_t>(calls, 10), 1, deadline); !warm)
    return std::unexpected(warm.error());
  auto alone = peer.repeat("tools/call", params, calls, 1, deadline);
  if (!alone) return std::unexpected(alone.error());
  const auto together = peer.repeat("tools/call", params, calls, at_once, deadline + phase_limit);
  if (!together) return std::unexpected(together.error());
  std::ranges::sort(alone->each);
  const auto at = [&](std::size_t percent) {
    return microseconds(alone->each[(alone->each.size() - 1) * percent / 100]);
  };
  side s{at(50), at(95), 0, alone->each.size()};
  s.per_second = static_cast<double>(together->each.size()) * 1e9 /
                 static_cast<double>(std::max<std::int64_t>(together->whole.count(), 1));
  return s;
}

std::string with_digits(double value, int digits) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

// Returns a time with its unit.
std::string time_text(double us) {
  if (us < 0) return "-" + time_text(-us);
  return us < 1000 ? with_digits(us, us < 10 ? 1 : 0) + " µs" : with_digits(us / 1000, us < 10'000 ? 2 : 1) + " ms";
}

void write_side(json::json_writer& w, std::string_view key, const side& s) {
  w.key(key).begin_object().member("calls", s.calls).key("p50Us").token(with_digits(s.p50, 1));
  w.key("p95Us").token(with_digits(s.p95, 1)).key("perSecond").token(with_digits(s.per_second, 0)).end_object();
}

// The tool as the daemon knows it.
struct bench_subject {
  std::string name, server, own;
  json::raw_json schema = {};
  bool reads_only = false;
};

result<bench_subject> find_subject(context& c, link::daemon_connection& link, const bench_options& o, int& status) {
  std::string params;
  json::json_writer(params).begin_object().member("tool", o.tool).end_object();
  const auto why = call_or_explain(c, link, "mcpbx/why", params, status);
  if (!why) return std::unexpected(why.error());
  if (json::member_text(*why, "outcome") != "offered") {
    status = terminals::no_such;
    const auto near = link::texts_of(*why, "near");
    c.screen->error("the tool \"" + redact::printable(o.tool) + "\" is not offered" +
                    (near.empty() ? "" : " (near names: " + redact::printable(link::listed(near)) + ")") +
                    "; `mcpbx why " + shell_word(o.tool) + "` tells the reason");
    return fail(errc::not_found, "");
  }
  bench_subject s{json::member_text(*why, "name"), json::member_text(*why, "server"), json::member_text(*why, "own")};
  params.clear();
  json::json_writer(params).begin_object().member("name", s.name).end_object();
  const auto listed = call_or_explain(c, link, "mcpbx/tools", params, status);
  if (!listed) return std::unexpected(listed.error());
  json::for_each_element(json::find_member(*listed, "tools"), [&](const json::raw_json& tool) {
    s.schema = json::find_member(tool, "inputSchema");
    s.reads_only = json::find_member(json::find_member(tool, "annotations"), "readOnlyHint").is_true();
    return false;
  });
  return s;
}

void show_sides(context& c, const bench_subject& s, const side& alone, const side& here) {
  c.screen->out_line(terminals::terminal::bold(redact::printable(s.name)) +
                     terminals::styled(", " + std::to_string(here.calls) + " calls each"));
  terminals::fitted_table rows({{""}, {"P50"}, {"P95"}, {"CALLS/S, " + std::to_string(at_once) + " AT ONCE"}});
  const auto row = [&](const char* name, const side& one) {
    rows.add({{name, time_text(one.p50), time_text(one.p95), with_digits(one.per_second, 0)}});
  };
  row("server alone", alone);
  row("through mcpbx", here);
  rows.add({{"difference", time_text(here.p50 - alone.p50), time_text(here.p95 - alone.p95), ""}});
  terminals::show(*c.screen, rows);
}

int bench(context& c, const bench_options& o) {
  if (const auto early = o.arguments.check(); !early) {
    c.screen->error(early.error().message + "; see `mcpbx bench --help`");
    return terminals::usage;
  }
  int status = 0;
  auto made = connect_or_explain(c, true, status);
  if (!made) return status;
  wait_for_servers(c, *made);
  const auto subject = find_subject(c, made->link, o, status);
  if (!subject) return status;
  const auto arguments = o.arguments.empty() && subject->name == usual_tool ? result<std::string>(usual_arguments)
                                                                            : o.arguments.for_tool(subject->schema);
  if (!arguments) return explain(c, arguments.error());
  if (!subject->reads_only && !o.yes) {
    c.screen->error("the tool " + redact::printable(subject->name) +
                    " does not say that it only reads, and bench calls it " + std::to_string(4 * o.calls + 20) +
                    " times; add --yes if that does no harm");
    return terminals::usage;
  }
  conf::file_options files;
  if (!c.place.config.empty()) files.flag = c.place.config;
  const auto loaded = conf::load_files(conf::environment_for_places(), files);
  const auto* entry = loaded.config.find_server(subject->server);
  if (entry == nullptr || !entry->command) {
    c.screen->error(entry == nullptr ? "the tool server \"" + redact::printable(subject->server) +
                                           "\" is not in the configuration that this command reads; give --config or "
                                           "MCPBX_CONFIG as for the daemon"
                                     : "the tool server \"" + redact::printable(subject->server) +
                                           "\" has a url, so this command cannot start it alone; choose a tool of a "
                                           "server with a command");
    return terminals::usage;
  }
  link::catch_interrupts();
  const auto count = static_cast<std::size_t>(o.calls);
  c.screen->status("measuring " + redact::printable(subject->server) + " alone ...");
  auto server =
      direct::direct_server::start(*entry, std::min<std::chrono::milliseconds>(entry->start_timeout_ms, start_limit));
  const auto alone = server ? measure((*server)->peer(), (*server)->call_params(subject->own, *arguments), count)
                            : std::unexpected(server.error());
  if (server) server->reset();  // ends it before the daemon's turn
  c.screen->status("measuring it through mcpbx ...");
  auto here = alone;
  if (alone) {
    if (auto ready = link::initialize(made->link, MCPBX_VERSION); !ready) {
      c.screen->clear_status();
      return explain(c, ready.error());
    }
    const int fd = made->link.fd();
    ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
    direct::line_peer peer(fd, fd);
    std::string params;
    json::json_writer w(params);
    w.begin_object().member("name", subject->name).key("arguments").token(*arguments).end_object();
    here = measure(peer, params, count);
  }
  c.screen->clear_status();
  if (!alone || !here) {
    const auto& why = alone ? here.error() : alone.error();
    if (why.code == errc::cancelled) return terminals::interrupted_exit;
    c.screen->error(
        (alone ? "through mcpbx: " : "tool server \"" + redact::printable(subject->server) + "\" alone: ") +
        redact::printable(why.message) +
        (alone ? "" : "; `mcpbx doctor " + redact::printable(shell_word(subject->server)) + "` tells more"));
    return terminals::no_answer;
  }
  if (!c.json) {
    show_sides(c, *subject, *alone, *here);
    return terminals::done;
  }
  std::string json;
  json::json_writer w(json);
  w.begin_object().members("tool", subject->name, "server", subject->server, "atOnce", at_once);
  write_side(w, "alone", *alone);
  write_side(w, "mcpbx", *here);
  w.key("difference").begin_object().key("p50Us").token(with_digits(here->p50 - alone->p50, 1));
  w.key("p95Us").token(with_digits(here->p95 - alone->p95, 1)).end_object().end_object();
  c.screen->out_json(json);
  return terminals::done;
}

verb_action declare_bench(CLI::App& page) {
  const auto o = std::make_shared<bench_options>();
  page.add_option("TOOL", o->tool, "a tool of a server with a command (toolbox__calculate)")->type_name("");
  o->arguments.declare(page);
  page.add_option("--calls", o->calls, "calls of each measurement (200)")
      ->check(input::whole_number(1, 100'000))
      ->type_name("N");
  page.add_flag("--yes", o->yes, "call a tool that does not say that it only reads");
  return [o](context& c) { return bench(c, *o); };
}

}  // namespace

verb verb_bench() {
  return {
      .name = "bench",
      .place = 15,
      .summary = "what a call costs here, next to the tool server alone",
      .more =
          R"(Starts the tool server once more, by itself, as its entry says, and calls a tool of it N times one after another and N
times with 16 calls at once; then does the same through the daemon. The difference is the price of mcpbx. Each of the four
measurements ends after a minute at the latest, and the server that was started for them with its command.

Examples:
  mcpbx bench --calls 500
  mcpbx bench toolbox__calculate expression=2+2
  mcpbx bench files__write --yes --args '{"path":"a.txt","text":"hello"}')",
      .declare = declare_bench};
}

}  // namespace mcpbx::cli::verbs
