// Whole files: what arrives in the values, drop-ins, notices, and the rules between keys.
#include "conf/load.hpp"

#include "conf/model/loop_levels.hpp"
#include "conf/rules.hpp"

#include <doctest/doctest.h>

#include <array>

using namespace mcpbx::conf;
using namespace mcpbx::conf::documents;
using namespace mcpbx::conf::loop;
using namespace mcpbx::conf::model;

namespace {

loaded load_one(const std::string& text) {
  const std::array files{source_text{"f", text}};
  return load(files, {});
}

std::string notices(const loaded& l) {
  return listing(l.config.notices);
}

}  // namespace

TEST_CASE("load: every member of a server entry arrives") {
  const auto made = load_one(R"({ "mcpServers": {
    "z": { "command": "${HOME}/z", "args": ["-a", "${X:-y}"], "env": { "B": "1", "A": "${env:A}" }, "envFile": "~/e",
           "passEnv": ["SSH_AUTH_SOCK"], "cwd": "~", "disabled": true, "start": "lazy",
           "tools": { "allow": ["g_*"], "deny": ["g_x"], "rename": { "g_log": "history" },
             "serial": ["g_w*"], "retry": ["g_r"], "callTimeoutMs": { "g_s*": 6, "*": 7 }, "callHardTimeoutMs": { "g_s*": 8 } },
           "trustAnnotations": true, "maxRetries": 9, "protocol": "2025-11-25",
           "toolNames": "plain", "startTimeoutMs": 1, "callTimeoutMs": 2, "callHardTimeoutMs": 3, "idleStopMs": 4,
           "maxConcurrency": 5, "sharing": "perRun", "approve": ["g_c"], "sampling": {"model": "demo/x", "maxTokens": 11, "perMinute": 12},
           "roots": ["~/a", {"uri": "file:///b", "name": "B"}], "extensions": {"com.example/x": {"methods": ["x/*"]}}, "mayCall": true, "orphans": "keep" },
    "a": { "url": "https://a.example/mcp", "headers": { "Authorization": "Bearer ${env:T}" },
           "auth": { "open": "xdg-open", "clientMetadataUrl": "https://c.example", "issuer": "https://a.example",
             "clientId": "i", "clientSecret": "${env:S}",
             "privateKey": "${file:~/k.pem}", "privateKeyId": "k", "assertion": "${file:/run/token}", "grant": "enterprise",
             "idpTokenUrl": "https://idp.example/token", "idpClientId": "j", "idpClientSecret": "${env:J}" } }
  } })");
  REQUIRE(made.error_text() == "");
  REQUIRE(made.config.servers.size() == 2);
  const auto& z = made.config.servers[0];
  CHECK(z.name == "z");  // the order of the file, not of the names
  CHECK(z.at.line == 2);
  CHECK(z.command->text == "${HOME}/z");
  CHECK(z.command->where == "mcpServers.z.command");
  CHECK(z.command->server_entry);
  CHECK(z.args[1].text == "${X:-y}");
  CHECK(z.args[1].where == "mcpServers.z.args[1]");
  CHECK(z.env[0].first == "B");
  CHECK(z.env[1].second.text == "${env:A}");
  CHECK(z.env_file->text == "~/e");
  CHECK(z.pass_env == std::vector<std::string>{"SSH_AUTH_SOCK"});
  CHECK(z.cwd->text == "~");
  CHECK(z.disabled);
  CHECK(z.start == start_mode::lazy);
  CHECK(z.tools.allow == std::vector<std::string>{"g_*"});
  CHECK(z.tools.deny == std::vector<std::string>{"g_x"});
  CHECK(z.tools.rename == string_map{{"g_log", "history"}});
  CHECK(z.tools.serial == std::vector<std::string>{"g_w*"});
  CHECK(z.tools.retry == std::vector<std::string>{"g_r"});
  CHECK(z.tools.call_timeout_ms == span_map{{"g_s*", milliseconds(6)}, {"*", milliseconds(7)}});
  CHECK(z.tools.call_hard_timeout_ms == span_map{{"g_s*", milliseconds(8)}});
  CHECK(z.trust_annotations);
  CHECK(z.max_retries == 9);
  CHECK(z.protocol == "2025-11-25");
  CHECK(z.tool_names == name_style::plain);
  CHECK(z.start_timeout_ms.count() == 1);
  CHECK(z.call_timeout_ms.count() == 2);
  CHECK(z.call_hard_timeout_ms.count() == 3);
  CHECK(z.idle_stop_ms.count() == 4);
  CHECK(z.max_concurrency == 5);
  CHECK(z.sharing == sharing_mode::per_run);
  CHECK(z.approve == std::vector<std::string>{"g_c"});
  CHECK((z.sampling->model == "demo/x" && z.sampling->max_tokens == 11 && z.sampling->per_minute == 12));
  REQUIRE(z.roots.size() == 2);
  CHECK((z.roots[0].uri.text == "~/a" && z.roots[0].uri.where == "mcpServers.z.roots[0]" && z.roots[0].name.empty()));
  CHECK((z.roots[1].uri.text == "file:///b" && z.roots[1].name == "B"));
  REQUIRE(z.extensions.size() == 1);
  CHECK((z.extensions[0].name == "com.example/x" && z.extensions[0].methods == std::vector<std::string>{"x/*"}));
  CHECK(z.may_call);
  CHECK(z.orphans == orphan_policy::keep);
  const auto& a = made.config.servers[1];
  CHECK(a.url->text == "https://a.example/mcp");
  CHECK(a.headers[0].second.where == "mcpServers.a.headers.Authorization");
  CHECK(a.auth->issuer->text == "https://a.example");
  CHECK(a.auth->client_secret->text == "${env:S}");
  CHECK(a.auth->private_key->text == "${file:~/k.pem}");
  CHECK(a.auth->private_key_id->text == "k");
  CHECK(a.auth->assertion->text == "${file:/run/token}");
  CHECK(a.auth->grant == login_grant::enterprise);
  CHECK(a.auth->idp_token_url->text == "https://idp.example/token");
  CHECK(a.auth->idp_client_id->text == "j");
  CHECK(a.auth->idp_client_secret->text == "${env:J}");
}

