// Tool servers that exist in memory only: a process_launcher whose processes are scripts. Everything they do happens in
// turns of the turned clock (advance(0ms) runs what is due now), never inside a call, as with real processes.
#pragma once
#include "mcp/process/server_process.hpp"
#include "mcp/rpc/line_framer.hpp"
#include "mcp/rpc/rpc_message.hpp"
#include "mcp/transport/transport.hpp"
#include "test/support/manual_time.hpp"

#include <signal.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::test {

class scripted_process;
/// Reaction of a server to one message.
using script = std::function<void(scripted_process&, const mcp::rpc::message&)>;

/// Runs work in later turns, in order.
class turn_queue : public std::enable_shared_from_this<turn_queue> {
 public:
  explicit turn_queue(manual_time& time) : time_(time), timer_(time.make_timer()) {}
  void post(std::function<void()> work) {
    work_.push_back(std::move(work));
    if (work_.size() == 1) timer_->arm(time_.now(), [this] { run(); });
  }
  manual_time& time() { return time_; }
  /// Drops what waits, which may hold this in turn.
  void clear() {
    timer_->cancel();
    std::exchange(work_, {}).clear();
  }

 private:
  void run() {
    const auto self = shared_from_this();
    for (auto& work : std::exchange(work_, {})) work();
  }
  manual_time& time_;
  std::unique_ptr<timer> timer_;
  std::vector<std::function<void()>> work_;
};

/// One process from its own point of view. Stays after its end, for the test to look at.
class scripted_process : public std::enable_shared_from_this<scripted_process> {
 public:
  scripted_process(std::shared_ptr<turn_queue> turns, mcp::process::process_spec s, pid_t p,
                   mcp::process::process_events& events)
      : spec(std::move(s)), pid(p), turns_(std::move(turns)), events_(&events), framer_({.repair_utf8 = true}) {}

  mcp::process::process_spec spec;
  pid_t pid;
  script on_message;                      ///< the server's part
  std::function<void()> on_stdin_closed;  ///< instead of exiting with status 0
  bool ignores_stdin_end = false, ignores_sigterm = false, ignores_sigkill = false;
  bool reads = true;                  ///< false: what is sent stays unsent
  std::vector<std::string> received;  ///< every line it was sent
  std::vector<int> signals;
  bool stdin_closed = false, exited = false, killed_by_owner = false, connection_gone = false;

  /// Prints a line to stdout.
  void say(std::string line) { say_bytes(std::move(line) + "\n"); }
  void say_bytes(std::string bytes) {
    turn([this, b = std::move(bytes)] {
      if (connection_events_ && !stdout_closed_) framer_.feed(b, *connection_events_);
    });
  }
  void say_stderr(std::string bytes) {
    turn([this, b = std::move(bytes)] {
      if (events_) events_->on_stderr(b);
    });
  }
  void close_stdout() {
    turn([this] { end_stdout(); });
  }
  /// It ends; what it said before is delivered first.
  void exit(int status) { end({false, status}); }
  void die(int signal_number) { end({true, signal_number}); }
  void answer(const mcp::rpc::message& request, std::string_view result) {
    say("{\"jsonrpc\":\"2.0\",\"id\":" + std::string(request.id.token()) + ",\"result\":" + std::string(result) + "}");
  }
  void refuse(const mcp::rpc::message& request, int code, std::string_view text, std::string_view data = {}) {
    say("{\"jsonrpc\":\"2.0\",\"id\":" + std::string(request.id.token()) +
        ",\"error\":{\"code\":" + std::to_string(code) + ",\"message\":" + json::json_quoted(text) +
        (data.empty() ? "" : ",\"data\":" + std::string(data)) + "}}");
  }
  /// Counts the received messages with this method.
  int count(std::string_view method) const {
    int n = 0;
    for (const auto& line : received)
      if (auto m = mcp::rpc::parse_message(json::raw_json::own(line)); m && m->method() == method) ++n;
    return n;
  }
  /// Returns the last received message with this method, or "".
  std::string last(std::string_view method) const {
    for (auto line = received.rbegin(); line != received.rend(); ++line)
      if (auto m = mcp::rpc::parse_message(json::raw_json::own(*line)); m && m->method() == method) return *line;
    return {};
  }

