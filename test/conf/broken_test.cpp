// Broken files as people write them: each error has file, line, column, place and mend, and all come at once.
#include "conf/load.hpp"

#include <doctest/doctest.h>

#include <array>

using namespace mcpbx::conf;

namespace {

loaded load_broken(const std::string& text) {
  const std::array files{source_text{"c.json", text}};
  return load(files, {});
}

struct broken_file {
  const char* text;
  std::vector<const char*> errors;  ///< beginning of each error, in order
};

const std::vector<broken_file> files{
    {"", {"c.json:1:1: the file holds no JSON value"}},
    {"[]", {"c.json:1:1: the configuration must be an object, not a list: write { … } around it"}},
    {"{\n  \"mcpServers\": {\n    \"git\": { \"command\": \"git-mcp\", \"startTimeoutMs\": \"30s\" }\n  }\n}",
     {"c.json:3:54: must be a whole number of milliseconds from 1 to 3600000, not a string, in "
      "\"mcpServers.git.startTimeoutMs\": write it as a number without quotes (the default is 30000)"}},
    {"{\n  \"mcpServer\": {}\n}", {"c.json:2:3: unknown key, in \"mcpServer\": did you mean \"mcpServers\"?"}},
    {"{\"mcpServers\": {\"a\": {\"args\": [\"x\"]}}}",
     {"c.json:1:22: needs \"command\" or \"url\", in \"mcpServers.a\""}},
    {"{\"mcpServers\": {\"a\": {\"command\": \"x\", \"args\": \"-y\"}}}",
     {"c.json:1:47: must be a list of strings, not a string, in \"mcpServers.a.args\": write [\"…\"]"}},
    {"{\"mcpServers\": {\"a\": {\"command\": [\"npx\", \"x\"]}}}",
     {"c.json:1:34: must be a string, not a list, in \"mcpServers.a.command\": write the program here and its "
      "arguments in \"args\""}},
    {"{\"mcpServers\": {\"a\": {\"command\": \"x\", \"env\": {\"PORT\": 8080}}}}",
     {"c.json:1:55: must be a string, not a number, in \"mcpServers.a.env.PORT\": write it in quotes"}},
    {"{\"mcpServers\": {\"a\": {\"command\": \"x\"} \"b\": {\"command\": \"y\"}}}",
     {"c.json:1:39: a comma is missing before this"}},
    {"{\"mcpServers\": {\"a\": {\"command\": \"x\"}, \"a\": {\"command\": \"y\"}}}",
     {"c.json:1:40: this key stands twice, first at line 1:17, in \"mcpServers.a\""}},
    {"{\"mcpServers\": {\"a\": {\"command\": \"x\", \"env\": {\"T\": \"${env:}\"}}}}",
     {"c.json:1:52: ${env:…} needs the name of an environment variable, in \"mcpServers.a.env.T\""}},
    {"{\"mcpServers\": {\"a\": {\"url\": \"x.example/mcp\"}}}",
     {"c.json:1:30: must be a URL that starts with http://, https:// or unix:/, in \"mcpServers.a.url\""}},
    {"{\"models\": {\"m\": {\"api\": \"openai\", \"model\": \"x\"}}}", {"c.json:1:26: must be one of \"openai-chat\""}},
    {"{\"models\": {\"m\": {\"api\": \"openai-chat\"}}}",
     {"c.json:1:18: needs \"model\" (api is \"openai-chat\"), in \"models.m\": write the provider's id of the model"}},
    {"{\"models\": {\"m\": {\"api\": \"openai-chat\", \"model\": \"x\", \"apiKey\": \"${OPENAI_API_KEY}\"}}}",
     {"c.json:1:65: the form ${NAME} works in server entries only, in \"models.m.apiKey\": write "
      "${env:OPENAI_API_KEY}"}},
    {"{\"defaultModel\": \"gpt\"}", {"c.json:1:18: names the model \"gpt\", which is not configured"}},
    {"{\"loop\": {\"maxRounds\": -1, \"onLimit\": \"halt\"}}",
     {"c.json:1:24: must be a whole number from 0 to 100000, in \"loop.maxRounds\": write a whole number in this range "
      "(the default is 10)",
      "c.json:1:39: must be one of \"synthesize\", \"stop\", in \"loop.onLimit\""}},
    {"{\"http\": {\"address\": \"0.0.0.0:80\"}}",
     {"c.json:1:22: must be HOST:PORT on this machine (127.0.0.1, [::1] or localhost), in \"http.address\""}},
    {"{\"limits\": {\"callers\": 1e9}, \"log\": {\"level\": \"verbose\"}}",
     {"c.json:1:24: must be a whole number from 1 to 65536, in \"limits.callers\"",
      "c.json:1:47: must be one of \"trace\", \"debug\""}},
    {"{\n  // a slip on every line\n  \"mcpServers\": {\n    \"a\": { command: \"x\" },\n    \"b\": { \"command\": 'y' "
     "},\n    \"c\": { \"command\": \"z\", \"start\": "
     "\"lasy\" },\n  },\n  \"models\": { \"m\": { \"api\": \"rehearsal\", \"temprature\": 1 } },\n  \"toolNames\": "
     "\"prefix\",\n  \"idleExitMs\": -1,\n}",
     {"c.json:4:12: a key needs quotes", "c.json:5:23: strings need double quotes",
      "c.json:6:37: must be one of \"eager\", \"lazy\"",
      "c.json:8:42: unknown key, in \"models.m.temprature\": did you mean \"temperature\"?",
      "c.json:9:16: must be one of \"prefixed\", \"plain\"",
      "c.json:10:17: must be a whole number of milliseconds from 0 to 604800000"}},
    {"{\"mcpServers\": {\"a\": {\"command\": \"x\"",
     {"c.json:1:37: the file ends inside the object that opened at line 1:22"}},
    {"{\"mcpServers\": {\"a\": {\"command\": \"C:\\Tools\\x\"}}}",
     {"c.json:1:37: no escape of JSON starts like this", "c.json:1:43: no escape of JSON starts like this"}},
};

}  // namespace

TEST_CASE("G34: at least twenty broken files are refused with all their errors at once") {
  CHECK(files.size() >= 20);
  for (const auto& f : files) {
    CAPTURE(f.text);
    const auto made = load_broken(f.text);
    CAPTURE(made.error_text());
    REQUIRE(made.errors.size() == f.errors.size());
    for (std::size_t i = 0; i < f.errors.size(); ++i) {
      const auto text = made.errors[i].text();
      CAPTURE(text);
      CHECK(text.starts_with(f.errors[i]));
      CHECK_FALSE(made.errors[i].mend.empty());
    }
  }
}

TEST_CASE("load: a flood of wrong keys is cut with a word about it") {
  std::string text = "{";
  for (int i = 0; i < 5000; ++i) text += "\"key" + std::to_string(i) + "\": 1,";
  const auto made = load_broken(text + "}");
  CHECK(made.errors.size() < 300);
  CHECK(made.error_text().find("too many findings") != std::string::npos);
}

TEST_CASE("load: names with control characters do not reach the terminal") {
  const auto made = load_broken("{\"a\\u001b[31mb\": 1}");
  REQUIRE(made.errors.size() == 1);
  CHECK(made.error_text().find('\x1b') == std::string::npos);
}
