// The bare loop: one thread, epoll, one connection to the model per run at a time, one pipe to the tool server.
#include "test/bench/echo/echo_tools.hpp"
#include "test/bench/line_stream.hpp"
#include "test/bench/loop_case.hpp"
#include "test/bench/model_connection.hpp"
#include "test/bench/process.hpp"
#include "test/fixtures/json_peek.hpp"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace mcpbx::bench {
namespace {

// The string token (without quotes) that follows `key`; bench_model's events have each key once.
std::string_view token_after(std::string_view json, std::string_view key) {
  const auto at = json.find(key);
  if (at == std::string_view::npos) return {};
  const auto begin = at + key.size();
  auto end = begin;
  while (end < json.size() && json[end] != '"') end += json[end] == '\\' ? 2 : 1;
  return json.substr(begin, end - begin);
}

std::string offered_tools() {
  std::string out = R"(,"tools":[)";
  for (long i = 0; i < 10; ++i) {
    if (i > 0) out += ',';
    out += R"({"type":"function","function":{"name":")" + tool_name(i) + R"(","description":")";
    out += tool_description;
    out += R"(","parameters":)";
    out += tool_schema;
    out += "}}";
  }
  return out + "]}";
}

class bare_loop {
 public:
  bare_loop(const loop_case& what, int port, const std::string& bin)
      : what_(what),
        process_({bin + "/bench_echo", "10"}, process::io::pipes),
        in_(process_.take_out()),
        tools_(in_, process_.take_in()) {
    for (int i = 0; i < what.concurrency; ++i) runs_.emplace_back(port);
    watch(in_, 0);
    for (std::size_t i = 0; i < runs_.size(); ++i) watch(runs_[i].http.fd(), static_cast<std::uint32_t>(i + 1));
    left_ = what.runs;
  }
  ~bare_loop() { ::close(poll_); }
  bare_loop(const bare_loop&) = delete;
  bare_loop& operator=(const bare_loop&) = delete;

  loop_figures run() {
    const double since = now_us();
    for (auto& r : runs_) begin(r);
    std::array<epoll_event, 128> ready{};
    while (active_ > 0) {
      const int n = ::epoll_wait(poll_, ready.data(), ready.size(), 60'000);
      if (n <= 0) give_up("the bare loop stands still");
      for (int i = 0; i < n; ++i) {
        const auto index = ready[static_cast<std::size_t>(i)].data.u32;
        if (index == 0)
          tool_answers();
        else
          model_answers(runs_[index - 1]);
      }
      if (!tools_.flush()) give_up("the tool server ended");
    }
    figures_.wall_us = now_us() - since;
    return std::move(figures_);
  }

 private:
  struct one_run {
    explicit one_run(int port) : http(port) {}
    model_connection http;
    std::string messages, name, id, arguments;
    double since = 0, first = 0;
    int rounds = 0;
  };

  void watch(int fd, std::uint32_t index) const {
    epoll_event e{};
    e.events = EPOLLIN;
    e.data.u32 = index;
    ::epoll_ctl(poll_, EPOLL_CTL_ADD, fd, &e);
  }

  void begin(one_run& r) {
    if (left_ == 0) return;
    --left_;
    ++active_;
    r.messages = R"({"role":"user","content":"go"})";
    r.since = now_us();
    r.first = 0;
    r.rounds = 0;
    ask(r);
  }

  void ask(one_run& r) {
    r.name.clear();
    r.id.clear();
    r.arguments.clear();
    r.http.post(R"({"model":")" + what_.script() + R"(","stream":true,"messages":[)" + r.messages + "]" + offer_);
  }

  void model_answers(one_run& r) {
    const bool complete = r.http.read([&](std::string_view event) {
      if (const auto text = token_after(event, R"("content":")"); !text.empty()) {
        if (r.first == 0) r.first = now_us();
        figures_.tokens += static_cast<double>(text.size()) / token_bytes;
      }
      if (event.find(R"("tool_calls":[)") == std::string_view::npos) return;
      if (const auto id = token_after(event, R"("tool_calls":[{"index":0,"id":")"); !id.empty()) r.id = id;
      if (const auto name = token_after(event, R"("name":")"); !name.empty()) r.name = name;
      r.arguments += token_after(event, R"("arguments":")");
    });
    if (!complete) return;
    if (r.name.empty()) return end(r);
    ++r.rounds;
    r.messages += R"(,{"role":"assistant","content":null,"tool_calls":[{"id":")" + r.id +
                  R"(","type":"function","function":{"name":")" + r.name + R"(","arguments":")" + r.arguments +
                  R"("}}]})";
    callers_[++last_] = &r;
    tools_.queue() += R"({"jsonrpc":"2.0","id":)" + std::to_string(last_) +
                      R"(,"method":"tools/call","params":{"name":")" + r.name + R"(","arguments":)" +
                      fixture::text_of("\"" + r.arguments + "\"") + "}}\n";
  }

  void tool_answers() {
    if (!tools_.fill([&](std::string_view line) {
          long id = 0;
          const auto token = id_of(line);
          std::from_chars(token.data(), token.data() + token.size(), id);
          auto waiting = callers_.extract(id);
          if (waiting.empty()) return;
          one_run& r = *waiting.mapped();
          r.messages += R"(,{"role":"tool","tool_call_id":")" + r.id + R"(","content":")";
          r.messages += token_after(line, R"("text":")");
          r.messages += "\"}";
          ask(r);
        }))
      give_up("the tool server ended");
  }

  void end(one_run& r) {
    if (r.rounds != what_.rounds) give_up("the bare loop made " + std::to_string(r.rounds) + " rounds");
    const double now = now_us();
    figures_.run_us.push_back(now - r.since);
    if (r.first > 0) figures_.first_token_us.push_back(r.first - r.since);
    --active_;
    begin(r);
  }

  const loop_case what_;
  process process_;
  int in_;
  line_stream tools_;
  int poll_ = ::epoll_create1(EPOLL_CLOEXEC);
  std::deque<one_run> runs_;
  std::unordered_map<long, one_run*> callers_;
  const std::string offer_ = offered_tools();
  loop_figures figures_;
  long last_ = 0;
  int left_ = 0, active_ = 0;
};

}  // namespace

loop_figures run_bare(const loop_case& what, int model_port, const std::string& bin) {
  return bare_loop(what, model_port, bin).run();
}

}  // namespace mcpbx::bench
