// Broken configuration files as people write them, for the loader, the start of the daemon and a reload: each with all
// of its errors.
#pragma once
#include <vector>

namespace mcpbx::test {

struct broken_configuration {
  const char* text;
  std::vector<const char*> errors;  ///< beginning of each error behind `FILE:`, in order
};

inline std::vector<broken_configuration> broken_configurations() {
  return {
      {"", {"1:1: the file holds no JSON value"}},
      {"[]", {"1:1: the configuration must be an object, not a list: write { … } around it"}},
      {"{\n  \"mcpServers\": {\n    \"git\": { \"command\": \"git-mcp\", \"startTimeoutMs\": \"30s\" }\n  }\n}",
       {"3:54: must be a whole number of milliseconds from 1 to 3600000, not a string, in "
        "\"mcpServers.git.startTimeoutMs\": write it as a number without quotes (the default is 30000)"}},
      {"{\n  \"mcpServer\": {}\n}", {"2:3: unknown key, in \"mcpServer\": did you mean \"mcpServers\"?"}},
      {"{\"mcpServers\": {\"a\": {\"args\": [\"x\"]}}}", {"1:22: needs \"command\" or \"url\", in \"mcpServers.a\""}},
      {"{\"mcpServers\": {\"a\": {\"command\": \"x\", \"args\": \"-y\"}}}",
       {"1:47: must be a list of strings, not a string, in \"mcpServers.a.args\": write [\"…\"]"}},
      {"{\"mcpServers\": {\"a\": {\"command\": [\"npx\", \"x\"]}}}",
       {"1:34: must be a string, not a list, in \"mcpServers.a.command\": write the program here and its "
        "arguments in \"args\""}},
      {"{\"mcpServers\": {\"a\": {\"command\": \"x\", \"env\": {\"PORT\": 8080}}}}",
       {"1:55: must be a string, not a number, in \"mcpServers.a.env.PORT\": write it in quotes"}},
      {"{\"mcpServers\": {\"a\": {\"command\": \"x\"} \"b\": {\"command\": \"y\"}}}",
       {"1:39: a comma is missing before this"}},
      {"{\"mcpServers\": {\"a\": {\"command\": \"x\"}, \"a\": {\"command\": \"y\"}}}",
       {"1:40: this key stands twice, first at line 1:17, in \"mcpServers.a\""}},
      {"{\"mcpServers\": {\"a\": {\"command\": \"x\", \"env\": {\"T\": \"${env:}\"}}}}",
       {"1:52: ${env:…} needs the name of an environment variable, in \"mcpServers.a.env.T\""}},
      {"{\"mcpServers\": {\"a\": {\"url\": \"x.example/mcp\"}}}",
       {"1:30: must be a URL that starts with http://, https:// or unix:/, in \"mcpServers.a.url\""}},
      {"{\"models\": {\"m\": {\"api\": \"openai\", \"model\": \"x\"}}}", {"1:26: must be one of \"openai-chat\""}},
      {"{\"models\": {\"m\": {\"api\": \"openai-chat\"}}}",
       {"1:18: needs \"model\" (api is \"openai-chat\"), in \"models.m\": write the provider's id of the model"}},
      {"{\"models\": {\"m\": {\"api\": \"openai-chat\", \"model\": \"x\", \"apiKey\": \"${OPENAI_API_KEY}\"}}}",
       {"1:65: the form ${NAME} works in server entries only, in \"models.m.apiKey\": write "
        "${env:OPENAI_API_KEY}"}},
      {"{\"defaultModel\": \"gpt\"}", {"1:18: names the model \"gpt\", which is not configured"}},
      {"{\"loop\": {\"maxRounds\": -1, \"onLimit\": \"halt\"}}",
       {"1:24: must be a whole number from 0 to 100000, in \"loop.maxRounds\": write a whole number in this range "
        "(the default is 10)",
        "1:39: must be one of \"synthesize\", \"stop\", in \"loop.onLimit\""}},
      {"{\"http\": {\"address\": \"0.0.0.0:80\"}}",
       {"1:22: must be HOST:PORT on this machine (127.0.0.1, [::1] or localhost), in \"http.address\""}},
      {"{\"limits\": {\"callers\": 1e9}, \"log\": {\"level\": \"verbose\"}}",
       {"1:24: must be a whole number from 1 to 65536, in \"limits.callers\"",
        "1:47: must be one of \"trace\", \"debug\""}},
      {"{\n  // a slip on every line\n  \"mcpServers\": {\n    \"a\": { command: \"x\" },\n    \"b\": { \"command\": "
       "'y' "
       "},\n    \"c\": { \"command\": \"z\", \"start\": "
       "\"lasy\" },\n  },\n  \"models\": { \"m\": { \"api\": \"rehearsal\", \"temprature\": 1 } },\n  \"toolNames\": "
       "\"prefix\",\n  \"idleExitMs\": -1,\n}",
       {"4:12: a key needs quotes", "5:23: strings need double quotes", "6:37: must be one of \"eager\", \"lazy\"",
        "8:42: unknown key, in \"models.m.temprature\": did you mean \"temperature\"?",
        "9:16: must be one of \"prefixed\", \"plain\"",
        "10:17: must be a whole number of milliseconds from 0 to 604800000"}},
      {"{\"mcpServers\": {\"a\": {\"command\": \"x\"",
       {"1:37: the file ends inside the object that opened at line 1:22"}},
      {"{\"mcpServers\": {\"a\": {\"command\": \"C:\\Tools\\x\"}}}",
       {"1:37: no escape of JSON starts like this", "1:43: no escape of JSON starts like this"}},
  };
}

}  // namespace mcpbx::test
