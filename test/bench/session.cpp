// Starting targets and the handshake.
#include "test/bench/session.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace mcpbx::bench {
namespace {

constexpr double second_us = 1e6;

std::string era_of(const session_options& o) {
  return o.modern_server ? "modern" : "legacy";
}

std::string configuration(const session_options& o) {
  std::string out = "{" + o.more + "\"log\":{\"level\":\"warn\"},\"mcpServers\":{";
  for (int i = 0; i < o.servers; ++i) {
    if (i > 0) out += ',';
    out += "\"s" + std::to_string(i + 1) + "\":{";
    if (o.remote > 0)
      out += "\"url\":\"http://127.0.0.1:" + std::to_string(o.remote) + "/mcp\"}";
    else
      out += "\"command\":\"" + o.bin + "/bench_echo\",\"args\":[\"" + std::to_string(o.tools) + "\",\"" + era_of(o) +
             "\"]}";
  }
  return out + "}}";
}

}  // namespace

process session::launch(target what, const session_options& o, const scratch_folder& folder) {
  const std::string echo = o.bin + "/bench_echo", tools = std::to_string(o.tools);
  if (what == target::direct) return {{echo, tools, era_of(o)}, process::io::pipes};
  if (what == target::floor)
    return {{o.bin + "/bench_relay", folder.path("s"), echo, tools, era_of(o)}, process::io::none};
  write_file(folder.path("c.json"), configuration(o));
  // Keep the daemon's state about tool servers within this run.
  ::setenv("XDG_STATE_HOME", folder.path("state").c_str(), 1);
  std::vector<std::string> argv{o.bin + "/mcpbxd", "--config", folder.path("c.json"), "--socket", folder.path("s")};
  if (o.http > 0) argv.insert(argv.end(), {"--http", "127.0.0.1:" + std::to_string(o.http)});
  return {argv, process::io::none};
}

session::session(target what, const session_options& options)
    : channel(options.modern),
      socket_(folder_.path("s")),
      start_us_(now_us()),
      process_(launch(what, options, folder_)) {
  if (what == target::direct) {
    const int out = process_.take_in(), in = process_.take_out();
    lines_ = std::make_unique<line_stream>(in, out);
  } else {
    const int fd = connect_unix(socket_);
    lines_ = std::make_unique<line_stream>(fd, fd);
  }
  begin(options.tools * (what == target::mcpbx ? options.servers : 1));
}

session::session(const session& daemon, const session_options& options)
    : channel(options.modern),
      socket_(daemon.socket_),
      start_us_(now_us()),
      process_({options.bin + "/mcpbx", "--socket", socket_, "mcp"}, process::io::pipes) {
  const int out = process_.take_in(), in = process_.take_out();
  lines_ = std::make_unique<line_stream>(in, out);
  begin(options.tools * options.servers);
}

void session::begin(int tools) {
  shake_hands();
  while (list_tools() < tools) {
    if (now_us() - start_us_ > 60 * second_us) give_up("the tools were not all listed within 60 s");
    ::usleep(1000);
  }
  ready_ms_ = (now_us() - start_us_) / 1e3;
}

void session::wait_for_input() {
  for (;;) {
    std::array<pollfd, 2> ready{pollfd{lines_->in(), POLLIN, 0},
                                pollfd{lines_->unwritten() ? lines_->out() : -1, POLLOUT, 0}};
    if (::poll(ready.data(), ready.size(), 60'000) <= 0) give_up("the target said nothing for 60 s");
    if (ready[1].revents != 0 && !lines_->flush()) give_up("the target closed the connection");
    if (ready[0].revents != 0) return;
  }
}

void session::send(std::string_view message) {
  lines_->queue().append(message) += '\n';
  // Written one by one, as requests that know nothing of each other are: batches would flatter the relay.
  if (!lines_->flush()) give_up("the target closed the connection");
}

void session::pump(const line_handler& f) {
  wait_for_input();
  if (!lines_->fill(f) || !lines_->flush()) give_up("the target closed the connection");
}

int connect_unix(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  for (const double limit = now_us() + 20 * second_us; now_us() < limit; ::usleep(500)) {
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return fd;
    ::close(fd);
  }
  give_up("nothing listens at " + path);
}

}  // namespace mcpbx::bench
