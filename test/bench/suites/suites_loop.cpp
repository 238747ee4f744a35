// The loop: what a run costs beside the model and the tools; and the short commands.
#include "test/bench/http_channel.hpp"
#include "test/bench/loop_case.hpp"
#include "test/bench/process.hpp"
#include "test/bench/session.hpp"
#include "test/bench/suites/suites.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <utility>

namespace mcpbx::bench {
namespace {

// bench_model, with the port that it chose.
class model_endpoint {
 public:
  explicit model_endpoint(const std::string& bin) : process_({bin + "/bench_model"}, process::io::output) {
    const int out = process_.take_out();
    char text[16] = {};
    if (::read(out, text, sizeof text - 1) <= 0) give_up("bench_model did not start");
    ::close(out);
    port_ = std::atoi(text);
  }
  int port() const noexcept { return port_; }

 private:
  process process_;
  int port_ = 0;
};

// `store`: its url; `sqlite:` is in the folder of the run.
std::string model_members(int port, const char* store) {
  return R"("models":{"bench":{"api":"openai-chat","baseUrl":"http://127.0.0.1:)" + std::to_string(port) +
         R"(/v1","model":"bench-0-1-0","apiKey":"none"}},"defaultModel":"bench","toolNames":"plain",)"
         R"("loop":{"maxRounds":100,"status":"off"},"store":{"url":")" +
         store + R"("},)";
}

// The bare loop and mcpbxd in turn, each warmed up.
class loop_pair {
 public:
  loop_pair(const bench_options& o, const model_endpoint& model, const char* store, std::string peak_row)
      : bin_(o.bin),
        peak_row_(std::move(peak_row)),
        port_(model.port()),
        daemon_(target::mcpbx, {.bin = o.bin, .more = model_members(model.port(), store)}) {}

  // CPU milliseconds of mcpbxd per run.
  template <class Note>
  double measure(const loop_case& what, report& out, Note&& note, const std::string& peak_row = {}) {
    loop_case warm = what;
    warm.runs = what.concurrency;
    run_bare(warm, port_, bin_);
    note("direct", run_bare(what, port_, bin_));
    run_chats(warm, daemon_.socket());
    const auto before = daemon_.own().weigh().cpu_ns;
    daemon_.own().reset_peak();
    const auto figures = run_chats(what, daemon_.socket());
    const auto after = daemon_.own().weigh();
    out.add(peak_row.empty() ? peak_row_ : peak_row, "mcpbx", after.peak_mib);
    note("mcpbx", figures);
    return static_cast<double>(after.cpu_ns - before) / 1e6 / what.runs;
  }

 private:
  std::string bin_, peak_row_;
  int port_;
  session daemon_;
};

// `rounds` names the rows.
void measure_rounds(const bench_options& o, report& out, loop_pair& both, const std::string& rounds) {
  const double cpu = both.measure({.rounds = 10, .runs = o.scaled(200)}, out, [&](const char* name, const auto& f) {
    const double run = quantile(f.run_us, 0.5);
    out.add(rounds + ", run p50", name, run / 1e3);
    out.add(rounds + ", per round", name, run / 10);
  });
  out.add(rounds + ", CPU per run", "mcpbx", cpu);
  both.measure({.rounds = 10, .concurrency = 100, .runs = o.quick ? 200 : 1'000}, out,
               [&](const char* name, const auto& f) {
                 out.add(rounds + ", 100 at once", name, static_cast<double>(f.run_us.size()) / f.wall_us * 1e6);
               });
}

}  // namespace

