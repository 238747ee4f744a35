// The whole product in a folder of its own: a daemon with a private configuration, socket and environment, the CLI, and
// what a test wants to know about them. One object per test; everything ends with it.
#pragma once
#include "test/e2e/harness/line_caller.hpp"
#include "test/e2e/harness/processes.hpp"
#include "test/support/temporary_directory.hpp"

#include <csignal>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mcpbx::e2e {

/// The text of a configuration. In every string @DIR@ stands for the folder of the test, @TAG@ for a word that all its
/// processes carry, @SERVER@ for the scripted tool server.
class config {
 public:
  using words = std::vector<std::string>;
  /// A scripted tool server with these options; `more` is further members of its entry, as JSON without braces.
  config& server(std::string_view name, const words& arguments = {}, std::string_view more = {});
  /// An entry of mcpServers as it stands.
  config& entry(std::string_view name, std::string_view object);
  config& model(std::string_view name, std::string_view object);
  /// A member at the top.
  config& top(std::string_view key, std::string_view value);
  /// A configuration that is written out already.
  static config of(std::string text);
  std::string str() const;

 private:
  std::string servers_, models_, top_, whole_;
};

/// Returns the file of mcpbxd, mcpbx or mcpbx-toolbox: in the folder that $MCPBX_PROGRAMS names, as for comparing an
/// older version, or as this build made it.
std::string program(std::string_view name);

/// A folder, a tag and an environment: what daemons and commands of one test share.
class world {
 public:
  world();
  ~world();
  world(const world&) = delete;
  world& operator=(const world&) = delete;

  const std::string& dir() const { return folder_.path(); }
  std::string file(std::string_view name) const { return folder_ / name; }
  std::string write(std::string_view name, std::string_view text) const { return folder_.write(name, filled(text)); }
  const std::string& tag() const { return tag_; }
  /// Replaces @DIR@, @TAG@ and @SERVER@.
  std::string filled(std::string_view text) const;
  /// PATH and HOME (the folder); change it before anything is started.
  std::vector<std::string> env;
  /// Working directory of commands; the folder unless set.
  std::string cwd;
  std::string socket() const { return file("s"); }
  /// Living tool servers and grandchildren of this test.
  std::set<pid_t> tagged() const { return processes_with(tag_); }

 private:
  test::temporary_directory folder_;
  std::string tag_;
};

/// A daemon in a world of its own, ready to be called.
class daemon_under_test : public world {
 public:
  struct options {
    std::vector<std::string> arguments{};                      ///< more of them for mcpbxd
    std::vector<std::string> env{};                            ///< more variables for it
    std::vector<std::pair<std::string, std::string>> files{};  ///< name -> text, written before it starts
  };
  explicit daemon_under_test(const config& c) : daemon_under_test(c, options{}) {}
  daemon_under_test(const config& c, const options& o);
  ~daemon_under_test();

  /// Starts it (again) with the same configuration and waits until it is ready.
  void start();
  pid_t pid() const { return process_->pid(); }
  child& process() { return *process_; }
  /// The keeper, its child of the same program.
  pid_t keeper() const;
  /// Returns its stderr so far.
  std::string log() const { return read_file(file("daemon.log")); }
  /// Returns true if the log gets `words`; waits, because the log has a lane of its own.
  bool logs(std::string_view words) const;
  caller connect() const { return caller(socket()); }
  /// A caller past the handshake.
  caller session() const;
  /// Waits until these servers are ready.
  void wait_ready(const std::vector<std::string>& names) const;
  /// Signals it and waits for its end.
  process_end stop(int signal = SIGTERM);

 private:
  options options_;
  std::unique_ptr<child> process_;
};

/// Result of a command of the CLI.
struct cli_result {
  int status = -1;
  std::string out, err;
};
/// `mcpbx ARGUMENTS…` as a running process, with $MCPBX_SOCKET naming the world's socket unless `own_socket` is false.
std::unique_ptr<child> start_cli(const world& w, const std::vector<std::string>& arguments, bool own_socket = true);
/// The same, to its end, with `input` on stdin.
cli_result run_cli(const world& w, const std::vector<std::string>& arguments, std::string_view input = {},
                   bool own_socket = true);
/// Runs mcpbxd to its end: for configurations that it refuses.
cli_result run_daemon(const world& w, const std::vector<std::string>& arguments);

/// A scripted model (test/fixtures/model) in a process of its own.
class model_process {
 public:
  /// `script` is JSON, or "".
  explicit model_process(std::string_view script = {});
  /// An entry of `models` for it; `more` is further members, as JSON without braces.
  std::string entry(std::string_view more = {}) const;
  std::string address() const { return "127.0.0.1:" + port_; }
  std::string url() const { return "http://" + address() + "/v1"; }
  /// Its log so far: one JSON object per line.
  std::string log() const { return read_file(folder_ / "log"); }
  /// Counts the lines of this event ("request", "closed") in its log.
  std::size_t count(std::string_view event) const;
  /// Checks every request so far: each call has its one result, right behind.
  void check_results() const;

 private:
  test::temporary_directory folder_;
  std::string port_;
  std::unique_ptr<child> process_;
};

/// The growth of a daemon's memory while something happens, as its peak; 0 under sanitizers.
class growth {
 public:
  explicit growth(const daemon_under_test& d);
  /// MiB between the size at the start and the peak since.
  std::size_t peak_mib() const;
  /// MiB between the size at the start and now.
  std::size_t now_mib() const;

 private:
  pid_t pid_;
  std::size_t base_kib_;
};

}  // namespace mcpbx::e2e
