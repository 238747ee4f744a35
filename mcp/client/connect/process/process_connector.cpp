// Runs the program of a tool server as a child process, keeps its stderr, and ends it by signals.
#include "mcp/client/connect/process/process_connector.hpp"

#include "mcp/client/connect/process/stderr_log.hpp"

#include <signal.h>

#include <utility>

namespace mcpbx::mcp::child {
namespace {

constexpr std::size_t stderr_in_status = 4096;

std::string exit_words(const process::process_exit& how) {
  return how.signalled ? "was ended by " + how.text() : "exited with status " + std::to_string(how.value);
}

class process_link;

// State of the present and of past processes. The links share it, since they may outlive the connector by a turn.
struct process_record {
  process_record(std::string name, time_source& clock, std::shared_ptr<clients::stderr_lines> lines,
                 std::size_t stderr_ring)
      : server(std::move(name)), time(clock), errors(server, stderr_ring, writer_to(std::move(lines), clock)) {}
  static std::function<void(std::string_view)> writer_to(std::shared_ptr<clients::stderr_lines> lines,
                                                         time_source& clock) {
    if (!lines) return {};
    return [lines = std::move(lines), &clock](std::string_view line) { lines->add(line, clock.wall_ms()); };
  }
  std::string server;
  time_source& time;
  stderr_log errors;
  const process_link* present = nullptr;  // the latest link, null once it is destroyed
  pid_t pid = -1;                         // pid of `present`, or -1
  std::string exit;                       // exit of the last process that ended
};

class process_link final : public connect::server_link, private process::process_events {
 public:
  process_link(std::shared_ptr<process_record> record, process::process_launcher& launcher,
               connect::link_events& events)
      : record_(std::move(record)), launcher_(launcher), events_(events) {
    record_->present = this;
    record_->pid = -1;
  }
  ~process_link() override {
    if (!is_present()) return;
    record_->present = nullptr;
    record_->pid = -1;
  }
  process_link(const process_link&) = delete;
  process_link& operator=(const process_link&) = delete;

  void begin(const process_source& source) {
    source([this, alive = std::weak_ptr(alive_)](result<process::process_spec> spec) {
      if (!alive.expired() && !std::exchange(prepared_, true)) launch(std::move(spec));
    });
  }

  bool end(connect::ending step) override {
    if (!process_) {
      prepared_ = true;
      failure_.reset();
      return false;
    }
    if (step == connect::ending::insist) process_->signal(SIGTERM);
    if (step == connect::ending::force) process_->signal(SIGKILL);
    return true;
  }

 private:
  bool is_present() const noexcept { return record_->present == this; }

  void launch(result<process::process_spec> spec) {
    if (!spec) {
      // `source` may have answered inside open(), where no event may come; so the failure is reported in the next turn.
      failure_ = record_->time.make_timer();
      failure_->arm_next([this, why = std::move(spec.error())] { process_link::on_spawn_failed(why); });
      return;
    }
    if (spec->name.empty()) spec->name = record_->server;
    record_->errors.begin_process();
    process_ = launcher_.launch(std::move(*spec), *this);
  }

  void on_spawned(pid_t pid, std::unique_ptr<transports::transport> connection) override {
    if (is_present()) record_->pid = pid;
    events_.on_open(std::move(connection));
  }
  void on_spawn_failed(const error& why) override { events_.on_not_opened({"cannot be started: " + why.message}); }
  void on_stderr(std::string_view bytes) override {
    if (is_present()) record_->errors.feed(bytes, record_->time.now());
  }
  void on_exited(process::process_exit how) override {
    if (is_present()) {
      record_->errors.end_process(record_->time.now());
      record_->exit = how.text();
      record_->pid = -1;
    }
    events_.on_ended(exit_words(how));
  }

  std::shared_ptr<process_record> record_;
  process::process_launcher& launcher_;
  connect::link_events& events_;
  std::unique_ptr<process::server_process> process_;
  std::unique_ptr<timer> failure_;  // set while a failure waits to be reported
  bool prepared_ = false;           // ignores further answers of the source
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

class process_connector final : public connect::connector {
 public:
  process_connector(std::string server, process::process_launcher& launcher, time_source& time, process_source source,
                    std::shared_ptr<clients::stderr_lines> lines, std::size_t stderr_ring)
      : record_(std::make_shared<process_record>(std::move(server), time, std::move(lines), stderr_ring)),
        launcher_(launcher),
        source_(std::move(source)) {}

  std::unique_ptr<connect::server_link> open(connect::link_events& events) override {
    auto link = std::make_unique<process_link>(record_, launcher_, events);
    link->begin(source_);
    return link;
  }
  std::string label() const override { return record_->pid < 0 ? "" : "pid " + std::to_string(record_->pid); }
  std::string last_words() const override {
    const std::string last = record_->errors.last_line();
    std::string error = record_->errors.error_line();
    if (error.empty()) error = last;
    return last.empty() ? last : (error == last ? "last stderr: " : "stderr: ") + error;
  }
  std::string_view force_name() const override { return "SIGKILL"; }
  std::optional<clients::process_status> process() const override {
    return clients::process_status{record_->pid, record_->exit, record_->errors.tail(stderr_in_status)};
  }

 private:
  std::shared_ptr<process_record> record_;
  process::process_launcher& launcher_;
  process_source source_;
};

}  // namespace

std::unique_ptr<connect::connector> make_process_connector(std::string server, process::process_launcher& launcher,
                                                           time_source& time, process_source source,
                                                           std::shared_ptr<clients::stderr_lines> lines,
                                                           std::size_t stderr_ring) {
  return std::make_unique<process_connector>(std::move(server), launcher, time, std::move(source), std::move(lines),
                                             stderr_ring);
}

}  // namespace mcpbx::mcp::child