TEST_CASE("load: models and profiles and the settings of the loop arrive") {
  const auto made = load_one(R"({
    "models": { "m": { "api": "azure", "model": "d", "baseUrl": "https://x.example", "apiKey": "${cmd:pass x}",
      "apiVersion": "v", "headers": {"X-A": "b"}, "toolFormat": "react", "maxTools": 40, "maxTokens": 7, "temperature": 0.5, "topP": 1,
      "system": "s", "connectTimeoutMs": 1, "firstByteTimeoutMs": 2, "idleTimeoutMs": 3, "totalTimeoutMs": 4,
      "maxRetries": 5, "loop": { "maxRounds": 6 } } },
    "defaultModel": "m/other",
    "profiles": { "p": { "model": "m", "system": "t", "tools": {"allow": ["x*"]}, "loop": { "onLimit": "stop" } } },
    "loop": { "guidance": "be brief", "status": "off", "timeoutMs": 9, "max": { "maxRounds": 12, "tokenBudget": 100 } },
    "idleExitMs": 0
  })");
  REQUIRE(made.error_text() == "");
  const auto& c = made.config;
  const auto& m = c.models[0];
  CHECK(m.api == model_api::azure);
  CHECK(m.api_key->where == "models.m.apiKey");
  CHECK_FALSE(m.api_key->server_entry);
  CHECK(m.format == tool_format::react);
  CHECK(m.max_tools == 40);
  CHECK(m.max_tokens == 7);
  CHECK(m.temperature == 0.5);
  CHECK(m.top_p == 1.0);
  CHECK(m.total_timeout_ms.count() == 4);
  CHECK(m.max_retries == 5);
  CHECK(m.loop.max_rounds == 6);
  CHECK_FALSE(m.loop.max_calls);
  CHECK(c.default_model == "m/other");
  CHECK(c.profiles[0].loop.on_limit == limit_policy::stop);
  CHECK((c.loop.guidance == switch_or_text{true, "be brief"}));
  CHECK(c.loop.status == status_mode::off);
  CHECK(c.loop.timeout_ms == 9);
  CHECK(c.loop.token_budget == 100);  // the ceiling, where none would be unbounded
  CHECK(c.loop.max_rounds == 10);
  CHECK(c.idle_exit_ms.count() == 0);
}

