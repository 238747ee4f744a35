// The command line of mcpbxd.
#include "daemon/app/process/options.hpp"

#include "test/support/captured_output.hpp"

#include <doctest/doctest.h>

#include <string>
#include <variant>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::process;

namespace {

struct parsed {
  std::variant<command_line, int> value;
  std::string out, err;
  int status() const { return std::holds_alternative<int>(value) ? std::get<int>(value) : -1; }
};

parsed parse(std::vector<std::string> words) {
  words.insert(words.begin(), "mcpbxd");
  std::vector<char*> argv;
  for (auto& w : words) argv.push_back(w.data());
  const mcpbx::test::captured_output captured;
  auto value = parse_command_line(static_cast<int>(argv.size()), argv.data());
  return {std::move(value), captured.out(), captured.err()};
}

}  // namespace

TEST_CASE("mcpbxd options: all of them and none") {
  const auto none = parse({});
  REQUIRE(none.status() == -1);
  CHECK_FALSE(std::get<command_line>(none.value).log_level);
  const auto all = parse({"--config", "c", "--socket", "s", "--log-level", "debug", "--check-config", "--idle-exit",
                          "--private-folder", "f"});
  REQUIRE(all.status() == -1);
  const auto& o = std::get<command_line>(all.value);
  CHECK(o.config == "c");
  CHECK(o.socket == "s");
  CHECK(o.log_level == log::level::debug);
  CHECK(o.check_config);
  CHECK(o.idle_exit);
  CHECK(o.private_folder == "f");
}

TEST_CASE("mcpbxd options: help and version succeed and wrong words exit 2 with a sentence") {
  CHECK(parse({"--version"}).out == "mcpbxd " MCPBX_VERSION "\n");
  CHECK(parse({"--version"}).status() == 0);
  CHECK(parse({"--help"}).status() == 0);
  for (const auto& words : {std::vector<std::string>{"--loud"}, {"extra"}, {"--socket"}, {"--log-level", "loud"}}) {
    const auto r = parse(words);
    CHECK(r.status() == 2);
    CHECK(r.err.starts_with("mcpbxd: "));
    CHECK(r.out == "");
  }
  const auto elsewhere = parse({"--http", "0.0.0.0:8421"});
  CHECK(elsewhere.status() == 2);
  CHECK(elsewhere.err ==
        "mcpbxd: `--http 0.0.0.0:8421`: expected HOST:PORT on this machine (127.0.0.1, [::1] or localhost); write "
        "127.0.0.1:PORT; put a TLS proxy in front for other machines\n");
}
