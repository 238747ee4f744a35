// The daemon's end of the keeper: a table of processes that follows the keeper's notices, and the replacement of a
// keeper that died.
#include "mcp/transport/keeper.hpp"

#include "mcp/support/log.hpp"
#include "mcp/transport/control_channel.hpp"
#include "mcp/transport/keeper_child.hpp"
#include "mcp/transport/keeper_sweep.hpp"
#include "mcp/transport/process_tree.hpp"
#include "mcp/transport/stderr_reader.hpp"
#include "mcp/transport/stream_core.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <map>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

namespace mcpbx::mcp {
namespace {

namespace asio = boost::asio;
namespace wire = keeper_protocol;
using namespace std::chrono_literals;

constexpr auto drain_limit = 200ms;
constexpr auto sweep_pause = 5ms;
constexpr int sweep_steps = 1000;  // then what cannot be killed is left to init
constexpr auto fork_retry = 1s;
constexpr auto stray_pause = 1s;
constexpr auto keeper_end_limit = 5s;

void pause_for(std::chrono::milliseconds time) {
  const timespec t{time.count() / 1000, time.count() % 1000 * 1'000'000};
  ::nanosleep(&t, nullptr);
}

// One process as the daemon knows it, from launch() to on_exited.
struct process_entry {
  wire::server_number number = 0;
  process_events* events = nullptr;  // null once its user has dropped it
  int generation = 0;                // of the keeper that has it
  pid_t pid = -1;
  std::weak_ptr<stream_core> output;
  std::shared_ptr<stderr_reader> errors;
  std::optional<process_exit> exit;
  bool output_drained = false, errors_drained = false;
  std::unique_ptr<asio::steady_timer> patience;
};
using entry_ptr = std::shared_ptr<process_entry>;

}  // namespace

result<keeper_handle> fork_keeper() {
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGCHLD, SIG_DFL);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) != 0)
    return fail(errc::io, std::string("no socket for the keeper: ") + std::strerror(errno));
  // No signal handler of ours may run in the child before it has set its own dispositions.
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = ::fork();
  const int number = errno;
  if (pid == 0) run_keeper(ends[1]);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::close(ends[1]);
  if (pid < 0) {
    ::close(ends[0]);
    return fail(errc::io, std::string("cannot fork the keeper: ") + std::strerror(number));
  }
  return keeper_handle{pid, ends[0]};
}

class keeper::impl : public std::enable_shared_from_this<keeper::impl> {
 public:
  impl(const asio::any_io_executor& executor, line_framer::options framing, std::function<void()> on_lost)
      : executor_(executor),
        framing_(framing),
        on_lost_(std::move(on_lost)),
        control_(executor),
        clock_(executor),
        stray_clock_(executor) {}

  void adopt(keeper_handle handle);
  wire::server_number launch(process_spec spec, process_events& events);
  void signal(wire::server_number number, int value);
  void drop(wire::server_number number);
  pid_t pid() const noexcept { return pid_; }
  bool is_descendant(pid_t pid) const;
  void shut_down();

 private:
  enum class phase { running, replacing, over };

  // Talking to the keeper.
  void submit(std::string frame);
  void flush();
  void wait_for_notices();
  void take_notices();
  void handle(const wire::notice& notice);

  // The life of one process.
  void on_spawned(const wire::spawned& s);
  void post_failure(wire::server_number number, error why);
  void fail_start(wire::server_number number, const error& why);
  void end(const entry_ptr& p, process_exit how);
  void look_whether_drained(const entry_ptr& p);
  void forget(const entry_ptr& p);
  entry_ptr find(wire::server_number number) const;

  // When the keeper died.
  void lost();
  void sweep();
  void replace_when_told();
  void replace();
  void watch_strays();
  std::vector<pid_t> leaders() const;

  asio::any_io_executor executor_;
  line_framer::options framing_;
  std::function<void()> on_lost_;
  pid_t pid_ = -1;
  asio::posix::stream_descriptor control_;
  std::unique_ptr<control_channel> channel_;
  asio::steady_timer clock_, stray_clock_;
  phase phase_ = phase::running;
  int generation_ = 0;
  bool waiting_to_write_ = false;
  std::optional<keeper_sweep> sweep_;
  int sweeps_ = 0;
  bool swept_ = false;
  wire::server_number last_number_ = 0;
  std::map<wire::server_number, entry_ptr> processes_;
  std::vector<std::string> backlog_;  // requests while there is no keeper
  std::vector<pid_t> strays_;         // see keeper_sweep::strays()
};

