// The class shared by keeper.cpp (the life of processes) and keeper_replacement.cpp (the death of a keeper).
#pragma once
#include "mcp/process/keeper/control_channel.hpp"
#include "mcp/process/keeper/keeper.hpp"
#include "mcp/process/keeper/keeper_protocol.hpp"
#include "mcp/process/keeper/keeper_sweep.hpp"
#include "mcp/process/keeper/stderr_reader.hpp"
#include "mcp/support/time.hpp"
#include "mcp/transport/stream_core.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <sys/types.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mcpbx::mcp::keepers {

// One process as the daemon knows it, from launch() to on_exited.
struct process_entry {
  keeper_protocol::server_number number = 0;
  process::process_events* events = nullptr;  // null once its user has dropped it
  int generation = 0;                         // generation of the keeper that has it
  time_point asked_at{};                      // time at which the keeper was asked to start it
  pid_t pid = -1;
  std::string name;  // name of the server
  bool may_call = false;
  std::weak_ptr<transports::stream_core> output;
  std::shared_ptr<stderr_reader> errors;
  std::optional<process::process_exit> exit;
  bool output_drained = false, errors_drained = false;
  std::unique_ptr<timer> patience;  // limit of the wait for its last output
};
using entry_ptr = std::shared_ptr<process_entry>;

class keeper::impl : public std::enable_shared_from_this<keeper::impl> {
 public:
  impl(const boost::asio::any_io_executor& executor, time_source& time, rpc::line_framer::options framing,
       std::function<void()> on_lost)
      : executor_(executor),
        time_(time),
        framing_(framing),
        on_lost_(std::move(on_lost)),
        control_(executor),
        clock_(time.make_timer()),
        stray_clock_(time.make_timer()),
        answer_clock_(time.make_timer()) {}

  void adopt(keeper_handle handle);
  keeper_protocol::server_number launch(process::process_spec spec, process::process_events& events);
  void signal(keeper_protocol::server_number number, int value);
  void drop(keeper_protocol::server_number number);
  pid_t pid() const noexcept { return pid_; }
  process_owner owner_of(pid_t pid) const;
  bool is_starting() const;
  void shut_down();

 private:
  enum class phase { running, replacing, over };

  // Frames to and from the keeper.
  void submit(std::string frame);
  void flush();
  void wait_for_notices();
  void take_notices();
  bool receive_notices();
  void handle(const keeper_protocol::notice& notice);

  // The life of one process.
  void on_spawned(const keeper_protocol::spawned& s);
  void post_failure(keeper_protocol::server_number number, error why);
  void fail_start(keeper_protocol::server_number number, const error& why);
  void end(const entry_ptr& p, process::process_exit how);
  void look_whether_drained(const entry_ptr& p);
  void forget(const entry_ptr& p);
  entry_ptr find(keeper_protocol::server_number number) const;

  // A keeper that hangs or has died.
  time_point oldest_question() const;
  void watch_answers(milliseconds grace = {});
  void on_answer_limit(bool again);
  void lost(const std::string& how);
  void sweep();
  void replace_when_told();
  void replace();
  void watch_strays();
  void reap_strays();
  std::vector<pid_t> leaders() const;
  void arm(timer& t, duration from_now, void (impl::*then)());
  void stop_watching_answers();

  boost::asio::any_io_executor executor_;
  time_source& time_;
  rpc::line_framer::options framing_;
  std::function<void()> on_lost_;
  pid_t pid_ = -1;
  boost::asio::posix::stream_descriptor control_;
  std::unique_ptr<control_channel> channel_;
  std::unique_ptr<timer> clock_, stray_clock_, answer_clock_;
  phase phase_ = phase::running;
  int generation_ = 0;
  keeper_options options_;
  bool waiting_to_write_ = false;
  bool watching_answers_ = false;
  std::optional<keeper_sweep> sweep_;
  int sweeps_ = 0;
  bool swept_ = false;
  keeper_protocol::server_number last_number_ = 0;
  std::map<keeper_protocol::server_number, entry_ptr> processes_;
  std::vector<std::string> backlog_;  // requests made while there is no keeper
  std::vector<pid_t> strays_;         // see keeper_sweep::strays()
};

}  // namespace mcpbx::mcp::keepers
