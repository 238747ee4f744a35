// /api and the probes over real sockets, and the description of all paths against what is answered.
#include "daemon/front/api/openapi.hpp"
#include "daemon/front/http/routes.hpp"
#include "providers/schema/validator/json_schema.hpp"
#include "test/daemon/front/door_on_sockets.hpp"
#include "test/support/contains.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::api_door;
using namespace mcpbx::daemon::front;
using namespace mcpbx::daemon::http_door;
using namespace mcpbx::daemon::routes;
using namespace mcpbx::daemon::run;
using namespace mcpbx::daemon::store;
using namespace mcpbx::daemon::stored;
using namespace mcpbx::json;
using namespace mcpbx::test;
using namespace std::chrono_literals;

// A name of its own, since several sources of these tests are compiled as one.
namespace mcpbx::test::api_door {

std::string chat(const std::string& body, const std::string& headers = "") {
  return door_on_sockets::post(body, headers, "/api/chat");
}

const std::string streamed = "Accept: text/event-stream, application/json\r\n";

std::string get(const std::string& path) {
  return "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
}

// Keeps one session.
struct session_journal final : journal {
  std::unique_ptr<run_journal> open_run(const std::string&) override { return nullptr; }
  static session_row row() {
    session_row r;
    r.id = "ses_1";
    r.principal = "uid:1000";
    return r;
  }
  void list_sessions(session_query q, answer<std::vector<session_row>> then) override {
    asked = q;
    then(std::vector{row()});
  }
  void read_session(std::string session, answer<session_contents> then) override {
    if (session != "ses_1") return then(fail(errc::not_found, "no session is named " + session));
    session_contents c;
    c.row = row();
    then(std::move(c));
  }
  session_query asked;
};

// Has the model `m`, once it is asked to answer.
struct slow_models final : model_directory {
  void list(const std::string&, bool, std::function<void(result<std::vector<model_row>>)> then) override {
    done.push_back(std::move(then));
  }
  std::size_t max_tools(std::string_view, std::string_view) const override { return 0; }
  void answer() {
    for (const auto& then : std::exchange(done, {})) {
      model_row m;
      m.name = "m";
      then(std::vector{m});
    }
  }
  std::vector<std::function<void(result<std::vector<model_row>>)>> done;
};

TEST_CASE("D3: api: a chat is answered with the run's result") {
  door_on_sockets d;
  const int web = d.enter();
  d.write(web, chat(R"({"input":"hi","model":"m"})"));
  d.text("so");
  d.done(R"("stopReason":"final","text":"so")");
  const auto got = d.got(web);
  CHECK_MESSAGE(contains(got, "HTTP/1.1 200"), got);
  CHECK(
      got.ends_with(R"({"run":"run-1","stopReason":"final","text":"so","usage":{"inputTokens":1,"outputTokens":2}})"));
  CHECK(d.backend.started[0].messages[0]->text() == "hi");
  CHECK_FALSE(d.backend.started[0].stream);
  CHECK_FALSE(contains(got, "<end>"));
}

TEST_CASE("D3: api: a stream has every event with the id to come again with, and ends with the result") {
  door_on_sockets d;
  const int web = d.enter();
  d.write(web, chat(R"({"input":"hi"})", streamed));
  d.text("s\"o");
  d.round(1);
  d.done(R"("stopReason":"final","text":"so")");
  const auto got = d.got(web);
  CHECK_MESSAGE(contains(got, "Content-Type: text/event-stream"), got);
  const auto body = joined(got);
  CHECK_MESSAGE(
      contains(body, "id: run-1:1\ndata: {\"run\":\"run-1\",\"seq\":1,\"type\":\"text\",\"text\":\"s\\\"o\"}\n\n"),
      body);
  CHECK(contains(body, "id: run-1:2\ndata: {\"run\":\"run-1\",\"seq\":2,\"type\":\"round\""));
  CHECK(contains(body, "id: run-1:3\ndata: {\"run\":\"run-1\",\"seq\":3,\"type\":\"done\""));
  CHECK_FALSE(contains(body, "jsonrpc"));
  // The connection goes on with the next request.
  d.write(web, get("/livez"));
  CHECK(contains(d.got(web), R"({"status":"ok"})"));
}

TEST_CASE("D3: api: a caller that leaves ends its run, unless the run is detached, and comes again behind an event") {
  door_on_sockets d;
  const int web = d.enter();
  d.write(web, chat(R"({"input":"hi"})", streamed));
  d.text("so");
  d.leave(web);
  CHECK(d.backend.abandoned.size() == 1);
  const int other = d.enter();
  d.write(other, chat(R"({"input":"hi","detach":true})", streamed));
  d.backend.told(runner::recorded_run{"run-2", "", false});
  auto& feed = d.feed("run-2");
  feed.push({run_event::kind::text, {}, "one", {}});
  CHECK(contains(d.got(other), R"("text":"one")"));
  d.leave(other);
  CHECK(d.backend.abandoned.size() == 1);
  feed.push({run_event::kind::round, {}, {}, daemon::event_json::round(1, "m")});
  const int again = d.enter();
  d.write(again, chat("{}", streamed + "Last-Event-ID: run-2:1\r\n"));
  const auto got = d.got(again);
  CHECK_MESSAGE(contains(got, "id: run-2:2\n"), got);
  CHECK_FALSE(contains(got, R"("text":"one")"));
  feed.done(raw_json::literal(R"({"run":"run-2"})"));
  CHECK(contains(d.got(again), "id: run-2:3\n"));
  CHECK(d.backend.started.size() == 2);
}

TEST_CASE("D3: api: a silent stream gets a comment after 15 s") {
  door_on_sockets d;
  const int web = d.enter();
  d.write(web, chat(R"({"input":"hi"})", streamed));
  d.time.advance(15'000ms);
  CHECK(contains(d.got(web), ": still here\n\n"));
  d.time.advance(15'000ms);
  CHECK(contains(d.got(web), ": still here\n\n"));
}

TEST_CASE("D3: api: what the socket refuses is refused with a status, the sentence and the member") {
  const auto answer = [](const std::string& request) {
    door_on_sockets d;
    const int web = d.enter();
    d.write(web, request);
    return d.got(web);
  };
  const auto member = answer(chat(R"({"input":7})"));
  CHECK_MESSAGE(contains(member, "HTTP/1.1 400"), member);
  CHECK(contains(member, R"({"error":{"message":"input: expected )"));
  CHECK(contains(member, R"("param":"input")"));
  CHECK(contains(answer(chat("[]")), R"("param":"body")"));
  CHECK(contains(answer(chat(R"({"input":"x","answers":true})")), R"("param":"answers")"));
  CHECK(contains(answer(chat("{")), R"("code":"invalid_json")"));
  CHECK(contains(answer(chat(R"({"input":"x"})", streamed + "Last-Event-ID: 7\r\n")), R"("param":"Last-Event-ID")"));
  CHECK(contains(answer(chat(R"({"input":"x"})", "Last-Event-ID: run:7\r\n")), "HTTP/1.1 406"));
  CHECK(contains(answer(chat("{}", streamed + "Last-Event-ID: none:7\r\n")), "HTTP/1.1 404"));
  CHECK(contains(answer(chat(R"({"input":"x","model":"nope"})")), "HTTP/1.1 404"));
  CHECK(contains(answer(get("/api/tools?patern=x")), "HTTP/1.1 400"));
  CHECK(contains(answer(get("/api/sessions")), R"("code":"config")"));
}

TEST_CASE("D3: api: queries are params, of their types") {
  auto store = std::make_unique<session_journal>();
  auto& kept = *store;
  door_on_sockets d;
  d.backend.kept = std::move(store);
  const int web = d.enter();
  d.write(web, get("/api/sessions?limit=7&before=s%5F1&all=true"));
  CHECK(contains(d.got(web), R"({"sessions":[{"session":"ses_1")"));
  CHECK(kept.asked.limit == 7);
  CHECK(kept.asked.before == "s_1");
  CHECK(kept.asked.principal.empty());
  d.write(web, get("/api/sessions/ses%5F1?from=0"));
  CHECK(contains(d.got(web), R"("messages":[]})"));
  d.write(web, get("/api/sessions/other"));
  CHECK(contains(d.got(web), "HTTP/1.1 404"));
}

// Cannot be written.
struct full_journal final : journal {
  std::unique_ptr<run_journal> open_run(const std::string&) override { return nullptr; }
  std::optional<journal_trouble> trouble() const override { return journal_trouble{"the disk is full", 1}; }
};

TEST_CASE("D1: probes: ready after the first tries and while the journal works, whatever a server does") {
  door_on_sockets d;
  const auto answer = [&](bool on_port, const std::string& more = "") {
    const int fd = d.enter(on_port);
    d.write(fd, "GET /readyz HTTP/1.1\r\nHost: localhost\r\n" + more + "\r\n");
    return d.got(fd);
  };
  using enum mcp::clients::server_state;
  for (const auto& [name, state] : std::initializer_list<std::pair<const char*, mcp::clients::server_state>>{
           {"a", ready}, {"b", lazy}, {"c", disabled}, {"d", starting}, {"e", failed}}) {
    mcp::clients::server_status s;
    s.name = name;
    s.state = state;
    d.backend.status.push_back(std::move(s));
  }
  d.backend.all_tried = false;
  const auto waiting = answer(true);
  CHECK(contains(waiting, "HTTP/1.1 503"));
  CHECK(contains(waiting, R"({"status":"waiting","reasons":["servers_starting"]})"));
  d.backend.all_tried = true;
  const auto taking = answer(true);
  CHECK(contains(taking, "HTTP/1.1 200"));
  CHECK(contains(taking, R"({"status":"ready","reasons":[]})"));
  // Names are for those that could ask for them anyway.
  CHECK(contains(answer(true, "Authorization: Bearer wrong\r\n"), R"("reasons":[]})"));
  CHECK(contains(answer(true, "Authorization: Bearer 0123456789abcdef\r\n"), R"("reasons":[],"servers":["d","e"]})"));
  CHECK(contains(answer(false), R"("reasons":[],"servers":["d","e"]})"));
  d.backend.kept = std::make_unique<full_journal>();
  const auto full = answer(true);
  CHECK(contains(full, "HTTP/1.1 503"));
  CHECK(contains(full, R"({"status":"waiting","reasons":["journal_unwritable"]})"));
  CHECK_FALSE(contains(full, "disk"));
}

TEST_CASE("E3: metrics: the daemon, its callers, runs and tool servers are counted, with names of entries only") {
  door_on_sockets d;
  mcp::clients::server_status s;
  s.name = "odd \"na\\me\"";
  s.state = mcp::clients::server_state::failed;
  s.last_error = "it said canary-7";
  s.restarts = 3;
  s.tools = 2;
  s.calls.calls = 40;
  s.calls.failed = 4;
  s.calls.p50_us = 1'500;
  s.calls.p95_us = 12'000'000;
  d.backend.status.push_back(s);
  s = {};
  s.name = "off";
  s.state = mcp::clients::server_state::disabled;
  d.backend.status.push_back(s);
  const int web = d.enter();
  d.write(web, get("/metrics"));
  const auto got = d.got(web);
  REQUIRE_MESSAGE(contains(got, "HTTP/1.1 200"), got);
  CHECK(contains(got, "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
  for (const char* line :
       {"# TYPE mcpbx_requests_total counter\n", "\nmcpbx_build_info{version=\"1\"} 1\n", "\nmcpbx_callers 1\n",
        "\nmcpbx_journal_writable 1\n", "\nmcpbx_servers{state=\"failed\"} 1\n", "\nmcpbx_servers{state=\"ready\"} 0\n",
        "\nmcpbx_servers{state=\"disabled\"} 1\n", R"(mcpbx_server_up{server="odd \"na\\me\""} 0)",
        R"(mcpbx_server_restarts_total{server="odd \"na\\me\""} 3)",
        R"(mcpbx_server_calls_total{server="odd \"na\\me\""} 40)",
        R"(mcpbx_server_failed_calls_total{server="odd \"na\\me\""} 4)",
        R"(mcpbx_server_call_seconds{server="odd \"na\\me\"",quantile="0.5"} 0.001500)",
        R"(mcpbx_server_call_seconds{server="odd \"na\\me\"",quantile="0.95"} 12.000000)"})
    CHECK_MESSAGE(contains(got, line), line);
  CHECK_FALSE(contains(got, "canary"));
  CHECK_FALSE(contains(got, "\"off\""));
  // Each sample follows the type of its family, and no family comes twice.
  std::set<std::string> families;
  std::string family;
  std::istringstream lines(got.substr(got.find("\r\n\r\n") + 4));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# TYPE ")) {
      family = line.substr(7, line.rfind(' ') - 7);
      CHECK_MESSAGE(families.insert(family).second, family);
      CHECK_MESSAGE(line.ends_with(" counter") == family.ends_with("_total"), line);
    } else if (!line.starts_with("# HELP ")) {
      CHECK_MESSAGE((line.starts_with(family + " ") || line.starts_with(family + "{")), line);
    }
  }
  CHECK(families.size() > 25);
  // On the port the token opens it, as it does the status.
  const int port = d.enter(true);
  d.write(port, get("/metrics"));
  CHECK(contains(d.got(port), "HTTP/1.1 401"));
}