TEST_CASE("load: levels of loop settings lie over each other below the ceiling") {
  auto l = default_loop();
  loop_settings model, request, max;
  model.max_rounds = 4;
  model.status = status_mode::off;
  request.max_rounds = 50;
  max.max_rounds = 20;
  max.timeout_ms = 5;
  overlay(l, model);
  CHECK(l.max_rounds == 4);
  overlay(l, request);
  cap(l, max);
  CHECK(l.max_rounds == 20);
  CHECK(l.timeout_ms == 5);
  CHECK(l.status == status_mode::off);
  CHECK(l.max_calls == 256);
}

TEST_CASE("load: a model's dialect and what joins its requests arrive, and what has no effect is told") {
  const auto made = load_one(R"({"models": {
    "m": { "api": "openai-chat", "model": "x", "dialect": {"maxTokensField": "max_completion_tokens", "emptyContent": "null",
      "systemRole": "developer", "callIds": "short", "userAfterTool": true, "streamOptions": false, "parallelToolCalls": true, "strict": true,
      "answerSchema": true, "echoReasoning": "reasoning_content"},
      "body": {"a": [1, 2.5, "ä\n", null, /* no */ true,], "b": {"c": -9007199254740993},} },
    "g": { "api": "gemini", "model": "x", "apiVersion": "v", "dialect": {"strict": true} },
    "o": { "api": "ollama", "model": "x", "body": {"options": {"num_ctx": 8192}} } }})");
  REQUIRE(made.error_text() == "");
  const auto& m = made.config.models[0];
  CHECK(m.dialect.max_tokens_field == token_limit_member::max_completion_tokens);
  CHECK(m.dialect.empty_content == empty_content::null);
  CHECK(m.dialect.system_role == system_role::developer);
  CHECK(m.dialect.call_ids == call_id_shape::short_ids);
  CHECK(m.dialect.user_after_tool == true);
  CHECK(m.dialect.stream_options == false);
  CHECK(m.dialect.parallel_tool_calls == true);
  CHECK(m.dialect.strict == true);
  CHECK(m.dialect.answer_schema == true);
  CHECK(m.dialect.echo_reasoning == "reasoning_content");
  CHECK(m.body->text == "{\"a\":[1,2.5,\"ä\\n\",null,true],\"b\":{\"c\":-9007199254740993}}");
  CHECK_FALSE(made.config.models[1].body);
  CHECK(made.config.models[2].body->text == R"({"options":{"num_ctx":8192}})");
  const auto notices = listing(made.config.notices);
  CHECK(notices.find("models.g.apiVersion") != notices.npos);
  CHECK(notices.find("models.g.dialect") != notices.npos);
  CHECK(notices.find("models.m") == notices.npos);
  CHECK(notices.find("models.o") == notices.npos);
  const auto told = [](std::string_view members) {
    return listing(load_one(R"({"models": {"m": {"api": "anthropic", "model": "x", )" + std::string(members) + "}}}")
                       .config.notices);
  };
  CHECK(
      told(
          R"("apiVersion": "2023-06-01", "temperature": 1, "dialect": {"strict": true, "parallelToolCalls": false})") ==
      "");
  CHECK(told(R"("temperature": 1)").find("\"models.m.temperature\"") != std::string::npos);
  CHECK(told(R"("dialect": {"strict": true, "callIds": "short"})").find("\"models.m.dialect\"") != std::string::npos);
  CHECK(told(R"("dialect": {"userAfterTool": false})").find("\"models.m.dialect\"") != std::string::npos);
  CHECK(listing(load_one(R"({"models": {"m": {"api": "rehearsal", "maxTools": 5}}})").config.notices)
            .find("\"models.m.maxTools\"") != std::string::npos);
  const auto errors = [](std::string_view body) {
    return load_one(R"({"models": {"m": {"api": "gemini", "model": "x", "body": )" + std::string(body) + "}}}")
        .error_text();
  };
  CHECK(errors(R"({"contents": []})").find("\"models.m.body.contents\"") != std::string::npos);
  CHECK(errors(R"({"a": ["${env:X}"]})").find("references do not work here, in \"models.m.body.a[0]\"") !=
        std::string::npos);
}

