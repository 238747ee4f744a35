// The audit's shell: answers wait for their records, in order, and for a bounded time.
#include "daemon/guard/audit/audit_log.hpp"

#include "test/support/manual_time.hpp"
#include "test/support/temporary_directory.hpp"

#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::audit;
using namespace mcpbx::json;
using namespace mcpbx::test;

namespace {

struct audited {
  temporary_directory dir;
  std::string file = dir / "audit.jsonl";
  boost::asio::io_context io{1};
  manual_time time;
  std::optional<audit_log> log;
  std::vector<int> answered;

  explicit audited(std::size_t max_bytes = 64u << 20) { open(max_bytes); }
  void open(std::size_t max_bytes) {
    audit_log::options o{result<std::string>(file)};
    o.max_bytes = max_bytes;
    log.emplace(io.get_executor(), time, o);
  }
  void call(int n, std::size_t arguments = 2) {
    audit_record r;
    r.call.name = "tool_" + std::to_string(n);
    r.call.arguments = raw_json::own("\"" + std::string(arguments, 'a') + "\"");
    log->append(std::move(r), [this, n] { answered.push_back(n); });
  }
  void run() {
    io.restart();
    io.run();
  }
  std::string text() const {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  /// The tools of the lines, in order.
  std::vector<int> lines() const {
    std::vector<int> found;
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
      const auto parsed = raw_json::parse(line);
      REQUIRE(parsed);
      found.push_back(std::stoi(member_text(*parsed, "tool").substr(5)));
    }
    return found;
  }
};

std::vector<int> up_to(int n) {
  std::vector<int> all;
  for (int i = 0; i < n; ++i) all.push_back(i);
  return all;
}

}  // namespace

TEST_CASE("G48: answers wait until their records are in the file, and keep their order") {
  audited a;
  for (int i = 0; i < 500; ++i) a.call(i);
  CHECK(a.answered.empty());
  a.run();
  CHECK(a.answered == up_to(500));
  CHECK(a.lines() == up_to(500));
  CHECK(a.log->counts().records == 500);
  CHECK(a.log->counts().lost == 0);
}

TEST_CASE("G48: a call that is made as another one is answered has its record too") {
  audited a;
  audit_record r;
  r.call.name = "tool_0";
  a.log->append(r, [&] { a.call(1); });
  a.run();
  CHECK(a.lines() == up_to(2));
  CHECK(a.answered == std::vector<int>{1});
}

TEST_CASE("G48: what waits when the daemon ends is written") {
  audited a;
  for (int i = 0; i < 50; ++i) a.call(i);
  a.log.reset();
  CHECK(a.lines() == up_to(50));
  a.run();
  CHECK(a.answered.empty());
}

TEST_CASE("G48: a failing write stops no call, is counted, and passes") {
  audited a;
  std::filesystem::create_directory(a.file);
  a.call(0);
  a.run();
  a.call(1);
  a.run();
  CHECK(a.answered == up_to(2));
  CHECK(a.log->counts().records == 0);
  CHECK(a.log->counts().lost == 2);
  CHECK(a.log->counts().problem.find(a.file) != std::string::npos);
  std::filesystem::remove(a.file);
  a.call(2);
  a.run();
  CHECK(a.answered == up_to(3));
  CHECK(a.lines() == std::vector<int>{2});
  CHECK(a.log->counts().problem == "");
}

TEST_CASE("G48: answers do not wait for a disk for ever") {
  audited a;
  a.call(0);
  a.call(1);
  // The lane may have written by now, but nobody has been told.
  a.time.advance(milliseconds(1'999));
  CHECK(a.answered.empty());
  a.time.advance(milliseconds(1));
  CHECK(a.answered == up_to(2));
  CHECK(a.log->counts().problem.find("see what keeps it busy") != std::string::npos);
  a.run();
  CHECK(a.answered == up_to(2));
  CHECK(a.lines() == up_to(2));
  a.call(2);
  a.run();
  CHECK(a.answered == up_to(3));
}

TEST_CASE("G48: records that wait are bounded, and what is lost is counted and answered in its turn") {
  audited a(10'000);
  a.call(0);
  a.call(1, 4'000);
  a.call(2, 50'000);
  a.call(3);
  CHECK(a.answered.empty());
  a.run();
  CHECK(a.answered == up_to(4));
  CHECK(a.lines() == std::vector<int>{0, 1, 3});
  CHECK(a.log->counts().lost == 1);
  a.call(4, 50'000);  // alone it is taken
  a.run();
  CHECK(a.lines() == std::vector<int>{0, 1, 3, 4});
}
