// Files of callers that are text.
#include "test/providers/wire/apis.hpp"

namespace files_tests {

using namespace mcpbx;
using namespace mcpbx::providers;
using namespace mcpbx::test;

std::string with_file(std::string_view api, std::string mime, std::string data, std::string name = "a.txt") {
  auto m = std::make_shared<message>();
  m->role = role::user;
  m->blocks.emplace_back(text_block{"See:"});
  m->blocks.emplace_back(
      file_block{.mime = std::move(mime), .name = std::move(name), .data = std::move(data), .url = {}});
  model_request r;
  r.messages = {m};
  return body_as(api, r);
}

TEST_CASE("F9: a caller's text file is text for the APIs that take no such files, and what is none is left out") {
  for (const std::string_view api : {"openai-chat", "azure", "dial", "anthropic", "gemini", "ollama"}) {
    CAPTURE(api);
    const auto has = [&](std::string_view mime, std::string_view data, std::string_view words) {
      return with_file(api, std::string(mime), std::string(data)).find(words) != std::string::npos;
    };
    CHECK(has("text/plain", "aMOkbGxv", R"([file a.txt, text/plain]\nhällo)"));
    CHECK(has("text/markdown; charset=utf-8", "IyBh", R"([file a.txt, text/markdown]\n# a)"));
    CHECK(has("application/json", "ew0KfQ==", R"([file a.txt, application/json]\n{\r\n})"));
    CHECK(has("application/geo+json", "e30=", R"([file a.txt, application/geo+json]\n{})"));
    CHECK(has("text/plain", "aGk", R"([file a.txt, text/plain]\nhi)"));  // without its padding
    CHECK(has("text/plain", "////", "3 bytes: left out]"));              // no UTF-8
    CHECK(has("text/plain", "a b!", "left out]"));                       // no base64
    CHECK(has("application/zip", "aGk=", "2 bytes: left out]"));
  }
}

}  // namespace files_tests
