// The audit's lines and its file.
#include "daemon/guard/audit/audit_file.hpp"

#include "daemon/guard/audit/audit_record.hpp"
#include "mcp/crypto/sha256.hpp"
#include "mcp/redact/secret.hpp"
#include "test/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

using namespace mcpbx;
using namespace mcpbx::crypto;
using namespace mcpbx::daemon::audit;
using namespace mcpbx::json;
using namespace mcpbx::redact;
using mcpbx::test::temporary_directory;

namespace {

std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("G48: a line says who called which tool when, with what, and what came of it") {
  audit_record r;
  r.wall_ms = 1'700'000'000'007;
  r.principal = "uid:1000";
  r.pid = 42;
  r.name = "cli";
  r.call.name = "git__log";
  r.call.server = "git";
  r.call.arguments = raw_json::literal(R"({"n":1})");
  r.call.decision = mcp::server::call_decision::called;
  r.call.end = mcp::server::call_end::result;
  r.call.result_bytes = 17;
  CHECK(to_line(r) ==
        R"({"time":"2023-11-14T22:13:20.007Z","principal":"uid:1000","pid":42,"name":"cli","tool":"git__log",)"
        R"("server":"git","decision":"called","end":"result","argumentsSha256":")" +
            sha256_hex(R"({"n":1})") + R"(","resultBytes":17})" + "\n");
  audit_record bare;
  bare.call.name = std::string(10'000, 'n') + "\n";
  bare.call.decision = mcp::server::call_decision::unknown;
  CHECK(to_line(bare) == R"({"time":"1970-01-01T00:00:00.000Z","tool":")" + std::string(256, 'n') +
                             R"(","decision":"unknown","end":"error","argumentsSha256":")" + sha256_hex("{}") +
                             R"(","resultBytes":0})" + "\n");
}

TEST_CASE("G48: a line about a prompt, a resource or an extension names it and holds no secret of its address") {
  audit_record r;
  r.call.method = "prompts/get";
  r.call.name = "s__p";
  CHECK(to_line(r).find(R"("prompt":"s__p","decision")") != std::string::npos);
  r.call.method = "find/text";
  r.call.name = "com.example/find";
  CHECK(to_line(r).find(R"("method":"find/text","extension":"com.example/find","decision")") != std::string::npos);
  r.call.method = "resources/read";
  const auto told = [&](const char* uri) {
    r.call.name = uri;
    const std::string line = to_line(r);
    const auto begin = line.find("\"resource\":\"") + 12;
    return line.substr(begin, line.find('"', begin) - begin);
  };
  CHECK(told("https://me:word@host/a?token=x#y") == "https://host/a");
  CHECK(told("file:///a/b@c") == "file:///a/b@c");
  CHECK(told("mcpbx://s/db:rows?key=1") == "mcpbx://s/db:rows");
  redactor::add(secret("canary-secret"));
  CHECK(told("db://canary-secret/x") == "db://***/x");
  redactor::clear();
}

TEST_CASE("G48: the file is appended to, belongs to its owner and is made again when it was moved away") {
  const temporary_directory dir;
  const std::string path = dir / "state/audit.jsonl";
  audit_file file(path, true);
  REQUIRE(file.append("one\n"));
  struct stat s{};
  REQUIRE(::stat(path.c_str(), &s) == 0);
  CHECK((s.st_mode & 07777) == 0600);
  REQUIRE(audit_file(path, true).append("two\n"));
  REQUIRE(file.append("three\n"));
  CHECK(content(path) == "one\ntwo\nthree\n");
  std::filesystem::rename(path, path + ".1");
  REQUIRE(file.append("four\n"));
  CHECK(content(path) == "four\n");
}

TEST_CASE("G48: a line that was cut stays a line of its own") {
  const temporary_directory dir;
  const std::string path = dir.write("audit.jsonl", "{\"whole\":1}\n{\"cut");
  audit_file file(path, false);
  REQUIRE(file.append("next\n"));
  REQUIRE(file.append("last\n"));
  CHECK(content(path) == "{\"whole\":1}\n{\"cut\nnext\nlast\n");
}

TEST_CASE("G48: a file that cannot be had is an error that names it") {
  const temporary_directory dir;
  REQUIRE(::mkfifo((dir / "pipe").c_str(), 0600) == 0);
  for (const std::string& path : {dir / "no/folder/file", dir.path(), dir / "pipe"}) {
    CAPTURE(path);
    audit_file file(path, false);
    const auto done = file.append("x\n");
    REQUIRE_FALSE(done);
    CHECK(done.error().message.find(path) != std::string::npos);
  }
  audit_file nowhere(fail(errc::config, "set HOME"), false);
  CHECK(nowhere.append("x\n").error().message == "set HOME");
}
