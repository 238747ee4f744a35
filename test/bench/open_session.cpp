// Measures the cost of continuing a long session: opening a journal and reading its history from SQLite. A separate
// program, because it is made of the product's own parts while the driver shares none with it.
//   bench_open FOLDER [REPEAT]       FOLDER: an empty one of its own; prints lines "ROW<tab>VALUE": CPU time of this
//                                    thread, the least of REPEAT (5), and instructions where they can be counted
#include "daemon/loop/core/recovery.hpp"
#include "daemon/store/records/record_format.hpp"
#include "daemon/store/sqlite/sqlite_store.hpp"
#include "daemon/store/store_worker.hpp"
#include "mcp/support/log.hpp"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace mcpbx;
using namespace mcpbx::daemon::core;
using namespace mcpbx::daemon::sqlite;
using namespace mcpbx::daemon::store;
using namespace mcpbx::daemon::stored;
using namespace mcpbx::json;
using namespace mcpbx::providers;

constexpr std::size_t message_count = 10'000;

double cpu_ms() {
  timespec t{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) / 1e6;
}

/// The instructions of this thread outside of the kernel. Many virtual machines count none.
class instruction_counter {
 public:
  instruction_counter() {
    perf_event_attr what{};
    what.size = sizeof what;
    what.type = PERF_TYPE_HARDWARE;
    what.config = PERF_COUNT_HW_INSTRUCTIONS;
    what.exclude_kernel = 1;
    what.exclude_hv = 1;
    fd_ = static_cast<int>(::syscall(SYS_perf_event_open, &what, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
  }
  ~instruction_counter() {
    if (fd_ >= 0) ::close(fd_);
  }
  instruction_counter(const instruction_counter&) = delete;
  instruction_counter& operator=(const instruction_counter&) = delete;
  /// Since this was made; 0: they cannot be counted.
  double count() const {
    std::uint64_t n = 0;
    return fd_ >= 0 && ::read(fd_, &n, sizeof n) == sizeof n ? static_cast<double>(n) : 0;
  }

 private:
  int fd_ = -1;
};

message_ptr assistant(std::vector<block> blocks, const std::string& raw) {
  auto m = std::make_shared<message>();
  m->role = role::assistant;
  m->blocks = std::move(blocks);
  m->origin = {"openai-chat", "https://models.example/v1", "bench-1"};
  m->raw = raw_json::own(raw);
  return m;
}

usage some_tokens() {
  usage u;
  u.input = 1'200;
  u.output = 60;
  return u;
}

// The records of one run: a question, `calls` rounds with a call each, and an answer.
std::vector<run_record> run_of(std::size_t number, int calls, std::size_t inherited) {
  const std::string words(200, 'w');
  const auto name = "run_" + std::to_string(number);
  record::run_started started;
  started.run = name;
  started.session = "ses_bench";
  started.principal = "uid:1000";
  started.model = "bench";
  if (number == 0) started.messages.push_back(system_message("Be brief."));
  started.messages.push_back(user_message("What about " + name + "? " + words));
  started.inherited_count = inherited;
  std::vector<run_record> all;
  all.emplace_back(std::move(started));
  for (int i = 0; i < calls; ++i) {
    const auto id = "call_" + std::to_string(number) + "_" + std::to_string(i);
    all.emplace_back(record::round_started{i, "bench", true, i * 900});
    tool_call_block call;
    call.id = call.provider_id = id;
    call.name = "notes__search";
    call.arguments = raw_json::own(R"({"query":")" + words + R"(","limit":10})");
    call.arguments_text = call.arguments.text();
    const auto raw = R"({"role":"assistant","content":null,"tool_calls":[{"id":")" + id +
                     R"(","type":"function","function":{"name":"notes__search","arguments":)" +
                     json_quoted(call.arguments_text) + "}}]}";
    all.emplace_back(record::assistant{assistant({std::move(call)}, raw),
                                       providers::end_reason::tool_calls,
                                       "tool_calls",
                                       some_tokens(),
                                       800,
                                       {},
                                       {{"notes__search", "notes", "search"}}});
    record::call_intent intent;
    intent.call_id = id;
    intent.name = "notes__search";
    intent.server = "notes";
    intent.definition_hash = intent.arguments_hash = 0x0123'4567'89ab'cdef;
    all.emplace_back(std::move(intent));
    all.emplace_back(record::call_result{id, raw_json::own(R"({"content":[{"type":"text","text":")" + words + "\"}]}"),
                                         false, record::result_cause::server, 40});
  }
  all.emplace_back(record::round_started{calls, "bench", true, calls * 900});
  all.emplace_back(
      record::assistant{assistant({text_block{words}}, R"({"role":"assistant","content":")" + words + "\"}"),
                        providers::end_reason::stop,
                        "stop",
                        some_tokens(),
                        800,
                        {},
                        {}});
  all.emplace_back(record::run_ended{});
  return all;
}

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "bench_open: %s\n", why.c_str());
  std::exit(1);
}

// A session of so many messages, in runs of 2 * calls + 2.
void write_session(const std::string& path, int calls) {
  sqlite_store file({.path = path});
  if (auto opened = file.open(); !opened) give_up(opened.error().message);
  const auto each = static_cast<std::size_t>(2 * calls + 2);
  std::vector<run_batch> batches;
  for (std::size_t messages = 0; messages < message_count; messages += each) {
    run_batch b;
    b.place = std::make_shared<run_place>(run_place{"run_" + std::to_string(batches.size())});
    b.records = run_of(batches.size(), calls, messages);
    for (const auto& r : b.records) b.texts.push_back(to_text(r));
    b.at_ms = 1'700'000'000'000 + static_cast<std::int64_t>(messages);
    batches.push_back(std::move(b));
  }
  std::vector<run_batch*> all;  // in one transaction, for speed: the file is the same
  for (auto& b : batches) all.push_back(&b);
  if (auto done = file.append(all, true); !done) give_up(done.error().message);
}

struct open_cost {
  double cpu_ms = 0, instructions = 0;
};

// Opens the journal and reads the session's history, as the first question after a break does.
open_cost open_session(const std::string& path) {
  record_rules rules;
  rules.recovery = recovery_of;
  rules.fold = folded;
  rules.goes_on = [](const std::vector<run_record>& left) { return goes_on(left); };
  const instruction_counter counter;
  const double since = cpu_ms(), before = counter.count();
  store_worker worker(std::make_unique<sqlite_store>(sqlite_store::options{.path = path}), std::move(rules), {});
  const auto history = worker.load_history("ses_bench", 1'800'000'000'000);
  const open_cost cost{cpu_ms() - since, counter.count() - before};
  if (!history) give_up(history.error().message);
  if (history->size() < message_count) give_up("the session has lost messages");
  return cost;
}

void measure(const std::string& path, int calls, const std::string& row, int repeat) {
  write_session(path, calls);
  open_cost least = open_session(path);
  for (int i = 1; i < repeat; ++i) {
    const auto one = open_session(path);
    least = {std::min(least.cpu_ms, one.cpu_ms), std::min(least.instructions, one.instructions)};
  }
  std::printf("%s\t%.4f\n", row.c_str(), least.cpu_ms);
  if (least.instructions > 0) std::printf("%s, instructions\t%.4f\n", row.c_str(), least.instructions / 1e6);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::string folder = argv[1];
  const int repeat = argc > 2 ? std::max(1, std::atoi(argv[2])) : 5;
  log::install(log::level::off, {});
  measure(folder + "/questions.db", 0, "10,000 messages opened, one question a run", repeat);
  measure(folder + "/calls.db", 3, "10,000 messages opened, three calls a run", repeat);
}
