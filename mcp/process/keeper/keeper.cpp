// The daemon's end of the keeper: a table of processes that follows the keeper's notices.
#include "mcp/process/keeper/keeper.hpp"

#include "mcp/process/keeper/keeper_impl.hpp"
#include "mcp/process/process_tree.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

namespace mcpbx::mcp::keepers {
namespace {

namespace asio = boost::asio;
namespace wire = keeper_protocol;

constexpr auto drain_limit = std::chrono::milliseconds(200);

}  // namespace

void keeper::impl::adopt(keeper_handle handle) {
  pid_ = handle.pid;
  options_ = handle.options;
  ++generation_;
  control_.assign(handle.control_fd);
  channel_ = std::make_unique<control_channel>(handle.control_fd);
  phase_ = phase::running;
  for (auto& frame : std::exchange(backlog_, {})) channel_->send(std::move(frame));
  const auto now = time_.now();
  for (const auto& [number, p] : processes_) p->asked_at = now;
  wait_for_notices();
  flush();
  watch_answers();
}

keeper_protocol::server_number keeper::impl::launch(process::process_spec spec, process::process_events& events) {
  const auto p = std::make_shared<process_entry>();
  p->number = ++last_number_;
  p->events = &events;
  p->name = spec.name;
  p->may_call = spec.may_call;
  p->generation = phase_ == phase::replacing ? generation_ + 1 : generation_;
  p->asked_at = time_.now();
  processes_[p->number] = p;
  if (phase_ == phase::over) {
    post_failure(p->number, {errc::unavailable, "mcpbx is stopping"});
    return p->number;
  }
  std::string frame =
      keeper_protocol::encode(keeper_protocol::request(keeper_protocol::spawn{p->number, std::move(spec)}));
  if (frame.size() > keeper_protocol::max_frame_bytes) {
    post_failure(p->number, {errc::limit, "its arguments and environment have " + std::to_string(frame.size()) +
                                              " bytes together; at most 4 MiB can be passed"});
  } else {
    submit(std::move(frame));
  }
  return p->number;
}

void keeper::impl::signal(keeper_protocol::server_number number, int value) {
  const auto p = find(number);
  if (p && !p->exit)
    submit(keeper_protocol::encode(keeper_protocol::request(keeper_protocol::send_signal{number, value})));
}

void keeper::impl::drop(keeper_protocol::server_number number) {
  const auto p = find(number);
  if (!p) return;
  signal(number, SIGKILL);
  forget(p);
  if (phase_ == phase::replacing && swept_)
    asio::post(executor_, [self = shared_from_this()] { self->replace_when_told(); });
}

bool keeper::impl::is_starting() const {
  return std::ranges::any_of(processes_, [](const auto& p) { return p.second->pid < 0; });
}

process_owner keeper::impl::owner_of(pid_t pid) const {
  using enum process_owner::kind;
  // Processes of a dead keeper, and those whose parents have ended, become children of this process or of the keeper.
  const pid_t self = ::getpid();
  std::vector<pid_t> roots{self, pid_};
  roots.insert(roots.end(), strays_.begin(), strays_.end());
  const auto up = process::ancestry_of(pid, roots);
  // A system that reports this very process as every peer has not identified the peer.
  if (pid == self || up.leads_to == process::ancestry::end::unknown) return {};
  if (up.leads_to == process::ancestry::end::elsewhere) return {stranger, {}, false};
  for (const pid_t one : up.chain)
    for (const auto& [number, p] : processes_)
      if (p->pid == one) return {ours, p->name, p->may_call};
  return {ours, {}, false};
}

// Frames to and from the keeper.

void keeper::impl::submit(std::string frame) {
  if (phase_ == phase::over) return;
  if (phase_ == phase::replacing) {
    backlog_.push_back(std::move(frame));
    return;
  }
  channel_->send(std::move(frame));
  flush();
  watch_answers();
}

void keeper::impl::flush() {
  if (waiting_to_write_ || phase_ != phase::running) return;
  // A failed write needs no handling: the reading side notices that the keeper is gone.
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
  if (phase_ == phase::running && receive_notices()) wait_for_notices();
}

// Receives and handles notices. Returns true if the keeper is still there and no event has shut this object down.
bool keeper::impl::receive_notices() {
  const bool connected = channel_->receive();
  while (const auto frame = channel_->next_frame()) {
    if (const auto notice = keeper_protocol::decode_notice(*frame)) handle(*notice);
    if (phase_ != phase::running) return false;  // an event shut this object down, and the channel is gone
  }
  if (!connected) lost("died");
  return connected;
}

void keeper::impl::handle(const keeper_protocol::notice& notice) {
  if (const auto* s = std::get_if<keeper_protocol::spawned>(&notice)) return on_spawned(*s);
  if (const auto* f = std::get_if<keeper_protocol::spawn_failed>(&notice)) return fail_start(f->server, f->why);
  const auto& e = std::get<keeper_protocol::exited>(notice);
  if (const auto p = find(e.server)) end(p, e.how);
}

// The life of one process.

entry_ptr keeper::impl::find(keeper_protocol::server_number number) const {
  const auto found = processes_.find(number);
  return found == processes_.end() ? nullptr : found->second;
}

void keeper::impl::on_spawned(const keeper_protocol::spawned& s) {
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
  auto core = std::make_shared<transports::stream_core>(executor_, pipes[1], pipes[0], framing_);
  p->output = core;
  p->errors = std::make_shared<stderr_reader>(executor_, pipes[2], [weak = std::weak_ptr(p)](std::string_view bytes) {
    const auto alive = weak.lock();
    if (alive && alive->events) alive->events->on_stderr(bytes);
  });
  p->errors->start();
  p->events->on_spawned(s.pid, std::make_unique<transports::stream_handle>(std::move(core)));
}

void keeper::impl::post_failure(keeper_protocol::server_number number, error why) {
  asio::post(executor_, [self = shared_from_this(), number, why = std::move(why)] { self->fail_start(number, why); });
}

void keeper::impl::fail_start(keeper_protocol::server_number number, const error& why) {
  const auto p = find(number);
  if (!p) return;
  auto* events = p->events;
  forget(p);
  events->on_spawn_failed(why);
}

// Reports an exit after the last output, so that an answer given before it is not lost (G1). Descendants may hold the
// pipes open and go on writing; their output is not waited for.
void keeper::impl::end(const entry_ptr& p, process::process_exit how) {
  if (p->exit) return;
  p->exit = how;
  p->patience = time_.make_timer();
  p->patience->arm(time_.now() + drain_limit, [weak_self = weak_from_this(), weak = std::weak_ptr(p)] {
    const auto self = weak_self.lock();
    const auto alive = weak.lock();
    if (!self || !alive) return;
    alive->output_drained = alive->errors_drained = true;
    self->look_whether_drained(alive);
  });
  // Both drain() calls report in a turn of their own.
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
  const process::process_exit how = *p->exit;
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

// The public interface.

namespace {

class kept_process final : public process::server_process {
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

keeper::keeper(asio::any_io_executor executor, time_source& time, keeper_handle handle,
               rpc::line_framer::options framing, std::function<void()> on_lost)
    : impl_(std::make_shared<impl>(executor, time, framing, std::move(on_lost))) {
  impl_->adopt(handle);
}

keeper::~keeper() {
  impl_->shut_down();
}

std::unique_ptr<process::server_process> keeper::launch(process::process_spec spec, process::process_events& events) {
  const auto number = impl_->launch(std::move(spec), events);
  return std::make_unique<kept_process>([core = impl_, number](int value) { core->signal(number, value); },
                                        [core = impl_, number] { core->drop(number); });
}

pid_t keeper::pid() const noexcept {
  return impl_->pid();
}

process_owner keeper::owner_of(pid_t pid) const {
  return impl_->owner_of(pid);
}

bool keeper::is_starting() const {
  return impl_->is_starting();
}

void keeper::shut_down() {
  impl_->shut_down();
}

}  // namespace mcpbx::mcp::keepers
