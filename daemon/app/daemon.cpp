// Wiring: conf -> options of each part; start and stop.
#include "daemon/app/daemon.hpp"

#include "conf/config_files.hpp"
#include "conf/places.hpp"
#include "daemon/app/callers/early_callers.hpp"
#include "daemon/app/callers/port_callers.hpp"
#include "daemon/app/callers/running_link.hpp"
#include "daemon/app/configuration.hpp"
#include "daemon/app/guard.hpp"
#include "daemon/app/http_port.hpp"
#include "daemon/app/left_runs.hpp"
#include "daemon/app/models/limits.hpp"
#include "daemon/app/models/model_lists.hpp"
#include "daemon/app/models/models.hpp"
#include "daemon/app/models/profiles.hpp"
#include "daemon/app/process/heap_trimmer.hpp"
#include "daemon/app/process/logging.hpp"
#include "daemon/app/process/process_limits.hpp"
#include "daemon/app/process/run_loop.hpp"
#include "daemon/app/process/service.hpp"
#include "daemon/app/process/stray_reaper.hpp"
#include "daemon/app/references/start_values.hpp"
#include "daemon/app/server_entries.hpp"
#include "daemon/app/started_world.hpp"
#include "daemon/app/store.hpp"
#include "daemon/front/base/backend.hpp"
#include "daemon/front/base/process_memory.hpp"
#include "daemon/front/front_door.hpp"
#include "daemon/guard/audit/audit_log.hpp"
#include "daemon/guard/audit/audited_journal.hpp"
#include "daemon/guard/pins/pin_keeper.hpp"
#include "daemon/loop/run/runner.hpp"
#include "daemon/loop/tools/tool_source.hpp"
#include "daemon/store/journal.hpp"
#include "mcp/async/keyed_lanes.hpp"
#include "mcp/async/lane.hpp"
#include "mcp/async/system_time.hpp"
#include "mcp/client/supervise/supervisor.hpp"
#include "mcp/client/supervise/supervisor_core.hpp"
#include "mcp/http/client/http_client.hpp"
#include "mcp/process/core_files.hpp"
#include "mcp/redact/secret.hpp"
#include "mcp/socket/private_folder.hpp"
#include "mcp/socket/tcp_socket.hpp"
#include "mcp/socket/unix_socket.hpp"
#include "mcp/support/heap.hpp"
#include "mcp/support/log.hpp"
#include "mcp/support/text.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mcpbx::daemon {
namespace {

namespace asio = boost::asio;

constexpr milliseconds stop_grace{3'000};  // running work may end when the daemon is told to stop
constexpr unsigned lanes_grace_s = 2;      // what lanes are at may end behind all else
constexpr unsigned whole_stop_s = 8;       // from the order to stop to the end, whatever hangs
using stop_times = mcp::supervisor_core;
static_assert(stop_grace + stop_times::insist_after + stop_times::force_after <= std::chrono::seconds(whole_stop_s),
              "servers must get their SIGKILL before the daemon ends");

std::string own_folder() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path().string();
}

log::level level_of(const command_line& o, const conf::configuration& c) {
  return o.log_level.value_or(static_cast<log::level>(c.log.level));
}

// The parts, in the order in which they need each other; destroyed in reverse.
class parts {
 public:
  parts(const command_line& o, conf::configuration c, const start_values& values, mcp::keeper_handle keeper,
        std::string socket, std::optional<http_port> port)
      : config_(std::move(c)),
        values_(values),
        socket_(std::move(socket)),
        port_(std::move(port)),
        // Whoever comes by the port could not start it again.
        idle_exit_(o.idle_exit && !port_ ? config_.idle_exit_ms : conf::milliseconds(0)),
        rotates_(!o.log_file.empty()),
        world_(conf::environment_for_places(), files_of(o), config_, idle_exit_.count() > 0),
        log_(level_of(o, config_), 1u << 20, o.log_file),
        time_(io_.get_executor()),
        keeper_(io_.get_executor(), time_, keeper, server_framing(), [this] { servers_.keeper_replaced(); }),
        pins_(io_.get_executor(), time_, pin_options(config_, conf::environment_for_places())),
        audit_(make_audit()),
        servers_(time_, random_, {.version = MCPBX_VERSION, .gate = &pins_}),
        tools_(servers_),
        http_(io_.get_executor(), time_, compute_, http_options()),
        models_(config_, values_, io_.get_executor(), http_, time_, random_, keys_),
        model_lists_(config_, values_, models_, io_.get_executor(), http_, time_),
        journal_(make_run_journal(o.private_folder.empty())),
        runs_(io_.get_executor(), time_, random_, tools_, [this](std::string_view name) { return models_.find(name); },
              *journal_,
              {.adapt = adapt_,
               .servers = entries_,
               .keep_to_present_terms = [defaults =
                                             chat()](run_request& r) { return keep_to_present_terms(r, defaults); },
               .run_ended =
                   [this] {
                     heap_.run_ended();
                     if (idle_timer_) watch_idle();
                   },
               .resume_detached = config_.loop.resume_detached,
               .awake_runs = awake_runs}),
        left_(*journal_, time_, [this](unfinished_run run) { runs_.resume(std::move(run)); }),
        backend_(
            servers_, runs_, *journal_, pins_, model_lists_,
            [this](backend::left_taken then) { left_.when_taken(std::move(then)); },
            [this] { stop("asked to by a caller"); }),
        door_(io_.get_executor(), time_, backend_, door_options(),
              [this](const mcp::peer_credentials& p) { return admit(p); }),
        signals_(io_.get_executor()) {}

