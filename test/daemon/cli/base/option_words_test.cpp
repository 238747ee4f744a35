// Refusals of the daemon in the words of the command line.
#include "daemon/cli/base/option_words.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using mcpbx::cli::given_option;
using mcpbx::cli::in_option_words;

TEST_CASE("a refused parameter is called by the option that gave it, as it was written") {
  const std::vector<given_option> given{{"--model", "-m"}, {"--max-rounds", "--max-rounds"}, {"RUN", "RUN"}};
  CHECK(in_option_words("params.model: there is no model \"x\"; `mcpbx models` lists them", given) ==
        "-m: there is no model \"x\"; `mcpbx models` lists them");
  CHECK(in_option_words("params.limits.maxRounds: expected an integer", given) == "--max-rounds: expected an integer");
  CHECK(in_option_words("params.run: expected a name", given) == "RUN: expected a name");
  const std::vector<given_option> others{{"--prompt", "--prompt"}, {"--resource", "--resource"}, {"TEXT", "TEXT"}};
  CHECK(in_option_words("params.prompt.name: expected a string", others) == "--prompt: expected a string");
  CHECK(in_option_words("params.resources[2]: expected a string", others) == "--resource: expected a string");
  CHECK(in_option_words("params.messages[0].content: expected a text", others) == "TEXT: expected a text");
}

TEST_CASE("a refused parameter that no option gave is named without the protocol's word for it") {
  CHECK(in_option_words("params.model: there is no model \"x\"", {}) == "there is no model \"x\"");
  CHECK(in_option_words("params.run: expected a name", {}) == "run: expected a name");
  CHECK(in_option_words("params.limits.timeoutMs: expected more", {}) == "limits.timeoutMs: expected more");
  // Another parameter that begins with the same letters.
  const std::vector<given_option> given{{"--limit", "--limit"}, {"--model", "-m"}};
  CHECK(in_option_words("params.limits: unknown member", given) == "limits: unknown member");
  CHECK(in_option_words("params.models: unknown member", given) == "models: unknown member");
}

TEST_CASE("other sentences of the daemon stay as they are") {
  for (const std::string sentence : {"there is no model", "params.model", "params: expected an object", "params.: x",
                                     "params.a b: x", "params.\"model\": x", "the file params.model: is gone", ""})
    CHECK(in_option_words(sentence, std::vector<given_option>{{"--model", "-m"}}) == sentence);
}