void keeper::impl::adopt(keeper_handle handle) {
  pid_ = handle.pid;
  ++generation_;
  control_.assign(handle.control_fd);
  channel_ = std::make_unique<control_channel>(handle.control_fd);
  phase_ = phase::running;
  for (auto& frame : std::exchange(backlog_, {})) channel_->send(std::move(frame));
  wait_for_notices();
  flush();
}

wire::server_number keeper::impl::launch(process_spec spec, process_events& events) {
  const auto p = std::make_shared<process_entry>();
  p->number = ++last_number_;
  p->events = &events;
  p->generation = phase_ == phase::replacing ? generation_ + 1 : generation_;
  processes_[p->number] = p;
  if (phase_ == phase::over) {
    post_failure(p->number, {errc::unavailable, "mcpbx is stopping"});
    return p->number;
  }
  std::string frame = encode(wire::request(wire::spawn{p->number, std::move(spec)}));
  if (frame.size() > wire::max_frame_bytes) {
    post_failure(p->number, {errc::limit, "its arguments and environment have " + std::to_string(frame.size()) +
                                              " bytes together; at most 4 MiB can be passed"});
  } else {
    submit(std::move(frame));
  }
  return p->number;
}

void keeper::impl::signal(wire::server_number number, int value) {
  const auto p = find(number);
  if (p && !p->exit) submit(encode(wire::request(wire::send_signal{number, value})));
}

void keeper::impl::drop(wire::server_number number) {
  const auto p = find(number);
  if (!p) return;
  signal(number, SIGKILL);
  forget(p);
  if (phase_ == phase::replacing && swept_)
    asio::post(executor_, [self = shared_from_this()] { self->replace_when_told(); });
}

bool keeper::impl::is_descendant(pid_t pid) const {
  // Bounded, since processes move while we walk.
  for (int depth = 0; depth < 1000 && pid > 1; ++depth) {
    if (pid == pid_ || std::ranges::find(strays_, pid) != strays_.end()) return true;
    pid = parent_of(pid);
  }
  return false;
}

// Talking to the keeper.

void keeper::impl::submit(std::string frame) {
  if (phase_ == phase::over) return;
  if (phase_ == phase::replacing) {
    backlog_.push_back(std::move(frame));
    return;
  }
  channel_->send(std::move(frame));
  flush();
}

void keeper::impl::flush() {
  if (waiting_to_write_ || phase_ != phase::running) return;
  // A keeper that is gone is noticed by the reading side.
  if (!channel_->flush() || !channel_->wants_to_write()) return;
  waiting_to_write_ = true;
  control_.async_wait(asio::posix::stream_descriptor::wait_write,
                      [self = shared_from_this()](const boost::system::error_code& failed) {
                        self->waiting_to_write_ = false;
                        if (failed != asio::error::operation_aborted) self->flush();
                      });
}

void keeper::impl::wait_for_notices() {
  control_.async_wait(asio::posix::stream_descriptor::wait_read,
                      [self = shared_from_this()](const boost::system::error_code& failed) {
                        if (failed != asio::error::operation_aborted) self->take_notices();
                      });
}

void keeper::impl::take_notices() {
  if (phase_ != phase::running) return;
  const bool connected = channel_->receive();
  while (const auto frame = channel_->next_frame()) {
    if (const auto notice = wire::decode_notice(*frame)) handle(*notice);
    if (phase_ != phase::running) return;  // an event shut us down, and the channel is gone
  }
  if (!connected) return lost();
  wait_for_notices();
}

void keeper::impl::handle(const wire::notice& notice) {
  if (const auto* s = std::get_if<wire::spawned>(&notice)) return on_spawned(*s);
  if (const auto* f = std::get_if<wire::spawn_failed>(&notice)) return fail_start(f->server, f->why);
  const auto& e = std::get<wire::exited>(notice);
  if (const auto p = find(e.server)) end(p, e.how);
}

// The life of one process.

entry_ptr keeper::impl::find(wire::server_number number) const {
  const auto found = processes_.find(number);
  return found == processes_.end() ? nullptr : found->second;
}

