// Tests of the values and parts of values that the redactor learns.
#include "conf/model/secrets.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>

using namespace mcpbx;
using namespace mcpbx::conf::model;
using namespace mcpbx::redact;

namespace {

struct variables final : reference_source {
  std::map<std::string, std::string, std::less<>> values{{"URL_SIG", "canary%2Fsig"},
                                                         {"PART", "canary-part"},
                                                         {"VERSION", "2024-10-21"},
                                                         {"WHOLE", "https://h/v1?api-key=canary-whole&mode=stream"},
                                                         {"DB_LOGIN", "canary-login"}};
  std::optional<std::string> env(std::string_view name) override {
    const auto i = values.find(name);
    return i == values.end() ? std::nullopt : std::optional(i->second);
  }
  result<std::string> file(const std::string&) override { return fail(errc::not_found, "none"); }
  result<std::string> command(const std::vector<std::string>&) override { return fail(errc::not_found, "none"); }
};

struct empty_redactor {
  empty_redactor() { redactor::clear(); }
  ~empty_redactor() { redactor::clear(); }
  variables source;
};

}  // namespace

TEST_CASE_FIXTURE(empty_redactor, "G35: the passwords of addresses are redacted whatever the value is called") {
  register_secrets("UPSTREAM", "postgres://user:canary-pg@db.example/x?y redis://:canary%2Fredis@cache");
  CHECK(redactor::redact("user canary-pg canary%2Fredis canary/redis db.example") == "user *** *** *** db.example");
  register_url_passwords("https://canary-token@git.example/x ssh://canary-user@h http://h:80/a@canary-path");
  CHECK(redactor::redact("canary-token canary-user canary-path") == "*** canary-user canary-path");
  for (const char* harmless : {"", "://", "@", "http://", "http://@", "http://:@h", "no address"})
    register_url_passwords(harmless);
  CHECK(redactor::redact("http://h no address") == "http://h no address");
}

TEST_CASE_FIXTURE(empty_redactor, "G35: a value with a secret's name is redacted as a whole") {
  register_secrets("DATABASE_URL", "user:canary-dsn@tcp(h)/db");
  register_secrets("NODE_ENV", "production");
  CHECK(redactor::redact("user:canary-dsn@tcp(h)/db production") == "*** production");
}

TEST_CASE_FIXTURE(empty_redactor, "G35: a password that a reference puts into an address is redacted") {
  REQUIRE(resolve({"mysql://u:x${env:DB_LOGIN}@h/db", "", true}, source));
  CHECK(redactor::redact("xcanary-login") == "***");
}

TEST_CASE_FIXTURE(empty_redactor, "G35: what a query has from references and what is called a key there is redacted") {
  register_query_secrets(
      {"https://h/"
       "v1?api-version=2024-10-21&sig=${env:URL_SIG}&x=a${env:PART}&code=canary-code&Api-Key=canary-key#f=canary-f",
       "", false},
      source);
  CHECK(redactor::redact("canary%2Fsig canary/sig acanary-part canary-code canary-key 2024-10-21 canary-f") ==
        "*** *** *** *** *** 2024-10-21 canary-f");
}

TEST_CASE_FIXTURE(empty_redactor,
                  "G35: of an address that is a reference as a whole the keys of its query are redacted") {
  register_query_secrets({"${env:WHOLE}", "", false}, source);
  CHECK(redactor::redact("https://h/v1?api-key=canary-whole&mode=stream") == "https://h/v1?api-key=***&mode=stream");
  register_query_secrets({"https://h/v1?${env:UNSET}", "", false}, source);  // told by whoever resolves it
}
