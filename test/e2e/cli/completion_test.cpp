// Completion in real shells, with a daemon whose models have names that would run something if a shell evaluated them.
#include "test/e2e/harness/harness.hpp"

#include <doctest/doctest.h>

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

using namespace mcpbx::e2e;

namespace {

constexpr std::string_view all_names = "m$(touch PWNED)\nm-plain\nm;touch PWNED\nm`touch PWNED`\nm'x y\n";

config hostile_names() {
  config c;
  c.server("alpha", {"--only", "echo"});
  for (const std::string_view name : {"m$(touch PWNED)", "m-plain", "m;touch PWNED", "m`touch PWNED`", "m'x y"})
    c.model(name, R"({"api":"rehearsal"})");
  return c;
}

// Runs a text in a shell that finds mcpbx and the daemon of the test. Returns its output.
std::string in_shell(const daemon_under_test& d, const std::string& shell, const std::string& text) {
  const auto bin = program("mcpbx");
  child::options o;
  o.argv = {shell, "-c", text};
  o.env = {"HOME=" + d.dir(), "MCPBX_SOCKET=" + d.socket(), "LC_ALL=C.UTF-8",
           "PATH=" + bin.substr(0, bin.rfind('/')) + ":/usr/bin:/bin"};
  o.cwd = d.dir();
  child c(o);
  c.close_stdin();
  c.wait();
  CHECK(c.err == "");
  CHECK(::access(d.file("PWNED").c_str(), F_OK) != 0);
  return c.out;
}

bool has(const std::string& shell) {
  if (::access(shell.c_str(), X_OK) == 0) return true;
  MESSAGE("skipped: " << shell << " is not installed");
  return false;
}

// Completes `line` in bash, lets bash read each candidate as the person's Enter would, and prints the words it got.
std::string bash_words(const daemon_under_test& d, const std::string& line) {
  return in_shell(d, "/bin/bash",
                  "source <(mcpbx completion bash)\nCOMP_LINE='" + line +
                      "' COMP_POINT=${#COMP_LINE} COMP_WORDS=(mcpbx x) COMP_CWORD=1\n_mcpbx\n"
                      R"(for c in "${COMPREPLY[@]}"; do eval "set -- $c"; printf '%s\n' "$@"; done)");
}

}  // namespace

TEST_CASE("O6: bash offers live names, and no name runs anything when the line is entered") {
  daemon_under_test d(hostile_names());
  d.wait_ready({"alpha"});
  CHECK(bash_words(d, "mcpbx ask -m m") == all_names);
  CHECK(bash_words(d, "mcpbx ask -m \"m") == "m-plain\n");
  CHECK(bash_words(d, "mcpbx call al") == "alpha__echo\n");
  CHECK(bash_words(d, "mcpbx restart ") == "alpha\n");
  CHECK(bash_words(d, "mcpbx sess") == "sessions\n");
}

TEST_CASE("completion: zsh gets each name as one word") {
  if (!has("/bin/zsh")) return;
  daemon_under_test d(hostile_names());
  // Completion itself needs a terminal; the script is run with a compadd that prints what it is given.
  CHECK(in_shell(d, "/bin/zsh",
                 "autoload -U compinit && compinit -u -D\nsource <(mcpbx completion zsh)\n"
                 "compadd() { print -rl -- ${(P)@[-1]} }\nwords=(mcpbx ask -m m) CURRENT=4 PREFIX=m\n_mcpbx") ==
        all_names);
}

TEST_CASE("completion: fish gets each name as one word") {
  if (!has("/usr/bin/fish")) return;
  daemon_under_test d(hostile_names());
  const auto got = in_shell(d, "/usr/bin/fish", "mcpbx completion fish | source; complete -C 'mcpbx ask -m m'");
  for (const std::string_view name :
       {"m$(touch PWNED)\n", "m-plain\n", "m;touch PWNED\n", "m`touch PWNED`\n", "m'x y\n"})
    CHECK_MESSAGE(contains(got, name), got);
}

TEST_CASE("completion: it starts no daemon, and a daemon that hangs keeps it for less than a second") {
  {
    world w;
    CHECK(run_cli(w, {"__complete", "bash", "mcpbx call "}).out == "names\n");
    CHECK(run_cli(w, {"__complete", "bash", "A=b /opt/mcpbx cal"}).out == "names\ncall\n");
    CHECK(run_cli(w, {"__complete", "bash", ""}).status == 0);
    CHECK(run_cli(w, {"__complete", "fish", "cal"}).out == "names\ncall\tcall one tool\n");
    CHECK(::access(w.socket().c_str(), F_OK) != 0);
  }
  daemon_under_test d(hostile_names());
  d.process().signal(SIGSTOP);
  const auto hung = run_cli(d, {"__complete", "bash", "mcpbx call "});
  CHECK(hung.status == 0);
  CHECK(hung.out == "");
  CHECK(run_cli(d, {"__complete", "bash", "mcpbx cal"}).out == "names\ncall\n");
  d.process().signal(SIGCONT);
}
