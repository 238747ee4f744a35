// mcpbx_bench: runs the suites asked for, several times in turn, and prints one table. scripts/bench builds and starts
// it.
#include "test/bench/process.hpp"
#include "test/bench/suites/suites.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace mcpbx::bench;

struct suite {
  std::string_view name;
  void (*run)(const bench_options&, report&);
};
constexpr std::array<suite, 14> suites{{{"calls", suite_calls},
                                        {"big", suite_big},
                                        {"list", suite_list},
                                        {"eras", suite_eras},
                                        {"http", suite_http},
                                        {"remote", suite_remote},
                                        {"callers", suite_callers},
                                        {"start", suite_start},
                                        {"loop", suite_loop},
                                        {"doors", suite_doors},
                                        {"encode", suite_encode},
                                        {"open", suite_open},
                                        {"cli", suite_cli},
                                        {"verbs", suite_verbs}}};

constexpr const char* usage =
    "usage: mcpbx_bench [--quick] [--repeat N] [SUITE...]      SUITE: calls, big, list, eras, http, remote, "
    "callers, start, loop, doors, encode, open, cli, verbs; without, all\n"
    "The programs that are measured lie beside this one.\n";

}  // namespace

int main(int argc, char** argv) {
  bench_options options;
  options.bin = std::filesystem::read_symlink("/proc/self/exe").parent_path().string();
  int repeat = 0;
  std::vector<std::string_view> wanted;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--quick") {
      options.quick = true;
    } else if (word == "--repeat" && i + 1 < argc) {
      repeat = std::clamp(std::atoi(argv[++i]), 1, 100);
    } else if (std::any_of(suites.begin(), suites.end(), [&](const suite& s) { return s.name == word; })) {
      wanted.push_back(word);
    } else {
      std::fputs(usage, word == "--help" ? stdout : stderr);
      return word == "--help" ? 0 : 2;
    }
  }
  if (repeat == 0) repeat = options.quick ? 1 : 3;
  ::signal(SIGPIPE, SIG_IGN);
  ::alarm(900);  // a benchmark that hangs ends, and its children with it

  report out;
  declare_rows(out);
  declare_verb_rows(out);
  for (int i = 0; i < repeat; ++i)
    for (const auto& s : suites)
      if (wanted.empty() || std::find(wanted.begin(), wanted.end(), s.name) != wanted.end()) {
        std::fprintf(stderr, "%.*s, %d of %d\n", static_cast<int>(s.name.size()), s.name.data(), i + 1, repeat);
        s.run(options, out);
      }
  std::printf("\n%s", out.table().c_str());
}