TEST_CASE("D5: drop-ins are merged member by member and a later one wins") {
  const std::array files{
      source_text{"a",
                  "{\"mcpServers\": {\"x\": {\"command\": \"one\", \"env\": {\"A\": \"1\"}}, \"y\": {\"command\": "
                  "\"y\"}}, \"toolNames\": \"plain\"}"},
      source_text{"b",
                  "{\"mcpServers\": {\n\"x\": {\"command\": \"two\", \"env\": {\"B\": \"2\"}, \"start\": \"lazy\"}, "
                  "\"z\": {\"command\": \"z\"}}}"},
      source_text{"c", "{\"mcpServers\": {\"y\": {\"disabled\": true}}, \"toolNames\": \"prefixed\"}"}};
  const auto made = load(files, {});
  REQUIRE(made.error_text() == "");
  const auto& s = made.config.servers;
  REQUIRE(s.size() == 3);
  CHECK(s[0].name == "x");
  CHECK(s[0].command->text == "two");
  CHECK(s[0].env.size() == 2);
  CHECK(s[0].start == start_mode::lazy);
  CHECK(s[1].disabled);
  CHECK(s[1].command->text == "y");
  CHECK(s[2].name == "z");
  CHECK(made.config.tool_names == name_style::prefixed);
  CHECK(made.config.sources == std::vector<std::string>{"a", "b", "c"});
}

TEST_CASE("load: errors in drop-ins name their own file and place") {
  const std::array files{
      source_text{"a", "{\"mcpServers\": {\"x\": {\"command\": \"one\"}}}"},
      source_text{"b", "{\"mcpServers\": {\"x\": {\n  \"start\": \"soon\",\n  \"url\": \"https://x\"}}}"},
      source_text{"c", "{,}"}};
  const auto made = load(files, {});
  CHECK(made.error_text() ==
        "b:2:12: must be one of \"eager\", \"lazy\", in \"mcpServers.x.start\": write one of these words in quotes "
        "(the default is \"eager\")\n"
        "b:3:3: has both \"command\" and \"url\", in \"mcpServers.x\": take one of the two out\n"
        "c:1:2: a comma too many: take it out\n");
}

TEST_CASE("load: unknown keys of server entries are notices unless one of ours was meant") {
  const auto made = load_one(R"({"mcpServers": {"x": {"command": "c", "type": "stdio", "autoApprove": [], "icon": {},
    "startTimeotMs": 5, "whatever": 1}}})");
  CHECK(made.error_text() ==
        "f:2:5: unknown key, in \"mcpServers.x.startTimeotMs\": did you mean \"startTimeoutMs\"?\n");
  CHECK(notices(made) ==
        "f:2:25: unknown key; it has no effect, in \"mcpServers.x.whatever\": leave it if another host needs it\n");
}

TEST_CASE("load: an unknown key of our sections is an error that says where it belongs") {
  CHECK(load_one("{\"maxRounds\": 5}").error_text() ==
        "f:1:2: unknown key, in \"maxRounds\": it belongs in \"loop\"\n");
  CHECK(load_one("{\"servers\": {}}").error_text() ==
        "f:1:2: unknown key, in \"servers\": did you mean \"mcpServers\"?\n");
  CHECK(load_one("{\"log\": {\"colour\": 1}}").error_text() ==
        "f:1:10: unknown key, in \"log.colour\": the keys here are \"level\"\n");
}

TEST_CASE("load: an entry with an address and a login needs no notice") {
  const auto made = load_one(R"({
    "mcpServers": {"r": {"url": "https://x.example", "sharing": "shared"}, "s": {"command": "c", "sharing": "perCaller", "idleStopMs": 0, "maxInstances": 3}},
    "models": {"a": {"api": "anthropic", "model": "m"}, "b": {"api": "openai-chat", "model": "m", "toolFormat": "native"}},
    "http": {"address": "127.0.0.1:1"},
    "store": {"url": "none"}
  })");
  CHECK(made.error_text() == "");
  CHECK(notices(made) == "");
  CHECK(made.config.servers.at(1).max_instances == 3);
  CHECK(notices(load_one(R"({"mcpServers": {"r": {"url": "https://x.example", "auth": {"clientId": "a"}}}})")) == "");
}

TEST_CASE("G35: a literal password in store.url gets a notice that does not repeat it") {
  const auto said = [](const std::string& url) { return notices(load_one(R"({"store": {"url": ")" + url + "\"}}")); };
  for (const char* with : {"postgresql://me:canary@h/d", "postgres://me@h/d?sslmode=require&password=canary"}) {
    CHECK(said(with).find("a password stands in the file itself, in \"store.url\": better write ${env:NAME}") !=
          std::string::npos);
    CHECK(said(with).find("canary") == std::string::npos);
  }
  for (const char* without : {"postgresql://me@h:5432/d", "postgresql://h/a:b@c", "postgresql://me:${env:X}@h/d",
                              "sqlite:/a:b@c", "postgresql:///d?host=/tmp"})
    CHECK(said(without) == "");
}

TEST_CASE("G35: a literal secret gets a notice that does not repeat it") {
  const auto made = load_one(
      R"({"mcpServers": {"x": {"command": "c", "env": {"API_TOKEN": "canary-1", "HOME": "/x", "OK_TOKEN": "${env:T}"}}},
    "models": {"m": {"api": "openai-chat", "model": "i", "apiKey": "canary-2", "headers": {"X-Api-Key": "canary-3"}}}})");
  CHECK(made.error_text() == "");
  CHECK(made.config.notices.size() == 3);
  CHECK(notices(made).find("canary") == std::string::npos);
  CHECK(notices(made).starts_with(
      "f:1:60: a secret stands in the file itself, in \"mcpServers.x.env.API_TOKEN\": better write ${env:NAME}"));
}