  // The other side (connection and handle).
  void spawned(std::unique_ptr<mcp::transports::transport> connection) {
    if (events_) events_->on_spawned(pid, std::move(connection));
  }
  void connect(mcp::transports::transport_events& events) { connection_events_ = &events; }
  void disconnect() {
    connection_events_ = nullptr;
    connection_gone = true;
  }
  void forget() {
    events_ = nullptr;
    if (!exited) killed_by_owner = true;
    exited = true;
  }
  void take(std::string line) {
    unsent_.push_back(std::move(line));
    unsent_bytes_ += unsent_.back().size() + 1;
    if (unsent_.size() == 1) turn([this] { read(); });
  }
  /// Goes on reading after `reads` was false.
  void read_again() {
    reads = true;
    turn([this] { read(); });
  }
  std::size_t unsent() const { return unsent_bytes_; }
  void stdin_ends() {
    turn([this] {
      if (std::exchange(stdin_closed, true) || exited) return;
      if (on_stdin_closed) return on_stdin_closed();
      if (!ignores_stdin_end) exit(0);
    });
  }
  void signalled(int number) {
    turn([this, number] {
      if (exited) return;
      signals.push_back(number);
      if (number == SIGTERM && ignores_sigterm) return;
      if (number == SIGKILL && ignores_sigkill) return;
      die(number);
    });
  }

 private:
  void turn(std::function<void()> work) {
    turns_->post([self = shared_from_this(), w = std::move(work)] { w(); });
  }
  void read() {
    if (!reads || exited) return;
    for (auto& line : std::exchange(unsent_, {})) {
      if (exited) return;
      received.push_back(line);
      auto m = mcp::rpc::parse_message(json::raw_json::own(line));
      if (m && on_message) on_message(*this, *m);
    }
    const bool had = std::exchange(unsent_bytes_, 0) != 0;
    if (had && connection_events_) connection_events_->on_drained();
  }
  void end_stdout() {
    if (std::exchange(stdout_closed_, true) || !connection_events_) return;
    framer_.finish(*connection_events_);
    if (connection_events_) connection_events_->on_closed({errc::unavailable, "the other side closed the connection"});
  }
  void end(mcp::process::process_exit how) {
    turn([this, how] {
      if (std::exchange(exited, true)) return;
      end_stdout();
      turn([this, how] {
        if (events_) events_->on_exited(how);
      });
    });
  }

  std::shared_ptr<turn_queue> turns_;
  mcp::process::process_events* events_;
  mcp::transports::transport_events* connection_events_ = nullptr;
  mcp::rpc::line_framer framer_;
  std::vector<std::string> unsent_;
  std::size_t unsent_bytes_ = 0;
  bool stdout_closed_ = false;
};

/// Launches scripts: for each name the next one in line, the last one for ever.
class scripted_launcher final : public mcp::process::process_launcher {
 public:
  using setup = std::function<void(scripted_process&)>;
  explicit scripted_launcher(manual_time& time) : turns_(std::make_shared<turn_queue>(time)) {}
  ~scripted_launcher() override { turns_->clear(); }
  scripted_launcher(const scripted_launcher&) = delete;
  scripted_launcher& operator=(const scripted_launcher&) = delete;

  /// Adds a life for the servers called `name`; `begin` is called before it is spawned and sets on_message.
  void add(const std::string& name, setup begin) { lives_[name].push_back(std::move(begin)); }
  void add(const std::string& name, script s) {
    add(name, setup([s = std::move(s)](scripted_process& p) { p.on_message = s; }));
  }
  /// Spawning fails with this text while it is not empty.
  std::string spawn_failure;
  /// Every process ever, in the order of spawning, and when.
  std::vector<std::shared_ptr<scripted_process>> spawned;
  std::vector<time_point> spawn_times;
  int attempts = 0;

  scripted_process& last() { return *spawned.back(); }
  std::size_t count(std::string_view name) const {
    std::size_t n = 0;
    for (const auto& p : spawned) n += p->spec.name == name ? 1 : 0;
    return n;
  }
  std::size_t alive() const {
    std::size_t n = 0;
    for (const auto& p : spawned) n += p->exited ? 0 : 1;
    return n;
  }

  std::unique_ptr<mcp::process::server_process> launch(mcp::process::process_spec spec,
                                                       mcp::process::process_events& events) override {
    ++attempts;
    const auto dropped = std::make_shared<bool>(false);
    if (!spawn_failure.empty()) {
      turns_->post([&events, dropped, why = spawn_failure] {
        if (!*dropped) events.on_spawn_failed({errc::not_found, why});
      });
      return std::make_unique<handle>(nullptr, dropped);
    }
    auto p = std::make_shared<scripted_process>(turns_, std::move(spec), next_pid_++, events);
    auto& line = lives_[p->spec.name];
    if (!line.empty()) {
      auto begin = line.front();
      if (line.size() > 1) line.pop_front();
      begin(*p);
    }
    spawned.push_back(p);
    spawn_times.push_back(turns_->time().now());
    turns_->post([p, dropped] {
      if (!*dropped) p->spawned(std::make_unique<connection>(p));
    });
    return std::make_unique<handle>(p, dropped);
  }

 private:
  class handle final : public mcp::process::server_process {
   public:
    handle(std::shared_ptr<scripted_process> p, std::shared_ptr<bool> dropped)
        : process_(std::move(p)), dropped_(std::move(dropped)) {}
    ~handle() override {
      *dropped_ = true;
      if (process_) process_->forget();
    }
    handle(const handle&) = delete;
    handle& operator=(const handle&) = delete;
    void signal(int number) override {
      if (process_) process_->signalled(number);
    }