  // Everything up to "ready"; an error means that the daemon cannot serve.
  result<void> open() {
    byte_account::set_limit(static_cast<std::size_t>(config_.limits.total_bytes));
    watch_signals();  // before the socket: who sees it may ask us to stop
    auto listener = [&]() -> result<std::unique_ptr<mcp::unix_listener>> {
      if (auto fd = take_passed_socket()) return mcp::unix_listener::adopt(io_.get_executor(), time_, *fd);
      return mcp::unix_listener::open(io_.get_executor(), time_, socket_);
    }();
    if (!listener) return std::unexpected(listener.error());
    listener_ = std::move(*listener);
    if (auto opened = open_port(); !opened) return opened;
    for (const auto& n : config_.notices) log::warn(n.text());
    listener_->start([this](int fd, mcp::peer_credentials peer) { early_.came(fd, std::move(peer)); });
    // What only starting needs has been needed when the first tools are there, and when the journal has been opened.
    first_tools_ = servers_.on_catalog_change([this](const mcp::feature_kind&) {
      forget_program_pages();
      asio::post(io_, [this] { first_tools_.reset(); });
    });
    servers_.start(server_list());
    left_.ask([] { forget_program_pages(); });
    if (idle_exit_.count() > 0) {
      idle_timer_ = time_.make_timer();
      door_.on_callers([this](std::size_t) { watch_idle(); });
      watch_idle();
    }
    return {};
  }

  /// Where HTTP is served as well, or "".
  std::string http_address() const { return port_listener_ ? port_listener_->address() : ""; }

  int run() {
    forget_program_pages();  // reading the configuration and making the parts is over
    const int bugs = run_loop(io_, [this] { stop("an internal error"); });
    if (bugs == most_bugs) return 1;  // the stop itself does not get on; the destructors end what is left
    log::info("stopped");
    return bugs == 0 ? 0 : 1;
  }

  const std::string& socket() const noexcept { return socket_; }

 private:
  result<void> open_port() {
    if (!port_) return {};
    auto listener = mcp::loopback_listener::open(io_.get_executor(), time_, port_->address);
    if (!listener) return std::unexpected(listener.error());
    port_listener_ = std::move(*listener);
    const auto& address = port_listener_->address();
    if (port_->rules.token.empty())
      log::warn("HTTP is served at http://" + address +
                " without a token (http.auth is \"none\"): every program of this machine may ask there");
    else
      log::info("HTTP is served at http://" + address + ", with the token in " + port_->token_file);
    door_.serves_port(
        address, port_->rules, port_->token_file,
        [this](const mcp::tcp_ends& ends, port_callers::answer then) { port_callers_.ask(ends, std::move(then)); });
    port_listener_->start([this](int fd, const std::string& from) { door_.accept_on_port(fd, from); });
    return {};
  }

  mcp::line_framer::options framing(bool repair) const {
    return {.max_message_bytes = static_cast<std::size_t>(config_.limits.max_message_bytes),
            .max_depth = static_cast<int>(config_.limits.max_json_depth),
            .repair_utf8 = repair,
            .max_message_bytes_key = "limits.maxMessageBytes",
            .max_depth_key = "limits.maxJsonDepth"};
  }
  mcp::line_framer::options server_framing() const { return framing(true); }

  static http::client::options http_options() {
    http::client::options o;
    o.proxies = http::proxy_rules::of_process();
    return o;
  }

  std::unique_ptr<audit_log> make_audit() {
    auto o = audit_options(config_, conf::environment_for_places());
    return o ? std::make_unique<audit_log>(io_.get_executor(), time_, std::move(*o)) : nullptr;
  }