TEST_CASE("D1: probes: alive always, both without the token and without a body") {
  door_on_sockets d;
  const auto answer = [&](const std::string& path) {
    const int port = d.enter(true);
    d.write(port, get(path));
    return d.got(port);
  };
  CHECK(contains(answer("/livez"), R"({"status":"ok"})"));
  CHECK(contains(answer("/healthz"), R"({"status":"ok"})"));
  CHECK(contains(answer("/api/status"), "HTTP/1.1 401"));
  const int foreign = d.enter(true);
  d.write(foreign, "GET /livez HTTP/1.1\r\nHost: evil.example\r\n\r\n");
  CHECK(contains(d.got(foreign), "HTTP/1.1 403"));
  // Strangers may not fill the memory with bodies, which no probe needs.
  for (const std::string body : {"Content-Length: 00030000000\r\n", "Transfer-Encoding: chunked\r\n"}) {
    const int with_body = d.enter(true);
    d.write(with_body, "GET /livez HTTP/1.1\r\nHost: localhost\r\n" + body + "\r\n");
    const auto refused = d.got(with_body);
    CHECK_MESSAGE(contains(refused, "HTTP/1.1 400"), refused);
    CHECK(contains(refused, "/livez takes no body."));
  }
  const int empty_body = d.enter(true);
  d.write(empty_body, "GET /livez HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n");
  CHECK(contains(d.got(empty_body), "HTTP/1.1 200"));
  // A probe earns no place: a caller on the port has 5 s for a request with the token.
  const int port = d.enter(true);
  d.write(port, get("/livez"));
  d.time.advance(5'000ms);
  CHECK(contains(d.got(port), "<end>"));
}

struct described {
  raw_json whole = raw_json::own(api_description("1"));

  // Returns the schema of an answer, which refers to the description's components.
  raw_json schema_of(const raw_json& operation, int status, std::string_view type) const {
    const auto responses = find_member(operation, "responses");
    auto response = find_member(responses, std::to_string(status));
    if (!response) response = find_member(responses, "default");
    REQUIRE(response);
    if (const auto name = member_text(response, "$ref"); !name.empty())
      response =
          find_member(find_member(find_member(whole, "components"), "responses"), name.substr(name.rfind('/') + 1));
    const auto content = find_member(find_member(response, "content"), type);
    REQUIRE(content);
    return with_components(find_member(content, "schema"));
  }
  raw_json with_components(const raw_json& schema) const {
    return raw_json::own(R"({"allOf":[)" + std::string(schema.text()) + R"(],"components":)" +
                         std::string(find_member(whole, "components").text()) + "}");
  }
};

void check_fits(const raw_json& schema, const std::string& value) {
  const auto compiled = providers::schema::json_schema::compile(schema);
  REQUIRE(compiled.has_value());
  CHECK(compiled->notes().empty());
  const auto json = raw_json::parse(value);
  REQUIRE_MESSAGE(json.has_value(), value);
  const auto verdict = compiled->check(*json);
  REQUIRE(verdict.complete);
  for (const auto& v : verdict.violations) FAIL_CHECK((v.path + ": expected " + v.expected + ", got " + v.found));
}

TEST_CASE("D3: openapi: it has exactly the paths and methods that are served") {
  const described d;
  const auto paths = raw_object::open(find_member(d.whole, "paths"));
  REQUIRE(paths.has_value());
  std::size_t described_rows = 0;
  paths->for_each([&](std::string_view, const raw_json& item) {
    const auto methods = raw_object::open(item);
    REQUIRE(methods.has_value());
    described_rows += methods->size();
  });
  CHECK(described_rows == http_routes().size());
  for (const auto& r : http_routes()) {
    CAPTURE(std::string(r.path));
    std::string method(r.method);
    std::ranges::transform(method, method.begin(), [](unsigned char c) { return std::tolower(c); });
    const auto operation = find_member(paths->find(r.path), method);
    CHECK(operation);
    CHECK((find_member(operation, "security").text() == "[]") == r.without_token);
    CHECK((r.body == body_kind::json) == !find_member(operation, "requestBody").empty());
  }
}

TEST_CASE("D3: openapi: what is answered fits, for every path, whether it is taken or refused") {
  const described of;
  const auto paths = find_member(of.whole, "paths");
  slow_models models;
  door_on_sockets d;
  d.backend.kept = std::make_unique<session_journal>();
  d.backend.directory_of_models = &models;
  mcp::clients::server_status server;
  server.name = "a";
  server.state = mcp::clients::server_state::ready;
  d.backend.status.push_back(server);
  const std::string initialize =
      R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},)"
      R"("clientInfo":{"name":"t","version":"1"}}})";
  struct sample {
    std::string method, path, row, good, bad;  // bodies, or queries
  };
  const std::vector<sample> samples{
      {"POST", "/v1/chat/completions", "", R"({"model":"m","messages":[{"role":"user","content":"hi"}]})", "{}"},
      {"POST", "/v1/responses", "", R"({"model":"m","input":"hi"})", "{}"},
      {"POST", "/v1/messages", "", R"({"model":"m","messages":[{"role":"user","content":"hi"}]})", "{}"},
      {"POST", "/v1/messages/count_tokens", "", "{}", "{}"},
      {"GET", "/v1/models", "", "", ""},
      {"GET", "/v1/models/m", "/v1/models/{id}", "", ""},
      {"GET", "/v1/models/none", "/v1/models/{id}", "", ""},
      {"POST", "/api/chat", "", R"({"input":"hi"})", "{}"},
      {"GET", "/api/status", "", "", "?x=1"},
      {"GET", "/api/servers", "", "", "?x=1"},
      {"GET", "/api/tools", "", "", "?x=1"},
      {"GET", "/api/sessions", "", "", "?limit=0"},
      {"GET", "/api/sessions/ses_1", "/api/sessions/{id}", "", "?from=x"},
      {"GET", "/api/sessions/other", "/api/sessions/{id}", "", ""},
      {"GET", "/api/openapi.json", "", "", ""},
      {"GET", "/livez", "", "", ""},
      {"GET", "/healthz", "", "", ""},
      {"GET", "/readyz", "", "", ""},
      {"GET", "/metrics", "", "", ""},
      {"POST", "/mcp", "", initialize, "{}"},
      {"GET", "/mcp", "", "", ""},
      {"DELETE", "/mcp", "", "", ""},
  };
  std::map<std::string, int> seen;
  for (const auto& s : samples) {
    const auto& row = s.row.empty() ? s.path : s.row;
    ++seen[s.method + " " + row];
    std::string method = s.method;
    std::ranges::transform(method, method.begin(), [](unsigned char c) { return std::tolower(c); });
    const auto operation = find_member(find_member(paths, row), method);
    REQUIRE(operation);
    for (const auto& variant : {s.good, s.bad}) {
      CAPTURE(s.path + " " + variant);
      const int web = d.enter();
      const auto before = d.backend.feeds.size();
      if (s.method == "POST")
        d.write(web, door_on_sockets::post(variant, "Accept: application/json, text/event-stream\r\n", s.path));
      else
        d.write(web, s.method + " " + s.path + variant + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
      models.answer();
      d.backend.settle();
      d.turn();
      if (d.backend.feeds.size() > before) {
        const auto run = "run-" + std::to_string(d.backend.started.size());
        d.feed(run).push({run_event::kind::text, {}, "so", {}});
        d.feed(run).done(raw_json::own(R"({"run":")" + run +
                                       R"(","stopReason":"final","text":"so","rounds":1,)"
                                       R"("toolCalls":[],"usage":{"inputTokens":1,"outputTokens":2},"messages":[]})"));
      }
      const auto got = d.got(web);
      REQUIRE_MESSAGE(got.starts_with("HTTP/1.1 "), got);
      const int status = std::stoi(got.substr(9, 3));
      auto body = got.substr(got.find("\r\n\r\n") + 4);
      if (body.ends_with("<end>")) body.erase(body.size() - 5);
      if (body.empty()) continue;
      if (contains(got, "Content-Type: text/plain")) {
        CHECK(of.schema_of(operation, status, "text/plain").text().contains("string"));
        continue;
      }
      check_fits(of.schema_of(operation, status, "application/json"), body);
    }
  }
  CHECK(seen.size() == http_routes().size());
  // The schema of events, by a stream.
  const int web = d.enter();
  d.write(web, chat(R"({"input":"hi"})", streamed));
  const auto run = "run-" + std::to_string(d.backend.started.size());
  d.feed(run).push({run_event::kind::text, {}, "so", {}});
  d.feed(run).done(raw_json::own(R"({"run":")" + run + "\"}"));
  const auto body = joined(d.got(web));
  const auto event = of.with_components(raw_json::literal(R"({"$ref":"#/components/schemas/Event"})"));
  std::size_t events = 0;
  for (auto at = body.find("data: "); at != std::string::npos; at = body.find("data: ", at + 1), ++events)
    check_fits(event, body.substr(at + 6, body.find('\n', at) - at - 6));
  CHECK(events == 2);
}

}  // namespace mcpbx::test::api_door
