// Adds the cost of single parts of mcpbx to the table. Programs made of those parts measure it.
#include "test/bench/process.hpp"
#include "test/bench/suites/suites.hpp"

#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace mcpbx::bench {
namespace {

// `argv` prints lines "ROW<tab>VALUE".
void add_figures_of(const std::vector<std::string>& argv, report& out) {
  process program(argv, process::io::output);
  const int from = program.take_out();
  std::string text;
  char buffer[4096];
  for (ssize_t n = 0; (n = ::read(from, buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<std::size_t>(n));
  ::close(from);
  if (program.finish() < 0 || text.empty()) give_up(argv[0] + " failed");
  for (std::size_t at = 0; at < text.size();) {
    const auto end = text.find('\n', at), tab = text.find('\t', at);
    if (end == std::string::npos || tab > end) give_up(argv[0] + " said something else than figures");
    out.add(text.substr(at, tab - at), "mcpbx", std::atof(text.substr(tab + 1, end - tab - 1).c_str()));
    at = end + 1;
  }
}

std::string repeats(const bench_options& o) {
  return o.quick ? "2" : "5";
}

}  // namespace

void suite_encode(const bench_options& o, report& out) {
  add_figures_of({o.bin + "/bench_encode", MCPBX_SOURCE_DIR "/test/data/tools", repeats(o)}, out);
}

void suite_open(const bench_options& o, report& out) {
  const scratch_folder folder;
  add_figures_of({o.bin + "/bench_open", folder.path("."), repeats(o)}, out);
}

}  // namespace mcpbx::bench
