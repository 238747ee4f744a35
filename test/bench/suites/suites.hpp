// The suites of the benchmark: each measures once and adds to the report; main repeats them in turn, so that what is
// compared was measured close together in time.
#pragma once
#include "test/bench/report.hpp"

#include <string>

namespace mcpbx::bench {

struct bench_options {
  std::string bin;     ///< the folder with all programs
  bool quick = false;  ///< a tenth of the calls
  int scaled(int count) const { return quick ? count / 10 : count; }
};

/// The rows of all suites in their order.
void declare_rows(report& out);
void declare_verb_rows(report& out);  ///< those of suite_verbs

void suite_calls(const bench_options& o, report& out);    ///< tools/call: time, throughput, CPU, memory
void suite_big(const bench_options& o, report& out);      ///< results and resources of up to 16 MiB
void suite_list(const bench_options& o, report& out);     ///< tools/list of 10,000 tools, both eras
void suite_eras(const bench_options& o, report& out);     ///< calls across the eras
void suite_http(const bench_options& o, report& out);     ///< calls at /mcp
void suite_remote(const bench_options& o, report& out);   ///< tool servers over HTTP
void suite_callers(const bench_options& o, report& out);  ///< 1,000 idle callers, and the news for them
void suite_start(const bench_options& o, report& out);    ///< cold start with 1 and 50 tool servers
void suite_loop(const bench_options& o, report& out);     ///< ten tool rounds, streams of tokens
void suite_doors(const bench_options& o, report& out);    ///< answers over HTTP, beside those over the socket
void suite_encode(const bench_options& o, report& out);   ///< tools converted, conversations encoded
void suite_open(const bench_options& o, report& out);     ///< long sessions read from the journal
void suite_cli(const bench_options& o, report& out);      ///< CPU time of short commands
void suite_verbs(const bench_options& o, report& out);    ///< CPU time of each verb, a completion, a reload, top

}  // namespace mcpbx::bench
