// Tests of listing models, for each API, with endpoints played by the tests.
#include "providers/call/model_listing.hpp"

#include "mcp/redact/secret.hpp"
#include "test/fixtures/model/scripted_model.hpp"
#include "test/mcp/http/client/client_harness.hpp"
#include "test/support/manual_time.hpp"

#include <doctest/doctest.h>

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace mcpbx;
using namespace mcpbx::providers::call;
using namespace mcpbx::providers::wire;
using namespace mcpbx::redact;
using namespace mcpbx::test;

// Answers GET by target; keeps what it was asked.
struct endpoint {
  std::map<std::string, std::string> bodies;
  int status = 200;
  std::mutex guard;
  std::vector<std::string> asked;
  http_listener listener;

  explicit endpoint(std::map<std::string, std::string> b, int s = 200)
      : bodies(std::move(b)), status(s), listener(0, [this](http_peer& peer, std::uint64_t) {
          http_peer::request q;
          while (peer.read(q)) {
            {
              const std::lock_guard lock(guard);
              asked.push_back(q.method + " " + q.target + " " + q.header("x-key") + q.header("anthropic-version"));
            }
            const auto at = bodies.find(q.target);
            send_plain(peer, at == bodies.end() ? 404 : status, "application/json",
                       at == bodies.end() ? "" : at->second);
          }
        }) {}
  std::string url() const { return "http://127.0.0.1:" + std::to_string(listener.port()); }
};

struct listing_bench {
  manual_time time;
  http_loop loop;
  std::optional<result<model_list>> got;

  result<model_list> ask(const std::string& api, const std::string& base) {
    chat_model_options o;
    o.name = "main";
    o.api = api;
    o.wire.base_url = base;
    o.credentials = [](auto give) { give(std::vector<http::header>{{"X-Key", "canary-key-123456"}}); };
    return ask(std::move(o));
  }
  result<model_list> ask(chat_model_options o) {
    got.reset();
    const auto listing =
        list_models(std::move(o), *loop.client, time, [this](result<model_list> r) { got = std::move(r); });
    CHECK_FALSE(got);
    REQUIRE(loop.until([&] {
      time.advance(milliseconds(0));
      return got.has_value();
    }));
    redactor::clear();
    return *got;
  }
};

std::string ids(const result<model_list>& r) {
  REQUIRE_MESSAGE(r, r.error().message);
  std::string all;
  for (const auto& m : r->models) all += m.id + (m.name.empty() ? "" : "=" + m.name) + ";";
  return all + (r->more ? "…" : "");
}

TEST_CASE("model_listing: every API is asked at its own address, below the configured base, with the key") {
  listing_bench b;
  const std::string openai = R"({"object":"list","data":[{"id":"a","object":"model"},{"id":"b"},{"id":"a"}]})";
  endpoint e(
      {{"/v1/models", openai},
       {"/models?v=1", R"({"data":[{"id":"q"}]})"},
       {"/v1/models?limit=1000", R"({"data":[{"type":"model","id":"c","display_name":"Model C"}],"has_more":true})"},
       {"/v1beta/models?pageSize=1000",
        R"({"models":[{"name":"models/g-1","displayName":"G 1"}],"nextPageToken":"x"})"},
       {"/api/tags", R"({"models":[{"name":"l:latest","model":"l:latest","size":1}]})"},
       {"/openai/models", R"([{"id":"bare"}])"}});
  CHECK(ids(b.ask("openai-chat", e.url() + "/v1")) == "a;b;");
  CHECK(ids(b.ask("openai-responses", e.url() + "/v1/")) == "a;b;");
  CHECK(ids(b.ask("openai-chat", e.url() + "?v=1")) == "q;");
  CHECK(ids(b.ask("anthropic", e.url())) == "c=Model C;…");
  CHECK(ids(b.ask("anthropic", e.url() + "/v1")) == "c=Model C;…");
  CHECK(ids(b.ask("gemini", e.url() + "/v1beta")) == "g-1=G 1;…");
  CHECK(ids(b.ask("ollama", e.url())) == "l:latest;");
  CHECK(ids(b.ask("ollama", e.url() + "/api")) == "l:latest;");
  CHECK(ids(b.ask("dial", e.url())) == "bare;");
  CHECK(e.asked[0] == "GET /v1/models canary-key-123456");
  CHECK(e.asked[3] == "GET /v1/models?limit=1000 canary-key-1234562026-10-21");
}

TEST_CASE("model_listing: an API without a list, and an endpoint that has none, say so in a sentence") {
  listing_bench b;
  const auto azure = b.ask("azure", "https://x.openai.azure.com");
  CHECK(azure.error().message.find("the Azure portal lists them") != std::string::npos);
  CHECK(b.ask("rehearsal", "").error().message.find("no endpoint") != std::string::npos);
  endpoint none({});
  const auto missing = b.ask("openai-chat", none.url() + "/v1").error().message;
  CHECK(missing.find("127.0.0.1:" + std::to_string(none.listener.port()) + " offers no list of models (status 404)") !=
        std::string::npos);
}

TEST_CASE("model_listing: refusals, garbage and closed ports name the endpoint, and no key") {
  listing_bench b;
  endpoint refused({{"/v1/models", R"({"error":{"message":"Incorrect API key provided: canary-key-123456"}})"}}, 401);
  const auto said = b.ask("openai-chat", refused.url() + "/v1").error().message;
  CHECK(said.find("status 401") != std::string::npos);
  CHECK(said.find("Check the key") != std::string::npos);
  CHECK(said.find("canary") == std::string::npos);
  for (const auto* body : {"", "<html>", "{}", R"({"data":{}})", "[1", "null"}) {
    endpoint odd({{"/v1/models", body}});
    const auto wrong = b.ask("openai-chat", odd.url() + "/v1");
    REQUIRE_FALSE(wrong);
    CHECK(wrong.error().message.find("no list of models") != std::string::npos);
  }
  CHECK(ids(b.ask("openai-chat",
                  endpoint({{"/v1/models", R"({"data":[1,{},{"id":""},{"id":"x"}]})"}}).url() + "/v1")) == "x;");
  CHECK(b.ask("openai-chat", "http://127.0.0.1:1/v1").error().message.find("\"main\"") != std::string::npos);
}

TEST_CASE("model_listing: a key that is not there is told, and leaving ends it without a word") {
  listing_bench b;
  chat_model_options o;
  o.name = "main";
  o.wire.base_url = "http://127.0.0.1:1/v1";
  o.credentials = [](auto give) { give(fail(errc::config, "the variable KEY is not set.")); };
  CHECK(b.ask(o).error().message.find("KEY is not set") != std::string::npos);
  o.credentials = {};
  bool told = false;
  auto listing = list_models(o, *b.loop.client, b.time, [&](result<model_list>) { told = true; });
  listing.reset();
  b.loop.context.restart();
  b.loop.context.run_for(milliseconds(20));
  CHECK_FALSE(told);
}

}  // namespace