TEST_CASE("G35: a secret that args refers to gets a notice, because command lines can be read by others") {
  const auto made = load_one(R"({"mcpServers": {"x": {"command": "c", "args":
    ["-k", "${env:API_TOKEN}", "--key=${DB_PASSWORD:-none}", "${file:~/key}", "${HOME}/x", "${env:LANG}", "$${env:API_TOKEN}"]}}})");
  CHECK(made.error_text() == "");
  CHECK(made.config.notices.size() == 3);
  CHECK(notices(made).starts_with(
      "f:2:12: a secret would stand in the server's command line, where every user of this machine can read it, in "
      "\"mcpServers.x.args[1]\": better give it in \"env\""));
  for (const char* place : {"args[2]", "args[3]"}) CHECK(notices(made).find(place) != std::string::npos);
}

TEST_CASE("load: files and programs are taken where the value is needed at once, too") {
  const auto made =
      load_one(R"({"models": {"m": {"api": "azure", "model": "${file:/x}", "baseUrl": "https://h?k=${cmd:x}",
      "apiVersion": "${file:/x}", "caFile": "${cmd:x}", "system": "${file:~/x}"}, "r": {"api": "replay", "script": "${cmd:x}"}},
    "profiles": {"p": {"system": "${cmd:x y}"}}, "http": {"address": "127.0.0.1:${file:/x}", "tokenFile": "${cmd:x}"},
    "store": {"url": "sqlite:${file:/x}"}})");
  CHECK(made.error_text() == "");
  CHECK(notices(made) == "");
  for (const char* url : {"${file:/x}", "${cmd:x}", "postgresql://me:${file:/x}@h/d", "sqlite:${env:X}"})
    CHECK(load_one(R"({"store": {"url": ")" + std::string(url) + "\"}}").error_text() == "");
}

TEST_CASE("G35: an error never repeats the value that is wrong") {
  const auto made = load_one(
      R"({"mcpServers": {"x": {"url": "canary-1", "headers": {"Authorization": "canary-2\n"}, "auth": {"clientSecret": "${canary-3}${"}}},
    "models": {"m": {"api": "openai-chat", "model": "i", "apiKey": ["canary-4"], "baseUrl": "canary-5"}}, "store": {"url": "canary-6"}})");
  CHECK(made.errors.size() == 6);
  CHECK(made.error_text().find("canary") == std::string::npos);
}

TEST_CASE("host keys: the words of all hosts for a transport are understood and must agree with command or url") {
  const auto entry = [](const std::string& members) {
    return load_one("{\"mcpServers\": {\"x\": {" + members + "}}}");
  };
  const std::string url = R"("url": "https://x.example/mcp", )", program = R"("command": "c", )";
  for (const char* key : {"type", "transport", "transportType"})
    for (const char* word : {"http", "streamable-http", "streamableHttp", "streamable_http", "remote", "auto"}) {
      CAPTURE(word);
      const auto made = entry(url + "\"" + key + "\": \"" + word + "\"");
      CHECK(made.error_text() == "");
      CHECK(notices(made) == "");
      CHECK(made.config.servers.at(0).transport != "sse");
      if (std::string_view(word) != "auto" && std::string_view(key) != "transport")
        CHECK_FALSE(entry(program + "\"" + key + "\": \"" + word + "\"").ok());
    }
  CHECK(entry(url + R"("type": "sse")").config.servers.at(0).transport == "sse");
  for (const char* word : {"stdio", "local"}) {
    CHECK(entry(program + "\"type\": \"" + word + "\"").ok());
    CHECK_FALSE(entry(url + "\"type\": \"" + word + "\"").ok());
  }
  for (const char* word : {"ws", "websocket", "tcp", "sdk", "inMemory", "builtin"})
    CHECK_FALSE(entry(url + "\"type\": \"" + word + "\"").ok());
  CHECK_FALSE(entry(url + R"("type": "http", "transport": "sse")").ok());
  CHECK_FALSE(entry(url + R"("transport": {"type": "http"})").ok());
  CHECK_FALSE(entry(url + R"("clientKeyFile": "k.pem")").ok());
}

