// The kept inputs of `mcpbx chat`.
#include "daemon/cli/chat/line_history.hpp"

#include "daemon/cli/link/private_file.hpp"
#include "test/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

using namespace mcpbx::cli::chat;
using namespace mcpbx::cli::link;
using mcpbx::test::temporary_directory;

TEST_CASE("chat history: inputs come back in order, each once, with their lines") {
  temporary_directory folder;
  const line_history history(folder / "state/chat-history");
  CHECK(history.read().empty());
  history.add("one");
  history.add("two\nlines \"quoted\" and ä");
  history.add("one");
  CHECK(history.read() == std::vector<std::string>{"two\nlines \"quoted\" and ä", "one"});
  struct stat about{};
  REQUIRE(::stat((folder / "state/chat-history").c_str(), &about) == 0);
  CHECK((about.st_mode & 0777) == 0600);
  REQUIRE(::stat((folder / "state").c_str(), &about) == 0);
  CHECK((about.st_mode & 0777) == 0700);
  const line_history none("");
  none.add("one");
  CHECK(none.read().empty());
}

TEST_CASE("chat history: what begins with a blank or looks like a secret is not kept") {
  for (const char* kept : {"What is 6 * 7?", "see https://example.org/path/to", "key: value",
                           "the time is 12:30:45 sharp", "/file notes.txt", "sk-short"})
    CHECK_MESSAGE(may_be_kept(kept), kept);
  for (const char* secret :
       {"", " my own", "\tmy own", "\n", "the key sk-abcdefghijklmnopqrst", "use ghp_0123456789abcdef0123 please",
        "export API_TOKEN=abcdef123456", "password:hunter22222", "x \"AKIAIOSFODNN7EXAMPLE\"",
        "Authorization:eyJhbGciOiJIUzI1NiJ9.e30.x"})
    CHECK_FALSE_MESSAGE(may_be_kept(secret), secret);
  CHECK_FALSE(may_be_kept(std::string(line_history::most_entry + 1, 'x')));
}

TEST_CASE("chat history: a secret is seen behind a blank, in an address, in quotes, behind an option and in a block") {
  for (const char* secret :
       {"password: hunter22222", "my password = \"hunter22222\"", "use {\"api_key\": \"abc123def\"} for it",
        "connect to postgres://user:pw@db.example.org/x", "get https://example.org/x?a=1&token=abcdef123",
        "run curl --api-key abc123def", "send Authorization: Bearer abcdefghijklmnopqrstuvwx",
        "curl -H 'Authorization:Basic dXNlcjpwYXNzd29yZA=='", "(see:sk-abcdefghijklmnopqrst)",
        "look:\n-----BEGIN OPENSSH PRIVATE KEY-----\nabc"})
    CHECK_FALSE_MESSAGE(may_be_kept(secret), secret);
  for (const char* kept : {"the key: understanding it", "call token::next_one() first", "if (token == expected_1) stop",
                           "/file --token", "mail me@example.org about http://localhost:8080/a@b",
                           "what is Basic English?", "explain the bearer token flow"})
    CHECK_MESSAGE(may_be_kept(kept), kept);
}

TEST_CASE("chat history: the file has bounds, and lines that are none of ours are passed over") {
  temporary_directory folder;
  const auto path = folder / "h";
  {
    std::ofstream out(path);
    out << "no json\n{\"a\":1}\n\" blank first\"\n\"good\"\n";
  }
  const line_history history(path);
  CHECK(history.read() == std::vector<std::string>{"good"});
  {
    std::ofstream out(path);
    for (std::size_t i = 0; i < line_history::most_entries; ++i) out << "\"entry " << i << "\"\n";
  }
  history.add("last");
  auto all = history.read();
  CHECK(all.size() == line_history::most_entries);
  CHECK(all.front() == "entry 1");
  CHECK(all.back() == "last");
  for (int i = 0; i < 40; ++i) history.add(std::to_string(i) + std::string(line_history::most_entry - 10, 'x'));
  std::size_t bytes = 0;
  for (const auto& one : history.read()) bytes += one.size();
  CHECK(bytes <= line_history::most_bytes);
}

TEST_CASE("chat history: a pipe in its place keeps nobody waiting") {
  temporary_directory folder;
  REQUIRE(::mkfifo((folder / "chat-history").c_str(), 0600) == 0);
  const line_history history(folder / "chat-history");
  CHECK(history.read().empty());
  history.add("one");
  CHECK(history.read() == std::vector<std::string>{"one"});
}

TEST_CASE("chat history: conversations that add at the same time lose nothing of each other") {
  temporary_directory folder;
  const std::string path = folder / "state/chat-history";
  constexpr int conversations = 3, inputs = 4;
  std::vector<pid_t> children;
  for (int c = 0; c < conversations; ++c) {
    children.push_back(::fork());
    REQUIRE(children.back() >= 0);
    if (children.back() > 0) continue;
    for (int i = 0; i < inputs; ++i) line_history(path).add(std::to_string(c) + " says " + std::to_string(i));
    ::_exit(0);
  }
  for (const auto child : children) {
    int status = -1;
    CHECK(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
  const auto all = line_history(path).read();
  CHECK(all.size() == conversations * inputs);
  for (int c = 0; c < conversations; ++c)
    for (int i = 0; i < inputs; ++i)
      CHECK(std::ranges::count(all, std::to_string(c) + " says " + std::to_string(i)) == 1);
}

TEST_CASE("chat history: a lock is held by one at a time, and is free at its end") {
  temporary_directory folder;
  const std::string path = folder / "h";
  {
    const private_lock mine(path);
    CHECK(mine.is_held());
  }
  const private_lock again(path);
  CHECK(again.is_held());
}