void keeper::impl::on_spawned(const wire::spawned& s) {
  const auto pipes = channel_->take_descriptors();
  const auto p = find(s.server);
  if (!p || pipes.size() != 3) {
    for (int fd : pipes) ::close(fd);
    if (!p) return;  // dropped meanwhile; its kill is on the way
    signal(s.server, SIGKILL);
    return fail_start(s.server, {errc::io,
                                 "it runs, but mcpbx has no descriptors left for its pipes, so it was "
                                 "stopped: raise the limit on open files (ulimit -n)"});
  }
  p->pid = s.pid;
  auto core = std::make_shared<stream_core>(executor_, pipes[1], pipes[0], framing_);
  p->output = core;
  p->errors = std::make_shared<stderr_reader>(executor_, pipes[2], [weak = std::weak_ptr(p)](std::string_view bytes) {
    const auto alive = weak.lock();
    if (alive && alive->events) alive->events->on_stderr(bytes);
  });
  p->errors->start();
  p->events->on_spawned(s.pid, std::make_unique<stream_handle>(std::move(core)));
}

void keeper::impl::post_failure(wire::server_number number, error why) {
  asio::post(executor_, [self = shared_from_this(), number, why = std::move(why)] { self->fail_start(number, why); });
}

void keeper::impl::fail_start(wire::server_number number, const error& why) {
  const auto p = find(number);
  if (!p) return;
  auto* events = p->events;
  forget(p);
  events->on_spawn_failed(why);
}

// The exit is told after the last output, so that an answer given before it is not lost (guarantees row 1). Descendants
// may hold the pipes open and even write: what they say is not waited for.
void keeper::impl::end(const entry_ptr& p, process_exit how) {
  if (p->exit) return;
  p->exit = how;
  p->patience = std::make_unique<asio::steady_timer>(executor_, drain_limit);
  p->patience->async_wait(
      [self = shared_from_this(), weak = std::weak_ptr(p)](const boost::system::error_code& failed) {
        const auto alive = weak.lock();
        if (failed || !alive) return;
        alive->output_drained = alive->errors_drained = true;
        self->look_whether_drained(alive);
      });
  // Both answer in a turn of their own.
  if (p->errors) {
    p->errors->drain([self = shared_from_this(), p] {
      p->errors_drained = true;
      self->look_whether_drained(p);
    });
  } else {
    p->errors_drained = true;
  }
  const auto output = p->output.lock();
  if (output && !output->reading_ended()) {
    output->drain([self = shared_from_this(), p] {
      p->output_drained = true;
      self->look_whether_drained(p);
    });
  } else {
    p->output_drained = true;
  }
}

void keeper::impl::look_whether_drained(const entry_ptr& p) {
  if (!p->events || !p->output_drained || !p->errors_drained) return;
  auto* events = p->events;
  const process_exit how = *p->exit;
  forget(p);
  events->on_exited(how);
  if (phase_ == phase::replacing) replace_when_told();
}

void keeper::impl::forget(const entry_ptr& p) {
  const auto alive = p;
  alive->events = nullptr;
  if (alive->errors) alive->errors->close();
  alive->patience.reset();
  processes_.erase(alive->number);
}

// When the keeper died (guarantees row 21): its processes are ended and reaped, each is told, then a new keeper starts.

std::vector<pid_t> keeper::impl::leaders() const {
  std::vector<pid_t> pids;
  for (const auto& [number, p] : processes_)
    if (p->pid > 0 && p->generation == generation_) pids.push_back(p->pid);
  return pids;
}

void keeper::impl::lost() {
  log::error("the keeper (pid " + std::to_string(pid_) + ") died; its tool servers are ended and it is replaced");
  phase_ = phase::replacing;
  swept_ = false;
  sweeps_ = 0;
  boost::system::error_code ignored;
  control_.close(ignored);
  channel_.reset();
  sweep_.emplace(pid_, leaders());
  sweep();
}