TEST_CASE("G44: addresses of other schemes than http, https and unix are refused") {
  CHECK(load_one(R"({"mcpServers": {"x": {"url": "unix:/x:/mcp"}}})").ok());
  CHECK(load_one(R"({"models": {"x": {"api": "openai-chat", "model": "m", "baseUrl": "unix:/x:/v1"}}})").ok());
  for (const char* url :
       {"file:///etc/passwd", "javascript:x", "unix:x", "unix:/", "//x", "HTTP", "http://", "ftp://x", "gopher://x"}) {
    CAPTURE(url);
    CHECK_FALSE(load_one("{\"mcpServers\": {\"x\": {\"url\": \"" + std::string(url) + "\"}}}").ok());
    CHECK_FALSE(load_one("{\"models\": {\"x\": {\"api\": \"openai-chat\", \"model\": \"m\", \"baseUrl\": \"" +
                         std::string(url) + "\"}}}")
                    .ok());
  }
}

TEST_CASE("load: names that must exist are checked with the nearest one") {
  CHECK(load_one(R"({"models": {"claude": {"api": "rehearsal"}}, "defaultModel": "cluade"})").error_text() ==
        "f:1:62: names the model \"cluade\", which is not configured (did you mean \"claude\"?), in \"defaultModel\": "
        "add it to "
        "\"models\", or name another one\n");
  CHECK(load_one(R"({"defaultModel": "demo"})").ok());
  CHECK(load_one(R"({"defaultModel": "demo/x"})").ok());
  CHECK_FALSE(load_one(R"({"defaultModel": "profile:p"})").ok());
  CHECK(load_one(R"({"defaultModel": "profile:p", "profiles": {"p": {}}})").ok());
  CHECK_FALSE(load_one(R"({"profiles": {"p": {"model": "x"}}})").ok());
  CHECK_FALSE(load_one(R"({"loop": {"statusModel": "x"}})").ok());
}

TEST_CASE("load: keys that need or exclude each other") {
  CHECK(load_one(R"({"mcpServers": {"x": {}}})").error_text() ==
        "f:1:22: needs \"command\" or \"url\", in \"mcpServers.x\": add one of the two\n");
  CHECK(load_one(R"({"mcpServers": {"x": {"command": "c", "cwd": "caller"}}})").error_text() ==
        "f:1:46: \"caller\" needs a process per caller or run, and this server is shared by all, in "
        "\"mcpServers.x.cwd\": add "
        "\"sharing\": \"perCaller\", or name a directory\n");
  CHECK(load_one(R"({"mcpServers": {"x": {"command": "c", "cwd": "caller", "sharing": "perRun"}}})").ok());
  CHECK_FALSE(load_one(R"({"mcpServers": {"x": {"command": "c", "callTimeoutMs": 700000}}})").ok());
  CHECK_FALSE(load_one(R"({"models": {"m": {}}})").ok());
  CHECK_FALSE(load_one(R"({"models": {"m": {"api": "openai-chat"}}})").ok());
  CHECK_FALSE(load_one(R"({"models": {"m": {"api": "dial", "model": "x"}}})").ok());
  CHECK_FALSE(load_one(R"({"models": {"m": {"api": "replay"}}})").ok());
  CHECK(load_one(R"({"models": {"m": {"api": "rehearsal"}}})").ok());
  CHECK_FALSE(load_one(R"({"limits": {"totalBytes": 16777216}})").ok());
  CHECK_FALSE(load_one(R"({"loop": {"maxRounds": 20, "max": {"maxRounds": 10}}})").ok());
  CHECK(load_one(R"({"loop": {"maxRepeatedCalls": 0, "max": {"maxRepeatedCalls": 5}}})").error_text() ==
        "f:1:31: is 0 (no limit), more than the 5 of loop.max.maxRepeatedCalls, in \"loop.maxRepeatedCalls\": lower it "
        "or "
        "raise the ceiling\n");
  CHECK(load_one(R"({"loop": {"maxRounds": 0, "maxRepeatedCalls": 9, "max": {"maxRounds": 5, "maxRepeatedCalls": 0}}})")
            .ok());
  CHECK(load_one(R"({"loop": {"max": {"maxRounds": 5}}})").config.loop.max_rounds == 5);
  CHECK_FALSE(load_one(R"({"mcpServers": {"x": {"command": "c", "tools": {"rename": {"a": "z", "b": "z"}}}}})").ok());
}