  // A private daemon, beside the usual one, keeps only what it is told to.
  std::unique_ptr<journal> make_run_journal(bool by_default) {
    auto closed = audit_ ? audit_of_closed_runs(io_.get_executor(), *audit_, time_) : decltype(record_rules::closed)();
    auto made = make_journal(config_, values_, conf::environment_for_places(), io_.get_executor(), time_, by_default,
                             std::move(closed));
    if (!audit_) return made;
    return std::make_unique<audited_journal>(std::move(made), *audit_, time_);
  }

  // What requests start from and are kept to.
  chat_defaults chat() {
    chat_defaults c;
    c.base = [this](std::string_view model, std::string_view profile) {
      return base_for(config_, values_, model, profile);
    };
    c.model = [this](std::string_view name) { return check_model_name(config_, name); };
    c.profiles = [this] {
      std::vector<std::string> names;
      for (const auto& p : config_.profiles) names.push_back(p.name);
      return names;
    };
    c.bound = [this](std::string_view key) { return bound_of(config_, key); };
    return c;
  }

  front_door::options door_options() {
    front_door::options o;
    o.version = MCPBX_VERSION;
    o.socket = socket_;
    o.max_callers = static_cast<std::size_t>(config_.limits.callers);
    o.session.version = MCPBX_VERSION;
    o.framing = framing(false);
    o.audit = audit_.get();
    o.adapt = adapt_;
    o.chat = chat();
    const auto usual = o.chat.base("", "");
    o.approvals = {.entries = entries_, .destructive = !usual || usual->limits.approve_destructive};
    o.tell_start = [this](json_writer& out) { world_.tell(out); };
    return o;
  }

  std::vector<mcp::server_options> server_list() {
    std::vector<mcp::server_options> list;
    const server_means with{own_folder(), references_, io_.get_executor(), keeper_, time_};
    for (const auto& entry : config_.servers) list.push_back(make_server_options(entry, config_, with));
    return list;
  }

  // A process below the keeper belongs to a tool server of ours, whose own entry decides.
  result<std::string> admit(const mcp::peer_credentials& peer) const {
    const auto owner = keeper_.owner_of(peer.pid);
    return admitted(mcp::still_there(peer) ? owner : mcp::process_owner());
  }

  // Below the keeper, of none of the servers that it has told of, while it has more to tell.
  bool is_not_known_yet(pid_t pid) const {
    if (!keeper_.is_starting()) return false;
    const auto owner = keeper_.owner_of(pid);
    return owner.type == mcp::process_owner::kind::ours && owner.server.empty();
  }

  void watch_signals() {
    signals_.add(SIGTERM);
    signals_.add(SIGINT);
    signals_.add(SIGHUP);
    signals_.add(SIGCHLD);
    if (rotates_) signals_.add(SIGUSR1);
    next_signal();
  }

  void next_signal() {
    signals_.async_wait([this](const boost::system::error_code& wrong, int number) {
      if (wrong) return;
      if (number == SIGHUP) {
        log::warn("SIGHUP: reloading the configuration comes in a later version; restart the daemon to change it");
      } else if (number == SIGCHLD) {
        strays_.look();
      } else if (number == SIGUSR1) {
        log_.rotate();
      } else if (stopping_) {
        stop_at_once();
      } else {
        stop(number == SIGTERM ? "SIGTERM" : "SIGINT");
      }
      next_signal();
    });
  }

  // A graceful stop (G20): nothing new begins, and what goes on has stop_grace to end. The runs come first:
  // while they go on they may call their tools, and they have ended before a call of theirs is cut. Then the servers
  // are closed in order, with what is left of the time for calls of others.
  void stop(const std::string& why) {
    if (std::exchange(stopping_, true)) return;
    log::info("stopping: " + why);
    end_at_the_latest(whole_stop_s);  // the keeper ends what is left of the servers
    notify_service_manager("STOPPING=1");
    listener_->close();
    early_.close();
    if (port_listener_) port_listener_->close();
    door_.refuse_calls();
    left_.stop();
    const time_point until = time_.now() + stop_grace;
    asio::co_spawn(io_, runs_.shut_down(stop_grace), [this, until](const std::exception_ptr&) {
      const auto left = std::chrono::ceil<milliseconds>(until - time_.now());
      servers_.stop([this] { finish(); }, std::max(left, milliseconds(0)));
    });
  }

  void finish() {
    door_.close();
    keeper_.shut_down();
    signals_.cancel();
    if (idle_timer_) idle_timer_->cancel();
    asio::post(io_, [this] { io_.stop(); });
  }

  // A second signal: nobody is waited for. The keeper ends the tool servers when our end of its socket closes.
  [[noreturn]] void stop_at_once() {
    listener_->close();
    std::_Exit(0);
  }