void suite_loop(const bench_options& o, report& out) {
  const model_endpoint model(o.bin);
  {
    loop_pair both(o, model, "none", "resident, peak under runs");
    measure_rounds(o, out, both, "10 tool rounds");
    const auto stream = [&](const std::string& row, const loop_case& what, const std::string& peak_row) {
      const double cpu = both.measure(
          what, out, [&](const char* name, const auto& f) { out.add(row, name, f.tokens / f.wall_us * 1e6); },
          peak_row);
      out.add(row + ", CPU per token", "mcpbx", cpu * 1e3 / what.tokens);
    };
    stream("streamed answer", {.tokens = 2'000, .stream = true, .runs = o.quick ? 5 : 30}, {});
    stream("100 streamed answers", {.tokens = 2'000, .stream = true, .concurrency = 100, .runs = o.quick ? 100 : 400},
           "resident, peak under 100 streams");
    both.measure({.tokens = 20, .gap_us = 2'000, .stream = true, .runs = o.quick ? 5 : 20}, out,
                 [&](const char* name, const auto& f) {
                   out.add("first token, p50", name, quantile(f.first_token_us, 0.5) / 1e3);
                 });
  }
  loop_pair journal(o, model, "sqlite:", "resident, journal on, peak");
  measure_rounds(o, out, journal, "10 rounds, journal on");
}

// One round at each door: the socket's is measured beside each, since only figures of one moment can be compared.
void suite_doors(const bench_options& o, report& out) {
  const model_endpoint model(o.bin);
  const int port = free_port();
  const session daemon(target::mcpbx, {.bin = o.bin,
                                       .http = port,
                                       .more = R"("http":{"auth":"none"},"limits":{"callers":4096},)" +
                                               model_members(model.port(), "none")});
  for (const std::string door : {"/v1/chat/completions", "/v1/messages", "/v1/responses", "/api/chat"})
    for (const bool stream : {false, true}) {
      const loop_case what{.stream = stream, .runs = o.scaled(3'000)};
      const std::string row = "a round at " + door + (stream ? ", streamed" : "") + ", p50";
      loop_figures socket, http;
      // In turn, in parts, so that both meet the same moments.
      for (int part = 0; part < 4; ++part) {
        auto some = what;
        some.runs = what.runs / 4;
        const auto add = [](loop_figures& to, const loop_figures& from) {
          to.run_us.insert(to.run_us.end(), from.run_us.begin(), from.run_us.end());
        };
        add(socket, run_chats(some, daemon.socket()));
        add(http, run_http_chats(some, [&] { return connect_port(port); }, door));
      }
      out.add(row, "direct", quantile(socket.run_us, 0.5));
      out.add(row, "mcpbx", quantile(http.run_us, 0.5));
    }
  // All are under way at once, since each one's tokens take longer than all requests together.
  constexpr int chats = 1'000;
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  if (files.rlim_max < 4 * chats) return;
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
  // The daemon and the model have begun with fewer.
  const model_endpoint large_model(o.bin);
  const session large(
      target::mcpbx,
      {.bin = o.bin, .more = R"("limits":{"callers":4096},)" + model_members(large_model.port(), "none")});
  large.own().reset_peak();
  // On the socket, which takes them all at once; on the port the program behind each one is looked for first.
  run_http_chats(
      {.tokens = 50, .gap_us = 60'000, .stream = true, .concurrency = chats, .runs = chats},
      [&] { return connect_unix(large.socket()); }, "/v1/chat/completions");
  out.add("resident, peak under 1,000 chats over HTTP", "mcpbx", large.own().weigh().peak_mib);
}

void suite_cli(const bench_options& o, report& out) {
  const session daemon(target::mcpbx, {.bin = o.bin});
  const auto cpu = [&](const std::vector<std::string>& words, const char* row) {
    std::vector<std::string> argv{o.bin + "/mcpbx"};
    argv.insert(argv.end(), words.begin(), words.end());
    const double ms = process(argv, process::io::none).finish();
    if (ms < 0) give_up(std::string(row) + ": the command failed");
    out.add(row, "mcpbx", ms);
  };
  for (int i = 0; i < 5; ++i) {
    cpu({"--version"}, "mcpbx --version, CPU");
    cpu({"--socket", daemon.socket(), "tools"}, "mcpbx tools, CPU");
  }
}

}  // namespace mcpbx::bench