TEST_CASE("load: what a replay records is another model that answers") {
  const auto recording = [](const std::string& name) {
    return load_one(
        "{\"models\": {\"g\": {\"api\": \"rehearsal\"}, \"t\": {\"api\": \"replay\", \"script\": \"/x\", "
        "\"record\": \"" +
        name + "\"}}}");
  };
  CHECK(recording("g").error_text() == "");
  CHECK(notices(recording("g")) == "");
  CHECK(recording("g/other").config.models[1].record == "g/other");
  CHECK(recording("h").error_text() ==
        "f:1:89: names the model \"h\", which is not configured (did you mean \"g\"?), in \"models.t.record\": add it "
        "to \"models\", or name "
        "another one\n");
  CHECK(recording("t").error_text() ==
        "f:1:89: names \"t\", which replays a recording itself, in \"models.t.record\": name the model that answers\n");
  CHECK(notices(load_one(R"({"models": {"g": {"api": "rehearsal", "record": "demo"}}})")) ==
        "f:1:49: has an effect with the API replay only, in \"models.g.record\": take it out\n");
}

TEST_CASE("load: a fallback is another model, and a chain of them has an end") {
  const auto chain = [](const std::string& last) {
    return load_one(
        "{\"models\": {\"c\": {\"api\": \"rehearsal\"}, \"b\": {\"api\": \"rehearsal\", \"fallbackModel\": \"" + last +
        "\"}, \"a\": {\"api\": \"rehearsal\", \"fallbackModel\": \"b/other\"}}}");
  };
  CHECK(chain("c").error_text() == "");
  CHECK(chain("c").config.models[2].fallback_model == "b/other");
  CHECK(chain("d").error_text().find("names the model \"d\", which is not configured") != std::string::npos);
  CHECK(chain("b").error_text() ==
        "f:1:83: leads back to \"b\" itself, in \"models.b.fallbackModel\": let one of the models have none\n");
  const auto circle = chain("a/x").error_text();
  CHECK(circle.find("leads back to \"a\"") != std::string::npos);
  CHECK(circle.find("leads back to \"b\"") != std::string::npos);
}

TEST_CASE("load: names of servers and models are bounded and printable") {
  const auto server = [](const std::string& name) {
    return load_one("{\"mcpServers\": {\"" + name + "\": {\"command\": \"c\"}}}").ok();
  };
  CHECK(server("a"));
  CHECK(server("Ünïcode näme"));
  CHECK(server(std::string(64, 'a')));
  CHECK_FALSE(server(""));
  CHECK_FALSE(server(std::string(65, 'a')));
  CHECK_FALSE(server("a\\nb"));
  CHECK_FALSE(server("a\\u202eb"));
  const auto model = [](const std::string& name) {
    return load_one("{\"models\": {\"" + name + "\": {\"api\": \"rehearsal\"}}}").ok();
  };
  CHECK(model("gpt-5.2"));
  CHECK_FALSE(model("a/b"));
  CHECK_FALSE(model("profile:x"));
}

TEST_CASE("load: prefixes of tool names are clean and unique whatever the order") {
  CHECK(server_prefix("git") == "git");
  CHECK(server_prefix("my server") == "my_server");
  CHECK(server_prefix("a__b") == "a_b");
  CHECK(server_prefix("ä.ö") == "_");
  const auto made = load_one(
      R"({"mcpServers": {"my server": {"command": "c"}, "my.server": {"command": "c"}, "my_server": {"command": "c"}}})");
  REQUIRE(made.error_text() == "");
  const auto& s = made.config.servers;
  CHECK(s[2].prefix == "my_server");  // an exact name keeps itself
  CHECK(s[0].prefix.starts_with("my_server_"));
  CHECK(s[1].prefix.starts_with("my_server_"));
  CHECK(s[0].prefix != s[1].prefix);
  CHECK(made.config.notices.size() == 2);
  const auto turned = load_one(
      R"({"mcpServers": {"my.server": {"command": "c"}, "my_server": {"command": "c"}, "my server": {"command": "c"}}})");
  CHECK(turned.config.servers[0].prefix == s[1].prefix);
  CHECK(turned.config.servers[2].prefix == s[0].prefix);
}

