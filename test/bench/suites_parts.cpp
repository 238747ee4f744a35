// What requests cost to make: bench_encode measures, this adds its figures to the table.
#include "test/bench/process.hpp"
#include "test/bench/suites.hpp"

#include <unistd.h>

#include <cstdlib>
#include <string>

namespace mcpbx::bench {

void suite_encode(const bench_options& o, report& out) {
  process program({o.bin + "/bench_encode", MCPBX_SOURCE_DIR "/test/data/tools", o.quick ? "2" : "5"},
                  process::io::output);
  const int from = program.take_out();
  std::string text;
  char buffer[4096];
  for (ssize_t n = 0; (n = ::read(from, buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<std::size_t>(n));
  ::close(from);
  if (program.finish() < 0 || text.empty()) give_up("bench_encode failed");
  for (std::size_t at = 0; at < text.size();) {
    const auto end = text.find('\n', at), tab = text.find('\t', at);
    if (end == std::string::npos || tab > end) give_up("bench_encode said something else than figures");
    out.add(text.substr(at, tab - at), "mcpbx", std::atof(text.substr(tab + 1, end - tab - 1).c_str()));
    at = end + 1;
  }
}

}  // namespace mcpbx::bench
