// Starting and ending the programs under test.
#include "test/e2e/harness/harness.hpp"

#include <doctest/doctest.h>

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

namespace mcpbx::e2e {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const auto& w : words) out += (out.empty() ? "" : ",") + json_string(w);
  return out;
}

void append(std::string& list, std::string_view key, std::string_view value) {
  if (!list.empty()) list += ",";
  list += json_string(key) + ":" + std::string(value);
}

std::string new_tag() {
  static int count = 0;
  return "mcpbx-e2e-" + std::to_string(::getpid()) + "-" + std::to_string(++count);
}

/// Fails the test if a sanitizer reported anything in one of its processes.
void check_sanitizers(const std::string& log) {
  for (const std::string_view word : {"ERROR: AddressSanitizer", "ERROR: LeakSanitizer",
                                      "runtime error:", "WARNING: ThreadSanitizer", "terminate called"})
    if (const auto found = log.find(word); found != std::string::npos)
      FAIL_CHECK("the daemon's log: ", log.substr(found, 4000));
}

}  // namespace

config& config::server(std::string_view name, const words& arguments, std::string_view more) {
  words all{"--tag", "@TAG@"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return entry(name, R"({"command":"@SERVER@","args":[)" + joined(all) + "]" + (more.empty() ? "" : ",") +
                         std::string(more) + "}");
}

config& config::entry(std::string_view name, std::string_view object) {
  append(servers_, name, object);
  return *this;
}

config& config::model(std::string_view name, std::string_view object) {
  append(models_, name, object);
  return *this;
}

config& config::top(std::string_view key, std::string_view value) {
  append(top_, key, value);
  return *this;
}

config config::of(std::string text) {
  config c;
  c.whole_ = std::move(text);
  return c;
}

std::string config::str() const {
  if (!whole_.empty()) return whole_;
  std::string out = "{\"mcpServers\":{" + servers_ + "}";
  if (!models_.empty()) out += ",\"models\":{" + models_ + "}";
  return out + (top_.empty() ? "" : ",") + top_ + "}";
}

std::string program(std::string_view name) {
  if (const char* folder = std::getenv("MCPBX_PROGRAMS")) return std::string(folder) + "/" + std::string(name);
  return name == "mcpbxd" ? MCPBXD : name == "mcpbx" ? MCPBX : TOOLBOX;
}

world::world() : tag_(new_tag()) {
  env = {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + dir(), "LANG=C.UTF-8"};
  // Sanitizer builds: what the test's runner chose goes for the programs too.
  for (const char* name : {"ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LSAN_OPTIONS"})
    if (const char* value = std::getenv(name)) env.push_back(std::string(name) + "=" + value);
}

world::~world() {
  // A healthy daemon has ended them by now; a test that failed before that leaves nothing behind either.
  kill_all_with(tag_);
}

std::string world::filled(std::string_view text) const {
  std::string out(text);
  const std::pair<std::string_view, std::string> words[] = {
      {"@DIR@", dir()}, {"@TAG@", tag_}, {"@SERVER@", SCRIPTED_SERVER}};
  for (const auto& [word, value] : words)
    for (auto found = out.find(word); found != std::string::npos; found = out.find(word, found + value.size()))
      out.replace(found, word.size(), value);
  return out;
}

daemon_under_test::daemon_under_test(const config& c, const options& o) : options_(o) {
  for (const auto& [name, text] : o.files) write(name, text);
  write("config.json", c.str());
  start();
}

void daemon_under_test::start() {
  const std::size_t before = log().size();
  child::options o{.argv = {program("mcpbxd"), "--config", file("config.json"), "--socket", socket()},
                   .env = env,
                   .stderr_file = file("daemon.log")};
  for (const auto& a : options_.arguments) o.argv.push_back(filled(a));
  o.env.insert(o.env.end(), options_.env.begin(), options_.env.end());
  process_ = std::make_unique<child>(o);
  const bool ready = eventually([&] { return log().find("ready ", before) != std::string::npos || process_->ended(); });
  if (!ready || process_->ended()) FAIL("mcpbxd did not become ready: ", log());
}

daemon_under_test::~daemon_under_test() {
  if (!process_->ended()) {
    // The first signal stops it in order, the second at once. A process that hangs after that is killed.
    process_->signal(SIGTERM);
    if (!eventually([&] { return process_->ended().has_value(); }, 1)) process_->signal(SIGTERM);
    if (!eventually([&] { return process_->ended().has_value(); }, 20)) {
      FAIL_CHECK("mcpbxd does not end");
      process_->signal(SIGKILL);
    }
  }
  check_sanitizers(log());
}

bool daemon_under_test::logs(std::string_view words) const {
  return eventually([&] { return contains(log(), words); });
}

pid_t daemon_under_test::keeper() const {
  for (const pid_t c : children_of(pid()))
    if (alive(c)) return c;
  return -1;
}

caller daemon_under_test::session() const {
  caller c = connect();
  c.initialize();
  return c;
}

void daemon_under_test::wait_ready(const std::vector<std::string>& names) const {
  caller c = connect();
  for (const auto& name : names)
    if (!eventually([&] { return c.state(name) == "ready"; }))
      FAIL("server ", name, " is not ready: ", json::serialize(c.server(name)));
}

process_end daemon_under_test::stop(int signal) {
  process_->signal(signal);
  return process_->wait();
}

std::unique_ptr<child> start_cli(const world& w, const std::vector<std::string>& arguments, bool own_socket) {
  child::options o{.argv = {program("mcpbx")}, .env = w.env, .cwd = w.cwd.empty() ? w.dir() : w.cwd};
  for (const auto& a : arguments) o.argv.push_back(w.filled(a));
  if (own_socket) o.env.push_back("MCPBX_SOCKET=" + w.socket());
  return std::make_unique<child>(o);
}

cli_result run_cli(const world& w, const std::vector<std::string>& arguments, std::string_view input, bool own_socket) {
  auto c = start_cli(w, arguments, own_socket);
  c->write(input);
  c->close_stdin();
  const auto end = c->wait();
  return {end.status, std::move(c->out), std::move(c->err)};
}

cli_result run_daemon(const world& w, const std::vector<std::string>& arguments) {
  child::options o{.argv = {program("mcpbxd")}, .env = w.env, .cwd = w.dir()};
  for (const auto& a : arguments) o.argv.push_back(w.filled(a));
  child c(o);
  c.close_stdin();
  const auto end = c.wait();
  return {end.status, std::move(c.out), std::move(c.err)};
}

model_process::model_process(std::string_view script) {
  child::options o{.argv = {SCRIPTED_MODEL, "--log", folder_ / "log"}};
  if (!script.empty()) o.argv.insert(o.argv.end(), {"--script", folder_.write("script.json", script)});
  process_ = std::make_unique<child>(o);
  port_ = process_->read_line();
}

std::string model_process::entry(std::string_view more) const {
  return R"({"api":"openai-chat","model":"text","maxRetries":0,"baseUrl":)" + json_string(url()) +
         (more.empty() ? "" : ",") + std::string(more) + "}";
}

std::size_t model_process::count(std::string_view event) const {
  return count_of(log(), "\"event\":\"" + std::string(event) + "\"");
}

void model_process::check_results() const {
  const auto all = log();
  std::size_t seen = 0;
  for (std::size_t begin = 0, end; (end = all.find('\n', begin)) != std::string::npos; begin = end + 1) {
    const auto v = parse(all.substr(begin, end - begin));
    if (text_at(v, "event") != "request") continue;
    ++seen;
    std::multiset<std::string> open, used;
    for (const auto& m : at(v, "body.messages").as_array()) {
      if (text_at(m, "role") == "tool") {
        CHECK(open.erase(text_at(m, "tool_call_id")) == 1);
        continue;
      }
      CHECK(open.empty());
      const auto calls = at(m, "tool_calls");
      if (!calls.is_array()) continue;
      for (const auto& call : calls.as_array()) open.insert(text_at(call, "id"));
    }
    CHECK(open.empty());
  }
  CHECK(seen > 0);
}

growth::growth(const daemon_under_test& d) : pid_(d.pid()), base_kib_(memory_kib(d.pid(), "VmRSS:")) {
  reset_peak(pid_);
}

std::size_t growth::peak_mib() const {
  const std::size_t peak = memory_kib(pid_, "VmHWM:");
  return sanitized || peak < base_kib_ ? 0 : (peak - base_kib_) >> 10;
}

std::size_t growth::now_mib() const {
  const std::size_t now = memory_kib(pid_, "VmRSS:");
  return sanitized || now < base_kib_ ? 0 : (now - base_kib_) >> 10;
}

}  // namespace mcpbx::e2e
