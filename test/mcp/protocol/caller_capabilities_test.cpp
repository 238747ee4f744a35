// Tests of the capabilities that a caller declares.
#include "mcp/protocol/caller_capabilities.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using namespace mcpbx;
using namespace mcpbx::json;
using namespace mcpbx::mcp::protocol;

TEST_CASE("a caller can be asked what it declared and nothing else") {
  struct row {
    std::string_view capabilities, method, params, refusal;
  };
  const std::string_view forms = R"({"message":"m","requestedSchema":{}})", url = R"({"mode":"url","url":"https://x"})";
  const row rows[] = {
      {"{}", "ping", "{}", ""},
      {"", "ping", "", ""},
      {"", "roots/list", "", "the caller has not declared the capability roots, which roots/list needs"},
      {R"({"roots":{}})", "roots/list", "", ""},
      {R"({"roots":true})", "roots/list", "",
       "the caller has not declared the capability roots, which roots/list needs"},
      {R"({"elicitation":{}})", "elicitation/create", forms, ""},
      {R"({"elicitation":{"form":{}}})", "elicitation/create", R"({"mode":"form"})", ""},
      {R"({"elicitation":{"url":{}}})", "elicitation/create", forms,
       "the caller has not declared the capability elicitation, which elicitation/create needs"},
      {R"({"elicitation":{"url":{}}})", "elicitation/create", url, ""},
      {R"({"elicitation":{}})", "elicitation/create", url,
       "the caller has not declared the capability elicitation.url, which elicitation/create needs"},
      {R"({"elicitation":{"form":{},"url":{}}})", "elicitation/create", forms, ""},
      {R"({"sampling":{}})", "sampling/createMessage", R"({"messages":[]})", ""},
      {R"({"sampling":{}})", "sampling/createMessage", R"({"messages":[],"tools":[]})",
       "the caller has not declared the capability sampling.tools, which sampling/createMessage needs"},
      {R"({"sampling":{"tools":{}}})", "sampling/createMessage", R"({"messages":[],"toolChoice":{}})", ""},
      {R"({"roots":{}})", "sampling/createMessage", R"({"messages":[],"tools":[]})",
       "the caller has not declared the capability sampling, which sampling/createMessage needs"},
      {R"([7])", "sampling/createMessage", "{}",
       "the caller has not declared the capability sampling, which sampling/createMessage needs"},
      {R"({"sampling":{},"roots":{},"elicitation":{}})", "tools/list", "", "callers have no method \"tools/list\""},
  };
  for (const auto& r : rows) {
    CAPTURE(r.capabilities);
    CAPTURE(r.method);
    CAPTURE(r.params);
    const auto json = [](std::string_view text) { return text.empty() ? raw_json() : raw_json::own(text); };
    const auto able = check_answerable(read_caller_capabilities(json(r.capabilities)), r.method, json(r.params));
    CHECK(able.has_value() == r.refusal.empty());
    if (able) continue;
    CHECK(able.error().code == errc::not_found);
    CHECK(able.error().message == r.refusal);
  }
}
