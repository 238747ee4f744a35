// The tool server of the benchmark, one thread, no allocation worth mentioning per call.
//   bench_echo [TOOLS [legacy|modern]]              MCP on stdin and stdout
//   bench_echo TOOLS legacy|modern --http DELAY     over HTTP at any path; prints its port. DELAY: ms before each
//   answer
// TOOLS: how many tools it lists (10); the first is "echo". echo gives "message" back; with "size" it gives that many
// characters instead, with "changed" the list of tools has one more, or one less, from then on.
#include "test/bench/echo/echo_answers.hpp"
#include "test/bench/echo/echo_http.hpp"
#include "test/bench/line_stream.hpp"

#include <cstdlib>
#include <string_view>

int main(int argc, char** argv) {
  const auto word = [&](int i) { return argc > i ? std::string_view(argv[i]) : std::string_view(); };
  mcpbx::bench::echo_answers answers(argc > 1 ? std::atol(argv[1]) : 10, word(2) == "modern");
  if (word(3) == "--http") return mcpbx::bench::serve_http(answers, argc > 4 ? std::atoi(argv[4]) : 0);
  mcpbx::bench::line_stream lines(0, 1, true);
  const auto answer = [&](std::string_view line) {
    const auto before = lines.queue().size();
    answers.answer(line, lines.queue());
    if (lines.queue().size() > before) lines.queue() += '\n';
    if (answers.take_changed())
      lines.queue() += R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})"
                       "\n";
  };
  while (lines.fill(answer) && lines.flush()) {
  }
}