TEST_CASE("load: without any file the toolbox and a model from the environment are there") {
  environment env;
  const auto bare = load({}, env);
  CHECK(bare.ok());
  REQUIRE(bare.config.servers.size() == 1);
  CHECK(bare.config.servers[0].bundled);
  CHECK(bare.config.servers[0].name == "toolbox");
  CHECK(bare.config.servers[0].args.empty());
  CHECK_FALSE(bare.config.default_model);
  REQUIRE(bare.config.find_model("demo"));
  CHECK(bare.config.find_model("demo")->api == model_api::rehearsal);
  CHECK(bare.config.loop.max_rounds == 10);

  env.values["ANTHROPIC_API_KEY"] = "k";
  const auto anthropic = load({}, env);
  CHECK(anthropic.config.default_model == "claude");
  CHECK(anthropic.config.find_model("claude")->api == model_api::anthropic);
  CHECK(notices(anthropic) == "");

  env.values["OPENAI_API_KEY"] = "k";
  const auto both = load({}, env);
  CHECK(both.config.default_model == "gpt");
  CHECK(both.config.find_model("gpt")->api_key->text == "${env:OPENAI_API_KEY}");
  CHECK_FALSE(both.config.find_model("gpt")->base_url);

  env.values["OPENAI_API_KEY"] = "";
  CHECK(load({}, env).config.default_model == "claude");
  env.values["ANTHROPIC_API_KEY"] = "";
  CHECK_FALSE(load({}, env).config.default_model);
}

TEST_CASE("load: the demo model is there under any file and never the default by itself") {
  const auto made = load_one("{}");
  CHECK(made.ok());
  CHECK(made.config.find_model("demo"));
  CHECK(made.config.find_model("demo")->built_in);
  CHECK_FALSE(made.config.default_model);
  const auto own = load_one(R"({"models": {"demo": {"api": "openai-chat", "model": "m"}}})");
  CHECK(own.config.models.size() == 1);
  CHECK_FALSE(own.config.models[0].built_in);
}

TEST_CASE(
    "D5: a server's sampling, extensions and roots are refused with file and line and a mend where they are wrong") {
  struct row {
    std::string_view text, error;
  };
  const row rows[] = {
      {R"("sampling": {})", "needs \"model\", in \"mcpServers.z.sampling\""},
      {R"("sampling": {"model": "nobody"})", "names the model \"nobody\", which is not configured"},
      {R"("sampling": {"model": "demo", "maxTokens": 0})", "must be a whole number from 1 to 1000000"},
      {R"("sampling": {"model": "demo", "perMinutes": 1})", "did you mean \"perMinute\"?"},
      {R"("sampling": true)", "must be an object, not"},
      {R"("extensions": {"x": {"method": ["y"]}})", "did you mean \"methods\"?"},
      {R"("extensions": {"": {}})", "1 to 256 characters"},
      {R"("extensions": {"x": {"methods": [""]}})", "must be a pattern of method names with 1 to 256 characters"},
      {R"("extensions": ["x"])", "must be an object, not a list"},
      {R"("roots": "~")", "must be a list of strings and objects, not a string"},
      {R"("roots": [5])", "must be a string or an object, not"},
      {R"("roots": ["https://a.example"])", "must be a path or an address that starts with file://"},
      {R"("roots": [{"name": "x"}])", "needs \"uri\", in \"mcpServers.z.roots[0]\""},
  };
  for (const auto& r : rows) {
    CAPTURE(r.text);
    const auto made = load_one("{ \"mcpServers\": { \"z\": { \"command\": \"c\",\n" + std::string(r.text) + " } } }");
    const auto text = made.error_text();
    CAPTURE(text);
    CHECK(text.find(r.error) != text.npos);
    REQUIRE(made.errors.size() == 1);
    CHECK(made.errors[0].line == 2);
  }
}