void keeper::impl::sweep() {
  if (phase_ != phase::replacing) return;
  if (!sweep_->step() && ++sweeps_ < sweep_steps) {
    clock_.expires_after(sweep_pause);
    clock_.async_wait([self = shared_from_this()](const boost::system::error_code& failed) {
      if (!failed) self->sweep();
    });
    return;
  }
  const auto kept = sweep_->strays();
  strays_.insert(strays_.end(), kept.begin(), kept.end());
  sweep_.reset();
  if (!strays_.empty()) watch_strays();
  swept_ = true;
  std::vector<entry_ptr> orphaned;
  for (const auto& [number, p] : processes_)
    if (p->generation == generation_) orphaned.push_back(p);
  for (const auto& p : orphaned) {
    if (!p->events) continue;  // dropped by another one's event
    if (p->pid < 0) {
      fail_start(p->number, {errc::unavailable, "the process that starts tool servers died meanwhile; try again"});
    } else {
      end(p, {true, SIGKILL});
    }
    if (phase_ != phase::replacing) return;
  }
  replace_when_told();
}

// Only when every old process has been told about, so that on_lost finds a clean table.
void keeper::impl::replace_when_told() {
  if (phase_ != phase::replacing || !swept_) return;
  for (const auto& [number, p] : processes_)
    if (p->generation == generation_) return;
  replace();
}

void keeper::impl::replace() {
  auto fresh = fork_keeper();
  if (!fresh) {
    log::error(fresh.error().message);
    clock_.expires_after(fork_retry);
    clock_.async_wait([self = shared_from_this()](const boost::system::error_code& failed) {
      if (!failed) self->replace_when_told();
    });
    return;
  }
  adopt(*fresh);
  if (on_lost_) on_lost_();
}

void keeper::impl::watch_strays() {
  stray_clock_.expires_after(stray_pause);
  stray_clock_.async_wait([self = shared_from_this()](const boost::system::error_code& failed) {
    if (failed) return;
    std::erase_if(self->strays_, reap_child);
    if (!self->strays_.empty()) self->watch_strays();
  });
}

void keeper::impl::shut_down() {
  if (phase_ == phase::over) return;
  const bool had_keeper = phase_ == phase::running;
  const auto servers = leaders();
  phase_ = phase::over;
  clock_.cancel();
  stray_clock_.cancel();
  for (const auto& [number, p] : std::exchange(processes_, {})) {
    p->events = nullptr;
    p->patience.reset();
    if (p->errors) p->errors->close();
  }
  boost::system::error_code ignored;
  control_.close(ignored);
  channel_.reset();
  if (had_keeper) {
    const auto limit = std::chrono::steady_clock::now() + keeper_end_limit;
    bool ended = false;
    while (!(ended = reap_child(pid_)) && std::chrono::steady_clock::now() < limit) pause_for(1ms);
    if (!ended) log::error("the keeper did not end within 5 s and is killed");
    // It may also have been killed a moment ago, before we read of it: look whether it left anything.
    sweep_.emplace(pid_, servers, ended);
  }
  for (int i = 0; sweep_ && i < sweep_steps && !sweep_->step(); ++i) pause_for(1ms);
  sweep_.reset();
  pid_ = -1;
}

// The public side.

namespace {

class kept_process final : public server_process {
 public:
  kept_process(std::function<void(int)> signal, std::function<void()> drop)
      : signal_(std::move(signal)), drop_(std::move(drop)) {}
  ~kept_process() override { drop_(); }
  kept_process(const kept_process&) = delete;
  kept_process& operator=(const kept_process&) = delete;
  void signal(int number) override { signal_(number); }

 private:
  std::function<void(int)> signal_;
  std::function<void()> drop_;
};

}  // namespace

keeper::keeper(asio::any_io_executor executor, keeper_handle handle, line_framer::options framing,
               std::function<void()> on_lost)
    : impl_(std::make_shared<impl>(executor, framing, std::move(on_lost))) {
  impl_->adopt(handle);
}

keeper::~keeper() {
  impl_->shut_down();
}

std::unique_ptr<server_process> keeper::launch(process_spec spec, process_events& events) {
  const auto number = impl_->launch(std::move(spec), events);
  return std::make_unique<kept_process>([core = impl_, number](int value) { core->signal(number, value); },
                                        [core = impl_, number] { core->drop(number); });
}

pid_t keeper::pid() const noexcept {
  return impl_->pid();
}

bool keeper::is_descendant(pid_t pid) const {
  return impl_->is_descendant(pid);
}

void keeper::shut_down() {
  impl_->shut_down();
}

}  // namespace mcpbx::mcp
