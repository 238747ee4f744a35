// Each model API through the whole product: a question, a tool, the answer. The scripted model refuses conversations
// that the real API would refuse.
#include "test/e2e/harness.hpp"

#include <doctest/doctest.h>

using namespace mcpbx::e2e;

namespace {

bool contains(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

}  // namespace

TEST_CASE("F1: gemini, ollama, azure and dial call tools and answer through the daemon") {
  struct row {
    std::string_view api, path, target, header;
  };
  for (const auto& r : {row{"gemini", "/v1beta", ":streamGenerateContent?alt=sse", "x-goog-api-key"},
                        row{"ollama", "", "/api/chat", "Authorization"},
                        row{"azure", "", "/chat/completions?api-version=2024-10-21", "api-key"},
                        row{"dial", "/core", "/core/openai/deployments/", "Api-Key"}}) {
    CAPTURE(r.api);
    model_process model;
    const auto base = model.url().substr(0, model.url().rfind("/v1"));
    daemon_under_test d(config()
                            .server("s")
                            .model("m", R"({"api":")" + std::string(r.api) +
                                            R"(","model":"text","apiKey":"k","maxRetries":0,"baseUrl":")" + base +
                                            std::string(r.path) + "\"}")
                            .top("defaultModel", "\"m\""));
    const auto answer = run_cli(d, {"ask", "-m", R"(m/rounds-2 s__echo {"text":"from the tool"})", "question"});
    CHECK_MESSAGE(answer.status == 0, answer.err);
    CHECK(answer.out == "Final: from the tool\n");
    CHECK(count_of(answer.err, "-> s__echo") == 2);
    CHECK(model.count("request") == 3);
    CHECK(contains(model.log(), r.target));
    CHECK(contains(model.log(), "\"" + std::string(r.header) + "\""));
  }
}
