// `mcpbx logs`: the daemon's log, or the stderr of a tool server; now, or as it comes.
#include "conf/places.hpp"
#include "daemon/cli/base/daemon_calls.hpp"
#include "daemon/cli/base/log_file.hpp"
#include "daemon/cli/base/verb.hpp"
#include "daemon/cli/input/option_checks.hpp"
#include "mcp/json/json_writer.hpp"
#include "mcp/redact/hidden_text.hpp"
#include "mcp/support/text.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::cli::verbs {
namespace {

constexpr int longest_follow_ms = 30'000;  ///< of one request; then it is asked again

struct logs_options {
  std::string server;
  bool follow = false;
  int lines = 200;
};

// "19:17:46" of a time in UTC.
std::string clock_of(std::int64_t ms) {
  const auto seconds = ms / 1000 % 86'400;
  const auto two = [](std::int64_t n) { return (n < 10 ? "0" : "") + std::to_string(n); };
  return two(seconds / 3600) + ":" + two(seconds / 60 % 60) + ":" + two(seconds % 60);
}

// Writes lines as they come. With --json: one array, or one object a line while it follows.
class log_output {
 public:
  log_output(context& c, bool follow) : c_(c), follow_(follow) {}
  // Returns false if standard output takes no more.
  bool put(std::int64_t at_ms, std::string_view text) {
    if (c_.json) {
      std::string json;
      json::json_writer w(json);
      w.begin_object();
      if (at_ms >= 0) w.member("atMs", at_ms);
      w.member("text", text).end_object();
      if (follow_) return c_.screen->out_bytes(json + "\n");
      list_ += (list_.empty() ? "" : ",") + json;
      return true;
    }
    // The text of a server may not move the cursor or look like a line of ours.
    if (c_.screen->out_is_terminal()) {
      if (at_ms >= 0)
        c_.screen->out_line(terminals::terminal::dim(clock_of(at_ms) + " ") + redact::visible(text));
      else
        c_.screen->out_line(redact::visible(text));
      return true;
    }
    return c_.screen->out_bytes((at_ms >= 0 ? clock_of(at_ms) + " " : "") + std::string(text) + "\n");
  }
  void end() {
    if (c_.json && !follow_) c_.screen->out_json("[" + list_ + "]");
  }

 private:
  context& c_;
  bool follow_;
  std::string list_;
};

int server_logs(context& c, const logs_options& o) {
  int status = 0;
  auto made = connect_or_explain(c, false, status);
  if (!made) return status;
  if (o.follow) link::catch_interrupts();
  log_output out(c, o.follow);
  std::string params = json::json_object("server", o.server, "lines", o.lines);
  for (;;) {
    const auto got = call_or_explain(c, made->link, "mcpbx/logs", params, status);
    if (!got) return link::interrupted() ? static_cast<int>(terminals::interrupted_exit) : status;
    if (const auto lost = json::find_member(*got, "lost").as_integer().value_or(0); lost > 0)
      c.screen->err_line("mcpbx: " + counted(lost, "line") + " left out: they came faster than they were read");
    bool open = true;
    json::for_each_element(json::find_member(*got, "lines"), [&](const json::raw_json& line) {
      open = out.put(json::find_member(line, "atMs").as_integer().value_or(0), json::member_text(line, "text"));
      return open;
    });
    if (!o.follow || !open) break;
    // An interrupt that came while lines were written ends it as well: the next call only sees later ones.
    if (link::interrupted()) return terminals::interrupted_exit;
    params =
        json::json_object("server", o.server, "after", json::find_member(*got, "last"), "waitMs", longest_follow_ms);
  }
  out.end();
  return terminals::done;
}

int file_logs(context& c, const logs_options& o, const std::string& path) {
  auto file = log_file::open(path, static_cast<std::size_t>(o.lines));
  if (!file) {
    c.screen->error(file.error().message + "; `mcpbx status` tells whether a daemon runs");
    return terminals::no_answer;
  }
  if (o.follow) link::catch_interrupts();
  log_output out(c, o.follow);
  for (;;) {
    bool open = true;
    file->take([&](std::string_view line) { return open = out.put(-1, line); });
    if (!o.follow || !open) break;
    if (!link::wait_ready_for({}, std::chrono::milliseconds(250))) return terminals::interrupted_exit;
  }
  out.end();
  return terminals::done;
}

// Says where a log is that this program does not read.
int elsewhere(context& c, const json::raw_json& place, const logs_options& o) {
  const std::string to = json::member_text(place, "to"), unit = json::member_text(place, "unit");
  if (to != "journal") {
    c.screen->error("the daemon writes its log to " +
                    std::string(to == "terminal" ? "the terminal where it was started" : "a pipe of its starter") +
                    "; `mcpbx logs SERVER` shows the log of a tool server");
    return terminals::no_answer;
  }
  const std::string pid(json::find_member(place, "pid").text());
  std::string command = "journalctl ";
  if (!unit.empty())
    command += (json::find_member(place, "user").is_true() ? "--user -u " : "-u ") + shell_word(unit);
  else
    command += "_PID=" + pid;
  c.screen->error("the daemon's log is in the journal of systemd; `" + command + (o.follow ? " -f" : "") +
                  "` shows it");
  return terminals::no_answer;
}

int daemon_logs(context& c, const logs_options& o) {
  const auto state = conf::state_directory(conf::environment_for_places());
  const std::string usual = state ? (*state / "mcpbxd.log").string() : std::string();
  if (auto made = link::connect(c.place, false)) {
    const auto place = made->link.call("mcpbx/logs", "{}");
    if (place && !place->error) {
      const std::string file = json::member_text(place->result, "file");
      return file.empty() ? elsewhere(c, place->result, o) : file_logs(c, o, file);
    }
  }
  // The log of a daemon that has ended tells why.
  if (c.place.socket.empty() && !usual.empty() && log_file::exists(usual)) return file_logs(c, o, usual);
  c.screen->error("no daemon runs, and there is no log" + (usual.empty() ? "" : " at " + usual) +
                  "; `mcpbx tools` starts one");
  return terminals::no_daemon;
}

int logs(context& c, const logs_options& o) {
  return o.server.empty() ? daemon_logs(c, o) : server_logs(c, o);
}

verb_action declare_logs(CLI::App& page) {
  const auto o = std::make_shared<logs_options>();
  page.add_option("SERVER", o->server, "a tool server; without it, the daemon")->type_name("");
  page.add_flag("-f,--follow", o->follow, "go on with lines as they come; Ctrl-C ends it");
  page.add_option("-n,--lines", o->lines, "how many of the last lines to begin with (200)")
      ->type_name("N")
      ->check(input::whole_number(0, 10'000));
  return [o](context& c) { return logs(c, *o); };
}

}  // namespace

verb verb_logs() {
  return {
      .name = "logs",
      .place = 12,
      .summary = "the log of the daemon, or the stderr of a tool server",
      .more =
          R"(Without SERVER: the file that the daemon writes, also after its end; if the log is in systemd's journal, the command
that shows it. With SERVER: the end of what it wrote to stderr, 64 KiB of all its processes, with times in UTC. A reader
that is slower than a server misses lines and is told how many.
With --json: one array of {atMs?, text}, or with -f such an object a line.

Examples:
  mcpbx logs -n 20
  mcpbx logs -f files)",
      .declare = declare_logs};
}

}  // namespace mcpbx::cli::verbs
