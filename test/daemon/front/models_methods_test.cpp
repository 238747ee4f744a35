// mcpbx/models at the door.
#include "daemon/front/front_door.hpp"
#include "mcp/redact/secret.hpp"
#include "test/daemon/front/fake_backend.hpp"
#include "test/daemon/front/fake_transport.hpp"
#include "test/support/manual_time.hpp"

#include <boost/asio/io_context.hpp>
#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace mcpbx;
using namespace mcpbx::daemon::door;
using namespace mcpbx::daemon::front;
using namespace mcpbx::redact;
using namespace mcpbx::test;

namespace {

struct fake_directory final : model_directory {
  void list(const std::string& name, bool remote, std::function<void(result<std::vector<model_row>>)> then) override {
    asked.push_back(name + (remote ? "|remote" : ""));
    if (name == "none") return then(fail(errc::not_found, "there is no model \"none\""));
    done = std::move(then);
  }
  std::size_t max_tools(std::string_view, std::string_view) const override { return 0; }
  std::vector<std::string> asked;
  std::function<void(result<std::vector<model_row>>)> done;
};

struct models_door {
  models_door() : door(io.get_executor(), time, backend, {}, {}) {
    backend.directory_of_models = &models;
    door.accept(std::make_unique<fake_transport>(line), {1000, 100});
    run();
  }
  ~models_door() {
    door.close();
    run();
  }
  void run() {
    io.restart();
    io.poll();
  }
  std::string ask(const std::string& params, result<std::vector<model_row>> rows = std::vector<model_row>{}) {
    const std::size_t before = line.sent.size();
    line.say(R"({"jsonrpc":"2.0","id":1,"method":"mcpbx/models","params":)" + params + "}");
    run();
    if (auto then = std::exchange(models.done, {})) then(std::move(rows));
    run();
    return line.sent.size() == before ? "" : line.sent.back();
  }

  boost::asio::io_context io;
  manual_time time;
  fake_backend backend;
  fake_directory models;
  fake_transport::line line;
  front_door door;
};

}  // namespace

TEST_CASE("models: entries are told with what is known of them, and no secret in a problem") {
  redactor::clear();
  redactor::add(secret("canary-key"));
  models_door d;
  model_row gpt;
  gpt.name = "gpt";
  gpt.api = "openai-chat";
  gpt.model = "gpt-x";
  gpt.endpoint = "https://api.example.com/v1";
  gpt.is_default = true;
  gpt.fallback = "demo";
  model_row demo;
  demo.name = "demo";
  demo.api = "rehearsal";
  demo.problem = "its script holds canary-key";
  CHECK(
      d.ask("{}", std::vector{gpt, demo})
          .find(
              R"("result":[{"name":"gpt","api":"openai-chat","model":"gpt-x","endpoint":"https://api.example.com/v1","default":true,"fallbackModel":"demo"},)"
              R"({"name":"demo","api":"rehearsal","problem":"its script holds ***"}])") != std::string::npos);
  CHECK(d.models.asked == std::vector<std::string>{""});
  gpt.offered = {{"a", "A one"}, {"b", ""}};
  gpt.more = true;
  demo.offered_problem = "It has no endpoint.";
  const auto told = d.ask(R"({"remote":true})", std::vector{gpt, demo});
  CHECK(told.find(R"("offered":[{"id":"a","name":"A one"},{"id":"b"}],"more":true})") != std::string::npos);
  CHECK(told.find(R"("offeredProblem":"It has no endpoint."})") != std::string::npos);
  CHECK(d.models.asked.back() == "|remote");
  redactor::clear();
}

TEST_CASE("models: unknown entries, wrong params, and a caller that left meanwhile") {
  models_door d;
  CHECK(d.ask(R"({"model":"none"})").find("-32002") != std::string::npos);
  CHECK(d.ask(R"({"remote":1})").find("-32602") != std::string::npos);
  CHECK(d.ask(R"({"modell":"x"})").find("did you mean") != std::string::npos);
  d.line.say(R"({"jsonrpc":"2.0","id":2,"method":"mcpbx/models","params":{"remote":true}})");
  d.run();
  d.door.close();
  d.run();
  d.models.done(std::vector<model_row>{});
  d.run();
}
