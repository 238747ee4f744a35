// The trace of a run whose prompt and resources are fetched before it begins: their servers get it too, and a model
// that samples for one of them.
#include "daemon/front/front_door.hpp"
#include "test/daemon/front/fake_backend.hpp"
#include "test/daemon/front/fake_transport.hpp"
#include "test/mcp/server/fake_host.hpp"
#include "test/support/manual_time.hpp"

#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::answers;
using namespace mcpbx::daemon::door;
using namespace mcpbx::json;
using namespace mcpbx::test;

// A name of its own, since several sources of these tests are compiled as one.
namespace mcpbx::test::opening_traces {

const std::string parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const std::string meta = R"("_meta":{"traceparent":")" + parent + R"(","tracestate":"a=1"})";

// Keeps the requests that it gets, and answers none.
class silent_model final : public providers::model {
 public:
  const std::string& name() const override { return name_; }
  const std::string& id() const override { return name_; }
  const std::string& api() const override { return api_; }
  std::unique_ptr<providers::model_call> prepare(providers::model_request request, providers::model_events&) override {
    requests.push_back(std::move(request));
    return std::make_unique<call>();
  }
  std::vector<providers::model_request> requests;

 private:
  struct call final : providers::model_call {
    void begin() override {}
  };
  std::string name_ = "m", api_ = "openai-chat";
};

struct traced_opening {
  traced_opening() {
    settings->servers = {{"s", sampling_rule{"m", 50, 3}, {}}};
    settings->models = [this](std::string_view) -> result<std::shared_ptr<providers::model>> { return model; };
    backend.catalog = make_catalog({.prompts = {item("p")}, .resources = {item("x://a")}});
    front_door::options o;
    o.answers = &own;
    door.emplace(io.get_executor(), time, backend, std::move(o),
                 [](const mcp::socket::peer_credentials&) -> result<std::string> { return ""; });
    door->accept(std::make_unique<fake_transport>(line), {1000, 100});
    turn();
  }
  ~traced_opening() {
    door->close();
    turn();
  }
  void turn() {
    io.restart();
    io.poll();
  }
  void chat(const std::string& more) {
    line.say(R"({"jsonrpc":"2.0","id":1,"method":"mcpbx/chat","params":{"prompt":{"name":"p"},"resources":["x://a"])" +
             more + "}}");
    turn();
    REQUIRE(server->calls.size() == 2);
  }
  mcp::catalogs::feature_entry_ptr item(const std::string& key) const {
    auto e = std::make_shared<mcp::catalogs::feature_entry>();
    e->key = e->own_key = key;
    e->server = "s";
    e->owner = server;
    return e;
  }

  boost::asio::io_context io;
  manual_time time;
  fake_backend backend;
  std::shared_ptr<fake_client> server = std::make_shared<fake_client>("s");
  std::shared_ptr<silent_model> model = std::make_shared<silent_model>();
  std::shared_ptr<answer_settings> settings = std::make_shared<answer_settings>();
  own_answers own{{io.get_executor(), time, nullptr, [this] { return settings; }}};
  fake_transport::line line;
  std::optional<front_door> door;
};

TEST_CASE("E3: the servers of a run's prompt and resources get its trace, also before a detached run") {
  for (const std::string more : {"", R"(,"detach":true,"run":"long")"}) {
    traced_opening f;
    f.chat(more + "," + meta);
    CHECK(f.server->calls[0].params.text() == R"({"name":"p",)" + meta + "}");
    CHECK(f.server->calls[1].params.text() == R"({"uri":"x://a",)" + meta + "}");
    // The bytes of _meta are looked for, since its sender does not name them.
    CHECK_FALSE(f.server->calls[0].meta.has_value());
  }
  traced_opening f;
  f.chat("");
  CHECK(f.server->calls[0].params.text() == R"({"name":"p"})");
  CHECK(f.server->calls[1].params.text() == R"({"uri":"x://a"})");
}

TEST_CASE("E3: a model that samples for the server of a run's prompt gets the run's trace") {
  traced_opening f;
  f.chat("," + meta);
  f.server->calls[0].questions->ask(
      {"s", "sampling/createMessage",
       raw_json::own(R"({"messages":[{"role":"user","content":{"type":"text","text":"q"}}],"maxTokens":9})")},
      [](mcp::rpc::call_outcome&&) {});
  f.turn();
  REQUIRE(f.model->requests.size() == 1);
  CHECK((f.model->requests[0].trace == trace::trace_context{parent, "a=1"}));
}

}  // namespace mcpbx::test::opening_traces