  // Called whenever a caller comes or goes and when a run ends, so that the time counts from the last of them.
  void watch_idle() {
    if (door_.callers() > 0 || runs_.active() > 0) return idle_timer_->cancel();
    idle_timer_->arm(time_.now() + idle_exit_, [this] {
      if (door_.callers() > 0 || runs_.active() > 0) return;
      stop("no callers for " + std::to_string(idle_exit_.count() / 1000) + " s");
    });
  }

  conf::configuration config_;
  terms_ptr entries_ = std::make_shared<const std::vector<server_terms>>(server_terms_of(config_));
  const start_values& values_;
  std::string socket_;
  std::optional<http_port> port_;
  conf::milliseconds idle_exit_;
  bool rotates_;
  started_world world_;
  log_lane log_;
  asio::io_context io_{1};
  system_time time_;
  std::unique_ptr<mcp::unix_listener> listener_;  // up here, because whoever gets its lock may open our store
  system_random random_;
  keyed_lanes references_{io_.get_executor(), "references"};  // of servers
  keyed_lanes keys_{io_.get_executor(), "keys"};              // of models
  lane compute_{"compute", 1};
  mcp::keeper keeper_;
  stray_reaper strays_{time_, [this](pid_t pid) { return keeper_.pid() == pid; }};
  port_callers port_callers_{io_.get_executor(), compute_, time_, [this](pid_t pid) { return keeper_.owner_of(pid); },
                             [this](pid_t pid) { return is_not_known_yet(pid); }};
  pin_keeper pins_;
  std::unique_ptr<audit_log> audit_;  // null: off
  mcp::supervisor servers_;
  mcp::supervisor::subscription first_tools_;
  supervised_tools tools_;
  tool_adapter adapt_ = schema_adapter();
  http::client http_;
  model_set models_;
  model_lists model_lists_;
  std::unique_ptr<journal> journal_;
  runner runs_;
  left_runs left_;
  live_backend backend_;
  front_door door_;
  early_callers early_{time_, [this](pid_t pid) { return is_not_known_yet(pid); },
                       [this](int fd, const mcp::peer_credentials& peer) { door_.accept(fd, peer); }};
  std::unique_ptr<mcp::loopback_listener> port_listener_;
  asio::signal_set signals_;
  std::unique_ptr<timer> idle_timer_;
  heap_trimmer heap_{time_,
                     {[] { return resident_bytes(::getpid()) - static_cast<std::int64_t>(byte_account::total()); },
                      [this] { return runs_.active() > 0; }, give_back_free_memory}};
  bool stopping_ = false;
};

}  // namespace

int run_daemon(const command_line& o, mcp::keeper_handle keeper) {
  raise_descriptor_limit();
  mcp::forbid_core_files();
  // A file at its limit (`ulimit -f`) is an error of that write, as a full disk is, and not our end.
  ::signal(SIGXFSZ, SIG_IGN);
  auto loaded = load_configuration(o);
  if (!loaded.ok()) {
    say(loaded.error_text());
    return exit_configuration;
  }
  auto socket = conf::socket_path(conf::environment_for_places(), o.socket);
  if (!socket) {
    say("mcpbxd: " + socket.error().message + "\n");
    return exit_configuration;
  }
  // This may take its time: nothing listens yet, and nobody speaks.
  const start_values values(loaded.config);
  // What serves one command only leaves the port to the usual daemon.
  auto port = o.private_folder.empty() ? http_port_of(loaded.config, values, conf::environment_for_places(), o.http)
                                       : result<std::optional<http_port>>();
  if (!port) {
    say("mcpbxd: " + port.error().message + "\n");
    return exit_configuration;
  }
  // The command that made it may have been killed; then nobody else is left to do this.
  const std::shared_ptr<void> folder(nullptr, [&o](void*) {
    if (!o.private_folder.empty()) mcp::remove_private_folder(o.private_folder);
  });
  const std::shared_ptr<void> over(nullptr, [](void*) { ::alarm(0); });  // behind all parts
  auto link = o.private_folder.empty() && conf::default_socket(conf::environment_for_places(), o.socket)
                  ? running_link::take(conf::environment_for_places(), socket->string())
                  : result<running_link>();
  if (!link) {
    say("mcpbxd: " + link.error().message + "\n");
    return 1;
  }
  parts daemon(o, std::move(loaded.config), values, keeper, socket->string(), std::move(*port));
  if (auto opened = daemon.open(); !opened) {
    say("mcpbxd: " + opened.error().message + "\n");
    return 1;
  }
  link->show();
  say("ready " + daemon.socket() + "\n");
  notify_service_manager("READY=1");
  const int status = daemon.run();
  end_at_the_latest(lanes_grace_s);
  return status;
}

}  // namespace mcpbx::daemon