   private:
    std::shared_ptr<scripted_process> process_;
    std::shared_ptr<bool> dropped_;
  };

  class connection final : public mcp::transports::transport {
   public:
    explicit connection(std::shared_ptr<scripted_process> p) : process_(std::move(p)) {}
    ~connection() override { connection::close(); }
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;
    void start(mcp::transports::transport_events& events) override { process_->connect(events); }
    void send(const json::segments& text, mcp::rpc::outgoing) override { process_->take(text.str()); }
    std::size_t unsent() const noexcept override { return process_->unsent(); }
    void pause_reading(bool) override {}
    void finish_sending() override { process_->stdin_ends(); }
    void close() override {
      process_->disconnect();
      process_->stdin_ends();
    }

   private:
    std::shared_ptr<scripted_process> process_;
  };

  std::shared_ptr<turn_queue> turns_;
  std::map<std::string, std::deque<setup>> lives_;
  pid_t next_pid_ = 1000;
};

/// A definition as servers list it.
inline std::string tool_definition(std::string_view name, std::string_view more = "") {
  return "{\"name\":" + json::json_quoted(name) + ",\"description\":" + json::json_quoted("Does " + std::string(name)) +
         ",\"inputSchema\":{\"type\":\"object\"}" + std::string(more) + "}";
}
inline std::string tools_page(const std::vector<std::string>& definitions, std::string_view more = "") {
  std::string out = "{\"tools\":[";
  for (std::size_t i = 0; i < definitions.size(); ++i) out += (i == 0 ? "" : ",") + definitions[i];
  return out + "]" + std::string(more) + "}";
}
inline std::string text_result(std::string_view text) {
  return "{\"content\":[{\"type\":\"text\",\"text\":" + json::json_quoted(text) + "}]}";
}

/// A well-behaved legacy server that lists `tools` and answers each call with its own name and the tool's. `first` sees
/// every message before it and says whether it dealt with it.
inline script legacy_script(std::vector<std::string> tools = {"echo"},
                            std::function<bool(scripted_process&, const mcp::rpc::message&)> first = {},
                            std::string revision = "2025-11-25") {
  return [tools = std::move(tools), first = std::move(first), revision = std::move(revision)](
             scripted_process& p, const mcp::rpc::message& m) {
    if (first && first(p, m)) return;
    if (m.type != mcp::rpc::message::kind::request) return;
    if (m.method() == "initialize") {
      p.answer(m, "{\"protocolVersion\":" + json::json_quoted(revision) +
                      ",\"capabilities\":{\"tools\":{\"listChanged\":true}},\"serverInfo\":{\"name\":\"s\",\"version\":"
                      "\"1\"}}");
    } else if (m.method() == "tools/list") {
      std::vector<std::string> definitions;
      for (const auto& t : tools) definitions.push_back(tool_definition(t));
      p.answer(m, tools_page(definitions));
    } else if (m.method() == "tools/call") {
      p.answer(m, text_result(p.spec.name + ":" + json::find_member(m.params, "name").as_string().value_or("?")));
    } else {
      p.refuse(m, -32601, "Method not found");
    }
  };
}

/// The same for 2026-07-28; refuses requests without the `_meta` that this revision demands.
inline script modern_script(std::vector<std::string> tools = {"echo"},
                            std::function<bool(scripted_process&, const mcp::rpc::message&)> first = {}) {
  return [tools = std::move(tools), first = std::move(first)](scripted_process& p, const mcp::rpc::message& m) {
    if (first && first(p, m)) return;
    if (m.type != mcp::rpc::message::kind::request) return;
    const auto meta = json::find_member(m.params, "_meta");
    if (!json::find_member(meta, "io.modelcontextprotocol/protocolVersion") ||
        !json::find_member(meta, "io.modelcontextprotocol/clientCapabilities"))
      return p.refuse(m, -32602, "_meta is incomplete");
    if (m.method() == "server/discover") {
      p.answer(
          m,
          R"({"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},"ttlMs":0,"cacheScope":"private"})");
    } else if (m.method() == "subscriptions/listen") {
      const std::string id(m.id.token());
      p.say(
          R"({"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":)" +
          id + R"(},"notifications":{"toolsListChanged":true}}})");
    } else if (m.method() == "tools/list") {
      std::vector<std::string> definitions;
      for (const auto& t : tools) definitions.push_back(tool_definition(t));
      p.answer(m, tools_page(definitions, R"(,"resultType":"complete","ttlMs":0,"cacheScope":"private")"));
    } else if (m.method() == "tools/call") {
      p.answer(
          m, R"({"resultType":"complete","content":[{"type":"text","text":)" + json::json_quoted(p.spec.name) + "}]}");
    } else {
      p.refuse(m, -32601, "Method not found");
    }
  };
}

}  // namespace mcpbx::test
