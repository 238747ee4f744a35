// Secrets in clear: found where keys, names and addresses tell them, replaced without touching anything else.
#include "conf/edit/literal_secrets.hpp"

#include "conf/edit/entry_text.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace mcpbx::conf::edit;

namespace {

std::vector<std::string> found_in(std::string_view entry) {
  std::vector<std::string> out;
  for (const auto& s : literal_secrets(entry, text_of::server_entry)) out.push_back(s.path + " " + s.value);
  return out;
}

using list = std::vector<std::string>;

}  // namespace

TEST_CASE("literal_secrets: variables, headers, arguments and addresses tell them by their names") {
  CHECK(found_in(R"({"env": {"API_KEY": "k1", "MODE": "x", "EMPTY_TOKEN": "", "DB": "mysql://u:pw@h/d"}})") ==
        list{"env.API_KEY k1", "env.DB pw"});
  CHECK(found_in(R"({"url": "https://u:pw@h/mcp?api_key=k2&page=3", "headers": {"Authorization": "Bearer tok en"}})") ==
        list{"url pw", "url k2", "headers.Authorization Bearer tok en"});
  CHECK(found_in(R"({"headers": {"Authorization": "Bearer tok", "X-Team": "a", "Cookie": "c=1"}})") ==
        list{"headers.Authorization tok", "headers.Cookie c=1"});
  CHECK(found_in(R"({"args": ["--token", "t1", "--api-key=t2", "-e", "GITHUB_PAT=t3", "--header",
                      "Authorization: Bearer t4", "--token", "--verbose", "https://tok@h/x", "--port", "80"]})") ==
        list{"args[1] t1", "args[2] t2", "args[4] t3", "args[6] t4", "args[9] tok"});
  CHECK(
      found_in(R"({"auth": {"clientSecret": "s1", "privateKey": "s2", "clientId": "open", "privateKeyId": "open"}})") ==
      list{"auth.clientSecret s1", "auth.privateKey s2"});
}

TEST_CASE("literal_secrets: a token that its maker marks is one under any name") {
  CHECK(
      found_in(
          R"({"args": ["figd_0123456789abcdefghij", "sk-short", "--x"], "env": {"A": "ghp_0123456789abcdefghij"}})") ==
      list{"args[0] figd_0123456789abcdefghij", "env.A ghp_0123456789abcdefghij"});
}

TEST_CASE("literal_secrets: words inside of a sentence are looked at one by one") {
  CHECK(found_in(R"({"command": "npx -y server --api-key s1 --port=80 --token=s2"})") ==
        list{"command s1", "command s2"});
  CHECK(
      found_in(
          R"({"args": ["-c", "export MODE=a TOKEN='s1'; run -H \"Authorization: Bearer s2\" https://u:s3@h/ | x"]})") ==
      list{"args[1] s1", "args[1] s2", "args[1] s3"});
  CHECK(found_in(R"({"env": {"DB": "Server=a;User=b;Password=s1;", "NOTE": "the token of today"}})") ==
        list{"env.DB s1"});
  CHECK(found_in(R"({"args": ["-c", "TOKEN=$T run --token ${env:T} --token-file ~/t --api-key --verbose"],
                      "command": "/opt/my programs/token server"})")
            .empty());
}

TEST_CASE("literal_secrets: references and keys that only sound like secrets are none") {
  CHECK(found_in(R"({"env": {"API_KEY": "${env:K}", "TOKEN": "a${file:/x}"}, "args": ["--token", "${env:T}",
                      "--api-key=${env:T}"], "url": "https://u:${env:P}@h/?key=${env:K}"})")
            .empty());
  CHECK(found_in(R"({"env": {"GOOGLE_APPLICATION_CREDENTIALS": "/k.json", "TOKEN_FILE": "~/t"},
                      "args": ["--token-file", "~/t", "--key-path=./k", "run", "-e", "GITHUB_TOKEN", "image"]})")
            .empty());
  CHECK(literal_secrets(R"({"http": {"tokenFile": "~/token"}, "loop": {"tokenBudget": 5}})", text_of::configuration)
            .empty());
  CHECK(literal_secrets("{", text_of::configuration).empty());
  CHECK(literal_secrets("[]", text_of::configuration).empty());
}

TEST_CASE("literal_secrets: only the secret parts are replaced, and the text keeps its comments") {
  const std::string text =
      "{ // c\n  \"models\": {\"m\": {\"apiKey\": \"k\\u0041\"}},\n  \"mcpServers\": {\"s\": {\"url\": "
      "\"https://u:pw@h/?sig=x\"}} }";
  CHECK(masked(text, text_of::configuration) ==
        "{ // c\n  \"models\": {\"m\": {\"apiKey\": \"***\"}},\n  \"mcpServers\": {\"s\": {\"url\": "
        "\"https://u:***@h/?sig=***\"}} }");
  CHECK(masked("{\"apiKey\": \"canary", text_of::configuration) == "(a text that cannot be read)");
  const auto found = literal_secrets(text, text_of::configuration);
  REQUIRE(found.size() == 3);
  CHECK(found[0].value == "kA");
  CHECK(found[0].label == "apiKey");
  CHECK(with_replaced(text, found, {"1", "2", "\"3\""}).find("https://u:2@h/?sig=\\\"3\\\"") != std::string::npos);
}

TEST_CASE("literal_secrets: an address inside of an address is replaced once") {
  const std::string entry = R"({"url": "https://h/?token=https://u:pw@x/"})";
  const auto shown = masked(entry, text_of::server_entry);
  CHECK(shown.find("pw") == std::string::npos);
}

TEST_CASE("entry_text: a name makes one file name, and no two names the same") {
  CHECK(entry_file_name("git") == "git.json");
  CHECK(entry_file_name("a/b c") == "a%2Fb%20c.json");
  CHECK(entry_file_name("..") == "%2E..json");
  CHECK(entry_file_name("%2F") == "%252F.json");
  CHECK(entry_file_name("größe") == "größe.json");
}
