// The reference syntax, and what references stand for.
#include "conf/model/references.hpp"

#include <doctest/doctest.h>

#include <map>

using namespace mcpbx;
using namespace mcpbx::conf::model;
using namespace mcpbx::redact;

namespace {

struct fake_source final : reference_source {
  std::map<std::string, std::string, std::less<>> variables{
      {"HOME", "/home/u"}, {"A", "1"}, {"EMPTY", ""}, {"X_TOKEN", "canary-token"}};
  std::vector<std::string> asked;

  std::optional<std::string> env(std::string_view name) override {
    const auto i = variables.find(name);
    return i == variables.end() ? std::nullopt : std::optional(i->second);
  }
  result<std::string> file(const std::string& path) override {
    asked.push_back(path);
    if (path == "/none") return fail(errc::not_found, "there is no such file: create it");
    return "canary-file\r\n\n";
  }
  result<std::string> command(const std::vector<std::string>& words) override {
    std::string line;
    for (const auto& w : words) line += "[" + w + "]";
    asked.push_back(line);
    if (words[0] == "false") return fail(errc::io, "it ended with status 1");
    return "canary-command\n";
  }
};

std::string resolved(const std::string& text, bool server = true) {
  fake_source source;
  auto r = resolve({text, "models.m.x", server}, source);
  return r ? *r : "error: " + r.error().message;
}

std::string words(const std::string& text) {
  auto w = split_words(text);
  if (!w) return "error: " + w.error().message;
  std::string out;
  for (const auto& one : *w) out += "[" + one + "]";
  return out;
}

}  // namespace

TEST_CASE("references: well-formed ones pass the check") {
  for (const char* text :
       {"", "plain", "$", "$$", "$HOME", "{}", "${env:A}", "a${env:A_1}b${file:/x}${file:~/y z}", "${cmd:pass show x}",
        "${cred:api-key.2}", "${cmd:sh '}' \"}\" \\}}", "$${anything", "$${"}) {
    CAPTURE(text);
    CHECK(check_references(text, false));
    CHECK(check_references(text, true));
  }
  for (const char* text : {"${HOME}", "${HOME}/x", "${A:-}", "${A:-b c}", "${A:-$b}"}) {
    CAPTURE(text);
    CHECK_FALSE(check_references(text, false));
    CHECK(check_references(text, true));
  }
}

TEST_CASE("references: malformed ones are refused with the way to write them") {
  for (const std::string& text : std::vector<std::string>{"${",
                                                          "${}",
                                                          "${env:A",
                                                          "${env:}",
                                                          "${env:1A}",
                                                          "${env:A B}",
                                                          "${file:}",
                                                          "${file:x}",
                                                          "${file:./x}",
                                                          "${cmd:}",
                                                          "${cmd:  }",
                                                          "${cmd:'x}",
                                                          "${cmd:x \\}",
                                                          "${input:key}",
                                                          "${A-b}",
                                                          "${A:-${B}}",
                                                          "${ENV:A}",
                                                          "${cred:}",
                                                          "${cred:..}",
                                                          "${cred:a/b}",
                                                          "${cred:a b}",
                                                          "${cred:x:y}",
                                                          "${cred:" + std::string(256, 'x') + "}"}) {
    CAPTURE(text);
    const auto checked = check_references(text, true);
    REQUIRE_FALSE(checked);
    CHECK(checked.error().code == errc::config);
    CHECK(checked.error().message.find(": ") != std::string::npos);
    CHECK_FALSE(check_references(text, false));
  }
  CHECK(check_references("${HOME}", false).error().message ==
        "the form ${NAME} works in server entries only: write ${env:HOME}");
}

TEST_CASE("references: a credential is the file of its name in the folder that the service manager names") {
  fake_source source;
  const auto value = [&] { return resolve({"[${cred:api-key}]", "models.m.apiKey", false}, source); };
  CHECK(value().error().message ==
        "in \"models.m.apiKey\": ${cred:api-key}: the daemon was given no credentials: run it as a service whose unit "
        "has LoadCredential=api-key:PATH, or write the value with ${file:…}");
  source.variables["CREDENTIALS_DIRECTORY"] = "/run/credentials/mcpbx.service";
  CHECK(value() == "[canary-file]");
  CHECK(source.asked == std::vector<std::string>{"/run/credentials/mcpbx.service/api-key"});
  CHECK(redactor::redact("canary-file") == "***");
  CHECK(needs_lane("${cred:api-key}"));
  CHECK(refers_to_secret({"${cred:api-key}", "", false}));
  redactor::clear();
}

