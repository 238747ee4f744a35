// Programs for the length of a command: they talk, their ends are known, and nothing of them stays.
#include "daemon/cli/direct/guarded_process.hpp"

#include "daemon/cli/direct/direct_server.hpp"
#include "daemon/cli/direct/line_peer.hpp"
#include "mcp/support/shared_bytes.hpp"
#include "test/support/contains.hpp"
#include "test/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <optional>
#include <string>

using namespace mcpbx;
using namespace mcpbx::cli::direct;
using mcpbx::test::contains;
using std::chrono::milliseconds;

namespace {

mcp::process::process_spec shell(const std::string& script, const std::string& directory = "/") {
  mcp::process::process_spec spec;
  spec.argv = {"sh", "-c", script};
  spec.environment = {"PATH=/usr/bin:/bin"};
  spec.directory = directory;
  return spec;
}

line_peer::time_point in(int seconds) {
  return std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
}

// Returns the number in a file that a script writes, once it is there.
pid_t number_in(const std::string& file) {
  for (int i = 0; i < 2'000; ++i) {
    pid_t pid = 0;
    if (std::ifstream(file) >> pid) return pid;
    ::poll(nullptr, 0, 5);
  }
  return 0;
}

bool gone(pid_t pid) {
  for (int i = 0; i < 2'000; ++i) {
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    if (!std::getline(stat, text) || contains(text, ") Z ")) return true;
    ::poll(nullptr, 0, 5);
  }
  return false;
}

}  // namespace

TEST_CASE("direct: a program answers, its noise and its stderr are kept apart, and requests of it are refused") {
  const std::string script =
      R"(echo hello; echo oops >&2; read line; echo '{"jsonrpc":"2.0","id":"q","method":"roots/list"}'; read no; )"
      R"(echo "$no" >&2; echo '{"jsonrpc":"2.0","id":1,"result":{"ok":true}}'; read more)";
  auto process = guarded_process::start(shell(script));
  REQUIRE(process);
  line_peer peer(process->input(), process->output(), process->errors());
  const auto got = peer.call("tools/list", "{}", in(20));
  REQUIRE(got);
  CHECK(got->result.text() == R"({"ok":true})");
  CHECK(peer.noise() == 1);
  CHECK(peer.first_noise() == "hello");
  peer.drain_errors();
  CHECK(contains(peer.last_words(), "oops"));
  CHECK(contains(peer.last_words(), "-32601"));
}

