// Tests of the HTTP port's address and token file.
#include "daemon/app/http_port.hpp"

#include "mcp/redact/secret.hpp"
#include "test/daemon/app/loaded.hpp"
#include "test/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace {

using namespace mcpbx;
using namespace mcpbx::daemon::app;
using namespace mcpbx::daemon::references;
using namespace mcpbx::redact;
using mcpbx::daemon::test::loaded;

struct place {
  mcpbx::test::temporary_directory folder;
  conf::environment env;
  place() {
    std::filesystem::create_directory(folder / "conf");
    env.values["HOME"] = folder.path();
  }
  result<std::optional<http_port>> port(const std::string& http, std::string_view flag = {}) {
    auto config = loaded("{\"http\": {" + http + "}}");
    config.sources = {folder / "conf/config.json"};
    return http_port_of(config, start_values(config), env, flag);
  }
  std::string text(const std::string& name) const {
    std::ostringstream all;
    all << std::ifstream(folder / name).rdbuf();
    return all.str();
  }
  std::string refusal(const std::string& http) {
    const auto p = port(http);
    REQUIRE_FALSE(p.has_value());
    CHECK(p.error().code == errc::config);
    return p.error().message;
  }
};

}  // namespace

TEST_CASE("G43: no port is opened unless the configuration or --http asks for one, which goes first") {
  place p;
  auto none = p.port("");
  REQUIRE(none.has_value());
  CHECK_FALSE(none->has_value());
  const auto asked = p.port(R"("address": "127.0.0.1:8421")");
  REQUIRE(asked.has_value());
  CHECK((*asked)->address == "127.0.0.1:8421");
  CHECK((*asked)->rules.on_port);
  const auto flag = p.port(R"("address": "127.0.0.1:8421")", "[::1]:9");
  REQUIRE(flag.has_value());
  CHECK((*flag)->address == "[::1]:9");
}

TEST_CASE("G43 G35: the token is made once, for nobody else to read, kept, and never printed") {
  place p;
  const auto first = p.port(R"("address": "127.0.0.1:1")");
  REQUIRE(first.has_value());
  const std::string file = p.folder / "conf/token";
  CHECK((*first)->token_file == file);
  const auto token = (*first)->rules.token;
  CHECK(token.size() == 64);
  CHECK(p.text("conf/token") == token + "\n");
  struct stat s{};
  REQUIRE(::stat(file.c_str(), &s) == 0);
  CHECK((s.st_mode & 0777) == 0600);
  CHECK(redactor::redact("got " + token) == "got ***");
  std::filesystem::permissions(p.folder / "conf",
                               std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  const auto again = p.port(R"("address": "127.0.0.1:1")");
  REQUIRE(again.has_value());
  CHECK((*again)->rules.token == token);
}

TEST_CASE("G43: a token file of one's own is read where it is, below the home when its path is relative") {
  place p;
  p.folder.write("mine", "  my-own-token-0123456789\n");
  REQUIRE(::chmod((p.folder / "mine").c_str(), 0400) == 0);
  const auto port = p.port(R"("address": "127.0.0.1:1", "tokenFile": "~/mine")");
  REQUIRE(port.has_value());
  CHECK((*port)->rules.token == "my-own-token-0123456789");
  CHECK(p.port(R"("address": "127.0.0.1:1", "tokenFile": "mine")").has_value());
  CHECK(p.text("mine.lock").empty());
  REQUIRE(::chmod((p.folder / "mine").c_str(), 0640) == 0);
  CHECK(p.refusal(R"("address": "127.0.0.1:1", "tokenFile": "mine")") ==
        "others may use the token file " + (p.folder / "mine") + ": run `chmod 600 " + (p.folder / "mine") + "`");
  p.folder.write("short", "abc");
  REQUIRE(::chmod((p.folder / "short").c_str(), 0600) == 0);
  CHECK(p.refusal(R"("address": "127.0.0.1:1", "tokenFile": "short")").find("holds no token") != std::string::npos);
}

TEST_CASE("G43 E1: an address that a variable gives is checked before anything is made for it") {
  place p;
  ::setenv("MCPBX_TEST_ADDR", "0.0.0.0:1", 1);
  CHECK(p.refusal(R"("address": "${env:MCPBX_TEST_ADDR}")") ==
        "http.address: expected HOST:PORT on this machine (127.0.0.1, [::1] or localhost), got \"0.0.0.0:1\"; write "
        "127.0.0.1:PORT; put a TLS proxy in front for other machines");
  CHECK(p.text("conf/token").empty());
  ::unsetenv("MCPBX_TEST_ADDR");
}

TEST_CASE("G43 G35: the address and the token's file may come from files, and a wrong address is not shown then") {
  place p;
  const auto file = [&](const std::string& text) { return "${file:" + p.folder.write("value", text + "\n") + "}"; };
  const auto port = p.port(R"("address": "127.0.0.1:)" + file("8421") + R"(", "tokenFile": "${cmd:echo conf/mine}")");
  REQUIRE(port.has_value());
  CHECK((*port)->address == "127.0.0.1:8421");
  CHECK((*port)->token_file == p.folder / "conf/mine");
  const auto wrong = p.refusal(R"("address": ")" + file("canary-key-1") + "\"");
  CHECK(wrong.starts_with("http.address: expected HOST:PORT on this machine (127.0.0.1, [::1] or localhost); write "));
  CHECK(wrong.find("canary") == std::string::npos);
  CHECK(p.refusal(R"("address": "${file:/nonesuch}")").starts_with("in \"http.address\": ${file:/nonesuch}: "));
  CHECK(p.refusal(R"("address": "127.0.0.1:1", "tokenFile": "${cmd:false}")").starts_with("in \"http.tokenFile\": "));
  redactor::clear();
}

TEST_CASE("G43: with auth none there is no token and no file") {
  place p;
  const auto port = p.port(R"("address": "127.0.0.1:1", "auth": "none")");
  REQUIRE(port.has_value());
  CHECK((*port)->rules.token.empty());
  CHECK((*port)->rules.on_port);
  CHECK((*port)->token_file.empty());
}
