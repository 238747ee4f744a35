// The file of tokens and its key.
#include "daemon/guard/credentials/credential_file.hpp"

#include "test/support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <sys/stat.h>

#include <fstream>
#include <iterator>
#include <string>

namespace {

using namespace mcpbx;
using namespace mcpbx::daemon::credentials;
using mcpbx::test::temporary_directory;

credential_key key_of(char c, key_place place = key_place::systemd) {
  return {place, std::string(32, c)};
}

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST_CASE("credentials: what is written is read back, and the file shows none of it") {
  const temporary_directory dir;
  credential_file file(dir / "state/credentials.json", [] { return key_of('k'); });
  REQUIRE(file.write("files", "a canary token"));
  REQUIRE(file.write("mail", "another"));
  CHECK(file.read().value() == credential_file::entries{{"files", "a canary token"}, {"mail", "another"}});
  CHECK(text_of(file.path()).find("canary") == std::string::npos);
  struct stat s{};
  REQUIRE(::stat(file.path().c_str(), &s) == 0);
  CHECK((s.st_mode & 0777) == 0600);
  REQUIRE(file.write("files", std::nullopt));
  CHECK(file.read().value().size() == 1);
}

TEST_CASE("credentials: entries of another key stay in the file, moved or changed ones are not read") {
  const temporary_directory dir;
  credential_file first(dir / "c.json", [] { return key_of('a'); });
  REQUIRE(first.write("files", "text"));
  credential_file second(dir / "c.json", [] { return key_of('b'); });
  CHECK(second.read().value().empty());
  REQUIRE(second.write("mail", "mine"));
  CHECK(first.read().value() == credential_file::entries{{"files", "text"}});
  // An entry under another server's name is not that server's.
  std::string text = text_of(dir / "c.json");
  text.replace(text.find("files"), 5, "other");
  dir.write("c.json", text);
  CHECK(first.read().value().empty());
}

TEST_CASE("credentials: a renewal that lasts keeps neither writers waiting nor renewals of other entries") {
  const temporary_directory dir;
  credential_file file(dir / "state/c.json", [] { return key_of('k'); });
  const auto held = file.lock_renewal("files");
  REQUIRE(held);
  CHECK(file.write("mail", "text"));
  CHECK(file.write("files", std::nullopt));
  CHECK(file.lock_renewal("mail"));
}

TEST_CASE("credentials: a file that could not be read again is not written") {
  const temporary_directory dir;
  credential_file file(dir / "c.json", [] { return key_of('k'); });
  REQUIRE(file.write("files", "text"));
  const auto huge = file.write("greedy", std::string(std::size_t{5} << 20, 'x'));
  REQUIRE_FALSE(huge);
  CHECK(huge.error().code == errc::limit);
  CHECK(file.read().value() == credential_file::entries{{"files", "text"}});
}

TEST_CASE("credentials: nothing is written as it is beside encrypted entries whose key cannot be had for a while") {
  const temporary_directory dir;
  bool locked = false;
  const auto keyring = [&] { return locked ? credential_key{} : key_of('k', key_place::secret_service); };
  credential_file before(dir / "c.json", keyring);
  REQUIRE(before.write("files", "text"));
  locked = true;
  credential_file file(dir / "c.json", keyring);
  CHECK(file.read().value().empty());
  const auto written = file.write("mail", "a canary token");
  REQUIRE_FALSE(written);
  CHECK(written.error().code == errc::unavailable);
  CHECK(text_of(file.path()).find("canary") == std::string::npos);
  locked = false;
  CHECK(file.write("mail", "a canary token"));
  CHECK(file.read().value().size() == 2);
  locked = true;
  credential_file after(dir / "c.json", keyring);
  CHECK(after.write("mail", std::nullopt));  // to forget needs no key
  locked = false;
  CHECK(before.read().value() == credential_file::entries{{"files", "text"}});
}

TEST_CASE("credentials: without a key the tokens are plain, and the file says so") {
  const temporary_directory dir;
  credential_file file(dir / "c.json", [] { return credential_key{}; });
  REQUIRE(file.write("files", "text"));
  CHECK(file.protection() == key_place::none);
  CHECK(text_of(dir / "c.json").find(R"("key":"none")") != std::string::npos);
  // With a key they are still read, and encrypted when they are written next.
  credential_file later(dir / "c.json", [] { return key_of('k'); });
  CHECK(later.read().value().size() == 1);
}

TEST_CASE("credentials: a file that cannot be understood is never written over") {
  const temporary_directory dir;
  for (const auto* bad : {"garbage", "{}", R"({"version":2,"entries":{}})", R"({"version":1,"entries":{"a":{}}})"}) {
    dir.write("c.json", bad);
    credential_file file(dir / "c.json", [] { return key_of('k'); });
    CHECK_FALSE(file.read());
    CHECK_FALSE(file.write("files", "text"));
    CHECK(text_of(dir / "c.json") == bad);
  }
}

TEST_CASE("credentials: a key that cannot be read keeps the file from being written") {
  const temporary_directory dir;
  credential_file file(dir / "c.json", [] { return fail(errc::io, "no key"); });
  CHECK_FALSE(file.write("files", "text"));
  CHECK(text_of(dir / "c.json").empty());
}

TEST_CASE("credentials: the key comes from systemd first, then from the Secret Service, and is bound to its secret") {
  const temporary_directory dir;
  dir.write("mcpbx-credentials", "a secret of systemd\n");
  const auto service = [] { return result<std::string>("a secret of the desktop"); };
  const auto from_systemd = find_credential_key(dir.path(), service).value();
  CHECK(from_systemd.place == key_place::systemd);
  CHECK(from_systemd.bytes.size() == 32);
  const auto from_desktop = find_credential_key("", service).value();
  CHECK(from_desktop.place == key_place::secret_service);
  CHECK(from_desktop.bytes != from_systemd.bytes);
  CHECK(find_credential_key("", [] { return fail(errc::unavailable, ""); }).value().place == key_place::none);
  dir.write("mcpbx-credentials", "short");
  CHECK_FALSE(find_credential_key(dir.path(), service));
}

}  // namespace