TEST_CASE("direct: the end of a program, a missing one and a wait without an answer are told") {
  auto ending = guarded_process::start(shell("exit 7"));
  REQUIRE(ending);
  line_peer peer(ending->input(), ending->output());
  CHECK(peer.call("x", "{}", in(20)).error().code == errc::unavailable);
  const auto end = ending->ended(milliseconds(20'000));
  REQUIRE(end);
  CHECK(end->text() == "exit status 7");

  auto spec = shell("");
  spec.argv = {"no-such-program-anywhere"};
  const auto none = guarded_process::start(spec);
  REQUIRE_FALSE(none);
  CHECK(contains(none.error().message, "no such program"));
  const test::temporary_directory folder;
  spec.argv = {folder.write("script", "#!/no/such/interpreter\n", true)};
  const auto script = guarded_process::start(spec);
  REQUIRE_FALSE(script);
  CHECK(contains(script.error().message, "/no/such/interpreter"));

  auto mute = guarded_process::start(shell("sleep 1000"));
  REQUIRE(mute);
  line_peer waiting(mute->input(), mute->output());
  const auto late = waiting.call("x", "{}", std::chrono::steady_clock::now() + milliseconds(30));
  REQUIRE_FALSE(late);
  CHECK(late.error().code == errc::timed_out);
}

TEST_CASE("direct: processes that a program leaves behind end with it, also those of sessions of their own") {
  const test::temporary_directory folder;
  pid_t orphan = 0;
  {
    auto process = guarded_process::start(
        shell("setsid sh -c 'trap \"\" TERM; echo $$ > pid; while :; do sleep 1; done' & exit 0", folder.path()));
    REQUIRE(process);
    orphan = number_in(folder / "pid");
    REQUIRE(orphan > 0);
    CHECK(process->ended(milliseconds(20'000)));
  }
  CHECK(gone(orphan));
}

TEST_CASE("direct: everything ends when the command is killed") {
  const test::temporary_directory folder;
  const pid_t command = ::fork();
  REQUIRE(command >= 0);
  if (command == 0) {
    auto process = guarded_process::start(shell("trap '' TERM; echo $$ > pid; sleep 1000; sleep 1000", folder.path()));
    for (;;) ::pause();
  }
  const pid_t program = number_in(folder / "pid");
  CHECK(program > 0);
  ::kill(command, SIGKILL);
  ::waitpid(command, nullptr, 0);
  CHECK(gone(program));
}

TEST_CASE("direct: repeated calls are counted, several at once, and an error among them ends them") {
  const std::string echo =
      R"(while read l; do id=${l#*\"id\":}; id=${id%%,*}; echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{}}"; done)";
  auto process = guarded_process::start(shell(echo));
  REQUIRE(process);
  line_peer peer(process->input(), process->output());
  const auto times = peer.repeat("tools/call", "{}", 30, 8, in(60));
  REQUIRE(times);
  CHECK(times->each.size() == 30);
  CHECK(times->whole.count() > 0);
  auto failing =
      guarded_process::start(shell(R"(read l; echo '{"jsonrpc":"2.0","id":1,"result":{"isError":true}}'; read l)"));
  REQUIRE(failing);
  line_peer other(failing->input(), failing->output());
  const auto failed = other.repeat("tools/call", "{}", 2, 1, in(60));
  REQUIRE_FALSE(failed);
  CHECK(failed.error().code == errc::peer);
}

TEST_CASE("direct: answers to nothing are not kept, however many a server sends") {
  // 64 MiB of answers before the true one: none of them may wait in memory.
  const test::temporary_directory folder;
  const std::string stray = R"({"jsonrpc":"2.0","id":"x","result":{"a":")" + std::string(1u << 20, 'x') + "\"}}\n";
  folder.write("stray", stray);
  const std::string script = R"(read l; i=0; while [ $i -lt 64 ]; do i=$((i+1)); cat stray; done; )"
                             R"(echo '{"jsonrpc":"2.0","id":1,"result":{"ok":true}}'; read more)";
  auto process = guarded_process::start(shell(script, folder.path()));
  REQUIRE(process);
  const auto before = byte_account::total();
  line_peer peer(process->input(), process->output());
  const auto got = peer.call("tools/list", "{}", in(60));
  REQUIRE(got);
  CHECK(got->result.text() == R"({"ok":true})");
  // The account is exact to 64 KiB; what the framer holds for the next line is at most two answers.
  CHECK(byte_account::total() < before + (4u << 20));
}

TEST_CASE("direct: a secret at the cut end of a server's last words is not told in part") {
  const test::temporary_directory folder;
  conf::model::server_entry entry;
  entry.name = "s";
  entry.command = conf::model::reference_string{"sh", "", false};
  // 395 bytes follow the secret, so its end is within the 400 that are told.
  entry.args = {conf::model::reference_string{"-c", "", false},
                conf::model::reference_string{"printf \"%s%395s\" \"$API_TOKEN\" end >&2; exit 3", "", false}};
  entry.env = {{"API_TOKEN", conf::model::reference_string{"hunter2-secret-value-123456", "", false}}};
  const auto server = direct_server::start(entry, milliseconds(20'000));
  REQUIRE_FALSE(server);
  CHECK(contains(server.error().message, "last stderr"));
  CHECK_FALSE(contains(server.error().message, "23456"));
}