TEST_CASE("references: values take their place") {
  CHECK(resolved("plain $x") == "plain $x");
  CHECK(resolved("a${env:A}b${A}c") == "a1b1c");
  CHECK(resolved("${EMPTY:-d}|${NONE:-e}|${A:-f}|${env:EMPTY}|${NONE:-}") == "d|e|1||");
  CHECK(resolved("$${env:A}-${env:A}") == "${env:A}-1");
  CHECK(resolved("[${file:/x}]") == "[canary-file]");
  CHECK(resolved("[${cmd:pass 'a b'}]") == "[canary-command]");
  redactor::clear();
}

TEST_CASE("references: an unset one says which and where and what to do") {
  CHECK(resolved("${env:NONE}") ==
        "error: in \"models.m.x\": the environment variable NONE is not set: set it where mcpbx is started and restart "
        "it, or "
        "write the value with ${file:…} or ${cmd:…}");
  CHECK(resolved("${file:/none}") == "error: in \"models.m.x\": ${file:/none}: there is no such file: create it");
  CHECK(resolved("${cmd:false --password canary}") ==
        "error: in \"models.m.x\": ${cmd:false …}: it ended with status 1");
  CHECK(resolved("${HOME}", false).starts_with("error: in \"models.m.x\": the form"));
  redactor::clear();
}

TEST_CASE("references: home directories are expanded for files and commands") {
  fake_source source;
  CHECK(resolve({"${file:~/k}${cmd:~/bin/x ~/y ~z}", "", true}, source));
  CHECK(source.asked == std::vector<std::string>{"/home/u/k", "[/home/u/bin/x][/home/u/y][~z]"});
  CHECK(expand_home("~", "/h") == "/h");
  CHECK(expand_home("~/x", "/h") == "/h/x");
  CHECK(expand_home("~x/y", "/h") == "~x/y");
  CHECK(expand_home("/x/~", "/h") == "/x/~");
  redactor::clear();
}

TEST_CASE("G35: what comes from files and commands and secret variables is redacted") {
  redactor::clear();
  fake_source source;
  source.variables["PLAIN"] = "ordinary-value";
  CHECK(resolve({"${env:X_TOKEN} ${file:/x} ${cmd:y} ${env:PLAIN}", "", true}, source));
  CHECK(redactor::redact("canary-token canary-file canary-command ordinary-value") == "*** *** *** ordinary-value");
  const auto key = resolve_secret({"Bearer literal-canary", "", false}, source);
  REQUIRE(key);
  CHECK(key->reveal() == "Bearer literal-canary");
  CHECK(redactor::redact("x Bearer literal-canary y") == "x *** y");
  redactor::clear();
}

TEST_CASE("references: which of them need a lane") {
  CHECK_FALSE(needs_lane("plain"));
  CHECK_FALSE(needs_lane("${env:A} ${HOME}"));
  CHECK(needs_lane("a${file:/x}"));
  CHECK(needs_lane("${cmd:x}"));
  CHECK_FALSE(needs_lane("$${file:/x}"));
  CHECK(has_references("${A}"));
  CHECK_FALSE(has_references("$${A}"));
}

TEST_CASE("G44: a command is split into words and no shell is involved") {
  CHECK(words("a b  c") == "[a][b][c]");
  CHECK(words(" 'a b' \"c d\" e\\ f ") == "[a b][c d][e f]");
  CHECK(words("a'b'\"c\"") == "[abc]");
  CHECK(words("a '' \"\"") == "[a][][]");
  CHECK(words("\"a\\\"b\\\\c\\d\" 'e\\f'") == "[a\"b\\c\\d][e\\f]");
  CHECK(words("a; rm -rf / | b && $(c) `d` $E *") == "[a;][rm][-rf][/][|][b][&&][$(c)][`d`][$E][*]");
  CHECK(words("").starts_with("error: "));
  CHECK(words("  ").starts_with("error: "));
  CHECK(words("''").starts_with("error: "));
  CHECK(words("a 'b").starts_with("error: "));
  CHECK(words("a \\").starts_with("error: "));
}

TEST_CASE("G35: names that usually hold secrets") {
  for (const char* name :
       {"GITHUB_TOKEN", "X-Api-Key", "authorization", "Cookie", "AWS_SECRET_ACCESS_KEY", "DB_PASSWORD",
        "OPENAI_API_KEY", "key", "GITHUB_PAT", "SSH_PASSPHRASE", "MYSQL_PWD", "SMTP_PASS", "DATABASE_URL", "SENTRY_DSN",
        "AZURE_STORAGE_CONNECTION_STRING", "SLACK_WEBHOOK_URL", "GIT_CREDS"}) {
    CAPTURE(name);
    CHECK(conf::model::secret_name(name));
  }
  for (const char* name : {"HOME", "PATH", "KEYBOARD", "Accept", "MONKEY", "LANG", "PWD", "OLDPWD", "PATTERN",
                           "COMPASS", "BYPASS_CACHE", "BASE_URL", "KEYS_FILE"}) {
    CAPTURE(name);
    CHECK_FALSE(conf::model::secret_name(name));
  }
}
