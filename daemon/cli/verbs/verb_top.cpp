// `mcpbx top`: what the tool servers do now, on a screen that is drawn again and again, or once.
#include "daemon/cli/base/daemon_calls.hpp"
#include "daemon/cli/base/verb.hpp"
#include "daemon/cli/terminal/full_screen.hpp"
#include "daemon/cli/text/top_text.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace mcpbx::cli::verbs {
namespace {

struct top_options {
  bool once = false;
  double interval = 2;  ///< seconds
};

int print_once(context& c, link::daemon_connection& link) {
  int status = 0;
  const auto live = call_or_explain(c, link, "mcpbx/stats/live", "{}", status);
  if (!live) return status;
  if (c.json) {
    c.screen->out_json(live->text());
    return terminals::done;
  }
  for (const auto& line : text::top_lines(*live, c.screen->out_width(), 0, c.screen->cut_mark()))
    c.screen->out_line(line);
  return terminals::done;
}

// Writes one object a line until it is interrupted.
int print_lines(context& c, link::daemon_connection& link, std::chrono::milliseconds interval) {
  for (;;) {
    if (const int status = print_once(c, link); status != terminals::done) return status;
    if (!link::wait_ready_for({}, interval)) return terminals::interrupted_exit;
  }
}

int watch_screen(context& c, link::daemon_connection& link, std::chrono::milliseconds interval) {
  using clock = std::chrono::steady_clock;
  int status = terminals::done;
  result<link::answer> live = link::answer{};
  {
    terminals::full_screen all(*c.screen);
    auto next = clock::now();
    for (bool ask = true;;) {
      if (ask) {
        live = link.call("mcpbx/stats/live", "{}");
        if (!live || live->error) break;
        next = clock::now() + interval;
      }
      const auto height = c.screen->out_height();
      auto lines =
          text::top_lines(live->result, c.screen->out_width(), height > 2 ? height - 1 : height, c.screen->cut_mark());
      if (height > 2) lines.push_back(terminals::terminal::dim("q ends"));
      all.draw(lines);
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - clock::now());
      const auto what = all.wait(std::max(left, std::chrono::milliseconds(0)));
      if (what == terminals::full_screen::event::interrupt) {
        status = terminals::interrupted_exit;
        break;
      }
      if (what == terminals::full_screen::event::key && (all.key() == 'q' || all.key() == 'Q')) break;
      ask = what == terminals::full_screen::event::time_over ||
            (what == terminals::full_screen::event::key && all.key() == ' ');
    }
  }
  // Said when the terminal is as before.
  if (!live) return explain(c, live.error());
  return live->error ? explain(c, *live) : status;
}

int top(context& c, const top_options& o) {
  int status = 0;
  auto made = connect_or_explain(c, false, status);
  if (!made) return status;
  const std::chrono::milliseconds interval(static_cast<std::int64_t>(o.interval * 1000));
  if (o.once || (!c.json && !c.screen->out_is_terminal())) return print_once(c, made->link);
  link::catch_interrupts();
  return c.json ? print_lines(c, made->link, interval) : watch_screen(c, made->link, interval);
}

verb_action declare_top(CLI::App& page) {
  const auto o = std::make_shared<top_options>();
  page.add_flag("--once", o->once, "print it once and end; so does a pipe without --json");
  page.add_option("--interval", o->interval, "seconds between two looks, 0.1 to 3600 (2)")
      ->type_name("S")
      ->check(CLI::Validator(
          [](std::string& word) {
            double seconds = 0;
            const bool number = CLI::detail::lexical_cast(word, seconds);
            return number && seconds >= 0.1 && seconds <= 3600
                       ? std::string()
                       : "expected a number of seconds from 0.1 to 3600, got " + word;
          },
          ""));
  return [o](context& c) { return top(c, *o); };
}

}  // namespace

verb verb_top() {
  return {
      .name = "top",
      .place = 10,
      .summary = "what the tool servers do now: calls, times, memory",
      .more =
          R"(A screen that is drawn again every two seconds: the servers with most calls first. q or Ctrl-C ends it, and a blank
looks at once.

CALLS/S and P95 are of the latest 10 to 20 s: the calls in a second, and the time within which 95 of 100 of them ended.
CALLS and FAILED count since the server's entry was read first; failed calls got no answer, an error, or a result that
says that it is one. MEMORY is that of all processes of the server.
With --json: an object for each look, one a line; with --once one object.

Example:
  mcpbx top --once)",
      .declare = declare_top};
}

}  // namespace mcpbx::cli::verbs
