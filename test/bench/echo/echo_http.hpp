// bench_echo over HTTP/1.1: POST of one message, answered as JSON. Keep-alive, loopback, no checks.
#pragma once
#include "test/bench/echo/echo_answers.hpp"

namespace mcpbx::bench {

/// Prints the port and serves until the process is ended. `delay_ms`: time from a request to its answer.
int serve_http(echo_answers& answers, int delay_ms);

}  // namespace mcpbx::bench
